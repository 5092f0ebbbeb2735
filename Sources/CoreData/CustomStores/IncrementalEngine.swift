import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema
import StoreSupport
import Synchronization

/// Makes an ``NSIncrementalStore`` the engine of a store: reads ask it for objects one by one, and a commit sends it a
/// request.
///
/// Sendable, unchecked: the client's store is called as its documentation says, and the mutable state is guarded.
final class IncrementalEngine: Store, @unchecked Sendable {
  let schema: Schema
  let frozen: FrozenModel
  private unowned let store: NSIncrementalStore
  let references: StoreReferences
  /// See ``CustomStore/calls``.
  private let calls: NSRecursiveLock
  private let state: Mutex<State>

  private struct State {
    var metadata: StoreMetadata
    var commitNumber: UInt64 = 0
    /// The error that the client threw. Contexts throw it instead of the store error.
    var error: (any Error)?
  }

  /// The objects of the next commit. Set and used under the lock of the store's commits.
  var save = CustomSave()

  init(
    _ store: NSIncrementalStore, _ frozen: FrozenModel, _ schema: Schema, _ references: StoreReferences,
    _ metadata: StoreMetadata, _ calls: NSRecursiveLock
  ) {
    self.store = store
    self.calls = calls
    self.references = references
    state = Mutex(State(metadata: metadata))
    self.frozen = frozen
    self.schema = schema
  }

  var identifier: String { store.ownIdentifier }
  var capabilities: Capabilities { [.persistent, .rowLevel, .uniqueness] }
  var isReadOnly: Bool { store.refusesChanges }
  var metadata: StoreMetadata { state.withLock { $0.metadata } }

  func takeError() -> (any Error)? {
    state.withLock { state in
      defer { state.error = nil }
      return state.error
    }
  }

  /// Calls the client's store; other threads wait meanwhile.
  func calling<R, E>(_ body: (NSIncrementalStore) throws(E) -> R) throws(E) -> R {
    calls.lock()
    defer { calls.unlock() }
    return try body(store)
  }

  // MARK: Reading

  func snapshot() throws(StoreError) -> any StoreSnapshot { snapshot(for: nil) }

  func snapshot(for core: ContextCore?) -> IncrementalSnapshot {
    IncrementalSnapshot(self, store, core?.context, commitNumber: state.withLock { $0.commitNumber })
  }

  /// The objects that the store returns for a request.
  func fetch(_ fetch: ResolvedFetch, offset: Int, limit: Int?, _ core: ContextCore) throws -> [NSManagedObject] {
    let request = request(fetch, offset: offset, limit: limit)
    let found = try calling { try $0.execute(request, with: core.context) }
    guard let found = found as? [Any] else { throw unexpected(found, "an array of objects") }
    return try found.map { item in
      // Later code relies on this check: results of a class of objects are not cast one by one.
      guard let object = ownObject(item, core), fetch.plan.entities.contains(object.info.entity.index) else {
        throw unexpected(item, "its objects of \(fetch.info.entity.name) in the context, or their IDs")
      }
      return object
    }
  }

  /// The context's object for an object or ID that the client's store returned; nil where it is not one of this store.
  private func ownObject(_ item: Any, _ core: ContextCore) -> NSManagedObject? {
    if let object = item as? NSManagedObject {
      guard object.core === core, object.key > 0, Int(object.storeIndex) == store.index else { return nil }
      return references.isGone(object.key) ? core.object(reference(object.ownID), store: object.storeIndex) : object
    }
    guard let id = item as? NSManagedObjectID, isOwn(id) else { return nil }
    return core.object(reference(id), store: UInt16(store.index))
  }

  /// The object that the client means by an ID. The client may have kept the ID of a deleted object whose name now
  /// belongs to another object.
  private func reference(_ id: NSManagedObjectID) -> ObjectReference {
    let key = references.present(id.key)
    if key == id.key { return id.reference }
    return ObjectReference(entity: references.entity(of: key) ?? id.reference.entity, key: key)
  }

  private func isOwn(_ id: NSManagedObjectID) -> Bool { id.key > 0 && id.store === store }

  func count(_ fetch: ResolvedFetch, _ core: ContextCore) throws -> Int {
    let request = request(fetch, offset: fetch.plan.offset, limit: fetch.plan.limit)
    request.resultType = .countResultType
    let found = try calling { try $0.execute(request, with: core.context) }
    guard let number = (found as? [Any])?.first.flatMap(AttributeCoding.double), let count = Int(exactly: number),
      count >= 0
    else { throw unexpected(found, "an array with the count") }
    return count
  }

  private func request(_ fetch: ResolvedFetch, offset: Int, limit: Int?) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>()
    let given = fetch.parameters
    request.entity = given.entity ?? fetch.info.description
    request.predicate = given.predicate
    request.sortDescriptors = given.sortDescriptors?.isEmpty ?? true ? nil : given.sortDescriptors
    (request.fetchOffset, request.fetchLimit) = (offset, limit ?? 0)
    (request.fetchBatchSize, request.includesSubentities) = (given.fetchBatchSize, given.includesSubentities)
    request.includesPropertyValues = given.includesPropertyValues
    request.returnsObjectsAsFaults = given.returnsObjectsAsFaults
    request.includesPendingChanges = given.includesPendingChanges
    request.shouldRefreshRefetchedObjects = given.shouldRefreshRefetchedObjects
    let prefetched = given.relationshipKeyPathsForPrefetching ?? []
    request.relationshipKeyPathsForPrefetching = prefetched.isEmpty ? nil : prefetched
    request.propertiesToFetch = given.propertiesToFetch
    if given.resultType == .managedObjectIDResultType { request.resultType = given.resultType }
    request.affectedStores = [store]
    return request
  }

  private func unexpected(_ found: Any, _ required: String) -> CocoaError {
    let id = found as? NSManagedObjectID ?? (found as? NSManagedObject)?.ownID
    let given = id.map { "\($0)" } ?? "\(type(of: found))"
    return CocoaError(
      .persistentStoreInvalidType,
      userInfo: [NSLocalizedDescriptionKey: "\(type(of: store)) gave \(given); it should return \(required)."])
  }

  /// The members of a to-many relationship, as faults.
  func members(
    _ relationship: Relationship, of object: NSManagedObject, _ core: ContextCore
  ) throws -> ContiguousArray<NSManagedObject> {
    try ContiguousArray(
      memberIDs(relationship, of: object, core).map { id in
        guard let member = ownObject(id, core), relationship.destinations.contains(member.info.entity.index) else {
          throw unexpected(id, "IDs of its objects")
        }
        return member
      })
  }

  func memberIDs(
    _ relationship: Relationship, of object: NSManagedObject, _ core: ContextCore
  ) throws -> [NSManagedObjectID] {
    let description = object.info.relationships[relationship.index].description
    let found = try calling {
      references.isGone(object.key)
        ? [] : try $0.newValue(forRelationship: description, forObjectWith: object.ownID, with: core.context)
    }
    return try ids(found, of: relationship.destinations)
  }

  /// The IDs that the store returns for a to-many relationship, or for a fetch. They must be the store's own, of the
  /// requested entities.
  func ids(_ found: Any, of entities: Range<Int>) throws -> [NSManagedObjectID] {
    let items: [Any] =
      switch found {
      case let list as [Any]: list
      case let set as NSSet: set.allObjects
      case let set as NSOrderedSet: set.array
      case let set as Set<NSManagedObjectID>: Array(set)
      default: throw unexpected(found, "a collection of object IDs")
      }
    return try items.map { item in
      guard let id = item as? NSManagedObjectID ?? (item as? NSManagedObject)?.ownID, isOwn(id),
        entities.contains(id.reference.entity)
      else {
        throw unexpected(item, "IDs of its objects of \(entities.first.map { schema.entities[$0].name } ?? "?")")
      }
      if !references.isGone(id.key) { return id }
      let present = reference(id)
      return NSManagedObjectID(frozen.infos[present.entity], key: present.key, store: store, family: 0)
    }
  }

  /// The object of an ID of this store.
  func reference(_ value: Any) -> ObjectReference? {
    (value as? NSManagedObjectID).flatMap { isOwn($0) ? reference($0) : nil }
  }

  /// The ID of the object with a key.
  func id(of key: Int64) -> NSManagedObjectID? {
    guard let entity = references.entity(of: key) else { return nil }
    return NSManagedObjectID(frozen.infos[entity], key: key, store: store, family: 0)
  }

  // MARK: Writing

  func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
    try calling { (store) throws(StoreError) in try commit(changes, to: store) }
  }

  func rehearse(_ changes: ChangeSet) throws(StoreError) -> [Conflict] {
    if isReadOnly { throw StoreError(.readOnly, "The store was opened read-only. Open it for writing to change it.") }
    return try calling { (_) throws(StoreError) in try conflicts(of: sealed(changes, isRehearsal: true)) }
  }

  /// Seals the changes. Every new object already has the key that the store has assigned.
  private func sealed(_ changes: ChangeSet, isRehearsal: Bool = false) throws(StoreError) -> SealedChanges {
    try CommitDraft(changes, schema, isRehearsal: isRehearsal).seal([:])
  }

  private func conflicts(of changes: SealedChanges) throws(StoreError) -> [Conflict] {
    var conflicts: [Conflict] = []
    let read =
      changes.updates.map { ($0.row.reference, $0.versionRead) }
      + (changes.deletions + changes.checks).map { ($0.reference, $0.versionRead) }
    for (reference, version) in read {
      let row = references.row(of: reference.key)
      if row?.version == version { continue }
      conflicts.append(Conflict(reference: reference, versionRead: version, kind: .version(persisted: row)))
    }
    return conflicts.isEmpty ? try IncrementalUniqueness(self, changes).conflicts() : conflicts
  }

  private func commit(_ changes: ChangeSet, to store: NSIncrementalStore) throws(StoreError) -> CommitResult {
    let save = save
    self.save = CustomSave()
    let changes = try sealed(changes)
    let conflicts = try conflicts(of: changes)
    if !conflicts.isEmpty { return .conflicts(conflicts) }
    if isReadOnly { throw StoreError(.readOnly, "The store was opened read-only. Open it for writing to change it.") }
    let request = NSSaveChangesRequest(
      inserted: Set(save.inserted), updated: Set(save.updated), deleted: Set(save.deleted), locked: Set(save.locked))
    do { _ = try store.execute(request, with: save.context) } catch {
      state.withLock { $0.error = error }
      throw StoreError(
        .io, "The save method of the store's class has thrown an error. Nothing was saved.", cause: "\(error)")
    }
    request.empty()
    for row in changes.insertions { references.setRow(row, of: row.key) }
    for update in changes.updates { references.setRow(update.row, of: update.row.key) }
    for deletion in changes.deletions { references.setRow(nil, of: deletion.reference.key) }
    let number = state.withLock { state in
      if let metadata = changes.metadata { state.metadata = metadata }
      state.commitNumber += 1
      return state.commitNumber
    }
    return .committed(Receipt(keys: changes.keys, commitNumber: number))
  }

  /// Keys come from ``NSIncrementalStore/obtainPermanentIDs(for:)``; see `ContextCore.obtainPermanentKeys(_:)`.
  func allocateKeys(root: Int, count: Int) throws(StoreError) -> Range<Int64> {
    throw StoreError(.unsupported, "A store that a client implements assigns keys itself.")
  }

  func externalData(_ name: Data) throws(StoreError) -> Data {
    throw StoreError(.missingExternalData, "A store that a client implements has no external data files.")
  }

  func close() throws(StoreError) {}
}
