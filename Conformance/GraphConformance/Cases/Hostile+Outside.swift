import CoreData
import Foundation

/// Input from outside: malicious archives, URIs and models. None ends the process or creates an object of a class that
/// was not allowed. Invalid input yields nil or a typed error.
extension GraphSuite {
  static let outside: [GraphCase] = [
    hostileArchives("SEC-007", count: 20_000, .small), hostileArchives("SEC-007/million", count: 1_000_000, .million),
    GraphCase("SEC-008", "an inconsistent model is refused with a reason", ways: .own) { g in
      for (what, model) in Models.contradictions {
        try g.label(what) {
          do {
            try g.newCoordinator(model)
            g.expect(false, "it was used")
          } catch {
            g.expect(Graph.isThrownByUse(error), "threw \(Graph.text(of: error))")
            g.expect(!error.localizedDescription.isEmpty, "the error says nothing")
          }
          try g.closeAll()
        }
      }
      for name in Models.strangeNames {
        try g.label(name.debugDescription.prefix(40).description) {
          let model = Models.model([Models.entity(name, [Models.attribute("a", .stringAttributeType)])])
          do {
            let coordinator = try g.newCoordinator(model)
            let c = try g.newContext(coordinator)
            try c.performAndWait {
              c.insert(name, ["a": "x"])
              try c.save()
              g.equal(try c.objects(name).map { $0.text("a") }, ["x"])
            }
            try g.close(coordinator)
            try g.emptyCoordinator().destroyPersistentStore(at: g.url(), ofType: g.storeType, options: nil)
            g.isReplaced()
          } catch { g.expect(Graph.isThrownByUse(error), "threw \(Graph.text(of: error))") }
          try g.closeAll()
        }
      }
    },
    GraphCase(
      "SEC-008/source", "an inconsistent source model yields no model, or one that is refused", ways: .own
    ) {
      g in
      let folder = g.temporaryFile("xcdatamodel")
      defer { try? FileManager.default.removeItem(at: folder) }
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      for (what, entities) in [("sound", entity("A", "") + entity("B", "parentEntity=\"A\""))] + contradictingSources {
        try g.label(what) {
          let text = "<?xml version=\"1.0\"?><model type=\"com.apple.IDECoreDataModeler.DataModel\">\(entities)</model>"
          try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
          let model = NSManagedObjectModel(contentsOf: folder)
          g.expect(what != "sound" || model != nil, "it gives no model")
          guard let model else { return }
          do {
            try g.newCoordinator(model)
            g.expect(what == "sound", "it was used")
          } catch { g.expect(Graph.isThrownByUse(error), "threw \(Graph.text(of: error))") }
          try g.closeAll()
          if what == "sound" && g.isPersistent {
            try g.emptyCoordinator().destroyPersistentStore(at: g.url(), ofType: g.storeType, options: nil)
          }
          g.isReplaced()
        }
      }
    },
    manyEntities("SEC-008/many", count: 1000, .small), manyEntities("SEC-008/all", count: 100_000, .million),
    GraphCase(
      "SEC-022", "URIs, predicates and requests from outside are refused or have their stated meaning", ways: .own
    ) { g in
      try g.write { c in for number in 0..<5 { c.insert("Tag", ["label": "t\(number)"]) } }
      let c = try g.newContext()
      var random = NumberStream(seed: g.seed)
      try c.performAndWait {
        let tags = try c.objects("Tag")
        try uris(g, c, tags, &random)
        try predicates(g, c, &random)
        try requests(g, c, &random)
      }
      g.equal(Intruder.count, 0, "objects of a class that nobody asked for")
    },
  ]

  // MARK: Archives

  private static func hostileArchives(_ id: String, count: Int, _ size: Load) -> GraphCase {
    GraphCase(
      id, "archives that contradict themselves or name other classes give no model and no such object", ways: .own,
      size: size
    ) { g in
      var random = NumberStream(seed: g.seed)
      let file = g.temporaryFile("mom")
      defer { try? FileManager.default.removeItem(at: file) }
      // An archived model contains a compiled model.
      let whole = try NSKeyedArchiver.archivedData(withRootObject: Models.people, requiringSecureCoding: false)
      let sound = whole[try inner(of: whole)]
      try sound.write(to: file)
      let model = NSManagedObjectModel(contentsOf: file)
      g.equal(model?.entityVersionHashesByName ?? [:], Models.people.entityVersionHashesByName, "the sound one")
      var refused = 0
      for number in 0..<200 {
        try damaged(Data(sound), 0..<sound.count, number, &random).write(to: file)
        guard let model = NSManagedObjectModel(contentsOf: file) else {
          refused += 1
          continue
        }
        // If a model was read, its contents can be accessed.
        for entity in model.entities { _ = (entity.name, entity.superentity, entity.propertiesByName.count) }
        _ = model.entityVersionHashesByName
      }
      g.expect(refused > 20, "\(refused) of 200 damaged archives gave no model")
      // An object of each kind of property list, and one of a class that is not allowed.
      for content in [["many": Array(0..<count)], ["strange": Intruder()]] as [NSDictionary] {
        try NSKeyedArchiver.archivedData(withRootObject: content, requiringSecureCoding: false).write(to: file)
        g.expect(NSManagedObjectModel(contentsOf: file) == nil, "a dictionary is a model")
      }
      g.equal(Intruder.count, 0, "objects of a class that nobody asked for")
    }
  }

  /// The range of the inner archive, which is data in the outer one. The inner archive is the library's own format. The
  /// outer one is Foundation's, whose reader traps on damage to its own parts.
  private static func inner(of archive: Data) throws -> Range<Int> {
    let head = Data("bplist00".utf8)
    guard let start = archive.range(of: head, in: 8..<archive.count)?.lowerBound else {
      throw CocoaError(.coderValueNotFound)
    }
    // The length of the data precedes it, in one, two or four bytes after a marker.
    for size in [1, 2, 4] where archive[start - size - 1] == 0x10 | UInt8(size.trailingZeroBitCount) {
      let length = archive[start - size..<start].reduce(0) { $0 << 8 | Int($1) }
      if start + length <= archive.count { return start..<start + length }
    }
    throw CocoaError(.coderValueNotFound)
  }

  /// Changes the inner archive: changes some bytes anywhere, redirects a reference to another object, renames a class,
  /// or removes the end.
  private static func damaged(_ sound: Data, _ inner: Range<Int>, _ number: Int, _ random: inout NumberStream) -> Data {
    var bytes = Array(sound)
    switch number % 4 {
    case 0:
      for _ in 0..<(1 + number % 3) { bytes[inner.lowerBound + random.next(below: inner.count)] = random.byte() }
    case 1:
      let references = inner.dropLast().filter { bytes[$0] == 0x80 }
      if !references.isEmpty { bytes[references[random.next(below: references.count)] + 1] = random.byte() }
    case 2:
      let names = inner.dropLast(2).filter { bytes[$0] == UInt8(ascii: "N") && bytes[$0 + 1] == UInt8(ascii: "S") }
      if !names.isEmpty { bytes[names[random.next(below: names.count)] + 1] = UInt8(ascii: "Z") }
    default:
      let start = inner.lowerBound + random.next(below: inner.count)
      for site in start..<inner.upperBound { bytes[site] = 0 }
    }
    return Data(bytes)
  }

  // MARK: Requests to a context

  private static func uris(
    _ g: Graph, _ c: NSManagedObjectContext, _ tags: [NSManagedObject], _ random: inout NumberStream
  ) throws {
    let known = Set(tags.map { $0.objectID.uriRepresentation() })
    guard let sound = known.first?.absoluteString else { return }
    for _ in 0..<300 {
      var text = Array(sound.utf8)
      for _ in 0..<(1 + random.next(below: 3)) {
        text[random.next(below: text.count)] = UInt8(33 + random.next(below: 94))
      }
      guard let uri = URL(string: String(decoding: text, as: UTF8.self)),
        let id = c.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri)
      else { continue }
      if let object = try? c.existingObject(with: id) {
        g.expect(known.contains(object.objectID.uriRepresentation()), "\(uri) leads to an object that is not there")
      }
    }
  }

  private static func predicates(_ g: Graph, _ c: NSManagedObjectContext, _ random: inout NumberStream) throws {
    let predicate = NSPredicate(format: "label == 't1' AND ANY people.age > 3 OR label IN {'t2', 't3'}")
    let sound = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
    let whole = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPredicate.self, from: sound)
    g.equal(whole, predicate, "the sound one")
    if let whole { try fetch(g, c, whole, expected: 2) }
    for number in 0..<200 {
      // The archive of a predicate is entirely in the library's format.
      let archive = damaged(sound, 0..<sound.count, number, &random)
      if let found = try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSPredicate.self, from: archive) {
        try fetch(g, c, found, expected: nil)
      }
    }
  }

  /// A predicate from outside is evaluated only after evaluation was allowed.
  private static func fetch(
    _ g: Graph, _ c: NSManagedObjectContext, _ predicate: NSPredicate, expected: Int?
  ) throws {
    for isAllowed in [false, true] {
      if isAllowed { predicate.allowEvaluation() }
      do {
        let count = try c.objects("Tag", predicate).count
        g.expect(isAllowed, "it was evaluated without being allowed to")
        if let expected { g.equal(count, expected) }
      } catch { g.expect(Graph.isThrownByUse(error), "threw \(Graph.text(of: error))") }
    }
  }

  private static func requests(_ g: Graph, _ c: NSManagedObjectContext, _ random: inout NumberStream) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
    request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: false)]
    (request.fetchLimit, request.propertiesToFetch) = (2, ["label"])
    let sound = try NSKeyedArchiver.archivedData(withRootObject: request, requiringSecureCoding: false)
    let (whole, inner) = (decoded(sound), try inner(of: sound))
    g.equal(whole?.fetchLimit, 2, "the sound one")
    if let whole { g.equal(try c.fetch(whole).compactMap { ($0 as? NSManagedObject)?.text("label") }, ["t4", "t3"]) }
    for number in 0..<200 {
      guard let found = decoded(damaged(sound, inner, number, &random)) else { continue }
      do { _ = try c.fetch(found) } catch { g.expect(Graph.isThrownByUse(error), "threw \(Graph.text(of: error))") }
    }
  }

  private static func decoded(_ archive: Data) -> NSFetchRequest<any NSFetchRequestResult>? {
    guard let reader = try? NSKeyedUnarchiver(forReadingFrom: archive) else { return nil }
    reader.requiresSecureCoding = false
    reader.decodingFailurePolicy = .setErrorAndReturn
    return reader.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? NSFetchRequest<any NSFetchRequestResult>
  }

  // MARK: Models

  private static func entity(_ name: String, _ more: String, _ properties: String = "") -> String {
    let attribute = "<attribute name=\"a\(name.count)\" attributeType=\"String\"/>"
    return "<entity name=\"\(name)\" \(more)>\(attribute)\(properties)</entity>"
  }

  private static var contradictingSources: [(String, String)] {
    func way(_ name: String, _ destination: String, _ inverse: String) -> String {
      "<relationship name=\"\(name)\" maxCount=\"1\" destinationEntity=\"\(destination)\" \(inverse)/>"
    }
    return [
      (
        "a ring of parents",
        entity("A", "parentEntity=\"B\"") + entity("BB", "parentEntity=\"A\"") + entity("B", "parentEntity=\"BB\"")
      ),
      ("its own parent", entity("A", "parentEntity=\"A\"")),
      ("a parent that is not there", entity("A", "parentEntity=\"None\"")),
      ("a destination that is not there", entity("A", "", way("w", "None", ""))),
      ("an inverse that is not there", entity("A", "", way("w", "A", "inverseName=\"none\" inverseEntity=\"A\""))),
      ("two entities of one name", entity("A", "") + entity("A", "")),
      ("two properties of one name", entity("A", "", way("w", "A", "") + way("w", "A", ""))),
      (
        "an attribute of a type that nobody knows",
        "<entity name=\"A\"><attribute name=\"a\" attributeType=\"None\"/></entity>"
      ),
      ("a text that ends", "<entity name=\"A\"><attribute"),
    ]
  }

  private static func manyEntities(_ id: String, count: Int, _ size: Load) -> GraphCase {
    GraphCase(id, "a model of \(count) entities is used, or refused", ways: .own, size: size) { g in
      let model = Models.model(
        (0..<count).map { Models.entity("E\($0)", [Models.attribute("a", .stringAttributeType)]) })
      do {
        let coordinator = try g.newCoordinator(model)
        let c = try g.newContext(coordinator)
        try c.performAndWait {
          c.insert("E\(count - 1)", ["a": "last"])
          try c.save()
          g.equal(try c.objects("E\(count - 1)").map { $0.text("a") }, ["last"])
          g.equal(try c.number(of: "E0"), 0)
        }
      } catch { g.expect(Graph.isThrownByUse(error), "threw \(Graph.text(of: error))") }
    }
  }
}

extension Models {
  /// Models that no coordinator can use, each invalid for another reason. An entity cannot be made its own superentity,
  /// so that case is missing.
  fileprivate static var contradictions: [(String, NSManagedObjectModel)] {
    func plain(_ name: String) -> NSEntityDescription { entity(name, [attribute("a", .stringAttributeType)]) }
    let elsewhere = plain("Elsewhere")
    return [
      ("a relationship to nothing", model([plain("Lost")]) { lead($0, one("Lost", "way"), to: "None") }),
      (
        "a relationship to an entity of no model",
        model([plain("Far")]) { lead($0.merging(["Elsewhere": elsewhere]) { $1 }, one("Far", "way"), to: "Elsewhere") }
      ),
      (
        "an inverse that another entity has",
        model([plain("Left"), plain("Right"), plain("Third")]) { all in
          link(all, one("Third", "left"), one("Left", "third"))
          lead(all, one("Left", "right"), to: "Right")
          all["Left"]?.relationshipsByName["right"]?.inverseRelationship = all["Third"]?.relationshipsByName["left"]
        }
      ),
      ("two entities of one name", model([plain("Twice"), plain("Twice")])),
      ("names that differ by case alone", model([plain("Case"), plain("CASE")])),
      (
        "two properties of one name",
        model([entity("Two", [attribute("a", .stringAttributeType), attribute("a", .dateAttributeType)])])
      ),
      ("an attribute of no type", model([entity("None", [attribute("a", .undefinedAttributeType)])])),
      ("a unique attribute that is not there", model([entity("Unique", [], unique: ["none"])])),
      ("an entity without a name", model([plain("")])),
    ]
  }

  fileprivate static let strangeNames = [
    "x'; DROP TABLE ZTAG; --", "a\"b", "a\u{0}b", "../../etc/passwd", "日本", " ", String(repeating: "n", count: 10_000),
    "Z_METADATA", "sqlite_master", "<entity>", "%@", "\u{202E}evil",
  ]
}

extension NumberStream {
  fileprivate mutating func byte() -> UInt8 { UInt8(next(below: 256)) }
}

extension Graph {
  /// The URL of a temporary file; the case removes the file.
  fileprivate func temporaryFile(_ pathExtension: String) -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("outside-\(UUID().uuidString).\(pathExtension)")
  }
}

/// A class that no caller allows. No archive may create an instance of it.
final class Intruder: NSObject, NSSecureCoding {
  nonisolated(unsafe) static var count = 0
  static var supportsSecureCoding: Bool { true }

  override init() {}

  init?(coder: NSCoder) { Intruder.count += 1 }

  func encode(with coder: NSCoder) { coder.encode("harm", forKey: "harm") }
}
