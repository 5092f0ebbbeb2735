import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema

/// The readable part of a damaged store. A ``SalvagingBackend`` fills it, and ``make(at:from:options:progress:)`` makes
/// a sound store of it.
///
/// Objects may come in any order, twice, and with references to missing objects. Content that contradicts other content
/// is left out, and each loss is reported. All objects are in memory at once.
///
/// Used by one caller at a time.
public final class Salvage {
  /// The model by which the store is read.
  public let schema: Schema
  /// Entries of the application in the store's metadata, where they could be read.
  public var metadata: [String: PropertyList] = [:]
  /// Gives large data that lies outside the rows; see ``Store/externalData(_:)``.
  public var externalData: ((_ name: Data) throws(StoreError) -> Data)?
  /// How many losses were reported.
  public private(set) var lossCount = 0

  let shape: StoreShape
  /// By entity hierarchy and key.
  private(set) var rows: [[Int64: Row]]
  /// By link table: the known destinations of each owner, in their order where the relationship is ordered.
  private(set) var lists: [[Int64: [Int64]]]
  private let lost: (StoreFinding) -> Void

  /// Calls `lost` with each item that cannot be read, or that must be left out.
  public init(_ schema: Schema, lost: @escaping (StoreFinding) -> Void) {
    self.schema = schema
    self.lost = lost
    shape = StoreShape(schema)
    rows = Array(repeating: [:], count: shape.hierarchyCount)
    lists = Array(repeating: [:], count: shape.toManys.count)
  }

  /// The number of objects that were added.
  public var objectCount: Int { rows.reduce(0) { $0 + $1.count } }

  // MARK: Input from backends

  /// Forgets all objects and links, because they are read once more.
  public func beginAnew() {
    for hierarchy in rows.indices { rows[hierarchy] = [:] }
    for table in lists.indices { lists[table] = [:] }
  }

  /// Takes the metadata of the store. Metadata of another model is reported as a loss and not thrown, because it may be
  /// damaged.
  public func take(_ metadata: () throws(StoreError) -> StoreMetadata) {
    do throws(StoreError) {
      let found = try metadata()
      self.metadata = found.additional
      if schema.compatibility(withVersionHashes: found.versionHashes) == .different {
        lose(
          StoreFinding(
            .metadata, "The store says that it was made with another model: values may be missing, or wrongly named."))
      }
    } catch { lose(StoreFinding(.metadata, error.message)) }
  }

  /// Whether damage may have caused an error: damage of the file or the disk, or an impossible size
  /// (`invalidArgument`).
  public static func isDamage(_ error: StoreError) -> Bool {
    [.corrupt, .notAStore, .newerFormat, .io, .invalidArgument].contains(error.code)
  }

  /// Reports that something cannot be read, or must be left out.
  public func lose(_ finding: StoreFinding) {
    lossCount += 1
    lost(finding)
  }

  /// Adds an object. To-one slots hold keys, whether such an object exists or not. The slots for the entities of
  /// destinations are ignored.
  public func add(_ row: Row) {
    let name = schema.entities[row.entity].name
    if row.key <= 0 || row.key == .max {
      return lose(StoreFinding(.key, "The key \(row.key) is none.", entity: name))
    }
    if rows[shape.hierarchies[row.entity]].updateValue(row, forKey: row.key) != nil {
      lose(StoreFinding(.key, "Two objects have the key \(row.key); the later one counts.", entity: name, key: row.key))
    }
  }

  /// Replaces an object that was added, where there is one of exactly this entity with the key.
  public func change(_ entity: Entity, _ key: Int64, _ body: (Row) -> Row) {
    let hierarchy = shape.hierarchies[entity.index]
    if let row = rows[hierarchy][key], row.entity == entity.index { rows[hierarchy][key] = body(row) }
  }

  /// Replaces all objects of exactly this entity that were added.
  public func changeAll(_ entity: Entity, _ body: (Row) -> Row) {
    let hierarchy = shape.hierarchies[entity.index]
    rows[hierarchy] = rows[hierarchy].mapValues { $0.entity == entity.index ? body($0) : $0 }
  }

  /// Adds the destinations of a to-many relationship of one object, in their order where it is ordered.
  ///
  /// Destinations that follow from to-one relationships need not be added. One side of a relationship is enough.
  public func link(_ relationship: Relationship, of owner: Int64, to destinations: some Sequence<Int64>) {
    if let table = shape.table(of: relationship) { link(table, of: owner, to: destinations) }
  }

  /// The same by the number of the relationship's link table.
  public func link(_ table: Int, of owner: Int64, to destinations: some Sequence<Int64>) {
    lists[table][owner, default: []] += destinations
  }

  // MARK: Content

  /// The object that a relationship leads to; nil where there is none, or one that the relationship cannot lead to.
  func destination(_ relationship: Relationship, _ key: Int64) -> ObjectReference? {
    guard let row = rows[shape.hierarchies[relationship.destination]][key],
      relationship.destinations.contains(row.entity)
    else { return nil }
    return row.reference
  }

  /// Whether the to-one inverse of a relationship leads back. If the inverse is null, or leads to a missing object
  /// (which is reported), it is set to lead back.
  func leadsBack(_ relationship: Relationship, from key: Int64, to destination: ObjectReference) -> Bool {
    guard let inverse = relationship.linkedInverse, let slot = inverse.slot else { return true }
    let hierarchy = shape.hierarchies[destination.entity]
    guard let row = rows[hierarchy][destination.key] else { return false }
    if !row.isNull(slot) {
      if row.int(slot) == key { return true }
      if self.destination(inverse, row.int(slot)) != nil { return false }
      lose(
        StoreFinding(
          .reference, "It leads to the object \(row.int(slot)), which is not there; the object \(key) leads to it.",
          entity: schema.entities[row.entity].name, key: row.key, property: inverse.name))
    }
    rows[hierarchy][destination.key] = row.replacing(slot, by: .int(key), schema.entities[row.entity].slots)
    return true
  }

  /// Whether there is an object with the relationship.
  func hasOwner(_ relationship: Relationship, _ key: Int64) -> Bool {
    let entity = schema.entities[relationship.declaringEntity]
    return rows[shape.hierarchies[entity.index]][key].map { entity.subtree.contains($0.entity) } ?? false
  }
}

/// A backend that can read damaged stores. It declares ``Capabilities/salvage``.
public protocol SalvagingBackend: Sendable {
  /// Adds the readable content of the store at `url`, damaged or not, to `salvage`, by the salvage's schema. Leaves no
  /// trace.
  ///
  /// Damaged values that look sound count as sound, unless they have checksums. Throws where nothing can be read at
  /// all.
  func salvage(at url: URL, into salvage: Salvage, options: StoreOptions) throws(StoreError)
}

extension Salvage {
  /// Adds the readable content of the store at `url`, damaged or not, by this salvage's schema. Leaves no trace.
  ///
  /// Throws where nothing can be read at all. Throws `unsupported` where the backend is no ``SalvagingBackend``.
  public func read(_ url: URL, of backend: any StoreBackend, options: StoreOptions) throws(StoreError) {
    guard let salvaging = backend.capability((any SalvagingBackend).self) else {
      throw StoreError(
        .unsupported, "Damaged stores of type \(backend.storeType) cannot be read. Use a backup.")
    }
    try options.checkOwn(of: backend)
    try salvaging.salvage(at: url, into: self, options: options)
  }
}

extension StoreBackend {
  /// Makes a store at `url` of what was salvaged; see ``make(at:copying:options:replaces:progress:)``.
  public func make(
    at url: URL, from salvage: Salvage, options: StoreOptions, progress: () -> Void = {}
  ) throws(StoreError) {
    try make(at: url, schema: salvage.schema, options: options, replaces: false) { (store) throws(StoreError) in
      try SalvageWriter(salvage, to: store).run(progress)
    }
  }
}
