import CoreData
import Foundation
import Testing

/// Acknowledged saves are kept, and nothing refers to deleted objects, whatever other contexts do meanwhile. The cases
/// without contexts are `DEL-020/guard` and `REL-017/gone`; random races are run by `store-conformance races`.
@Suite struct AcknowledgedDataTests {
  // MARK: 1.1

  /// The owner and its members are read, then another context adds a member, then the owner is deleted.
  @Test(arguments: StoreMigrationTests.types, ["Members", "Pairs"])
  func aMemberThatCameMeanwhileFollowsTheDeleteRule(_ type: NSPersistentStore.StoreType, _ kind: String) throws {
    for (rule, name) in AcknowledgedStack.rules {
      let stack = try AcknowledgedStack(type)
      let (a, b) = (stack.context(), stack.context())
      // The context keeps the state of the owner that it has read.
      a.retainsRegisteredObjects = true
      // A pair changes both objects' versions: the policy makes the deletion win, and its rules are applied again.
      if kind == "Pairs" { a.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
      let (ownerID, memberID) = try a.performAndWait {
        let (owner, member) = (stack.insert("Owner", in: a), stack.insert("Member", in: a))
        try a.save()
        _ = owner.value(forKey: name + kind)
        #expect((owner.value(forKey: name + kind) as? Set<NSManagedObject>)?.count == 0)
        return (owner.objectID, member.objectID)
      }
      try b.performAndWait {
        let (owner, member) = (b.object(with: ownerID), b.object(with: memberID))
        (owner.mutableSetValue(forKey: name + kind)).add(member)
        try b.save()
      }
      var code: CocoaError.Code?
      a.performAndWait {
        a.delete(a.object(with: ownerID))
        do { try a.save() } catch { code = (error as? CocoaError)?.code }
      }
      let fresh = stack.context()
      try fresh.performAndWait {
        let (owner, member) = (try? fresh.existingObject(with: ownerID), try? fresh.existingObject(with: memberID))
        switch rule {
        case .denyDeleteRule:
          #expect(code == .validationRelationshipDeniedDelete, "\(name)\(kind)")
          #expect(owner != nil && member != nil, "\(name)\(kind)")
        case .cascadeDeleteRule:
          #expect(code == nil && owner == nil && member == nil, "\(name)\(kind)")
        default:
          #expect(code == nil && owner == nil && member != nil, "\(name)\(kind)")
          let back = kind == "Members" ? name + "Owner" : name + kind
          let rest = member?.value(forKey: back)
          #expect(rest == nil || (rest as? Set<NSManagedObject>)?.isEmpty == true, "\(name)\(kind)")
        }
        let owners = try fresh.count(for: NSFetchRequest<NSManagedObject>(entityName: "Owner"))
        #expect(
          owners
            == (rule == .denyDeleteRule ? 1 : 0))
      }
    }
  }

  /// A member that the context removes before it deletes the owner is no member any more.
  @Test(arguments: StoreMigrationTests.types)
  func aMemberThatWasTakenOutIsLeftAlone(_ type: NSPersistentStore.StoreType) throws {
    for (_, name) in AcknowledgedStack.rules {
      for kind in ["Members", "Pairs"] {
        let stack = try AcknowledgedStack(type)
        let context = stack.context()
        try context.performAndWait {
          let (owner, member) = (stack.insert("Owner", in: context), stack.insert("Member", in: context))
          owner.mutableSetValue(forKey: name + kind).add(member)
          try context.save()
          owner.mutableSetValue(forKey: name + kind).remove(member)
          context.delete(owner)
          try context.save()
          #expect(!member.isDeleted, "\(name)\(kind)")
          let ownersLeft = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Owner"))
          #expect(ownersLeft == 0)
          let membersLeft = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Member"))
          #expect(membersLeft == 1)
        }
      }
    }
  }

  /// No context holds the destination, so its version is not checked, but its existence is.
  @Test(arguments: StoreMigrationTests.types)
  func aLinkToAnObjectThatIsGoneIsAConflict(_ type: NSPersistentStore.StoreType) throws {
    for policy in [NSMergePolicy.error, .mergeByPropertyObjectTrump] {
      let stack = try AcknowledgedStack(type)
      let (a, b) = (stack.context(), stack.context())
      a.mergePolicy = policy
      let ownerID = try a.performAndWait {
        let owner = stack.insert("Owner", in: a)
        try a.save()
        return owner.objectID
      }
      a.performAndWait { a.reset() }
      var code: CocoaError.Code?
      try a.performAndWait {
        let member = stack.insert("Member", in: a)
        autoreleased { member.setValue(a.object(with: ownerID), forKey: "nullifyOwner") }
        try b.performAndWait {
          b.delete(try b.existingObject(with: ownerID))
          try b.save()
        }
        do { try a.save() } catch { code = (error as? CocoaError)?.code }
        if policy !== NSMergePolicy.error {
          #expect(member.value(forKey: "nullifyOwner") == nil)
          #expect(!member.objectID.isTemporaryID)
        }
      }
      #expect(code == (policy === NSMergePolicy.error ? .managedObjectMerge : nil))
    }
  }

  private func autoreleased(_ body: () -> Void) { body() }

  /// Two contexts at the same time, many times: whichever saves first, the rule holds afterwards.
  @Test(arguments: StoreMigrationTests.types)
  func linksAndDeletionsAtTheSameTimeLeaveNothingDangling(_ type: NSPersistentStore.StoreType) throws {
    let stack = try AcknowledgedStack(type)
    let (a, b) = (stack.context(), stack.context())
    for round in 0..<(type == .sqlite ? 40 : 15) {
      let (rule, name) = AcknowledgedStack.rules[round % 3]
      let setup = stack.context()
      let (ownerID, memberID) = try setup.performAndWait {
        let (owner, member) = (stack.insert("Owner", in: setup), stack.insert("Member", in: setup))
        try setup.save()
        return (owner.objectID, member.objectID)
      }
      a.performAndWait { a.delete(a.object(with: ownerID)) }
      b.performAndWait { b.object(with: memberID).setValue(b.object(with: ownerID), forKey: name + "Owner") }
      DispatchQueue.concurrentPerform(iterations: 2) { index in
        let context = index == 0 ? a : b
        context.performAndWait { do { try context.save() } catch { context.rollback() } }
      }
      let fresh = stack.context()
      try fresh.performAndWait {
        let owner = try? fresh.existingObject(with: ownerID)
        guard let member = try? fresh.existingObject(with: memberID) else {
          #expect(rule == .cascadeDeleteRule && owner == nil)
          return
        }
        let linked = member.value(forKey: name + "Owner") as? NSManagedObject
        #expect(linked == nil || linked === owner, "round \(round): \(name) leads to what is gone")
        if let linked { #expect((try? fresh.existingObject(with: linked.objectID)) != nil, "round \(round)") }
        _ = try fresh.count(for: NSFetchRequest<NSManagedObject>(entityName: "Owner"))
      }
    }
  }

  // MARK: 1.2

  /// A save that has packed its large values for the old store commits to the new one.
  @Test(arguments: StoreMigrationTests.persistentTypes, StoreMigrationTests.persistentTypes)
  func aSaveThatRunsWhileItsStoreMovesKeepsItsLargeValues(
    _ type: NSPersistentStore.StoreType, _ other: NSPersistentStore.StoreType
  ) throws {
    let stack = try AcknowledgedStack(type)
    let context = stack.context()
    let blob = Data(repeating: 7, count: 300_000)
    let url = stack.folder.appending(path: "moved")
    let coordinator = stack.coordinator
    let id = try context.performAndWait {
      let kept = stack.insert("Member", in: context)
      kept.setValue(blob, forKey: "blob")
      try context.save()
      let member = stack.insert("Member", in: context)
      member.setValue(blob, forKey: "blob")
      kept.setValue("changed", forKey: "name")
      // Packed after the large value of the first object: the store moves in between.
      let last = stack.insert("Member", in: context)
      last.setValue(
        HookedValue {
          let moved = DispatchSemaphore(value: 0)
          Thread.detachNewThread {
            _ = try? coordinator.migratePersistentStore(
              coordinator.persistentStores[0], to: url, options: nil, withType: other.rawValue)
          }
          Thread.detachNewThread {
            while coordinator.persistentStores[0].url != url { usleep(1000) }
            moved.signal()
          }
          #expect(moved.wait(timeout: .now() + 20) == .success)
        }, forKey: "list")
      try context.save()
      return (kept.objectID, member.objectID)
    }
    let fresh = stack.context()
    try fresh.performAndWait {
      for id in [id.0, id.1] {
        let data = try fresh.existingObject(with: id).value(forKey: "blob")
        #expect(data as? Data == blob)
      }
      let changedName = try fresh.existingObject(with: id.0).value(forKey: "name")
      #expect(changedName as? String == "changed")
    }
  }

  /// Keys of unsaved objects are given to no other object, wherever the store moves, and whether the keys were
  /// allocated before or during the move.
  @Test(arguments: StoreMigrationTests.persistentTypes, StoreMigrationTests.persistentTypes)
  func keysOfUnsavedObjectsAreTakenInTheStoreThatFollows(
    _ type: NSPersistentStore.StoreType, _ other: NSPersistentStore.StoreType
  ) throws {
    let stack = try AcknowledgedStack(type)
    let (early, late) = (stack.context(), stack.context())
    try early.performAndWait {
      for _ in 0..<300 { _ = stack.insert("Member", in: early) }
      try early.save()
      try early.obtainPermanentIDs(for: [stack.insert("Member", in: early), stack.insert("Owner", in: early)])
    }
    let (coordinator, moved) = (stack.coordinator, stack.folder.appending(path: "moved"))
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      _ = try? coordinator.migratePersistentStore(
        coordinator.persistentStores[0], to: moved, options: nil, withType: other.rawValue)
      done.signal()
    }
    try early.performAndWait {
      while coordinator.persistentStores[0].url != moved {
        try early.obtainPermanentIDs(for: [stack.insert("Member", in: early)])
      }
    }
    done.wait()
    try late.performAndWait {
      for entity in ["Member", "Owner"] { _ = stack.insert(entity, in: late) }
      try late.save()
    }
    let count = try early.performAndWait {
      let count = early.insertedObjects.count
      try early.save()
      return count
    }
    let members = NSFetchRequest<NSManagedObject>(entityName: "Member")
    let owners = NSFetchRequest<NSManagedObject>(entityName: "Owner")
    let found = try late.performAndWait { try late.count(for: members) + late.count(for: owners) }
    #expect(found == 300 + 2 + count)
  }

  /// A save of another context to the former URL of the store conflicts with changes that were based on the state
  /// before that save.
  @Test(arguments: StoreMigrationTests.persistentTypes, StoreMigrationTests.persistentTypes)
  func changesFromBeforeASaveAreAConflictThoughTheStoreHasMovedSince(
    _ type: NSPersistentStore.StoreType, _ other: NSPersistentStore.StoreType
  ) throws {
    let stack = try AcknowledgedStack(type)
    let (mine, theirs) = (stack.context(), stack.context())
    let blob = Data(repeating: 7, count: 300_000)
    let ids = try theirs.performAndWait {
      let members = (0..<3).map { _ in stack.insert("Member", in: theirs) }
      for member in members { member.setValue(blob, forKey: "blob") }
      try theirs.save()
      return members.map(\.objectID)
    }
    try mine.performAndWait {
      let members = try ids.map(mine.existingObject(with:))
      members[0].setValue("mine", forKey: "name")
      members[1].setValue("mine", forKey: "name")
      mine.delete(members[2])
    }
    try theirs.performAndWait {
      for id in [ids[0], ids[2]] { try theirs.existingObject(with: id).setValue("theirs", forKey: "name") }
      try theirs.save()
    }
    try stack.coordinator.migratePersistentStore(
      stack.coordinator.persistentStores[0], to: stack.folder.appending(path: "moved"), options: nil,
      withType: other.rawValue)
    try mine.performAndWait {
      let error = #expect(throws: CocoaError.self) { try mine.save() }
      #expect(error?.code == .managedObjectMerge)
      let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
      #expect(Set(conflicts?.map { $0.sourceObject.objectID } ?? []) == [ids[0], ids[2]])
      mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try mine.save()
    }
    let fresh = stack.context()
    try fresh.performAndWait {
      for id in ids.prefix(2) {
        let found = try fresh.existingObject(with: id)
        #expect(found.value(forKey: "name") as? String == "mine")
        #expect(found.value(forKey: "blob") as? Data == blob)
      }
      #expect(throws: CocoaError.self) { try fresh.existingObject(with: ids[2]) }
    }
  }

  // MARK: 1.5

  @Test(arguments: [true, false])
  func anObjectWhoseRowIsGoneIsSavedOnceWhenItIsInsertedAgain(_ refreshesAll: Bool) throws {
    let stack = try AcknowledgedStack(.sqlite)
    let (a, b) = (stack.context(), stack.context())
    try a.performAndWait {
      let object = stack.insert("Member", in: a)
      object.setValue("first", forKey: "name")
      try a.save()
      let id = object.objectID
      try b.performAndWait {
        b.delete(try b.existingObject(with: id))
        try b.save()
      }
      object.setValue("second", forKey: "name")
      if refreshesAll { a.refreshAllObjects() } else { a.refresh(object, mergeChanges: true) }
      a.insert(object)
      #expect(a.insertedObjects == [object])
      try a.save()
      #expect(!a.hasChanges)
    }
    let fresh = stack.context()
    let count = try fresh.performAndWait { try fresh.count(for: NSFetchRequest<NSManagedObject>(entityName: "Member")) }
    #expect(count == 1)
  }

  // MARK: 1.6

  /// The second store has a conflict: the first one must not be written.
  @Test func conflictsInTheSecondStoreKeepTheFirstFromBeingWritten() throws {
    let model = AcknowledgedStack.model()
    let entities = model.entitiesByName
    for entity in model.entities { entity.properties.removeAll { $0 is NSRelationshipDescription } }
    model.setEntities(["Owner"].compactMap { entities[$0] }, forConfigurationName: "A")
    model.setEntities(["Member"].compactMap { entities[$0] }, forConfigurationName: "B")
    HookedTransformer.register()
    let folder = FileManager.default.temporaryDirectory.appending(path: "acknowledged-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for types in [(NSPersistentStore.StoreType.sqlite, NSPersistentStore.StoreType.xml), (.binary, .sqlite)] {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let name = "\(types.0.rawValue)-\(types.1.rawValue)"
      try coordinator.addPersistentStore(type: types.0, configuration: "A", at: folder.appending(path: name + "-a"))
      try coordinator.addPersistentStore(type: types.1, configuration: "B", at: folder.appending(path: name + "-b"))
      let (a, b) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
      (a.persistentStoreCoordinator, b.persistentStoreCoordinator) = (coordinator, coordinator)
      try a.performAndWait {
        let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: a)
        let member = NSEntityDescription.insertNewObject(forEntityName: "Member", into: a)
        try a.save()
        let id = member.objectID
        try b.performAndWait {
          try b.existingObject(with: id).setValue("other", forKey: "name")
          try b.save()
        }
        owner.setValue("mine", forKey: "name")
        member.setValue("mine", forKey: "name")
        let error = #expect(throws: CocoaError.self) { try a.save() }
        #expect(error?.code == .managedObjectMerge)
        #expect(owner.hasChanges && member.hasChanges)
        b.performAndWait {
          b.reset()
          #expect(b.object(with: owner.objectID).value(forKey: "name") == nil)
        }
        a.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try a.save()
      }
    }
  }
}
