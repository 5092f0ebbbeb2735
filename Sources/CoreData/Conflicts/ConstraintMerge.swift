import Foundation
import StoreSchema

/// Leaves one of the objects that have the same unique values, as a merge policy of another type than `error` says.
struct ConstraintMerge {
  private let policy: NSMergePolicyType
  private let conflict: NSConstraintConflict
  /// Who has the values still, in the order in which they are told.
  private let objects: [NSManagedObject]
  /// The stored one among others.
  private let database: NSManagedObject?

  init(_ conflict: NSConstraintConflict, _ policy: NSMergePolicyType) {
    (self.conflict, self.policy) = (conflict, policy)
    let values = conflict.constraintValues as NSDictionary
    objects = conflict.conflictingObjects.filter { object in
      !object.isDeleted && object.core != nil
        && values.isEqual(object.dictionaryWithValues(forKeys: conflict.constraint) as NSDictionary)
    }
    database = conflict.databaseObject.flatMap { $0.isDeleted ? nil : $0 }
  }

  func run() throws {
    guard objects.count + (database == nil ? 0 : 1) > 1, let core = objects[0].core else { return }
    let saved = objects.filter { !$0.isInserted }
    // Older objects come first: those of the store, then in the order of their insertion.
    guard let survivor = database ?? saved.first ?? objects.max(by: { $0.key < $1.key }) else { return }
    for object in saved where object !== survivor { try giveBack(object) }
    core.refresh(survivor, mergeChanges: true)
    for object in objects where object !== survivor && object.isInserted {
      if prefersNew { take(from: object, survivor) }
      moveLinks(from: object, to: survivor)
      core.delete(object)
      // Its delete rules hold for what is left to it.
      core.propagateDeletes()
    }
  }

  private var prefersNew: Bool {
    policy == .mergeByPropertyObjectTrumpMergePolicyType || policy == .overwriteMergePolicyType
  }

  /// A stored object gets its own unique values again, or fails the save: to let it have the other's, the other would
  /// have to go, and no policy deletes a stored object.
  private func giveBack(_ object: NSManagedObject) throws {
    switch policy {
    case .rollbackMergePolicyType: try ObjectMerge.rollBack(object)
    case .mergeByPropertyStoreTrumpMergePolicyType:
      for (key, value) in object.committedValues(forKeys: conflict.constraint) {
        object.setModelledValue(value is NSNull ? nil : value, forKey: key)
      }
    default: throw CoreDataError.conflicts([conflict])
    }
  }

  /// Attributes, and destinations of to-one relationships, by name: the two may be of different sub-entities.
  private func take(from new: NSManagedObject, _ survivor: NSManagedObject) {
    for (key, found) in new.info.keys where survivor.info.keys[key] != nil {
      switch found {
      case .attribute(let index):
        if new.info.attributes[index].attribute.derivation != nil { continue }
        survivor.setModelledValue(new.modelledValue(forKey: key), forKey: key)
      case .relationship(let index):
        let relationship = new.info.relationships[index].relationship
        if relationship.isToMany { continue }
        let destination = new.toOne(relationship)
        if destination == nil && policy != .overwriteMergePolicyType { continue }
        survivor.setModelledValue(destination === new ? survivor : destination, forKey: key)
      case .transient, .fetched: continue
      }
    }
  }

  /// Members of the object's to-many relationships become those of the survivor, and so do to-one links that others have to it.
  private func moveLinks(from old: NSManagedObject, to survivor: NSManagedObject) {
    for info in old.info.relationships where info.relationship.isToMany {
      guard case .relationship(let index)? = survivor.info.keys[info.relationship.name] else { continue }
      let relationship = survivor.info.relationships[index].relationship
      for member in old.loadedToMany(info.relationship).members where member !== old && !member.isDeleted {
        survivor.add(member, to: relationship)
      }
    }
  }
}
