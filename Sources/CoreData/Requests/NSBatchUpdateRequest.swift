import Foundation

public enum NSBatchUpdateRequestResultType: UInt, Sendable {
  case statusOnlyResultType = 0
  case updatedObjectIDsResultType = 1
  case updatedObjectsCountResultType = 2
}

/// Sets properties of many objects in the stores, without a context. Not yet: executing it throws 134091.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
  private let named: String?
  private let described: NSEntityDescription?
  open var predicate: NSPredicate?
  open var includesSubentities = true
  /// New values, constants or expressions, by property name or description.
  open var propertiesToUpdate: [AnyHashable: Any]?
  open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType

  open var entityName: String { described?.name ?? named ?? "" }
  open var entity: NSEntityDescription {
    guard let described else { misuse("A batch update by entity name knows its entity only when it is executed.") }
    return described
  }
  open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

  public init(entityName: String) {
    named = entityName
    described = nil
  }

  public init(entity: NSEntityDescription) {
    named = nil
    described = entity
  }

  /// The same request, whose parts can be changed apart.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = described.map(NSBatchUpdateRequest.init(entity:)) ?? NSBatchUpdateRequest(entityName: entityName)
    copy.affectedStores = affectedStores
    copy.predicate = predicate
    copy.includesSubentities = includesSubentities
    copy.propertiesToUpdate = propertiesToUpdate
    copy.resultType = resultType
    return copy
  }
}

/// What a batch update gives: a success flag, object IDs or a count, by `resultType`.
open class NSBatchUpdateResult: NSPersistentStoreResult {
  private let content: (result: Any?, type: NSBatchUpdateRequestResultType)
  open var result: Any? { content.result }
  open var resultType: NSBatchUpdateRequestResultType { content.type }

  init(_ result: Any?, _ type: NSBatchUpdateRequestResultType) { content = (result, type) }
}

public enum NSBatchDeleteRequestResultType: UInt, Sendable {
  case resultTypeStatusOnly = 0
  case resultTypeObjectIDs = 1
  case resultTypeCount = 2
}

/// Deletes many objects in the stores, without a context. Not yet: executing it throws 134091.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
  /// Which objects to delete: a copy of the request that was given.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult> { request }
  private let request: NSFetchRequest<any NSFetchRequestResult>
  open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly
  open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

  public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
    request = fetch.copy() as? NSFetchRequest<any NSFetchRequestResult> ?? fetch
  }

  /// The same for a request that names the type of its results.
  public convenience init<T: NSFetchRequestResult>(fetchRequest fetch: NSFetchRequest<T>) {
    let erased: NSFetchRequest<any NSFetchRequestResult> = fetch.retyped()
    self.init(fetchRequest: erased)
  }

  /// The same request, whose parts can be changed apart.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSBatchDeleteRequest(fetchRequest: request)
    copy.affectedStores = affectedStores
    copy.resultType = resultType
    return copy
  }

  /// Deletes objects of one entity.
  public convenience init(objectIDs objects: [NSManagedObjectID]) {
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: objects.first?.info.description.name ?? "")
    request.predicate = NSPredicate(format: "SELF IN %@", objects)
    self.init(fetchRequest: request)
  }
}

/// What a batch deletion gives: a success flag, object IDs or a count, by `resultType`.
open class NSBatchDeleteResult: NSPersistentStoreResult {
  private let content: (result: Any?, type: NSBatchDeleteRequestResultType)
  open var result: Any? { content.result }
  open var resultType: NSBatchDeleteRequestResultType { content.type }

  init(_ result: Any?, _ type: NSBatchDeleteRequestResultType) { content = (result, type) }
}
