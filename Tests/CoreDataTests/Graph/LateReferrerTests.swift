import CoreData
import Foundation
import Testing

/// A save that deletes an owner, while another context links one more member before each of its attempts.
@Suite struct LateReferrerTests {
  /// The save applies the delete rules after each of eight attempts, and throws after the ninth. The context can then
  /// save the same deletion, or undo it.
  @Test(arguments: StoreMigrationTests.types, [false, true])
  func aSaveGivesUpThatFindsNewMembersAtEachAttempt(_ type: NSPersistentStore.StoreType, _ rollsBack: Bool) throws {
    for name in ["nullify", "cascade"] {
      let stack = try AcknowledgedStack(type)
      let (mine, theirs) = (stack.context(), stack.context())
      var attempts = 0
      try mine.performAndWait {
        let owner = try #require(stack.insert("Owner", in: mine) as? HookedOwner)
        try mine.save()
        let id = owner.objectID
        owner.hook = {
          // A save without a limit ends here.
          if attempts == 50 { return }
          attempts += 1
          try theirs.performAndWait {
            stack.insert("Member", in: theirs).setValue(theirs.object(with: id), forKey: name + "Owner")
            try theirs.save()
          }
        }
        mine.delete(owner)
        let error = #expect(throws: CocoaError.self) { try mine.save() }
        #expect(error?.code == .managedObjectMerge, "\(name)")
        #expect(attempts == 9, "\(name)")
        #expect(mine.hasChanges && owner.isDeleted, "\(name)")
        owner.hook = nil
        if rollsBack {
          mine.rollback()
          #expect(!mine.hasChanges && !owner.isDeleted, "\(name)")
          mine.delete(owner)
        }
        try mine.save()
        #expect(!mine.hasChanges, "\(name)")
      }
      let fresh = stack.context()
      try fresh.performAndWait {
        let ownersLeft = try fresh.count(for: NSFetchRequest<NSManagedObject>(entityName: "Owner"))
        #expect(ownersLeft == 0, "\(name)")
        let members = try fresh.fetch(NSFetchRequest<NSManagedObject>(entityName: "Member"))
        #expect(members.count == (name == "cascade" ? 0 : attempts), "\(name)")
        for member in members {
          let owner = member.value(forKey: name + "Owner")
          #expect(owner == nil, "\(name)")
        }
      }
    }
  }
}
