import Foundation
import PropertyLists
import StoreQuery

/// Reads compiled models: `.mom` files and the model that a SQLite store embeds, which is the same archive.
public enum CompiledModelReader {
  /// Reads the keyed archive `data`. An embedded model must be decompressed before.
  ///
  /// Throws `notAModel` for another file, `malformed` for a damaged archive, and for one whose shared objects expand to
  /// more than is allowed, and `unsupported` for classes of properties, predicates or values that are not known.
  public static func read(_ data: Data) throws(ModelFileError) -> ModelRecord {
    let archive: KeyedArchiveReader
    do {
      archive = try KeyedArchiveReader(data)
    } catch {
      throw ModelFileError(error)
    }
    guard let root = archive.root(), root.isKind(of: "NSManagedObjectModel") else {
      throw ModelFileError(.notAModel, "the archive holds no managed object model")
    }
    var decoding = CompiledDecoding(objects: archive.objects.count, bytes: data.count)
    let record = try decoding.model(root)
    try record.requireInheritance()
    return record
  }

  /// Reads a `.mom` file. Throws as ``read(_:)`` does, and `cannotRead` for a missing file. The error has the URL.
  public static func read(file: URL) throws(ModelFileError) -> ModelRecord {
    do {
      return try read(file.contents())
    } catch {
      throw error.located(at: file)
    }
  }
}

/// The decoding of one archive.
struct CompiledDecoding {
  /// The number of records that may still be decoded. References can name one object any number of times, so without
  /// this limit a small archive could describe an enormous model.
  private var left: Int
  /// The number of bytes that copies of archived objects may still take, for the same reason.
  private var bytesLeft: Int

  init(objects: Int, bytes: Int) {
    left = 1000 + 8 * objects
    bytesLeft = 4096 + 4 * bytes
  }

  mutating func spend(_ count: Int = 1, bytes: Int = 0) throws(ModelFileError) {
    left -= count
    bytesLeft -= bytes
    guard left > 0, bytesLeft > 0 else {
      throw ModelFileError(.malformed, "the archive's shared objects expand to more than is allowed")
    }
  }

  mutating func model(_ root: ArchivedObject) throws(ModelFileError) -> ModelRecord {
    var objects: [String: ArchivedObject] = [:]
    for entity in root["NSEntities"]?.entries?.map(\.value) ?? [] {
      objects[try name(of: entity, "NSEntityName")] = entity
    }
    var hierarchy = EntityHierarchy()
    for (name, object) in objects {
      let properties = object["NSProperties"]?.stringEntries ?? [:]
      try spend(properties.count)
      hierarchy.add(name, parent: object["NSSuperentity"]?["NSEntityName"]?.string, properties: properties)
    }
    var entities: [EntityRecord] = []
    for (name, object) in objects.sorted(by: { $0.key.precedesInBytes($1.key) }) {
      entities.append(try entity(object, named: name, in: hierarchy))
    }
    var templates: [FetchRequestRecord] = []
    for (name, request) in root["NSFetchRequestTemplates"]?.stringEntries ?? [:] {
      templates.append(try fetchRequest(request, name: name))
    }
    var configurations: [String: [String]] = [:]
    for (name, members) in root["NSConfigurations"]?.stringEntries ?? [:] {
      var names: [String] = []
      for member in members.array ?? [] {
        try spend()
        if let name = member["NSEntityName"]?.string ?? member.string { names.append(name) }
      }
      configurations[name] = names.sorted { $0.precedesInBytes($1) }
    }
    let identifiers = root["NSVersionIdentifiers"]?.array?.compactMap(\.string) ?? []
    dropCopies(&entities)
    return ModelRecord(
      versionIdentifiers: identifiers.sorted { $0.precedesInBytes($1) }, entities: entities,
      fetchRequestTemplates: templates.sorted { ($0.name ?? "").precedesInBytes($1.name ?? "") },
      configurations: configurations)
  }

  func name(of object: ArchivedObject, _ key: String) throws(ModelFileError) -> String {
    guard let name = object[key]?.string else {
      throw ModelFileError(.malformed, "an \(object.className ?? "object") has no \(key)")
    }
    return name
  }

  private mutating func entity(
    _ object: ArchivedObject, named name: String, in hierarchy: EntityHierarchy
  ) throws(ModelFileError) -> EntityRecord {
    try spend()
    let className = object["NSClassNameForEntity"]?.string
    var properties: [PropertyRecord] = []
    for (key, property) in object["NSProperties"]?.stringEntries ?? [:] {
      try spend()
      if let inherited = hierarchy.inherited(by: name, key), property.repeats(inherited) { continue }
      properties.append(try self.property(property))
    }
    var indexes: [FetchIndexRecord] = []
    for index in object["NSFetchIndexDescriptions"]?.array ?? [] { indexes.append(try fetchIndex(index)) }
    return EntityRecord(
      name: name, className: className == "NSManagedObject" || className == "" ? nil : className,
      isAbstract: object["NSIsAbstract"]?.bool ?? false, superentity: object["NSSuperentity"]?["NSEntityName"]?.string,
      renamingIdentifier: object["NSRenamingIdentifier"]?.string,
      versionHashModifier: object["NSVersionHashModifier"]?.string, userInfo: try userInfo(object),
      uniquenessConstraints: try nameGroups(object["NSUniqueTuples"]), fetchIndexes: indexes,
      compoundIndexes: try nameGroups(object["NSCompoundIndexes"]),
      properties: properties.sorted { $0.name.precedesInBytes($1.name) })
  }

  /// Drops the properties that are equal to an inherited one. One that differs from it is defined anew.
  private func dropCopies(_ entities: inout [EntityRecord]) {
    var known: [String: (parent: String?, properties: [String: PropertyRecord])] = [:]
    for entity in entities {
      let properties = Dictionary(entity.properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
      known[entity.name] = (entity.superentity, properties)
    }
    func inherited(_ property: String, by entity: EntityRecord) -> PropertyRecord? {
      var (next, steps) = (entity.superentity, 0)
      // The chain of a malformed model may be a cycle.
      while let name = next, let parent = known[name], steps < 256 {
        if let found = parent.properties[property] { return found }
        (next, steps) = (parent.parent, steps + 1)
      }
      return nil
    }
    for index in entities.indices where entities[index].superentity != nil {
      let entity = entities[index]
      entities[index].properties.removeAll { inherited($0.name, by: entity) == $0 }
    }
  }

  /// The entries whose values are Foundation values; models cannot hold others, though archives could.
  mutating func userInfo(_ object: ArchivedObject) throws(ModelFileError) -> [String: PropertyList] {
    guard let entries = object["NSUserInfo"]?.stringEntries else { return [:] }
    for _ in entries { try spend() }
    return entries.compactMapValues { $0.propertyList(depth: 8, nodes: 1000) }
  }

  private mutating func nameGroups(_ groups: ArchivedObject?) throws(ModelFileError) -> [[String]] {
    var result: [[String]] = []
    for group in groups?.array ?? [] {
      var names: [String] = []
      for element in group.array ?? [] {
        try spend()
        // Some archives list the properties themselves.
        if let name = element.string ?? element["NSPropertyName"]?.string { names.append(name) }
      }
      result.append(names)
    }
    return result
  }

  private mutating func fetchIndex(_ object: ArchivedObject) throws(ModelFileError) -> FetchIndexRecord {
    var elements: [FetchIndexElementRecord] = []
    for element in object["NSIndexElements"]?.array ?? [] {
      try spend()
      elements.append(
        FetchIndexElementRecord(
          propertyName: element["NSPropertyName"]?.string,
          expression: try optionalExpression(element["NSExpression"]),
          type: try integer(element, "NSFetchIndexElementType"), isAscending: element["NSAscending"]?.bool ?? false))
    }
    return FetchIndexRecord(
      name: try name(of: object, "NSIndexName"), elements: elements,
      partialPredicate: try optionalPredicate(object["NSPartialIndexPredicate"]))
  }

  /// An integer that is 0 when absent and fits into 32 bits, as all of Core Data's numbers do.
  func integer(_ object: ArchivedObject, _ key: String) throws(ModelFileError) -> Int {
    let number = object[key]?.integer ?? 0
    guard let small = Int32(exactly: number) else {
      throw ModelFileError(.malformed, "\(key) is out of range: \(number)")
    }
    return Int(small)
  }
}

/// The archived properties that each entity declares or inherits, by name.
///
/// Embedded models repeat inherited properties in the subentities, as proxies or as full copies.
struct EntityHierarchy {
  private var parents: [String: String] = [:]
  private var properties: [String: [String: ArchivedObject]] = [:]

  mutating func add(_ name: String, parent: String?, properties: [String: ArchivedObject]) {
    parents[name] = parent
    self.properties[name] = properties
  }

  /// The property with this name of the nearest superentity that has one. Follows at most 256 superentities, because
  /// the chain of a malformed model may be a cycle.
  func inherited(by entity: String, _ property: String) -> ArchivedObject? {
    var next = parents[entity]
    var steps = 0
    while let parent = next, parent != entity, steps < 256 {
      if let found = properties[parent]?[property] { return found }
      next = parents[parent]
      steps += 1
    }
    return nil
  }
}

extension ArchivedObject {
  /// Whether this is a proxy of an inherited property, or a copy whose fields refer to the same objects. So a model
  /// with many copies need not be decoded many times.
  fileprivate func repeats(_ inherited: ArchivedObject) -> Bool {
    if value["NSUnderlyingProperty"] != nil { return true }
    guard var own = value.dictionaryValue,
      let other = (inherited["NSUnderlyingProperty"] ?? inherited).value.dictionaryValue
    else { return false }
    own["NSEntity"] = other["NSEntity"]
    return own == other
  }
}
