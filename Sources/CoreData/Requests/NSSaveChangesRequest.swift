import Foundation

/// The changes of a save, as custom stores see them. Executing one through a context throws 134091.
///
/// Its sets are empty once the save is done, as with Apple's framework: a store that works on afterwards keeps copies.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
  public private(set) var insertedObjects: Set<NSManagedObject>?
  public private(set) var updatedObjects: Set<NSManagedObject>?
  public private(set) var deletedObjects: Set<NSManagedObject>?
  public private(set) var lockedObjects: Set<NSManagedObject>?
  open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

  public init(
    inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
    deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
  ) {
    self.insertedObjects = insertedObjects
    self.updatedObjects = updatedObjects
    self.deletedObjects = deletedObjects
    self.lockedObjects = lockedObjects
  }

  /// A request with the same sets, which it keeps when the save is done.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSSaveChangesRequest(
      inserted: insertedObjects, updated: updatedObjects, deleted: deletedObjects, locked: lockedObjects)
    copy.affectedStores = affectedStores
    return copy
  }

  func empty() { (insertedObjects, updatedObjects, deletedObjects, lockedObjects) = ([], [], [], []) }
}
