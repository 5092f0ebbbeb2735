import Foundation
import StoreSchema

/// A to-one relationship that was set to an object of another store.
///
/// A row refers to its destination by key, within one store. So such a link is kept here until it is changed; a save
/// rejects it with 133010.
struct ExternalLink {
  let owner: NSManagedObject
  let relationship: Relationship
  let destination: NSManagedObject
}

extension ContextCore {
  /// Notes or forgets that a to-one relationship leads to another store.
  func noteLink(_ owner: NSManagedObject, _ relationship: Relationship, _ destination: NSManagedObject?) {
    changes.externalLinks.removeAll { $0.owner === owner && $0.relationship == relationship }
    guard let destination, destination.storeIndex != owner.storeIndex else { return }
    changes.externalLinks.append(ExternalLink(owner: owner, relationship: relationship, destination: destination))
  }

  func externalDestination(of owner: NSManagedObject, slot: Int) -> NSManagedObject? {
    changes.externalLinks.first { $0.owner === owner && $0.relationship.slot == slot }?.destination
  }

  /// Throws 133010 for a link to an object of another store. Called when every object has its store.
  func checkExternalLinks() throws {
    for link in changes.externalLinks
    where link.owner.flags.hasChanges && !link.owner.flags.isDeleted && !link.destination.flags.isDeleted {
      try checkStores(link.owner, link.relationship, link.destination)
    }
  }

  /// The same for the links that a child's save has changed. Its objects may have no store yet, or may have been
  /// assigned to another one after they were linked.
  func checkLinks(of objects: ContiguousArray<NSManagedObject>) throws {
    guard let coordinator, coordinator.openStores.count > 1 else { return }
    for object in objects where !object.flags.isDeleted {
      findStore(for: object)
      let changed = object.changedSlots()
      for relationship in object.info.entity.relationships {
        var others: ContiguousArray<NSManagedObject> = object.toManys[relationship]?.added ?? []
        if let slot = relationship.slot, changed.contains(slot), let other = object.toOne(relationship) {
          others.append(other)
        }
        for other in others where !other.flags.isDeleted {
          findStore(for: other)
          try checkStores(object, relationship, other)
        }
      }
    }
  }

  /// Throws 134030 for a new object in a store whose configuration does not have its entity.
  func checkAssignments() throws {
    for object in changes.misplacedObjects where object.flags.isInserted {
      guard let store = store(object.storeIndex), coordinator?.takes(store, object.info.entity) != true else {
        continue
      }
      throw CocoaError(
        .persistentStoreSave,
        userInfo: [
          NSAffectedObjectsErrorKey: [object], NSAffectedStoresErrorKey: [store],
          NSLocalizedDescriptionKey:
            "The configuration \(store.configuration) of the store at \(store.location?.path ?? "") does not have the entity \(object.info.entity.name); assign the object to another store.",
        ])
    }
  }

  func checkStores(_ owner: NSManagedObject, _ relationship: Relationship, _ destination: NSManagedObject) throws {
    if owner.storeIndex == destination.storeIndex { return }
    throw CocoaError(
      .managedObjectExternalRelationship,
      userInfo: [
        NSValidationObjectErrorKey: owner, NSValidationKeyErrorKey: relationship.name,
        NSValidationValueErrorKey: destination, NSAffectedObjectsErrorKey: [owner, destination],
        NSLocalizedDescriptionKey:
          "\(owner.info.entity.name).\(relationship.name) refers to another store's object; assign both to one store.",
      ])
  }
}
