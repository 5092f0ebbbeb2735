import Foundation
import StoreSchema

/// Resolves a constraint conflict: only one of the objects keeps the unique values, as a merge policy other than
/// `error` says.
struct ConstraintMerge {
  private let policy: NSMergePolicyType
  private let conflict: NSConstraintConflict
  /// The objects that still have the values, in the order in which the conflict reports them.
  private let objects: [NSManagedObject]
  /// The stored object among them.
  private let database: NSManagedObject?

  init(_ conflict: NSConstraintConflict, _ policy: NSMergePolicyType) {
    (self.conflict, self.policy) = (conflict, policy)
    let values = conflict.content.values as NSDictionary
    objects = conflict.content.objects.filter { object in
      !object.flags.isDeleted && object.core != nil
        && values.isEqual(object.dictionaryWithValues(forKeys: conflict.content.constraint) as NSDictionary)
    }
    let stored = conflict.content.stored
    let isGivenUp =
      stored.map { stored in
        stored.presentChanges().keys.contains(where: conflict.content.constraint.contains)
          && !values.isEqual(stored.dictionaryWithValues(forKeys: conflict.content.constraint) as NSDictionary)
      } ?? false
    database = isGivenUp || stored?.flags.isDeleted == true ? nil : stored
  }

  /// Returns the stored objects that the policy rolls back.
  func run() throws -> [NSManagedObject] {
    guard objects.count + (database == nil ? 0 : 1) > 1, let core = objects[0].core else { return [] }
    let saved = objects.filter { !$0.flags.isInserted }
    // Older objects come first: those of the store, then in the order of their insertion.
    guard let survivor = database ?? saved.first ?? objects.min(by: Self.isOlder) else { return [] }
    let others = saved.filter { $0 !== survivor }
    let rolledBack = policy == .rollbackMergePolicyType ? others : []
    if rolledBack.isEmpty { for object in others { try giveBack(object) } }
    if !survivor.isToBeWritten { core.refresh(survivor, mergeChanges: true) }
    survivor.prepareToRead()
    // The object has been deleted since: at the next attempt no stored object has the values.
    if survivor.flags.isDeleted { return rolledBack }
    for object in objects where object !== survivor && object.flags.isInserted {
      if prefersNew { take(from: object, survivor) }
      moveLinks(from: object, to: survivor)
      core.delete(object)
      // Applies its delete rules to the links that it still has.
      core.propagateDeletes()
    }
    return rolledBack
  }

  /// Orders new objects by their keys: temporary keys count down, permanent keys count up.
  private static func isOlder(_ a: NSManagedObject, _ b: NSManagedObject) -> Bool {
    if (a.key < 0) != (b.key < 0) { return b.key < 0 }
    return abs(a.key) < abs(b.key)
  }

  private var prefersNew: Bool {
    policy == .mergeByPropertyObjectTrumpMergePolicyType || policy == .overwriteMergePolicyType
  }

  /// Gives a stored object its own unique values again, or fails the save. To let it have the values of the other
  /// stored object, that one would have to be deleted, and no policy deletes a stored object.
  private func giveBack(_ object: NSManagedObject) throws {
    if policy != .mergeByPropertyStoreTrumpMergePolicyType { throw CoreDataError.conflicts([conflict]) }
    for (key, value) in object.committed(conflict.content.constraint) {
      object.setModelledValue(value is NSNull ? nil : value, forKey: key)
    }
  }

  /// Takes attributes and destinations of to-one relationships, as far as both objects have them: they may be of
  /// different sub-entities.
  private func take(from new: NSManagedObject, _ survivor: NSManagedObject) {
    for (key, found) in new.info.keys {
      switch found {
      case .attribute(let index):
        let attribute = new.info.attributes[index].attribute
        if attribute.derivation != nil || !survivor.info.entity.attributes.contains(where: { $0.isSame(as: attribute) })
        {
          continue
        }
        survivor.setModelledValue(new.modelledValue(forKey: key), forKey: key)
      case .relationship(let index):
        let relationship = new.info.relationships[index].relationship
        if relationship.isToMany || Self.relationship(relationship, of: survivor) == nil { continue }
        let destination = new.toOne(relationship)
        if destination == nil && policy != .overwriteMergePolicyType { continue }
        survivor.setModelledValue(destination === new ? survivor : destination, forKey: key)
      case .transient, .fetched: continue
      }
    }
  }

  /// The same relationship of another object; nil where the object has none, or has its own relationship with the same
  /// name.
  private static func relationship(_ relationship: Relationship, of object: NSManagedObject) -> Relationship? {
    object.info.entity.relationships.first {
      $0.name == relationship.name && $0.declaringEntity == relationship.declaringEntity
    }
  }

  /// Moves the members of the object's to-many relationships to the survivor.
  private func moveLinks(from old: NSManagedObject, to survivor: NSManagedObject) {
    for info in old.info.relationships where info.relationship.isToMany {
      guard let relationship = Self.relationship(info.relationship, of: survivor) else { continue }
      for member in old.loadedToMany(info.relationship).members where member !== old && !member.flags.isDeleted {
        survivor.add(member, to: relationship)
      }
    }
  }
}

extension Attribute {
  /// Whether two entities have inherited the attribute from the same entity.
  fileprivate func isSame(as other: Attribute) -> Bool {
    name == other.name && declaringEntity == other.declaringEntity && slot == other.slot
  }
}
