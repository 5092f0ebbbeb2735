import AtomicEngine
import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema
import StoreSupport

/// Reads the objects of the archive, node by node, into rows.
final class BinaryGraphReader {
  private let schema: Schema
  private let archive: KeyedArchiveBytes
  private let shapes: [BinaryShape]
  private let builder = RowBuilder()
  @exclusivity(unchecked) private var loader: AtomicGraphLoader
  private let nodeFields = KeyedFields([
    "NSPrimaryKey64", "NSEntityName", "NSAttributeValues", "NSRelatedNodes", "$class",
  ])
  /// The entity of the previous node, by the number of its name in the archive.
  private var named: (number: Int, shape: BinaryShape)?
  /// A hash table of relationships, by the number of their name in the archive.
  private var relationships: [(number: Int, entity: Int, relationship: Related)?]
  private var keys: [Int64] = []
  /// For a damaged archive: collects reports of unreadable objects and values. Nil for other archives.
  private let salvage: Salvage?

  /// A relationship with the slot or link table of its links.
  private struct Related {
    let name: String
    let slot: Int?
    let table: Int?
  }

  /// Reads the graph of an archive. `giveBack` gets ranges of bytes that are not needed any more. Returns nil if a
  /// released range was needed after all. Throws `corrupt` if the bytes are no archive of objects.
  static func graph(
    _ bytes: UnsafeRawBufferPointer, _ schema: Schema, _ numbering: AtomicNumbering, highestNumber: Int64,
    giveBack: ((Range<Int>) -> Void)?
  ) throws(StoreError) -> AtomicGraph? {
    var archive: KeyedArchiveBytes?
    do {
      let bytes = try KeyedArchiveBytes(bytes, giveBack: giveBack)
      archive = bytes
      let reader = BinaryGraphReader(schema, bytes, AtomicGraphLoader(schema, numbering))
      try reader.readNodes()
      return try reader.loader.finish(highestNumber: highestNumber)
    } catch {
      if archive?.wasGivenBackTooEarly == true { return nil }
      throw error as? StoreError
        ?? StoreError(.corrupt, "A part of the store is not a keyed archive.", cause: "\(error)")
    }
  }

  /// Adds the objects of a damaged archive to `salvage`. Throws if none can be found.
  static func salvage(
    _ bytes: UnsafeRawBufferPointer, _ numbering: AtomicNumbering, into salvage: Salvage
  ) throws(StoreError) {
    do {
      let archive = try KeyedArchiveBytes(bytes, giveBack: nil)
      let reader = BinaryGraphReader(salvage.schema, archive, AtomicGraphLoader(salvage, numbering), salvage)
      try reader.readNodes()
    } catch {
      throw error as? StoreError
        ?? StoreError(
          .corrupt, "The store's list of objects is damaged, so that no object can be recovered. Use a backup.",
          cause: "\(error)")
    }
  }

  private init(
    _ schema: Schema, _ archive: KeyedArchiveBytes, _ loader: AtomicGraphLoader, _ salvage: Salvage? = nil
  ) {
    self.schema = schema
    self.archive = archive
    self.salvage = salvage
    self.loader = loader
    shapes = schema.entities.map(BinaryShape.init)
    relationships = Array(repeating: nil, count: 64)
  }

  private func readNodes() throws {
    guard let root = try archive.root("mapData"), let (keys, nodes) = try archive.entries(of: root) else {
      throw StoreError(.corrupt, "The store has no dictionary of objects.")
    }
    if keys.count != nodes.count {
      try refuse("The dictionary of its objects has \(keys.count) keys and \(nodes.count) values.")
    }
    // Reads from the last node to the first. An object refers to objects before it, or to objects that were read
    // already, so the bytes behind it can be released.
    for index in (0..<min(keys.count, nodes.count)).reversed() {
      do {
        guard let key = try archive.item(at: archive.location(index, in: keys)),
          let node = try archive.item(at: archive.location(index, in: nodes))
        else { throw StoreError(.corrupt, "An object is missing in the store's dictionary of objects.") }
        try read(node, key)
        archive.giveBack(from: node, but: [keys, nodes])
      } catch {
        guard let salvage else { throw error }
        salvage.lose(StoreFinding(.integrity, "An object cannot be read: \(error)"))
      }
    }
  }

  /// Reports a fault: throws for a store that is opened, and adds the fault to the report of a salvage.
  private func refuse(_ text: String) throws {
    guard let salvage else { throw StoreError(.corrupt, text) }
    salvage.lose(StoreFinding(.integrity, text))
  }

  private func read(_ node: KeyedArchiveBytes.Item, _ key: KeyedArchiveBytes.Item) throws {
    guard let key = try archive.integer(key), try archive.look(at: node, nodeFields),
      try archive.isMapNode(node, 4, nodeFields),
      let number = try archive.field(0, of: node, nodeFields), try archive.integer(number) == key
    else { throw StoreError(.corrupt, "An object of the store is not a node with its own key.") }
    try add(node, key)
  }

  private func add(_ node: KeyedArchiveBytes.Item, _ key: Int64) throws {
    guard let shape = try shape(of: node) else {
      throw StoreError(.corrupt, "The object \(key) has an entity that the model does not have.")
    }
    let related = try archive.field(3, of: node, nodeFields)
    guard let list = try archive.field(2, of: node, nodeFields), let values = try archive.elements(of: list),
      values.count == shape.columns.count
    else { throw Self.wrongCount(key) }
    builder.begin(slots: shape.slotCount)
    let items = try archive.items(of: values)
    for index in items.indices {
      guard let item = items[index] else { throw Self.wrongCount(key) }
      if archive.isKnownNull(item) { continue }
      let (slot, kind) = shape.columns[index]
      // A null object is never read as a date or a UUID, so these kinds are tried first. Other kinds could take a null
      // object for a value, so it is ruled out first.
      let isOwnClass = kind == .date || kind == .uuid
      if !isOwnClass, try archive.isNullObject(item) { continue }
      if try set(slot, kind, item) { continue }
      if isOwnClass, try archive.isNullObject(item) { continue }
      let text = "The object \(key) has a value that cannot be one of its attribute's type."
      guard let salvage else { throw StoreError(.corrupt, text, context: ["entity": shape.entity.name]) }
      salvage.lose(StoreFinding(.value, text, entity: shape.entity.name, key: key))
    }
    if let related { try addLinks(related, shape.entity, key) }
    try loader.add(builder.finishCheckedDraft(key: key, entity: shape.entity, version: 1))
  }

  private static func wrongCount(_ key: Int64) -> StoreError {
    StoreError(.corrupt, "The object \(key) has another number of values than its entity has attributes.")
  }

  private func shape(of node: KeyedArchiveBytes.Item) throws -> BinaryShape? {
    guard let location = archive.location(1, of: node, nodeFields) else { return nil }
    let number = try archive.number(at: location)
    if let named, named.number == number { return named.shape }
    guard let item = try archive.item(at: location), let name = try archive.string(item),
      let entity = schema.entity(named: name), !entity.isAbstract, schema.stores(entity.index)
    else { return nil }
    named = (number, shapes[entity.index])
    return shapes[entity.index]
  }

  // MARK: Links

  private func addLinks(_ related: KeyedArchiveBytes.Item, _ entity: Entity, _ key: Int64) throws {
    guard let (names, lists) = try archive.entries(of: related), names.count == lists.count else {
      if try archive.isNullObject(related) { return }
      return try refuse("The relationships of the object \(key) are no dictionary.")
    }
    for index in 0..<names.count {
      do { try addLinks(archive.location(index, in: names), archive.location(index, in: lists), entity, key) } catch {
        guard let salvage else { throw error }
        salvage.lose(StoreFinding(.reference, "\(error)", entity: entity.name, key: key))
      }
    }
  }

  /// Adds the links of one relationship.
  private func addLinks(
    _ name: KeyedArchiveBytes.Location, _ list: KeyedArchiveBytes.Location, _ entity: Entity, _ key: Int64
  ) throws {
    guard let list = try archive.item(at: list), let relationship = try relationship(name, entity, key) else {
      throw StoreError(.corrupt, "A relationship of the object \(key) has no name or no list.")
    }
    // Taken out for the call: see decision 075.
    var keys = keys
    self.keys = []
    defer { self.keys = keys }
    keys.removeAll(keepingCapacity: true)
    var areKeys = false
    if let elements = try archive.elements(of: list) { areKeys = try archive.append(integersOf: elements, to: &keys) }
    if relationship.table == nil && keys.count > 1 { (areKeys, keys) = (false, []) }
    if !areKeys {
      let text = "The relationship \(relationship.name) of the object \(key) leads to what are no keys."
      guard let salvage else { throw StoreError(.corrupt, text) }
      // The elements that are keys are kept.
      salvage.lose(StoreFinding(.reference, text, entity: entity.name, key: key))
    }
    if let table = relationship.table {
      loader.link(table, of: key, to: keys)
    } else if let slot = relationship.slot, let key = keys.first {
      builder.setInt(slot, key)
    }
  }

  /// The relationship with the name at `location`, nil if there is no string.
  private func relationship(
    _ location: KeyedArchiveBytes.Location, _ entity: Entity, _ key: Int64
  ) throws -> Related? {
    let number = try archive.number(at: location)
    // Searches the next slots of the hash table if others are in use.
    var index = number & 63
    for _ in 0..<64 {
      guard let known = relationships[index] else { break }
      if known.number == number, known.entity == entity.index { return known.relationship }
      index = (index + 1) & 63
    }
    guard let item = try archive.item(at: location), let name = try archive.string(item) else { return nil }
    guard let relationship = entity.relationship(named: name) else {
      throw StoreError(.corrupt, "The object \(key) has the relationship \(name), which the model does not have.")
    }
    let related = Related(
      name: relationship.name, slot: relationship.slot, table: loader.linkTable(of: relationship))
    var known = relationships
    known[index] = (number, entity.index, related)
    relationships = known
    return related
  }

  // MARK: Values

  /// Sets the slot to a value. Returns false if the item is no value of this kind.
  private func set(_ slot: Int, _ kind: SlotKind, _ item: KeyedArchiveBytes.Item) throws -> Bool {
    switch kind {
    case .int16: return try set(slot, archive.integer(item), in: Int64(Int16.min)...Int64(Int16.max))
    case .int32: return try set(slot, archive.integer(item), in: Int64(Int32.min)...Int64(Int32.max))
    case .int64: return try set(slot, archive.integer(item), in: .min ... .max)
    case .bool: return try set(slot, archive.integer(item), in: 0...1)
    case .double, .float: return set(slot, try archive.double(item))
    case .date: return set(slot, try archive.date(item))
    case .string:
      if let text = try archive.asciiText(item) { return set(slot, text) }
      return set(slot, try archive.string(item).map(Value.string))
    case .uri:
      if let text = try archive.asciiURL(item) { return set(slot, text) }
      return set(slot, try archive.takeOut(item)?.urlString.map(Value.uri))
    case .uuid:
      guard let bytes = try archive.uuid(item) else { return false }
      return set(slot, bytes)
    case .data:
      if let bytes = try archive.plainData(item) { return set(slot, bytes) }
      return set(slot, try archive.takeOut(item)?.data.map(Value.data))
    case .externalData: return set(slot, try archive.takeOut(item)?.data.map { .data(Data([1]) + $0) })
    case .decimal: return set(slot, try archive.takeOut(item)?.decimal.flatMap { $0.isNaN ? nil : .decimal($0) })
    case .transformable:
      if let bytes = try archive.plainData(item) { return set(slot, bytes) }
      guard let object = try archive.takeOut(item) else { return false }
      return set(slot, .data(object.data ?? KeyedArchiveWriter.archive(copyOf: object)))
    case .reference, .referenceEntity: return false
    }
  }

  @inline(__always)
  private func set(_ slot: Int, _ number: Int64?, in range: ClosedRange<Int64>) -> Bool {
    guard let number, range.contains(number) else { return false }
    builder.setInt(slot, number)
    return true
  }

  @inline(__always)
  private func set(_ slot: Int, _ number: Double?) -> Bool {
    guard let number, !number.isNaN else { return false }
    builder.setDouble(slot, number)
    return true
  }

  @inline(__always)
  private func set(_ slot: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
    builder.setBytes(slot, bytes)
    return true
  }

  private func set(_ slot: Int, _ value: Value?) -> Bool {
    guard let value else { return false }
    builder.set(slot, value)
    return true
  }
}
