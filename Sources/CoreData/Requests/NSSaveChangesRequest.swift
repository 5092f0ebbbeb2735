import Foundation

/// The changes of a save, as client's stores get them. Executing a save request through a context throws 134091.
///
/// Its sets are empty once the save is complete, as with Apple's framework. A store that needs them longer keeps
/// copies.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
  private var inserted, updated, deleted, locked: Set<NSManagedObject>?
  /// The new objects of the save, with permanent IDs; nil for none.
  open var insertedObjects: Set<NSManagedObject>? { inserted }
  /// The changed objects of the save; nil for none.
  open var updatedObjects: Set<NSManagedObject>? { updated }
  /// The objects that the save deletes; nil for none.
  open var deletedObjects: Set<NSManagedObject>? { deleted }
  /// The objects that the save only checks for conflicts; nil for none.
  open var lockedObjects: Set<NSManagedObject>? { locked }
  open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

  /// A request with sets of objects; nil stands for no objects.
  public init(
    inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
    deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
  ) {
    (inserted, updated) = (insertedObjects, updatedObjects)
    (deleted, locked) = (deletedObjects, lockedObjects)
  }

  /// A request with the same sets. It keeps them when the save is complete.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSSaveChangesRequest(inserted: inserted, updated: updated, deleted: deleted, locked: locked)
    copy.affectedStores = affectedStores
    return copy
  }

  final func empty() { (inserted, updated, deleted, locked) = ([], [], [], []) }
}
