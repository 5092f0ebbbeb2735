import Foundation

/// A store that a client implements row by row: contexts send it requests, and read the values of single objects.
///
/// A subclass overrides ``NSPersistentStore/loadMetadata()``, ``execute(_:with:)``,
/// ``newValuesForObject(with:with:)``, ``newValue(forRelationship:forObjectWith:with:)`` and
/// ``obtainPermanentIDs(for:)``. It is registered with
/// ``NSPersistentStoreCoordinator/registerStoreClass(_:forStoreType:)``.
///
/// A fetch is passed on unchanged: the store applies predicate, sort descriptors, offset and limit itself. With a batch
/// size, the store gets a fetch `SELF IN …` for the objects of each batch before their values are read. (Source: Apple,
/// "Incremental Store Programming Guide" and the class reference.)
open class NSIncrementalStore: NSPersistentStore, @unchecked Sendable {
  /// Runs a fetch or a save: an array of objects or IDs, an array with the count, or an empty array for a save. Throws
  /// 134091 unless overridden.
  ///
  /// A fetch of IDs has the corresponding `resultType`. If the store returns objects of other stores, of other
  /// contexts, or of entities that the request does not fetch, the fetch throws an error.
  ///
  /// A save without objects saves the metadata. The sets of a save request are empty once it is done.
  open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    throw Self.refusal
  }

  /// The attributes and to-one relationships of an object. A to-one relationship that is left out is read by
  /// ``newValue(forRelationship:forObjectWith:with:)``. Throws 134091 unless overridden.
  open func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode { throw Self.refusal }

  /// The destinations of a relationship: for a to-one, an ID or `NSNull`; for a to-many, a collection of IDs, an array
  /// where it is ordered. Throws 134091 unless overridden.
  open func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any { throw Self.refusal }

  /// IDs for new objects, in their order, made with ``newObjectID(for:referenceObject:)``. Throws 134091 unless
  /// overridden.
  open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] { throw Self.refusal }

  /// Called when a context begins to use objects, as faults or with their values. A store may keep their rows at hand
  /// until as many contexts have unregistered them.
  ///
  /// Only objects with permanent IDs count; a new object counts once it is saved. The call comes at the end of a fetch,
  /// The call comes at the end of a fetch, a save, an event or a `perform` block. (Source: Apple,
  /// `managedObjectContextDidRegisterObjects(with:)`; the time of the call is a rule of this library.)
  open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// Called when a context no longer uses objects: nobody holds them, their deletion was saved, or the context was
  /// reset or is gone.
  ///
  /// The call comes at the same times as ``managedObjectContextDidRegisterObjects(with:)``, and also at the end of the
  /// context, on any thread.
  open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// The ID of the object that a reference object, a string or a whole number, names.
  open func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
    makeObjectID(entity, data)
  }

  /// The string or whole number that names the object in the store.
  open func referenceObject(for objectID: NSManagedObjectID) -> Any { givenReference(objectID) }

  /// The UUID of a store that is being made at the URL: a new one, as a `String`, unless overridden.
  open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

  private static var refusal: CocoaError {
    CocoaError(
      .persistentStoreUnsupportedRequestType,
      userInfo: [NSLocalizedDescriptionKey: "A subclass of NSIncrementalStore must override this method."])
  }
}

/// The values of one object of an incremental store.
open class NSIncrementalStoreNode: NSObject {
  private let id: NSManagedObjectID
  private var values: [String: Any]
  private var valuesVersion: UInt64
  /// The ID of the object.
  open var objectID: NSManagedObjectID { id }
  /// The version of the values. A save uses it to notice that they have changed meanwhile.
  open var version: UInt64 { valuesVersion }

  /// The values of an object by property name, as ``value(for:)`` returns them, and their version.
  public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
    id = objectID
    self.values = values
    valuesVersion = version
  }

  /// Replaces the values and their version.
  open func update(withValues values: [String: Any], version: UInt64) {
    self.values = values
    valuesVersion = version
  }

  /// `NSNull` for nil, an object ID for a to-one relationship.
  open func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }
}
