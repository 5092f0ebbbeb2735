import CoreData
import Foundation
import Testing

/// An object that runs code of the client when it is freed.
final class Parting: NSManagedObject {
  /// By thread, because tests run in parallel.
  static var farewell: (() -> Void)? {
    get { Thread.current.threadDictionary["farewell"] as? () -> Void }
    set { Thread.current.threadDictionary["farewell"] = newValue }
  }

  deinit { Parting.farewell?() }
}

/// Members are freed with the state of an object. Code that runs then may read the members of the object, or set them
/// again.
@Suite struct MemberReleaseTests {
  private func model() -> NSManagedObjectModel {
    let (owner, member) = (NSEntityDescription(), NSEntityDescription())
    (owner.name, member.name) = ("Owner", "Member")
    member.managedObjectClassName = "CoreDataTests.Parting"
    // Without an inverse, nothing else holds the members.
    owner.properties = ["first", "second", "third"].map { name in
      let relationship = NSRelationshipDescription()
      relationship.name = name
      relationship.destinationEntity = member
      return relationship
    }
    let number = NSAttributeDescription()
    number.name = "number"
    number.type = .integer64
    owner.properties.append(number)
    let model = NSManagedObjectModel()
    model.entities = [owner, member]
    return model
  }

  /// Runs `body` with an owner that alone holds its members. Returns how many of them were freed meanwhile.
  private func freed(
    leaving second: Int = 3, _ farewell: @escaping (NSManagedObject) -> Void,
    _ body: (NSManagedObject, NSManagedObjectContext) throws -> Void
  ) throws -> Int {
    let folder = FileManager.default.temporaryDirectory.appending(path: "parting-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    _ = try coordinator.addPersistentStore(type: .sqlite, at: folder.appending(path: "store"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      let made = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
      for name in ["first", "second", "third"] {
        let members = (0..<3).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Member", into: context) }
        made.setValue(NSSet(array: members), forKey: name)
      }
      try context.save()
      context.reset()
      let owner = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Owner")).first)
      for name in ["first", "second", "third"] { #expect((owner.value(forKey: name) as? NSSet)?.count == 3) }
      var count = 0
      Parting.farewell = {
        count += 1
        farewell(owner)
      }
      defer { Parting.farewell = nil }
      try body(owner, context)
      let freed = count
      Parting.farewell = nil
      for (name, count) in [("first", 3), ("second", second), ("third", 3)] {
        #expect((owner.value(forKey: name) as? NSSet)?.count == count)
      }
      return freed
    }
  }

  private func members(_ owner: NSManagedObject) -> Int {
    ["first", "second", "third"].reduce(0) { $0 + ((owner.value(forKey: $1) as? NSSet)?.count ?? 0) }
  }

  @Test func theOwnerMayBeReadWhileItForgetsItsMembers() throws {
    let count = try freed({ owner in #expect(members(owner) == 9) }) { owner, context in
      context.refresh(owner, mergeChanges: false)
    }
    // The first member that is freed makes the owner read its members again, so it holds them all.
    #expect(count >= 1)
  }

  @Test func theOwnerMayBeRefreshedWhileItForgetsItsMembers() throws {
    let count = try freed({ $0.managedObjectContext?.refresh($0, mergeChanges: false) }) { owner, context in
      context.refresh(owner, mergeChanges: false)
      _ = members(owner)
      // The members are read again with the next row.
      owner.setValue(1, forKey: "number")
      context.refresh(owner, mergeChanges: true)
    }
    #expect(count >= 18)
  }

  /// In a separate function, so that this one does not hold the member.
  private func removeMember(of owner: NSManagedObject) throws {
    let set = owner.mutableSetValue(forKey: "second")
    set.remove(try #require(set.allObjects.first))
  }

  @Test func theOwnerMayBeRefreshedWhenASaveReleasesItsRemovedMember() throws {
    var isSaving = false
    let refreshes: (NSManagedObject) -> Void = { owner in
      // The save is over, and another one may begin.
      if isSaving { #expect(owner.managedObjectContext?.hasChanges == false && !owner.hasChanges) }
      owner.managedObjectContext?.refresh(owner, mergeChanges: false)
    }
    let count = try freed(leaving: 2, refreshes) { owner, context in
      try removeMember(of: owner)
      isSaving = true
      try context.save()
      isSaving = false
    }
    #expect(count >= 1)
  }

  /// A change that a member's `deinit` makes to its former owner during the save of the owner belongs to the next save.
  @Test func aChangeThatTheReleaseOfARemovedMemberMakesIsKept() throws {
    var isSaving = false
    let count = try freed(leaving: 2, { if isSaving { $0.setValue(7, forKey: "number") } }) { owner, context in
      try removeMember(of: owner)
      isSaving = true
      try context.save()
      isSaving = false
      #expect(owner.hasChanges && owner.value(forKey: "number") as? Int == 7)
      try context.save()
      context.refresh(owner, mergeChanges: false)
      #expect(owner.value(forKey: "number") as? Int == 7)
    }
    #expect(count >= 1)
  }

  /// Each member holds the next one: if they were freed recursively, the stack would be too small.
  @Test func aLongChainOfMembersIsFreed() throws {
    let node = NSEntityDescription()
    node.name = "Node"
    node.managedObjectClassName = "CoreDataTests.Parting"
    let next = NSRelationshipDescription()
    (next.name, next.destinationEntity) = ("next", node)
    node.properties = [next]
    let model = NSManagedObjectModel()
    model.entities = [node]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(type: .inMemory, at: URL(filePath: "/dev/null"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let length = 100_000
      var count = 0
      Parting.farewell = { count += 1 }
      defer { Parting.farewell = nil }
      var first: NSManagedObject? = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
      for _ in 1..<length {
        let node = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
        node.setValue(NSSet(object: first as Any), forKey: "next")
        first = node
      }
      try context.save()
      #expect(first != nil && count == 0)
      first = nil
      #expect(count == length)
    }
  }

  /// A view of an ordered relationship holds its owner until the event ends. The owner's `deinit` may then use the
  /// context, and other views.
  @Test func theEndOfAnEventReleasesOwnersOfViews() throws {
    let entity = NSEntityDescription()
    entity.name = "Parting"
    entity.managedObjectClassName = "CoreDataTests.Parting"
    let relationship = NSRelationshipDescription()
    (relationship.name, relationship.isOrdered, relationship.maxCount) = ("next", true, 0)
    relationship.destinationEntity = entity
    entity.properties = [relationship]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(type: .inMemory, at: URL(filePath: "/dev/null"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for _ in 0..<3 { _ = NSEntityDescription.insertNewObject(forEntityName: "Parting", into: context) }
      try context.save()
      context.reset()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Parting")
      var objects: [NSManagedObject]? = try context.fetch(request)
      let kept = try #require(objects?.last)
      for object in objects ?? [] where object !== kept {
        _ = object.mutableOrderedSetValue(forKey: "next").count
        object.mutableOrderedSetValue(forKey: "next").add(object)
        object.mutableOrderedSetValue(forKey: "next").removeAllObjects()
      }
      try context.save()
      for object in objects ?? [] where object !== kept { _ = object.mutableOrderedSetValue(forKey: "next").count }
      objects = nil
      var count = 0
      Parting.farewell = {
        count += 1
        // What the fetch makes is freed again, and says farewell too.
        if count > 2 { return }
        _ = kept.mutableOrderedSetValue(forKey: "next").count
        _ = try? context.fetch(request)
      }
      defer { Parting.farewell = nil }
      for _ in 0..<3 {
        context.processPendingChanges()
        _ = try context.fetch(request)
      }
      #expect(count >= 2)
    }
  }
}
