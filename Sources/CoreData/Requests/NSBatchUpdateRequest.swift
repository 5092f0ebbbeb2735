import Foundation

/// The kind of result of a batch update. Batch updates do not run yet.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
  /// Whether it succeeded: a `Bool`.
  case statusOnlyResultType = 0
  /// The IDs of the changed objects.
  case updatedObjectIDsResultType = 1
  /// The number of changed objects.
  case updatedObjectsCountResultType = 2
}

/// Sets properties of many objects in the stores, without a context. Not supported yet: executing it throws 134091.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
  private let named: String?
  private let described: NSEntityDescription?
  /// Which objects to change; nil for all of the entity.
  open var predicate: NSPredicate?
  /// Whether objects of sub-entities are changed too; true by default.
  open var includesSubentities = true
  /// New values, constants or expressions, by property name or description.
  open var propertiesToUpdate: [AnyHashable: Any]?
  /// The kind of result; only whether it succeeded unless set.
  open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType

  /// The name of the entity of the objects.
  open var entityName: String { described?.name ?? named ?? "" }
  /// The entity of the objects. A request made with a name stops the program here.
  open var entity: NSEntityDescription {
    guard let described else { misuse("A batch update by entity name knows its entity only when it is executed.") }
    return described
  }
  open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

  /// A request for the objects of the entity with a name.
  public init(entityName: String) {
    named = entityName
    described = nil
  }

  /// A request for the objects of the entity.
  public init(entity: NSEntityDescription) {
    named = nil
    described = entity
  }

  /// A copy of the request that can be changed independently.
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

/// The result of a batch update: a success flag, object IDs or a count, by `resultType`.
open class NSBatchUpdateResult: NSPersistentStoreResult {
  private let content: (result: Any?, type: NSBatchUpdateRequestResultType)
  /// A `Bool`, object IDs or a number, as ``resultType`` says; nil where there is none.
  open var result: Any? { content.result }
  /// The kind of ``result``.
  open var resultType: NSBatchUpdateRequestResultType { content.type }

  init(_ result: Any?, _ type: NSBatchUpdateRequestResultType) { content = (result, type) }
}

/// The kind of result of a batch deletion. Batch deletions do not run yet.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
  /// Whether it succeeded: a `Bool`.
  case resultTypeStatusOnly = 0
  /// The IDs of the deleted objects.
  case resultTypeObjectIDs = 1
  /// The number of deleted objects.
  case resultTypeCount = 2
}

/// Deletes many objects in the stores, without a context. Not supported yet: executing it throws 134091.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
  /// The objects to delete: a copy of the given request.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult> { request }
  private let request: NSFetchRequest<any NSFetchRequestResult>
  /// The kind of result; only whether it succeeded unless set.
  open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly
  open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

  /// A request for the objects that a fetch selects. It keeps a copy of the fetch request.
  public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
    request = fetch.copy() as? NSFetchRequest<any NSFetchRequestResult> ?? fetch
  }

  /// The same for a request that names the type of its results.
  public convenience init<T: NSFetchRequestResult>(fetchRequest fetch: NSFetchRequest<T>) {
    let erased: NSFetchRequest<any NSFetchRequestResult> = fetch.retyped()
    self.init(fetchRequest: erased)
  }

  /// A copy of the request that can be changed independently.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSBatchDeleteRequest(fetchRequest: request)
    copy.affectedStores = affectedStores
    copy.resultType = resultType
    return copy
  }

  /// A request that deletes objects by their IDs. All must be of one entity.
  public convenience init(objectIDs objects: [NSManagedObjectID]) {
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: objects.first?.info.description.name ?? "")
    request.predicate = NSPredicate(format: "SELF IN %@", objects)
    self.init(fetchRequest: request)
  }
}

/// The result of a batch deletion: a success flag, object IDs or a count, by `resultType`.
open class NSBatchDeleteResult: NSPersistentStoreResult {
  private let content: (result: Any?, type: NSBatchDeleteRequestResultType)
  /// A `Bool`, object IDs or a number, as ``resultType`` says; nil where there is none.
  open var result: Any? { content.result }
  /// The kind of ``result``.
  open var resultType: NSBatchDeleteRequestResultType { content.type }

  init(_ result: Any?, _ type: NSBatchDeleteRequestResultType) { content = (result, type) }
}
