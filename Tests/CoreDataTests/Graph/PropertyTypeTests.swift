import Foundation
import TestSupport
import Testing

@testable import CoreData

enum Phase: Int16 { case planned = 1, running, done }

enum Tint: String { case red, green }

struct Rights: OptionSet {
  let rawValue: Int32
  static let read = Rights(rawValue: 1)
  static let write = Rights(rawValue: 2)
}

/// A client's own class, as the value of a transformable attribute.
final class Label: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  let text: String
  init(_ text: String) { self.text = text }
  init?(coder: NSCoder) { text = coder.decodeObject(of: NSString.self, forKey: "text") as String? ?? "" }
  func encode(with coder: NSCoder) { coder.encode(text as NSString, forKey: "text") }
}

final class LabelTransformer: NSSecureUnarchiveFromDataTransformer {
  override class var allowedTopLevelClasses: [AnyClass] {
    [Label.self, NSArray.self, NSString.self, NSDictionary.self, NSSet.self, NSNumber.self]
  }
}

/// Has a property of every type that `@NSManaged` accepts.
final class Errand: NSManagedObject {
  static let tiny = ManagedProperty<Int8>("tiny")
  static let byte = ManagedProperty<UInt8?>("byte")
  static let unsigned = ManagedProperty<UInt64>("unsigned")
  static let unsigned16 = ManagedProperty<UInt16>("unsigned16")
  static let unsigned32 = ManagedProperty<UInt32>("unsigned32")
  static let unsignedWord = ManagedProperty<UInt>("unsigned")
  static let word = ManagedProperty<Int>("unsigned")
  static let phase = ManagedProperty<Phase>("phase")
  static let maybePhase = ManagedProperty<Phase?>("maybePhase")
  static let colour = ManagedProperty<Tint>("colour")
  static let maybeColour = ManagedProperty<Tint?>("maybeColour")
  static let rights = ManagedProperty<Rights>("rights")
  static let number = ManagedProperty<NSNumber>("number")
  static let maybeNumber = ManagedProperty<NSNumber?>("maybeNumber")
  static let price = ManagedProperty<NSDecimalNumber?>("price")
  static let decimalCount = ManagedProperty<NSDecimalNumber>("number")
  static let maybeDecimalCount = ManagedProperty<NSDecimalNumber?>("number")
  static let date = ManagedProperty<NSDate?>("date")
  static let text = ManagedProperty<NSString?>("text")
  static let requiredText = ManagedProperty<NSString>("text")
  static let bytes = ManagedProperty<NSData?>("bytes")
  static let id = ManagedProperty<NSUUID?>("id")
  static let link = ManagedProperty<NSURL?>("link")
  static let words = ManagedProperty<[String]>("words")
  static let maybeWords = ManagedProperty<[String]?>("words")
  static let wordsAsArray = ManagedProperty<NSArray?>("words")
  static let counts = ManagedProperty<[String: Int]>("counts")
  static let maybeDictionary = ManagedProperty<NSDictionary?>("counts")
  static let dictionary = ManagedProperty<NSDictionary>("counts")
  static let label = ManagedProperty<Label?>("label")
  static let requiredLabel = ManagedProperty<Label>("label")
  static let anything = ManagedProperty<NSObject?>("label")
  static let owner = ManagedProperty<Owner>("owner")
  static let maybeOwner = ManagedProperty<Owner?>("owner")

  var phase: Phase {
    get { value(of: Self.phase) }
    set { setValue(newValue, of: Self.phase) }
  }
  var colour: Tint { value(of: Self.colour) }
  var requiredLabel: Label { value(of: Self.requiredLabel) }
  var owner: Owner { value(of: Self.owner) }
  var words: [String] { value(of: Self.words) }
}

final class Owner: NSManagedObject {
  static let errands = ManagedProperty<Set<Errand>?>("errands")
  static let errandsAsSet = ManagedProperty<NSSet?>("errands")
  static let requiredSet = ManagedProperty<NSSet>("errands")
  static let queue = ManagedProperty<[Errand]?>("queue")
  static let queueAsOrderedSet = ManagedProperty<NSOrderedSet?>("queue")
  static let requiredQueue = ManagedProperty<NSOrderedSet>("queue")
  static let name = ManagedProperty<String?>("name")
  static let namesakes = ManagedProperty<[Owner]>("namesakes")
  static let maybeNamesakes = ManagedProperty<[Owner]?>("namesakes")
  static let namesakesAsArray = ManagedProperty<NSArray?>("namesakes")
  var name: String? { value(of: Self.name) }
}

extension Errand {
  static func model() -> NSManagedObjectModel {
    typealias Kind = NSAttributeDescription.AttributeType
    let attributes: [(String, Kind, Any?)] = [
      ("tiny", .integer16, nil), ("byte", .integer32, nil), ("unsigned", .integer64, nil), ("phase", .integer16, 1),
      ("unsigned16", .integer32, nil), ("unsigned32", .integer64, nil),
      ("maybePhase", .integer16, nil), ("colour", .string, "green"), ("maybeColour", .string, nil),
      ("rights", .integer32, nil), ("number", .integer64, nil), ("maybeNumber", .double, nil), ("price", .decimal, nil),
      ("date", .date, nil), ("text", .string, nil), ("bytes", .binaryData, nil), ("id", .uuid, nil),
      ("link", .uri, nil), ("words", .transformable, nil), ("counts", .transformable, nil),
      ("label", .transformable, nil),
    ]
    let (errand, owner) = (NSEntityDescription(), NSEntityDescription())
    (errand.name, errand.managedObjectClassName) = ("Errand", "CoreDataTests.Errand")
    (owner.name, owner.managedObjectClassName) = ("Owner", "CoreDataTests.Owner")
    errand.properties = attributes.map { name, type, value in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.type, attribute.defaultValue) = (name, type, value)
      if type == .transformable { attribute.valueTransformerName = "CoreDataTests.LabelTransformer" }
      return attribute
    }
    func link(_ name: String, to entity: NSEntityDescription, isToMany: Bool) -> NSRelationshipDescription {
      let link = NSRelationshipDescription()
      (link.name, link.destinationEntity, link.maxCount) = (name, entity, isToMany ? 0 : 1)
      return link
    }
    let (owning, errands) = (link("owner", to: owner, isToMany: false), link("errands", to: errand, isToMany: true))
    let (queueOf, queue) = (link("queueOf", to: owner, isToMany: false), link("queue", to: errand, isToMany: true))
    queue.isOrdered = true
    (owning.inverseRelationship, errands.inverseRelationship) = (errands, owning)
    (queueOf.inverseRelationship, queue.inverseRelationship) = (queue, queueOf)
    let name = NSAttributeDescription()
    (name.name, name.type) = ("name", .string)
    errand.properties += [owning, queueOf]
    let namesakes = Describing.fetched("namesakes", "Owner", NSPredicate(format: "name == $FETCH_SOURCE.name"))
    owner.properties = [name, errands, queue, namesakes]
    let model = NSManagedObjectModel()
    model.entities = [errand, owner]
    return model
  }

  /// Calls `body` in a context over an empty store.
  static func inContext(
    _ type: NSPersistentStore.StoreType = .sqlite, _ body: (NSManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    try coordinator.addPersistentStore(type: type, at: URL(fileURLWithPath: "/dev/null"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { try body(context) }
  }
}

/// Every type that `@NSManaged` accepts has an accessor, which keeps the value through a save. Source: properties that
/// client libraries declare, and https://developer.apple.com/documentation/coredata/modeling-data/generating-code
/// (types of generated properties).
@Suite struct PropertyTypeTests {
  /// Sets a property, and reads it before and after a save, in an object that was read again.
  private func keeps<V>(
    _ object: NSManagedObject, _ set: (Errand) -> Void, _ get: (Errand) -> V, _ isRight: (V) -> Bool,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let errand = try #require(object as? Errand)
    set(errand)
    #expect(isRight(get(errand)), "before the save", sourceLocation: location)
    try errand.managedObjectContext?.save()
    errand.managedObjectContext?.refresh(errand, mergeChanges: false)
    #expect(isRight(get(errand)), "read again: \(get(errand))", sourceLocation: location)
  }

  @Test func integersOfEveryWidth() throws {
    try Errand.inContext { context in
      let errand = Errand(context: context)
      #expect(
        errand.value(of: Errand.tiny) == 0 && errand.value(of: Errand.byte) == nil
          && errand.value(of: Errand.unsigned) == 0)
      try keeps(errand, { $0.setValue(-128, of: Errand.tiny) }, { $0.value(of: Errand.tiny) }) { $0 == -128 }
      try keeps(errand, { $0.setValue(255, of: Errand.byte) }, { $0.value(of: Errand.byte) }) { $0 == 255 }
      try keeps(errand, { $0.setValue(nil, of: Errand.byte) }, { $0.value(of: Errand.byte) }) { $0 == nil }
      try keeps(errand, { $0.setValue(.max, of: Errand.unsigned) }, { $0.value(of: Errand.unsigned) }) { $0 == .max }
      #expect(errand.value(of: Errand.unsigned16) == 0 && errand.value(of: Errand.unsigned32) == 0)
      try keeps(errand, { $0.setValue(.max, of: Errand.unsigned16) }, { $0.value(of: Errand.unsigned16) }) {
        $0 == .max
      }
      #expect(errand.value(forKey: "unsigned16") as? Int == 65_535)
      try keeps(errand, { $0.setValue(.max, of: Errand.unsigned32) }, { $0.value(of: Errand.unsigned32) }) {
        $0 == .max
      }
      #expect(errand.value(forKey: "unsigned32") as? Int == 4_294_967_295)
      try keeps(errand, { $0.setValue(.max, of: Errand.unsignedWord) }, { $0.value(of: Errand.unsignedWord) }) {
        $0 == .max
      }
      try keeps(errand, { $0.setValue(.min, of: Errand.word) }, { $0.value(of: Errand.word) }) { $0 == .min }
      #expect(errand.value(forKey: "unsigned") as? Int == .min)
    }
  }

  @Test func enumerationsByTheirRawValue() throws {
    try Errand.inContext { context in
      let errand = Errand(context: context)
      #expect(errand.value(of: Errand.phase) == .planned && errand.value(of: Errand.colour) == .green, "default values")
      #expect(
        errand.value(of: Errand.maybePhase) == nil && errand.value(of: Errand.maybeColour) == nil
          && errand.value(of: Errand.rights) == [])
      try keeps(errand, { $0.setValue(.done, of: Errand.phase) }, { $0.value(of: Errand.phase) }) { $0 == .done }
      try keeps(errand, { $0.setValue(.running, of: Errand.maybePhase) }, { $0.value(of: Errand.maybePhase) }) {
        $0 == .running
      }
      try keeps(errand, { $0.setValue(.red, of: Errand.colour) }, { $0.value(of: Errand.colour) }) { $0 == .red }
      try keeps(errand, { $0.setValue(.red, of: Errand.maybeColour) }, { $0.value(of: Errand.maybeColour) }) {
        $0 == .red
      }
      try keeps(errand, { $0.setValue(nil, of: Errand.maybeColour) }, { $0.value(of: Errand.maybeColour) }) {
        $0 == nil
      }
      try keeps(errand, { $0.setValue([.read, .write], of: Errand.rights) }, { $0.value(of: Errand.rights) }) {
        $0 == [.read, .write]
      }
      #expect(errand.value(forKey: "phase") as? Int == 3 && errand.value(forKey: "colour") as? String == "red")
    }
  }

  @Test func aRawValueThatAnEnumerationDoesNotKnowReadsAsTheDefaultValueOrNil() throws {
    try Errand.inContext { context in
      let errand = Errand(context: context)
      errand.setValue(7, forKey: "phase")
      errand.setValue(7, forKey: "maybePhase")
      #expect(errand.value(of: Errand.phase) == .planned && errand.value(of: Errand.maybePhase) == nil)
      #expect(errand.value(forKey: "phase") as? Int == 7, "reading changes nothing")
    }
  }

  @Test func classesOfFoundation() throws {
    try Errand.inContext { context in
      let errand = Errand(context: context)
      #expect(
        errand.value(of: Errand.number) == 0 && errand.value(of: Errand.maybeNumber) == nil
          && errand.value(of: Errand.requiredText) == "")
      try keeps(errand, { $0.setValue(5, of: Errand.number) }, { $0.value(of: Errand.number) }) { $0 == 5 }
      try keeps(errand, { $0.setValue(2.5, of: Errand.maybeNumber) }, { $0.value(of: Errand.maybeNumber) }) {
        $0 == 2.5
      }
      // A number of another kind reads as a decimal one, too.
      try keeps(errand, { $0.setValue(6, of: Errand.decimalCount) }, { $0.value(of: Errand.decimalCount) }) { $0 == 6 }
      #expect(errand.value(of: Errand.maybeDecimalCount) == 6 && errand.value(of: Errand.number) == 6)
      let price = NSDecimalNumber(string: "12.30")
      try keeps(errand, { $0.setValue(price, of: Errand.price) }, { $0.value(of: Errand.price) }) { $0 == price }
      let date = NSDate(timeIntervalSinceReferenceDate: 12)
      try keeps(errand, { $0.setValue(date, of: Errand.date) }, { $0.value(of: Errand.date) }) { $0 == date }
      try keeps(errand, { $0.setValue("é", of: Errand.text) }, { $0.value(of: Errand.text) }) { $0 == "é" }
      try keeps(errand, { $0.setValue(NSData(data: Data([1, 2])), of: Errand.bytes) }, { $0.value(of: Errand.bytes) }) {
        $0?.length == 2
      }
      let id = NSUUID()
      try keeps(errand, { $0.setValue(id, of: Errand.id) }, { $0.value(of: Errand.id) }) { $0 == id }
      let link = NSURL(string: "https://example.org/a")
      try keeps(errand, { $0.setValue(link, of: Errand.link) }, { $0.value(of: Errand.link) }) {
        $0?.absoluteString == "https://example.org/a"
      }
      try keeps(errand, { $0.setValue(nil, of: Errand.link) }, { $0.value(of: Errand.link) }) { $0 == nil }
    }
  }

  @Test func valuesOfTransformables() throws {
    try Errand.inContext { context in
      let errand = Errand(context: context)
      #expect(
        errand.value(of: Errand.words) == [] && errand.value(of: Errand.maybeWords) == nil
          && errand.value(of: Errand.counts) == [:])
      try keeps(errand, { $0.setValue(["a", "b"], of: Errand.words) }, { $0.value(of: Errand.words) }) {
        $0 == ["a", "b"]
      }
      #expect(
        errand.value(of: Errand.maybeWords) == ["a", "b"]
          && errand.value(of: Errand.wordsAsArray) == NSArray(array: ["a", "b"]))
      try keeps(errand, { $0.setValue(["a": 1], of: Errand.counts) }, { $0.value(of: Errand.counts) }) {
        $0 == ["a": 1]
      }
      errand.setValue([:], of: Errand.counts)
      #expect(errand.value(of: Errand.dictionary) == NSDictionary())
      let dictionary = NSDictionary(dictionary: ["b": 2, "c": NSArray(array: ["d"])])
      try keeps(errand, { $0.setValue(dictionary, of: Errand.dictionary) }, { $0.value(of: Errand.dictionary) }) {
        $0 == dictionary
      }
      try keeps(errand, { $0.setValue(nil, of: Errand.maybeDictionary) }, { $0.value(of: Errand.maybeDictionary) }) {
        $0 == nil
      }
      #expect(errand.value(of: Errand.dictionary).count == 0 && errand.value(of: Errand.counts) == [:])
      try keeps(errand, { $0.setValue(["e": 1], of: Errand.maybeDictionary) }, { $0.value(of: Errand.maybeDictionary) })
      { $0 == ["e": 1] }
      #expect(errand.value(of: Errand.counts) == ["e": 1])
      try keeps(errand, { $0.setValue(Label("x"), of: Errand.label) }, { $0.value(of: Errand.label) }) {
        $0?.text == "x"
      }
      #expect(errand.requiredLabel.text == "x" && (errand.value(of: Errand.anything) as? Label)?.text == "x")
      errand.setValue([], of: Errand.words)
      errand.setValue(NSSet(object: "a"), forKey: "words")
      #expect(errand.value(of: Errand.maybeWords) == nil, "a set is no array: reported, and nil")
    }
  }

  @Test func relationships() throws {
    try Errand.inContext { context in
      let (errand, owner) = (Errand(context: context), Owner(context: context))
      #expect(
        owner.value(of: Owner.errands) == [] && owner.value(of: Owner.queue) == []
          && owner.value(of: Owner.requiredSet) == NSSet())
      #expect(owner.value(of: Owner.requiredQueue).count == 0)
      errand.setValue(owner, of: Errand.owner)
      #expect(
        errand.owner === owner && owner.value(of: Owner.errands) == [errand]
          && owner.value(of: Owner.errandsAsSet) == NSSet(object: errand)
      )
      owner.setValue(nil, of: Owner.errands)
      #expect(owner.value(of: Owner.errands) == [] && errand.value(of: Errand.maybeOwner) == nil)
      owner.setValue(NSSet(object: errand), of: Owner.errandsAsSet)
      #expect(errand.owner === owner)
      owner.setValue([errand], of: Owner.queue)
      #expect(owner.value(of: Owner.queueAsOrderedSet) == NSOrderedSet(object: errand))
      owner.setValue(nil, of: Owner.queueAsOrderedSet)
      #expect(owner.value(of: Owner.queue) == [])
      owner.setValue(NSOrderedSet(object: errand), of: Owner.requiredQueue)
      try context.save()
      context.refreshAllObjects()
      #expect(
        owner.value(of: Owner.errands) == [errand] && owner.value(of: Owner.queue) == [errand] && errand.owner === owner
      )
    }
  }

  @Test func fetchedProperties() throws {
    try Errand.inContext { context in
      let owners = ["a", "b", "a"].map { name in
        let owner = Owner(context: context)
        owner.setValue(name, of: Owner.name)
        return owner
      }
      try context.save()
      context.refreshAllObjects()
      #expect(
        Set(owners[0].value(of: Owner.namesakes)) == [owners[0], owners[2]]
          && owners[1].value(of: Owner.namesakes) == [owners[1]])
      #expect(
        owners[2].value(of: Owner.maybeNamesakes)?.count == 2 && owners[2].value(of: Owner.namesakesAsArray)?.count == 2
      )
    }
  }

  /// https://developer.apple.com/documentation/objectivec/nsobject-swift.class/mutablesetvalue(forkeypath:)
  @Test func viewsOfRelationshipsByKeyPath() async throws {
    try Errand.inContext { context in
      let (errand, owner, other) = (Errand(context: context), Owner(context: context), Errand(context: context))
      errand.setValue(owner, of: Errand.owner)
      errand.mutableSetValue(forKeyPath: "owner.errands").add(other)
      errand.mutableOrderedSetValue(forKeyPath: "owner.queue").add(other)
      owner.mutableSetValue(forKeyPath: "errands").remove(errand)
      #expect(
        owner.value(of: Owner.errands) == [other] && owner.value(of: Owner.queue) == [other]
          && other.value(of: Errand.maybeOwner) === owner)
      #expect(errand.value(of: Errand.maybeOwner) == nil)
    }
    await #expect(processExitsWith: .failure) {
      try Errand.inContext { _ = Errand(context: $0).mutableSetValue(forKeyPath: "owner.errands") }
    }
  }

  @Test func keyPathsOfAllOfThemHaveNames() throws {
    // For a class that no model in use has, and for one in use.
    for _ in 0..<2 {
      #expect((\Errand.phase)._kvcKeyPathString == "phase" && (\Errand.colour)._kvcKeyPathString == "colour")
      #expect((\Errand.requiredLabel)._kvcKeyPathString == "label")
      #expect((\Errand.owner)._kvcKeyPathString == "owner" && (\Errand.owner.name)._kvcKeyPathString == "owner.name")
      #expect((\Errand.words)._kvcKeyPathString == "words")
      try Errand.inContext { _ in }
    }
  }

  @Test func whatHasNoValueStopsTheProgram() async {
    await #expect(processExitsWith: .failure) {
      try Errand.inContext { _ = Errand(context: $0).value(of: Errand.owner) }
    }
    await #expect(processExitsWith: .failure) {
      try Errand.inContext { _ = Errand(context: $0).value(of: Errand.requiredLabel) }
    }
    await #expect(processExitsWith: .failure) {
      try Errand.inContext { _ = Errand(context: $0).value(of: ManagedProperty<Phase>("rights")) }
    }
    // The attribute is a string.
    await #expect(processExitsWith: .failure) {
      try Errand.inContext { _ = Errand(context: $0).value(of: ManagedProperty<Phase?>("colour")) }
    }
  }
}
