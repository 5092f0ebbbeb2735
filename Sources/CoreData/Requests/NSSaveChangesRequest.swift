import Foundation

/// The changes of a save, as custom stores see them. Executing one through a context throws 134091.
///
/// Its sets are empty once the save is done, as with Apple's framework: a store that works on afterwards keeps copies.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
  private var inserted, updated, deleted, locked: Set<NSManagedObject>?
  open var insertedObjects: Set<NSManagedObject>? { inserted }
  open var updatedObjects: Set<NSManagedObject>? { updated }
  open var deletedObjects: Set<NSManagedObject>? { deleted }
  open var lockedObjects: Set<NSManagedObject>? { locked }
  open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

  public init(
    inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
    deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
  ) {
    (inserted, updated) = (insertedObjects, updatedObjects)
    (deleted, locked) = (deletedObjects, lockedObjects)
  }

  /// A request with the same sets, which it keeps when the save is done.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSSaveChangesRequest(inserted: inserted, updated: updated, deleted: deleted, locked: locked)
    copy.affectedStores = affectedStores
    return copy
  }

  final func empty() { (inserted, updated, deleted, locked) = ([], [], [], []) }
}
