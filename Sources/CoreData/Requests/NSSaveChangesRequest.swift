import Foundation

/// The changes of a save, as custom stores see them. Executing one through a context throws 134091.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
  public let insertedObjects: Set<NSManagedObject>?
  public let updatedObjects: Set<NSManagedObject>?
  public let deletedObjects: Set<NSManagedObject>?
  public let lockedObjects: Set<NSManagedObject>?
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
}
