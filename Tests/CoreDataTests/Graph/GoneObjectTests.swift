import CoreData
import Foundation
import Testing

/// Links to objects whose rows are gone, or are said to be: no save gives one up without its context knowing.
@Suite struct GoneObjectTests {
  /// An object that was found to be gone is linked, and refreshed: it is known to be gone still when the link is saved.
  @Test(arguments: StoreMigrationTests.types, ["nullifyPairs", "nullifyOwner"])
  func aLinkToWhatIsKnownToBeGoneIsNotSavedSilentlyAfterARefresh(
    _ type: NSPersistentStore.StoreType, _ key: String
  ) throws {
    let stack = try AcknowledgedStack(type)
    let (a, b) = (stack.context(), stack.context())
    try a.performAndWait {
      let (owner, member) = (stack.insert("Owner", in: a), stack.insert("Member", in: a))
      try a.save()
      try b.performAndWait {
        b.delete(try b.existingObject(with: member.objectID))
        try b.save()
      }
      a.refreshAllObjects()
      #expect(member.value(forKey: "name") == nil && member.isDeleted)
      link(member, key, owner)
      a.refreshAllObjects()
      try a.save()
      #expect(member.isDeleted && !a.hasChanges)
    }
  }

  /// Somebody tells of a deletion that was none, and the object is linked before it is looked for again.
  @Test(arguments: StoreMigrationTests.types, ["nullifyPairs", "nullifyOwner"])
  func aLinkToWhatWasOnlySaidToBeGoneIsSaved(_ type: NSPersistentStore.StoreType, _ key: String) throws {
    let stack = try AcknowledgedStack(type)
    let a = stack.context()
    let ids = try a.performAndWait {
      let (owner, member) = (stack.insert("Owner", in: a), stack.insert("Member", in: a))
      try a.save()
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectsKey: [member.objectID]], into: [a])
      #expect(member.isDeleted)
      link(member, key, owner)
      #expect(try a.existingObject(with: member.objectID) === member && !member.isDeleted)
      try a.save()
      return (owner.objectID, member.objectID)
    }
    let fresh = stack.context()
    try fresh.performAndWait {
      let member = try fresh.existingObject(with: ids.1)
      let owners = member.value(forKey: key)
      #expect(owners as? NSManagedObject ?? (owners as? Set<NSManagedObject>)?.first == fresh.object(with: ids.0))
    }
  }

  private func link(_ member: NSManagedObject, _ key: String, _ owner: NSManagedObject) {
    if key == "nullifyOwner" { return member.setValue(owner, forKey: key) }
    member.mutableSetValue(forKey: key).add(owner)
  }
}
