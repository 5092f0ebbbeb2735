import Foundation

/// A store that a client implements row by row. Not yet: a coordinator does not take one, and
/// ``NSPersistentStoreCoordinator/registerStoreClass(_:forStoreType:)`` stops the program.
open class NSIncrementalStore: NSPersistentStore, @unchecked Sendable {
  /// Called when the store is added: sets ``NSPersistentStore/metadata``. Throws 134091 unless overridden.
  open func loadMetadata() throws { throw Self.refusal }

  /// Runs a fetch or a save. Throws 134091 unless overridden.
  open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    throw Self.refusal
  }

  open func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode { throw Self.refusal }

  open func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any { throw Self.refusal }

  open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] { throw Self.refusal }

  open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}
  open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

  open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

  private static var refusal: CocoaError {
    CocoaError(
      .persistentStoreUnsupportedRequestType,
      userInfo: [NSLocalizedDescriptionKey: "Stores that clients implement are not supported yet."])
  }
}

/// The values of one object of an incremental store.
open class NSIncrementalStoreNode: NSObject {
  public let objectID: NSManagedObjectID
  private var values: [String: Any]
  public private(set) var version: UInt64

  public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
    self.objectID = objectID
    self.values = values
    self.version = version
  }

  open func update(withValues values: [String: Any], version: UInt64) {
    self.values = values
    self.version = version
  }

  /// `NSNull` for nil, an object ID for a to-one relationship.
  open func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }
}
