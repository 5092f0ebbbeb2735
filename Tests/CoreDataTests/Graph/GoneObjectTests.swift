import CoreData
import Foundation
import Testing

/// Changes of objects whose rows are gone, or were reported as deleted: no save drops one without the context showing
/// that.
@Suite struct GoneObjectTests {
  private static let keys = ["nullifyPairs", "nullifyOwner"]

  private func link(_ member: NSManagedObject, _ key: String, _ owner: NSManagedObject) {
    if key == "nullifyOwner" { return member.setValue(owner, forKey: key) }
    member.mutableSetValue(forKey: key).add(owner)
  }

  private func areLinked(_ member: NSManagedObject, _ key: String, _ owner: NSManagedObject) -> [Bool] {
    let owners = member.value(forKey: key)
    let members = owner.value(forKey: key == "nullifyOwner" ? "nullifyMembers" : key) as? Set<NSManagedObject>
    return [
      owners as? NSManagedObject === owner || (owners as? Set<NSManagedObject>)?.contains(owner) == true,
      members?.contains(member) == true,
    ]
  }

  /// Whether a separate context finds both objects linked.
  private func areLinked(
    _ stack: AcknowledgedStack, _ member: NSManagedObjectID, _ key: String, _ owner: NSManagedObjectID
  )
    throws -> [Bool]
  {
    let fresh = stack.context()
    return try fresh.performAndWait {
      try areLinked(fresh.existingObject(with: member), key, fresh.existingObject(with: owner))
    }
  }

  /// An object whose row was found to be gone is linked. After a refresh no object shows the link, which no save would
  /// write.
  @Test(arguments: StoreMigrationTests.types, keys)
  func aLinkToWhatIsGoneIsGivenUpByARefresh(_ type: NSPersistentStore.StoreType, _ key: String) throws {
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
      #expect(areLinked(member, key, owner) == [false, false])
      try a.save()
      #expect(member.isDeleted && !a.hasChanges)
    }
  }

  /// A deletion is reported that did not happen. Changes of the object are discarded on both sides when it is read
  /// again, and can be made once more.
  @Test(arguments: StoreMigrationTests.types, keys)
  func changesOfWhatWasOnlySaidToBeGoneAreGivenUpOnBothSides(
    _ type: NSPersistentStore.StoreType, _ key: String
  ) throws {
    for (takesMember, linksBefore) in [(true, true), (true, false), (false, true), (false, false)] {
      let stack = try AcknowledgedStack(type)
      let a = stack.context()
      try a.performAndWait {
        let (owner, member) = (stack.insert("Owner", in: a), stack.insert("Member", in: a))
        try a.save()
        let gone = takesMember ? member : owner
        if linksBefore { link(member, key, owner) }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [gone.objectID]], into: [a])
        #expect(gone.isDeleted)
        if !linksBefore { link(member, key, owner) }
        gone.setValue("name", forKey: "name")
        #expect(try a.existingObject(with: gone.objectID) === gone && !gone.isDeleted)
        #expect(gone.value(forKey: "name") == nil)
        let shown = areLinked(member, key, owner)
        // A member whose own row has the link keeps it.
        #expect(
          shown == Array(repeating: key == "nullifyOwner" && !takesMember, count: 2), "\(takesMember) \(linksBefore)")
        try a.save()
        #expect(try areLinked(stack, member.objectID, key, owner.objectID) == shown, "\(takesMember) \(linksBefore)")
        link(member, key, owner)
        try a.save()
        #expect(
          try areLinked(stack, member.objectID, key, owner.objectID) == [true, true], "\(takesMember) \(linksBefore)")
      }
    }
  }

  /// A change that was rolled back stays undone when the object is read again.
  @Test func whatIsRolledBackIsNoChangeOfAnObjectThatIsThereAgain() throws {
    let stack = try AcknowledgedStack(.sqlite)
    let a = stack.context()
    try a.performAndWait {
      let member = stack.insert("Member", in: a)
      member.setValue("old", forKey: "name")
      try a.save()
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [member.objectID]], into: [a])
      member.setValue("new", forKey: "name")
      a.rollback()
      #expect(try a.existingObject(with: member.objectID).value(forKey: "name") as? String == "old")
      #expect(!a.hasChanges)
    }
  }

  /// A link that was rolled back, or that a save left out, does not belong to an owner that exists again: its delete
  /// rule affects no other object.
  @Test(arguments: [true, false]) func anOwnerThatIsThereAgainHasTheMembersThatSayIt(_ rollsBack: Bool) throws {
    let stack = try AcknowledgedStack(.sqlite)
    let a = stack.context()
    let id = try a.performAndWait {
      let (owner, member) = (stack.insert("Owner", in: a), stack.insert("Member", in: a))
      try a.save()
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [owner.objectID]], into: [a])
      member.setValue(owner, forKey: "cascadeOwner")
      if rollsBack { a.rollback() } else { try a.save() }
      #expect(try a.existingObject(with: owner.objectID) === owner)
      #expect((owner.value(forKey: "cascadeMembers") as? Set<NSManagedObject>)?.isEmpty == true)
      a.delete(owner)
      try a.save()
      return member.objectID
    }
    let fresh = stack.context()
    try fresh.performAndWait {
      let member = try fresh.existingObject(with: id)
      #expect(member.value(forKey: "cascadeOwner") == nil)
    }
  }

  /// A new owner that was saved meanwhile does not keep a member that exists again and has another owner.
  @Test func anOwnerThatWasSavedMeanwhileDoesNotShowTheLink() throws {
    let stack = try AcknowledgedStack(.sqlite)
    let a = stack.context()
    try a.performAndWait {
      let member = stack.insert("Member", in: a)
      try a.save()
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [member.objectID]], into: [a])
      let owner = stack.insert("Owner", in: a)
      member.setValue(owner, forKey: "cascadeOwner")
      try a.save()
      #expect(try a.existingObject(with: member.objectID) === member)
      #expect(member.value(forKey: "cascadeOwner") == nil)
      #expect((owner.value(forKey: "cascadeMembers") as? Set<NSManagedObject>)?.isEmpty == true)
      #expect(!a.hasChanges)
    }
  }

  /// A member that was removed from an owner that exists again does not come back.
  @Test(arguments: StoreMigrationTests.types)
  func anOwnerThatIsThereAgainIsWithoutWhomWasTakenAway(_ type: NSPersistentStore.StoreType) throws {
    let stack = try AcknowledgedStack(type)
    let a = stack.context()
    try a.performAndWait {
      let (owner, member) = (stack.insert("Owner", in: a), stack.insert("Member", in: a))
      link(member, "nullifyOwner", owner)
      try a.save()
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [owner.objectID]], into: [a])
      member.setValue(nil, forKey: "nullifyOwner")
      #expect(try a.existingObject(with: owner.objectID) === owner)
      #expect(areLinked(member, "nullifyOwner", owner) == [false, false])
      try a.save()
      #expect(try areLinked(stack, member.objectID, "nullifyOwner", owner.objectID) == [false, false])
    }
  }

  /// A save does not report an object as updated whose only change was discarded together with another object.
  @Test func aChangeThatWasGivenUpIsNotReported() throws {
    let stack = try AcknowledgedStack(.sqlite)
    let a = stack.context()
    try a.performAndWait {
      let (owner, other, member) = (
        stack.insert("Owner", in: a), stack.insert("Owner", in: a), stack.insert("Member", in: a)
      )
      try a.save()
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [member.objectID]], into: [a])
      nonisolated(unsafe) var reported: [Set<NSManagedObject>] = []
      let tokens = [
        NSManagedObjectContext.didChangeObjectsNotification, NSManagedObjectContext.didSaveObjectsNotification,
      ]
      .map { name in
        NotificationCenter.default.addObserver(forName: name, object: a, queue: nil) { note in
          reported.append(note.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? [])
        }
      }
      defer { tokens.forEach(NotificationCenter.default.removeObserver) }
      link(member, "nullifyPairs", owner)
      other.setValue("name", forKey: "name")
      a.processPendingChanges()
      #expect(try a.existingObject(with: member.objectID) === member)
      try a.save()
      #expect(reported == [[owner, other], [other]])
    }
  }

  /// The same object is a partner by two relationships. All other changes are saved.
  @Test func aPartnerByTwoRelationshipsIsForgottenOnce() throws {
    let company = try CompanyStore()
    try company.run { context in
      let (person, department, other) = (Person(context: context), Department(context: context), Tag(context: context))
      other.label = "before"
      try context.save()
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectsKey: [person.objectID]], into: [context])
      person.department = department
      person.setValue(department, forKey: "rankedIn")
      other.label = "after"
      #expect(try context.existingObject(with: person.objectID) === person)
      #expect(person.department == nil && department.ranking.isEmpty && !department.hasChanges)
      #expect(context.hasChanges)
      try context.save()
      context.refreshAllObjects()
      #expect(other.label == "after")
    }
  }
}
