import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Objects that were inserted and deleted again without ever being stored.
@Suite struct NeverStoredTests {
  /// `a.friends` has no inverse, so a deleted friend stays a member until the client removes it.
  private func stack(_ rule: NSDeleteRule, isOrdered: Bool = false) throws -> NSManagedObjectContext {
    let friends = NSRelationshipDescription()
    (friends.name, friends.maxCount, friends.isOptional, friends.deleteRule) = ("friends", 0, true, rule)
    friends.isOrdered = isOrdered
    let entity = Describing.entity("A", [Describing.attribute("note"), friends])
    friends.destinationEntity = entity
    return try Describing.context(Describing.model([entity]))
  }

  private func insert(_ context: NSManagedObjectContext) -> NSManagedObject {
    NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
  }

  /// A stored object, and its member that was deleted before it was ever stored.
  private func ownerOfNeverStored(
    _ context: NSManagedObjectContext
  ) throws -> (owner: NSManagedObject, member: NSManagedObject) {
    let (owner, member) = (insert(context), insert(context))
    owner.mutableSetValue(forKey: "friends").add(member)
    context.delete(member)
    try context.save()
    return (owner, member)
  }

  @Test(arguments: [NSDeleteRule.nullifyDeleteRule, .cascadeDeleteRule, .noActionDeleteRule])
  func aMemberThatWasNeverStoredCanBeTakenOut(_ rule: NSDeleteRule) throws {
    let context = try stack(rule)
    try context.performAndWait {
      let (owner, member) = try ownerOfNeverStored(context)
      #expect(!member.flags.contains(.stored) && owner.flags.contains(.stored))
      owner.mutableSetValue(forKey: "friends").remove(member)
      try context.save()
      #expect((owner.value(forKey: "friends") as? Set<NSManagedObject>)?.isEmpty == true)
    }
  }

  @Test(arguments: [NSDeleteRule.cascadeDeleteRule, .denyDeleteRule])
  func anOwnerThatHasLostItIsDeleted(_ rule: NSDeleteRule) throws {
    let context = try stack(rule)
    try context.performAndWait {
      let (owner, member) = try ownerOfNeverStored(context)
      owner.mutableSetValue(forKey: "friends").remove(member)
      context.delete(owner)
      try context.save()
      #expect(try context.count(for: NSFetchRequest<any NSFetchRequestResult>(entityName: "A")) == 0)
    }
  }

  @Test func anOrderLeavesItOut() throws {
    let context = try stack(.nullifyDeleteRule, isOrdered: true)
    try context.performAndWait {
      let (owner, member, other) = (insert(context), insert(context), insert(context))
      let friends = owner.mutableOrderedSetValue(forKey: "friends")
      friends.add(member)
      context.delete(member)
      try context.save()
      friends.add(other)
      try context.save()
      context.refresh(owner, mergeChanges: false)
      #expect((owner.value(forKey: "friends") as? NSOrderedSet)?.array as? [NSManagedObject] == [other])
    }
  }

  /// Its values are gone, and the store is not read for them.
  @Test func itIsReadAsAnEmptyObject() throws {
    let context = try stack(.nullifyDeleteRule)
    try context.performAndWait {
      let (other, object) = (insert(context), insert(context))
      context.delete(object)
      other.setValue("x", forKey: "note")
      try context.save()
      context.shouldDeleteInaccessibleFaults = false
      context.refresh(object, mergeChanges: false)
      #expect(object.value(forKey: "note") == nil)
      #expect(!object.flags.contains(.inaccessible))
    }
  }

  /// Nothing else changes, so the save finds nothing to write.
  @Test func itGetsNoPermanentID() throws {
    let context = try stack(.nullifyDeleteRule)
    try context.performAndWait {
      let object = insert(context)
      context.delete(object)
      try context.save()
      try context.obtainPermanentIDs(for: [object])
      #expect(object.objectID.isTemporaryID)
      #expect(!context.registeredObjects.contains(object))
      context.rollback()
    }
  }
}
