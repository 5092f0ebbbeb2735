import CoreData
import Foundation
import TestSupport
import Testing

/// Child contexts: what they see of their parents, and what their saves do there.
@Suite struct ChildContextTests {
  @Test func aSaveReachesTheParentOnly() throws {
    let family = try ContextChain()
    family.child.retainsRegisteredObjects = true
    let id = try family.child.performAndWait {
      let person = Person(context: family.child)
      (person.name, person.age) = ("Ada", 36)
      try family.child.save()
      #expect(!family.child.hasChanges && !person.hasChanges && person.objectID.isTemporaryID)
      #expect(person.name == "Ada" && person.committedValues(forKeys: ["age"])["age"] as? Int == 36)
      return person.objectID
    }
    #expect(try family.stored() == [])
    try family.root.performAndWait {
      let person = try #require(family.root.registeredObject(for: id) as? Person)
      #expect(family.root.insertedObjects == [person] && person.objectID == id && person.name == "Ada")
      try family.root.save()
      #expect(!person.objectID.isTemporaryID)
    }
    #expect(try family.stored() == ["Ada"])
    try family.child.performAndWait {
      let person = try #require(family.child.registeredObjects.first as? Person)
      #expect(!person.objectID.isTemporaryID && family.child.object(with: id) === person)
      #expect(try family.child.fetch(ContextChain.people()) == [person])
    }
  }

  @Test func aChildSeesUnsavedChangesOfItsParent() throws {
    let family = try ContextChain(levels: 4)
    let last = family.contexts[3]
    try family.root.performAndWait {
      for (name, age) in [("Ada", 36), ("Bob", 20), ("Cyd", 50)] {
        let person = Person(context: family.root)
        (person.name, person.age) = (name, Int16(age))
      }
      try family.root.save()
      let people = try family.root.fetch(ContextChain.people())
      (people[1].age, people[0].name) = (60, "Ann")
      family.root.delete(people[2])
      let department = Department(context: family.root)
      department.title = "Mills"
      people[0].department = department
      Person(context: family.root).name = "Dan"
    }
    try last.performAndWait {
      #expect(try last.fetch(ContextChain.people()).map(\.name) == ["Ann", "Bob", "Dan"])
      #expect(try last.fetch(ContextChain.people("age > 50")).map(\.name) == ["Bob"])
      #expect(try last.count(for: ContextChain.people("department.title == 'Mills'")) == 1)
      let ann = try #require(try last.fetch(ContextChain.people("name == 'Ann'")).first)
      #expect(ann.department?.title == "Mills" && ann.department?.people == [ann])
      #expect(ann.department?.objectID.isTemporaryID == true)
      #expect(!last.hasChanges)
      let request = ContextChain.people()
      (request.fetchOffset, request.fetchLimit) = (1, 1)
      #expect(try last.fetch(request).map(\.name) == ["Bob"])
      request.fetchBatchSize = 1
      (request.fetchOffset, request.fetchLimit) = (0, 0)
      #expect(try last.fetch(request).map(\.name) == ["Ann", "Bob", "Dan"])
    }
  }

  @Test func linksOfAllKindsReachTheParent() throws {
    let family = try ContextChain(levels: 3)
    let (root, last) = (family.root, family.contexts[2])
    let ids = try root.performAndWait {
      let old = Department(context: root)
      old.title = "old"
      for name in ["Ada", "Bob", "Cyd"] {
        let person = Person(context: root)
        (person.name, person.department) = (name, old)
        person.setValue(old, forKey: "rankedIn")
      }
      let tag = Tag(context: root)
      tag.label = "red"
      tag.people = old.people
      try root.save()
      return (old.objectID, tag.objectID)
    }
    try last.performAndWait {
      let people = try last.fetch(ContextChain.people())
      let old = try #require(last.object(with: ids.0) as? Department)
      let tag = try #require(last.object(with: ids.1) as? Tag)
      let new = Department(context: last)
      (new.title, people[0].department) = ("new", new)
      tag.people.remove(people[1])
      let blue = Tag(context: last)
      (blue.label, blue.people) = ("blue", [people[1], people[2]])
      old.ranking = [people[2], people[0], people[1]]
      Badge(context: last).owner = people[0]
      try last.save()
      try family.child.performAndWait { try family.child.save() }
    }
    func check(_ context: NSManagedObjectContext) throws {
      let people = try context.fetch(ContextChain.people())
      let old = try #require(context.object(with: ids.0) as? Department)
      #expect(people.map(\.department?.title) == ["new", "old", "old"])
      #expect(old.people == [people[1], people[2]] && old.ranking.map(\.name) == ["Cyd", "Ada", "Bob"])
      #expect(people.map { $0.tags.map(\.label).sorted() } == [["red"], ["blue"], ["blue", "red"]])
      #expect(people[0].badge?.owner === people[0])
    }
    try root.performAndWait {
      try check(root)
      try root.save()
      try check(root)
    }
    try family.company.run(check)
    try last.performAndWait { try check(last) }
    let fresh = try family.company.reopened()
    try fresh.run(check)
  }

  @Test func deletionsFollowTheirRulesInTheParentToo() throws {
    let family = try ContextChain()
    let (root, child) = (family.root, family.child)
    try root.performAndWait {
      let department = Department(context: root)
      for name in ["Ada", "Bob"] {
        let person = Person(context: root)
        (person.name, person.department) = (name, department)
        Badge(context: root).owner = person
      }
      try root.save()
    }
    let badge = try child.performAndWait {
      let ada = try #require(try child.fetch(ContextChain.people()).first)
      let badge = try #require(ada.badge)
      child.delete(ada)
      try child.save()
      #expect(child.deletedObjects.isEmpty && ada.managedObjectContext == nil)
      return badge.objectID
    }
    try root.performAndWait {
      #expect(root.deletedObjects.count == 2)
      let bob = try #require(try root.fetch(ContextChain.people()).first)
      #expect(bob.department?.people == [bob])
      try root.save()
      #expect(throws: CocoaError.self) { try root.existingObject(with: badge) }
    }
    #expect(try family.stored() == ["Bob"])
  }

  @Test func theChildWinsOverUnsavedEditsOfItsParent() throws {
    let family = try ContextChain()
    let (root, child) = (family.root, family.child)
    let id = try root.performAndWait {
      let person = Person(context: root)
      (person.name, person.age, person.salary) = ("Ada", 1, 1)
      try root.save()
      return person.objectID
    }
    try child.performAndWait {
      let person = try #require(try child.existingObject(with: id) as? Person)
      person.age = 2
      try root.performAndWait {
        let person = try #require(try root.existingObject(with: id) as? Person)
        (person.age, person.salary) = (3, 3)
      }
      try child.save()
      // The child has its own values until it reads the object again.
      #expect(person.age == 2 && person.salary == 1)
      child.refresh(person, mergeChanges: false)
      #expect(person.age == 2 && person.salary == 3)
    }
    try root.performAndWait {
      let person = try #require(try root.existingObject(with: id) as? Person)
      #expect(person.age == 2 && person.salary == 3)
      try root.save()
    }
  }

  @Test func anObjectThatTheParentHasLostIsAConflict() throws {
    let family = try ContextChain()
    let (root, child) = (family.root, family.child)
    let id = try family.savePerson()
    try child.performAndWait {
      let person = try #require(try child.existingObject(with: id) as? Person)
      person.age = 2
      Person(context: child).name = "Bob"
      try root.performAndWait {
        root.delete(try root.existingObject(with: id))
        try root.save()
      }
      let error = #expect(throws: CocoaError.self) { try child.save() }
      #expect(error?.code == .managedObjectMerge)
      let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
      #expect(conflicts?.first?.sourceObject === person && conflicts?.first?.newVersionNumber == 0)
      #expect(person.hasChanges && !root.hasChanges)
      child.mergePolicy = NSMergePolicy.overwrite
      try child.save()
      #expect(!child.hasChanges && person.isDeleted)
    }
    root.performAndWait { #expect(root.insertedObjects.count == 1) }
  }

  /// A later save of the child undoes a deletion that the parent has not saved.
  @Test func anObjectThatTheParentIsAboutToDeleteIsKept() throws {
    let family = try ContextChain()
    let (root, child) = (family.root, family.child)
    let id = try family.savePerson()
    try child.performAndWait {
      let person = try #require(try child.existingObject(with: id) as? Person)
      person.age = 2
      try root.performAndWait { root.delete(try root.existingObject(with: id)) }
      try child.save()
    }
    try root.performAndWait {
      #expect(root.deletedObjects.isEmpty)
      try root.save()
    }
    #expect(try family.stored() == ["Ada"])
  }

  @Test func permanentIDsAreTheSameOnAllLevels() throws {
    let family = try ContextChain(levels: 3)
    let (root, last) = (family.root, family.contexts[2])
    try last.performAndWait {
      let (ada, bob) = (Person(context: last), Person(context: last))
      (ada.name, bob.name) = ("Ada", "Bob")
      let department = Department(context: last)
      (ada.department, bob.department) = (department, department)
      try last.obtainPermanentIDs(for: [ada])
      try last.save()
      // Bob is an object of the parent by now, which obtains the ID.
      try last.obtainPermanentIDs(for: [bob, department])
      #expect(!ada.objectID.isTemporaryID && !bob.objectID.isTemporaryID)
      #expect(bob.department === department && department.people == [ada, bob])
      last.refreshAllObjects()
      #expect(bob.department === department && department.people == [ada, bob])
      try family.child.performAndWait {
        #expect((family.child.object(with: bob.objectID) as? Person)?.name == "Bob")
        try family.child.save()
      }
      try root.performAndWait {
        #expect(root.insertedObjects.count == 3)
        try root.save()
      }
      #expect(try last.existingObject(with: ada.objectID) === ada)
      last.refreshAllObjects()
      #expect(ada.department === department && department.people == [ada, bob])
    }
  }

  @Test func validationFailsInTheChild() throws {
    let family = try ContextChain()
    family.child.performAndWait {
      let tag = Tag(context: family.child)
      let error = #expect(throws: CocoaError.self) { try family.child.save() }
      #expect(error?.code == .validationMissingMandatoryProperty && tag.isInserted)
    }
    family.root.performAndWait { #expect(!family.root.hasChanges) }
  }

  /// Only the root knows the stored objects.
  @Test func aUniquenessConflictAppearsAtTheRoot() throws {
    let family = try ContextChain()
    let (root, child) = (family.root, family.child)
    try root.performAndWait {
      Tag(context: root).label = "red"
      try root.save()
    }
    try child.performAndWait {
      Tag(context: child).label = "red"
      try child.save()
    }
    root.performAndWait {
      let error = #expect(throws: CocoaError.self) { try root.save() }
      #expect(error?.code == .managedObjectConstraintMerge)
    }
  }

  @Test func siblingsMergeWhatReachesTheirParent() async throws {
    let family = try ContextChain()
    let (root, child) = (family.root, family.child)
    let sibling = NSManagedObjectContext(.privateQueue)
    sibling.parent = root
    child.retainsRegisteredObjects = true
    sibling.automaticallyMergesChangesFromParent = true
    let id = try family.savePerson()
    nonisolated(unsafe) let seen = try await sibling.perform {
      try #require(sibling.existingObject(with: id) as? Person)
    }
    try child.performAndWait {
      try #require(try child.existingObject(with: id) as? Person).age = 7
      try child.save()
    }
    await sibling.perform { #expect(seen.age == 7 && !sibling.hasChanges) }
    try root.performAndWait {
      try #require(try root.existingObject(with: id) as? Person).age = 8
      try root.save()
    }
    await sibling.perform { #expect(seen.age == 8) }
    await child.perform { #expect((child.object(with: id) as? Person)?.age == 7) }
  }

  @Test func valuesOfEveryTypeReachTheStore() throws {
    let family = try ContextChain()
    let large = Data(repeating: 7, count: 1 << 20)
    try family.child.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Everything", into: family.child)
      object.setValue(["a", "b"], forKey: "list")
      object.setValue(large, forKey: "blob")
      object.setValue("text", forKey: "string")
      try family.child.save()
      family.child.refreshAllObjects()
      #expect(object.value(forKey: "list") as? [String] == ["a", "b"])
      #expect(object.value(forKey: "blob") as? Data == large)
      object.setValue(["c"], forKey: "list")
      try family.child.save()
      try family.root.performAndWait { try family.root.save() }
      family.child.refreshAllObjects()
      #expect(object.value(forKey: "list") as? [String] == ["c"])
      #expect(object.value(forKey: "blob") as? Data == large)
    }
    try family.company.run { context in
      let object = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Everything"))[0]
      #expect(object.value(forKey: "list") as? [String] == ["c"])
      #expect(object.value(forKey: "blob") as? Data == large && object.value(forKey: "string") as? String == "text")
    }
  }

  @Test func rollbackAndResetOfAChildLeaveItsParentAlone() throws {
    let family = try ContextChain()
    let (root, child) = (family.root, family.child)
    root.performAndWait { Person(context: root).name = "Ada" }
    try child.performAndWait {
      let person = try child.fetch(ContextChain.people())[0]
      person.name = "Eve"
      Person(context: child).name = "Bob"
      child.rollback()
      #expect(person.name == "Ada" && !child.hasChanges)
      child.delete(person)
      child.reset()
      #expect(try child.fetch(ContextChain.people()).map(\.name) == ["Ada"])
    }
    root.performAndWait { #expect(root.insertedObjects.count == 1 && root.deletedObjects.isEmpty) }
  }

  @Test func eachLevelPostsItsOwnNotifications() throws {
    let family = try ContextChain()
    let (root, child) = (family.root, family.child)
    let posts = NoteList()
    let names: [(Notification.Name, String)] = [
      (NSManagedObjectContext.willSaveObjectsNotification, "will"),
      (NSManagedObjectContext.didSaveObjectsNotification, "did"),
      (NSManagedObjectContext.didChangeObjectsNotification, "change"),
    ]
    let observers = names.map { name, text in
      NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { note in
        let context = note.object as? NSManagedObjectContext
        if context === root { posts.add("root \(text)") }
        if context === child { posts.add("child \(text)") }
      }
    }
    defer { observers.forEach(NotificationCenter.default.removeObserver) }
    try child.performAndWait {
      Person(context: child).name = "Ada"
      try child.save()
    }
    #expect(posts.all == ["child change", "child will", "root change", "child did"])
    try root.performAndWait { try root.save() }
    #expect(posts.all.suffix(2) == ["root will", "root did"])
  }

  private final class NoteList: @unchecked Sendable {
    private(set) var all: [String] = []
    func add(_ text: String) { all.append(text) }
  }
}
