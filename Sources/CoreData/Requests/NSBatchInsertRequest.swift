import Foundation

/// The kind of result of a batch insertion. Batch insertions do not run yet.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
  /// Whether it succeeded: a `Bool`.
  case statusOnly = 0
  /// The IDs of the new objects.
  case objectIDs = 1
  /// The number of new objects.
  case count = 2
}

/// Inserts many objects without a context. Not supported yet: executing it throws 134091.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
  private let named: String?
  private let described: NSEntityDescription?
  /// The values of the objects by key.
  open var objectsToInsert: [[String: Any]]?
  /// Fills the next dictionary; true ends the insertion.
  open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
  /// Fills the next object; true ends the insertion.
  open var managedObjectHandler: ((NSManagedObject) -> Bool)?
  /// The kind of result; only whether it succeeded unless set.
  open var resultType = NSBatchInsertRequestResultType.statusOnly

  /// The name of the entity of the new objects.
  open var entityName: String { described?.name ?? named ?? "" }
  /// The entity of the new objects; nil for a request made with a name.
  open var entity: NSEntityDescription? { described }
  open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

  private init(_ name: String?, _ entity: NSEntityDescription?) {
    named = name
    described = entity
  }

  /// A copy of the request that can be changed independently.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSBatchInsertRequest(named, described)
    copy.affectedStores = affectedStores
    copy.objectsToInsert = objectsToInsert
    copy.dictionaryHandler = dictionaryHandler
    copy.managedObjectHandler = managedObjectHandler
    copy.resultType = resultType
    return copy
  }

  /// A request for new objects with the values of each dictionary.
  public init(entityName: String, objects dictionaries: [[String: Any]]) {
    (named, described) = (entityName, nil)
    objectsToInsert = dictionaries
  }

  /// A request for new objects with the values of each dictionary.
  public init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
    (named, described) = (nil, entity)
    objectsToInsert = dictionaries
  }

  /// A request whose block fills one dictionary for each new object, and returns true to end.
  public convenience init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
    self.init(entityName, nil)
    dictionaryHandler = handler
  }

  /// A request whose block fills one dictionary for each new object, and returns true to end.
  public convenience init(
    entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(nil, entity)
    dictionaryHandler = handler
  }

  /// A request whose block fills each new object, and returns true to end.
  public convenience init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
    self.init(entityName, nil)
    managedObjectHandler = handler
  }

  /// A request whose block fills each new object, and returns true to end.
  public convenience init(
    entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) {
    self.init(nil, entity)
    managedObjectHandler = handler
  }
}

/// The result of a batch insertion: a success flag, object IDs or a count, by `resultType`.
open class NSBatchInsertResult: NSPersistentStoreResult {
  private let content: (result: Any?, type: NSBatchInsertRequestResultType)
  /// A `Bool`, object IDs or a number, as ``resultType`` says; nil where there is none.
  open var result: Any? { content.result }
  /// The kind of ``result``.
  open var resultType: NSBatchInsertRequestResultType { content.type }

  init(_ result: Any?, _ type: NSBatchInsertRequestResultType) { content = (result, type) }
}
