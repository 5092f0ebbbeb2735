import Foundation
import StoreProtocol
import StoreSchema

/// Reads objects of an incremental store one by one. No other thread calls the store during a call, so its rows belong
/// to one state. The rows are passed on after the call, because their receiver may run code of the client.
final class IncrementalSnapshot: StoreSnapshot, @unchecked Sendable {
  let commitNumber: UInt64
  private let engine: IncrementalEngine
  /// The context that is passed to the store: the reading context, or one that this view has made.
  private let context: NSManagedObjectContext
  private let ownsContext: Bool

  init(
    _ engine: IncrementalEngine, _ store: NSIncrementalStore, _ context: NSManagedObjectContext?, commitNumber: UInt64
  ) {
    self.engine = engine
    self.commitNumber = commitNumber
    ownsContext = context == nil
    if let context {
      self.context = context
    } else {
      self.context = NSManagedObjectContext(.privateQueue)
      self.context.persistentStoreCoordinator = store.root
    }
  }

  /// Calls the client's store on the queue of the passed context. Other threads wait meanwhile.
  private func calling<R>(_ body: (NSIncrementalStore) throws -> R) throws(StoreError) -> R {
    do {
      return try ownsContext ? context.core.run { try engine.calling(body) } : engine.calling(body)
    } catch let error as StoreError { throw error } catch { throw Self.failure(error) }
  }

  private static func failure(_ error: any Error) -> StoreError {
    StoreError(.io, "The store's class has thrown an error while it was read.", cause: "\(error)")
  }

  // MARK: Single objects

  func rows(of entity: Int, keys: [Int64], _ body: (consuming Row) -> Void) throws(StoreError) {
    let rows = try calling { _ in
      if keys.count > 1 { try announce(keys, entity) }
      return try keys.compactMap { try row(of: entity, key: $0) }
    }
    for row in rows { body(row) }
  }

  /// Sends a fetch for a batch of objects, so that the store can read them at once before they are read one by one.
  private func announce(_ keys: [Int64], _ entity: Int) throws(StoreError) {
    let required = NSPredicate(format: "SELF IN %@", keys.compactMap(engine.id(of:)) as NSArray)
    try calling { _ = try fetch(entity, required, withSubentities: true, from: $0) }
  }

  func row(of entity: Int, key: Int64) throws(StoreError) -> Row? {
    guard let own = engine.references.entity(of: key), let id = engine.id(of: key) else { return nil }
    let maker = CustomRow(info: engine.frozen.infos[own], reference: engine.reference)
    return try calling { store in
      // Another object may have its name now.
      if engine.references.isGone(key) { return nil }
      let node: NSIncrementalStoreNode
      do { node = try store.newValuesForObject(with: id, with: context) } catch let error as CocoaError
        where error.code == .managedObjectReferentialIntegrity
      { return nil }
      let row = try maker.row(key: key, version: 1) { (property) throws(StoreError) in
        if let value = node.value(for: property) { return value }
        guard let relationship = property as? NSRelationshipDescription else { return nil }
        do { return try store.newValue(forRelationship: relationship, forObjectWith: id, with: context) } catch {
          throw Self.failure(error)
        }
      }
      return versioned(row)
    }
  }

  /// The last row if the values are equal; else this row with the next version.
  private func versioned(_ row: Row) -> Row {
    let last = engine.references.row(of: row.key)
    if let last, last.hasEqualBytes(row) { return last }
    let next = row.copy(version: (last?.version ?? 0) + 1)
    engine.references.setRow(next, of: row.key)
    return next
  }

  // MARK: Requests that this view makes

  // Contexts use these for values and aggregates only; they pass other requests to such stores unchanged. Copies to
  // other stores and checks use them too. Each call reads one state, because no other thread calls the store meanwhile.

  func scan(_ entities: Range<Int>, _ body: (consuming Row) -> Void) throws(StoreError) {
    let rows = try calling { store in
      try entities.filter { !engine.schema.entities[$0].isAbstract }.flatMap { entity in
        try fetch(entity, nil, withSubentities: false, from: store).map(\.key).sorted()
          .compactMap { try row(of: entity, key: $0) }
      }
    }
    for row in rows { body(row) }
  }

  /// The rows of an entity and its sub-entities that match a predicate.
  func rows(of entity: Int, where predicate: NSPredicate) throws(StoreError) -> [Row] {
    try calling { store in
      try fetch(entity, predicate, withSubentities: true, from: store).compactMap { try row(of: entity, key: $0.key) }
    }
  }

  private func fetch(
    _ entity: Int, _ predicate: NSPredicate?, withSubentities: Bool, from store: NSIncrementalStore
  ) throws -> [NSManagedObjectID] {
    let request = NSFetchRequest<NSManagedObject>()
    request.entity = engine.frozen.infos[entity].description
    request.predicate = predicate
    request.includesSubentities = withSubentities
    request.returnsObjectsAsFaults = false
    request.affectedStores = [store]
    let entities = withSubentities ? engine.schema.entities[entity].subtree : entity..<entity + 1
    return try engine.ids(store.execute(request, with: context), of: entities)
  }

  func destinations(
    of relationship: Relationship, owners: [Int64], _ body: (Int64, consuming Row) -> Void
  ) throws(StoreError) {
    let rows = try calling { store in
      try owners.flatMap { owner -> [(owner: Int64, row: Row)] in
        guard let id = engine.id(of: owner), !engine.references.isGone(owner) else { return [] }
        let description = engine.frozen.infos[id.reference.entity].relationships[relationship.index].description
        return try engine.ids(
          store.newValue(forRelationship: description, forObjectWith: id, with: context), of: relationship.destinations
        )
        .compactMap { try row(of: relationship.destination, key: $0.key).map { (owner, $0) } }
      }
    }
    for (owner, row) in rows { body(owner, row) }
  }
}
