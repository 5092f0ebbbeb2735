import Foundation
import StoreSchema

/// A backend with the checks that every store is opened through. It refuses calls that need a capability which the
/// backend lacks, so that no backend has to.
///
/// A missing capability that the engine makes up for (``Capabilities/pushDown``, data kept outside rows) is not
/// refused.
public struct CheckedBackend: StoreBackend {
  private let base: any StoreBackend

  /// Checks what `base` is given.
  public init(_ base: any StoreBackend) { self.base = base }

  public var storeType: String { base.storeType }
  public var capabilities: Capabilities { base.capabilities }
  public var ownOptions: [StoreOptionDeclaration] { base.ownOptions }

  /// Throws `unsupported`, and leaves everything as it was, for a model or an option that the backend lacks the
  /// capability for. Throws `invalidArgument` for an option of the backend's own (``StoreBackend/ownOptions``) that it
  /// does not know, or that has a value of another type. So do the other calls of ``StoreBackend`` with options.
  public func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    try requireCapability(for: schema, options)
    try options.checkOwn(of: base)
    return CheckedStore(try base.open(at: url, schema: schema, options: options))
  }

  /// Throws `unsupported` for a model or an option that the backend lacks the capability for.
  public func requireCapability(for schema: Schema, _ options: StoreOptions) throws(StoreError) {
    if !capabilities.contains(.derivedAttributes) {
      for entity in schema.storedEntities {
        guard let derived = entity.attributes.first(where: { $0.derivation != nil }) else { continue }
        throw refusal("computes no derived attributes", ["attribute": "\(entity.name).\(derived.name)"])
      }
    }
    if !capabilities.contains(.uniqueness),
      let entity = schema.storedEntities.first(where: { !$0.uniquenessConstraints.isEmpty })
    {
      throw refusal("enforces no uniqueness constraints", ["entity": entity.name])
    }
    if options.isReadOnly && !capabilities.contains(.readOnlyOpen) { throw refusal("is never opened read-only") }
    if options.tracksHistory && !capabilities.contains(.history) { throw refusal("records no history") }
  }

  private func refusal(_ reason: String, _ context: [String: String] = [:]) -> StoreError {
    StoreError(
      .unsupported, "A store of type \(storeType) \(reason); use another type, or do without.", context: context)
  }

  public func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
    try options.checkOwn(of: base)
    return try base.metadata(at: url, options: options)
  }

  /// Throws `invalidArgument`, and changes nothing, where the metadata is not of this store.
  public func setMetadata(_ metadata: StoreMetadata, at url: URL, options: StoreOptions) throws(StoreError) {
    let known = try self.metadata(at: url, options: options)
    guard metadata.identifier == known.identifier, metadata.storeType == known.storeType,
      metadata.versionHashes == known.versionHashes
    else {
      throw StoreError(
        .invalidArgument, "The type, UUID and version hashes of a store cannot be set. Set other metadata only.")
    }
    try base.setMetadata(metadata, at: url, options: options)
  }

  /// The capability of the backend itself.
  public func capability<Capability>(_ type: Capability.Type) -> Capability? { base.capability(type) }

  public func destroy(at url: URL, options: StoreOptions) throws(StoreError) {
    try options.checkOwn(of: base)
    try base.destroy(at: url, options: options)
  }

  public func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {
    try options.checkOwn(of: base)
    try base.replace(at: destination, with: source, options: options)
  }
}

/// An opened store that checks each change set before the store gets it, and each receipt that the store returns.
///
/// In a forked copy of the process that opened the store, it throws `closed` and leaves the parent's open files alone.
final class CheckedStore: Store {
  private let base: any Store
  let schema: Schema
  private let process = ProcessCopy.current

  init(_ base: any Store) {
    self.base = base
    schema = base.schema
  }

  var identifier: String { base.identifier }
  var capabilities: Capabilities { base.capabilities }
  var isReadOnly: Bool { base.isReadOnly }
  var metadata: StoreMetadata { base.metadata }
  var hasHistory: Bool { base.hasHistory }

  func snapshot() throws(StoreError) -> any StoreSnapshot {
    try requireProcess()
    return try base.snapshot()
  }

  private func requireProcess() throws(StoreError) {
    if ProcessCopy.current == process { return }
    throw StoreError(.closed, "The store was opened before this process was copied from another; open it again.")
  }

  func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
    try requireProcess()
    try ChangeSetCheck(schema, changes).run()
    if let metadata = changes.metadata, metadata.identifier != identifier {
      throw StoreError(.invalidArgument, "The UUID of a store cannot be set. Keep it unchanged in the metadata.")
    }
    let result = try base.commit(changes)
    guard case .committed(let receipt) = result else { return result }
    guard receipt.keys.count == changes.insertions.count, receipt.keys.allSatisfy({ $0 > 0 }) else {
      throw StoreError(
        .invalidArgument,
        "The store has returned \(receipt.keys.count) keys for \(changes.insertions.count) new objects, which is a mistake of the store.",
        outcome: .outcomeUnknown)
    }
    return result
  }

  func rehearse(_ changes: ChangeSet) throws(StoreError) -> [Conflict] {
    try requireProcess()
    try ChangeSetCheck(schema, changes).run()
    return try base.rehearse(changes)
  }

  func allocateKeys(root: Int, count: Int) throws(StoreError) -> Range<Int64> {
    try requireProcess()
    guard schema.entities.indices.contains(root), schema.entities[root].root == root, schema.stores(root), count >= 0
    else {
      throw StoreError(
        .invalidArgument,
        "Keys can be allocated only for root entities of the store, and their number must not be negative.")
    }
    return try base.allocateKeys(root: root, count: count)
  }

  func externalData(_ name: Data) throws(StoreError) -> Data { try base.externalData(name) }

  /// A capability of the store itself, whatever it is. Throws `closed` in a forked copy of the process.
  func capability<Capability>(_ type: Capability.Type) throws(StoreError) -> Capability? {
    try requireProcess()
    return try base.capability(type)
  }

  func close() throws(StoreError) { if ProcessCopy.current == process { try base.close() } }
}

/// Whether a change set is valid in a schema. A store may rely on these checks.
private struct ChangeSetCheck {
  private let schema: Schema
  private let changes: ChangeSet

  init(_ schema: Schema, _ changes: ChangeSet) {
    self.schema = schema
    self.changes = changes
  }

  func run() throws(StoreError) {
    // Rows of one entity are adjacent: the entity is looked up once.
    var (entity, slotCount, emptySlots) = (Int?.none, -1, [Int]())
    func checkRow(_ row: borrowing RowDraft) throws(StoreError) {
      if row.entity != entity {
        entity = row.entity
        let found = try self.entity(row.entity)
        (slotCount, emptySlots) = (found.slots.count, schema.emptySlots(of: found))
      }
      if row.slotCount != slotCount { throw fault("a row has \(row.slotCount) slots, its entity has \(slotCount)") }
      for slot in emptySlots where !row.isNull(slot) { throw fault("a link leads to an entity that is not stored") }
    }
    for index in changes.insertions.indices { try checkRow(changes.insertions[index]) }
    for index in changes.updates.indices {
      try checkRow(changes.updates[index].row)
      if changes.updates[index].row.key <= 0 { throw fault("an updated object has no key") }
    }
    for list in [changes.deletions, changes.checks] {
      for index in list.indices {
        let reference = list[index].reference
        if reference.entity != entity {
          entity = reference.entity
          _ = try self.entity(reference.entity)
        }
        if reference.key <= 0 { throw fault("a deleted or checked object has no key") }
      }
    }
    for index in changes.links.indices { try checkLinks(index) }
    try checkDestinations()
  }

  private func checkLinks(_ index: Int) throws(StoreError) {
    let (entity, relationship) = (changes.links.entity(at: index), changes.links.relationship(at: index))
    if !schema.entities.indices.contains(entity) { throw noEntity(entity) }
    let relationships = schema.entities[entity].relationships
    guard relationships.indices.contains(relationship), relationships[relationship].isToMany else {
      throw fault("links are changed of what is no to-many relationship")
    }
    if !schema.isWhole, !schema.stores(relationships[relationship]),
      changes.links.adds(at: index) || changes.links[index].order?.isEmpty == false
    {
      throw fault("a link leads to an entity that is not stored")
    }
    try checkKey(changes.links.owner(at: index))
  }

  private func checkDestinations() throws(StoreError) {
    let (entities, insertions) = (schema.entities.count, Int64(changes.insertions.count))
    try changes.links.forEachDestination { (destination) throws(StoreError) in
      if UInt(bitPattern: destination.entity) >= UInt(entities) { throw noEntity(destination.entity) }
      if destination.key <= 0 && (destination.key == 0 || ~destination.key >= insertions) {
        throw fault("a link leads to no object")
      }
    }
  }

  /// The entity of a row.
  private func entity(_ index: Int) throws(StoreError) -> Entity {
    guard schema.entities.indices.contains(index) else { throw noEntity(index) }
    let entity = schema.entities[index]
    if entity.isAbstract { throw fault("the entity \(entity.name) is abstract") }
    if !schema.stores(index) { throw fault("the entity \(entity.name) is not stored here") }
    return entity
  }

  /// A key, or the number of an insertion as `-(n + 1)`.
  private func checkKey(_ key: Int64) throws(StoreError) {
    if key > 0 || (key < 0 && -(key + 1) < Int64(changes.insertions.count)) { return }
    throw fault("a link leads to no object")
  }

  private func noEntity(_ index: Int) -> StoreError { fault("there is no entity \(index)") }

  private func fault(_ what: String) -> StoreError {
    StoreError(.invalidArgument, "The change set does not fit the model: \(what). Nothing was written.")
  }
}
