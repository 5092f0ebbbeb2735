import CoreData
import Foundation
import Testing

/// An object that runs code of the client's when it is freed.
final class Parting: NSManagedObject {
  /// By thread: tests run side by side.
  static var farewell: (() -> Void)? {
    get { Thread.current.threadDictionary["farewell"] as? () -> Void }
    set { Thread.current.threadDictionary["farewell"] = newValue }
  }

  deinit { Parting.farewell?() }
}

/// Members are freed with what an object knows of them. What runs then may ask the object for them, or take it back.
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

  /// Runs `body` with an owner whose members are held by it alone, and gives how many of them were freed meanwhile.
  private func freed(
    _ farewell: @escaping (NSManagedObject) -> Void, _ body: (NSManagedObject, NSManagedObjectContext) throws -> Void
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
      for name in ["first", "second", "third"] { #expect((owner.value(forKey: name) as? NSSet)?.count == 3) }
      return freed
    }
  }

  private func members(_ owner: NSManagedObject) -> Int {
    ["first", "second", "third"].reduce(0) { $0 + ((owner.value(forKey: $1) as? NSSet)?.count ?? 0) }
  }

  @Test func theOwnerMayBeAskedWhileItForgetsItsMembers() throws {
    let count = try freed({ owner in #expect(members(owner) == 9) }) { owner, context in
      context.refresh(owner, mergeChanges: false)
    }
    // Asked by the first that goes, it reads and holds them all again.
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

  @Test func theOwnerMayBeRefreshedWhileItsRemovedMembersAreForgotten() throws {
    let count = try freed({ $0.managedObjectContext?.refresh($0, mergeChanges: false) }) { owner, context in
      let set = owner.mutableSetValue(forKey: "second")
      let removed = try #require(set.allObjects.first as? NSManagedObject)
      set.remove(removed)
      set.add(removed)
      owner.setValue(1, forKey: "number")
      try context.save()
      context.refresh(owner, mergeChanges: false)
    }
    #expect(count >= 9)
  }
}
