import CoreData
import Foundation

/// A row-level store as a client would write it from Apple's "Incremental Store Programming Guide", over a dictionary.
package final class DictionaryStore: NSIncrementalStore, @unchecked Sendable {
  package static let type = "DictionaryStore"
  package override var type: String { Self.type }

  package struct Record {
    package var entity: String
    package var values: [String: Any]
    /// References of the members of to-many relationships, with their entities.
    package var members: [String: [(entity: String, reference: Int)]]
    package var version: UInt64 = 1
  }

  /// What would be a server.
  nonisolated(unsafe) package var records: [Int: Record] = [:]
  nonisolated(unsafe) package var log: [String] = []
  nonisolated(unsafe) package var lastSave: NSSaveChangesRequest?
  nonisolated(unsafe) package var failure: (any Error)?
  /// How many contexts use an object.
  nonisolated(unsafe) package var uses: [Int: Int] = [:]
  nonisolated(unsafe) private var next = 100

  package override func loadMetadata() throws {
    metadata = [NSStoreTypeKey: Self.type, NSStoreUUIDKey: Self.identifierForNewStore(at: url!)]
  }

  private func id(_ reference: Int) -> NSManagedObjectID? {
    guard let record = records[reference],
      let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName[record.entity]
    else { return nil }
    return newObjectID(for: entity, referenceObject: reference)
  }

  private func number(_ id: NSManagedObjectID) -> Int {
    (referenceObject(for: id) as? NSNumber)?.intValue ?? referenceObject(for: id) as? Int ?? 0
  }

  package override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    log.append("obtain \(array.count)")
    return array.map { object in
      next += 1
      return newObjectID(for: object.entity, referenceObject: next)
    }
  }

  package override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    for id in objectIDs { uses[number(id), default: 0] += id.isTemporaryID ? 1000 : 1 }
  }

  package override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
    for id in objectIDs {
      let left = uses[number(id), default: 0] - 1
      uses[number(id)] = left == 0 ? nil : left
    }
  }

  package override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws
    -> Any
  {
    if let failure {
      self.failure = nil
      throw failure
    }
    if let save = request as? NSSaveChangesRequest { return run(save) }
    guard let context, let fetch = request as? NSFetchRequest<NSManagedObject> else {
      throw CocoaError(.persistentStoreUnsupportedRequestType)
    }
    log.append(
      "fetch \(fetch.entityName ?? "") \(fetch.predicate?.predicateFormat.hasPrefix("SELF IN") == true ? "batch" : "")")
    let entities = fetch.entity?.managedObjectModel.entities ?? []
    let names = Set(
      entities.filter { entity in
        fetch.entity.map { entity === $0 || fetch.includesSubentities && entity.isKindOf(entity: $0) } ?? false
      }.compactMap(\.name))
    var objects = records.keys.sorted().filter { names.contains(records[$0]?.entity ?? "") }
      .compactMap { id($0).map(context.object(with:)) }
    if let predicate = fetch.predicate {
      let own = context.hasChanges ? saved() : context
      objects = objects.filter { object in
        own.performAndWait { predicate.evaluate(with: own.object(with: object.objectID)) }
      }
    }
    for sort in (fetch.sortDescriptors ?? []).reversed() {
      objects.sort { sort.compare($0, to: $1) == .orderedAscending }
    }
    objects = Array(objects.dropFirst(fetch.fetchOffset))
    if fetch.fetchLimit > 0 { objects = Array(objects.prefix(fetch.fetchLimit)) }
    return fetch.resultType == .countResultType ? [objects.count] : objects
  }

  /// A context that sees what is saved only.
  private func saved() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  private func run(_ save: NSSaveChangesRequest) -> Any {
    lastSave = save
    log.append(
      "save \(save.insertedObjects?.count ?? 0) \(save.updatedObjects?.count ?? 0) \(save.deletedObjects?.count ?? 0)")
    for object in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) {
      var record = Record(entity: object.entity.name ?? "", values: [:], members: [:])
      record.version = (records[number(object.objectID)]?.version ?? 0) + 1
      for name in object.entity.attributesByName.keys { record.values[name] = object.value(forKey: name) }
      for (name, relationship) in object.entity.relationshipsByName {
        let value = object.value(forKey: name)
        if relationship.isToMany {
          let members =
            (value as? NSOrderedSet)?.array as? [NSManagedObject] ?? Array(value as? Set<NSManagedObject> ?? [])
          record.members[name] = members.map { ($0.entity.name ?? "", number($0.objectID)) }
        } else {
          record.values[name] = (value as? NSManagedObject).map(\.objectID) ?? NSNull()
        }
      }
      records[number(object.objectID)] = record
    }
    for object in save.deletedObjects ?? [] { records[number(object.objectID)] = nil }
    return [Any]()
  }

  package override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    log.append("values \(number(objectID))")
    guard let record = records[number(objectID)] else { throw CocoaError(.managedObjectReferentialIntegrity) }
    // An unknown key is passed over; the department is read by its own request.
    var values = record.values
    values["unknown"] = 1
    values["department"] = nil
    return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: record.version)
  }

  package override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    log.append("relationship \(relationship.name)")
    let record = records[number(objectID)]
    if !relationship.isToMany { return record?.values[relationship.name] ?? NSNull() }
    return (record?.members[relationship.name] ?? []).compactMap { id($0.reference) }
  }
}
