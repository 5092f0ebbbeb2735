import CoreData
import Foundation
import TestSupport
import Testing

/// What other contexts of a family do between two steps of a child.
@Suite struct ChildRaceTests {
  /// The parent may have made a fault of the object's ID before the child saves the object.
  @Test func aFaultOfANewObjectBecomesTheObject() throws {
    let chain = try ContextChain()
    let (root, child) = (chain.root, chain.child)
    let person = try child.performAndWait {
      let person = Person(context: child)
      person.name = "Ada"
      try child.obtainPermanentIDs(for: [person])
      return person
    }
    let known = root.performAndWait { root.object(with: person.objectID) }
    try child.performAndWait { try child.save() }
    try root.performAndWait {
      #expect(known.isInserted && (known as? Person)?.name == "Ada")
      try root.save()
    }
    #expect(try chain.stored() == ["Ada"])
  }

  /// A block of the child is running while another thread saves the root.
  @Test func anObjectHasOneInstanceWhileItsKeyChanges() throws {
    let chain = try ContextChain()
    let (root, child) = (chain.root, chain.child)
    try child.performAndWait {
      let (person, tag) = (Person(context: child), Tag(context: child))
      (person.name, tag.label) = ("Ada", "red")
      tag.people = [person]
      let temporary = person.objectID
      try child.save()
      try Self.onAnotherThread { try root.performAndWait { try root.save() } }
      person.age = 3
      child.refresh(person, mergeChanges: true)
      #expect(person.age == 3 && person.name == "Ada" && !person.isDeleted)
      #expect(child.registeredObject(for: temporary) === person && child.object(with: temporary) === person)
      #expect(!person.objectID.isTemporaryID && child.object(with: person.objectID) === person)
      child.refresh(tag, mergeChanges: false)
      #expect(tag.people == [person] && tag.label == "red")
      let request = ContextChain.people()
      request.predicate = NSPredicate(format: "SELF == %@ AND ANY tags == %@", temporary, tag)
      #expect(try child.fetch(request) == [person])
    }
  }

  private static func onAnotherThread(_ body: @escaping @Sendable () throws -> Void) throws {
    nonisolated(unsafe) var failure: (any Error)?
    let end = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do { try body() } catch { failure = error }
      end.signal()
    }
    end.wait()
    if let failure { throw failure }
  }

  /// What the root has saved itself is no conflict of a child that has read the object before.
  @Test func savesOfTheRootAreNoConflicts() throws {
    let chain = try ContextChain()
    let (root, child) = (chain.root, chain.child)
    try root.performAndWait {
      let person = Person(context: root)
      (person.name, person.age) = ("Ada", 1)
      try root.save()
      root.reset()
    }
    try child.performAndWait {
      let person = try child.fetch(ContextChain.people())[0]
      #expect(person.age == 1)
      for age in 2..<5 {
        try root.performAndWait {
          try root.fetch(ContextChain.people())[0].age = Int16(age)
          try root.save()
          root.reset()
        }
        person.salary = Double(age)
        try child.save()
        try root.performAndWait {
          try root.save()
          root.reset()
        }
        let found = try chain.company.run { try $0.fetch(ContextChain.people()).map { [Double($0.age), $0.salary] } }
        #expect(found == [[Double(age), Double(age)]])
      }
    }
  }

  /// What others save is a conflict, although the root had dropped the object.
  @Test(.ofRootContexts) func savesOfOthersAreConflicts() throws {
    let chain = try ContextChain()
    try chain.changeWhatOthersHaveSaved { $0.salary = 1 }
    let root = chain.root
    try root.performAndWait {
      let error = #expect(throws: CocoaError.self) { try root.save() }
      #expect(error?.code == .managedObjectMerge)
      root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try root.save()
    }
    let found = try chain.company.run { try $0.fetch(ContextChain.people()).map { [Double($0.age), $0.salary] } }
    #expect(found == [[9, 1]])
  }

  @Test(.ofRootContexts) func deletionsOfWhatOthersHaveSavedAreConflicts() throws {
    let chain = try ContextChain()
    try chain.changeWhatOthersHaveSaved { chain.child.delete($0) }
    chain.root.performAndWait {
      let error = #expect(throws: CocoaError.self) { try chain.root.save() }
      #expect(error?.code == .managedObjectMerge)
    }
  }

  /// Observers of the parent's event may change the child that is saving.
  @Test func changesByObserversOfTheParentStay() throws {
    let chain = try ContextChain()
    let (root, child) = (chain.root, chain.child)
    nonisolated(unsafe) var person: Person?
    let observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didChangeObjectsNotification, object: root, queue: nil
    ) { _ in
      child.performAndWait {
        person?.name = "Eve"
        Person(context: child).name = "Bob"
      }
    }
    try child.performAndWait {
      person = Person(context: child)
      person?.name = "Ada"
      try child.save()
      NotificationCenter.default.removeObserver(observer)
      #expect(person?.name == "Eve" && child.insertedObjects.count == 1 && child.updatedObjects.count == 1)
      try child.save()
    }
    try root.performAndWait { try root.save() }
    #expect(try chain.stored() == ["Bob", "Eve"])
  }

  /// Two children link the same objects, with the sides that they have read.
  @Test func aLinkThatTwoChildrenMakeIsOneLink() throws {
    let chain = try ContextChain()
    let (root, first) = (chain.root, chain.child)
    let second = NSManagedObjectContext(.privateQueue)
    second.parent = root
    try root.performAndWait {
      Person(context: root).name = "Ada"
      Tag(context: root).label = "red"
      try root.save()
    }
    func link(_ context: NSManagedObjectContext) throws {
      let person = try context.fetch(ContextChain.people())[0]
      person.tags.insert(try context.fetch(NSFetchRequest<Tag>(entityName: "Tag"))[0])
      try context.save()
    }
    try root.performAndWait {
      let tag = try root.fetch(NSFetchRequest<Tag>(entityName: "Tag"))[0]
      #expect(tag.people.isEmpty)
      try first.performAndWait {
        #expect(try first.fetch(ContextChain.people())[0].tags.isEmpty)
        try second.performAndWait { try link(second) }
        try root.save()
        try link(first)
      }
      #expect(tag.people.count == 1)
      tag.people = []
      try root.save()
    }
    let count = try chain.company.run { try $0.fetch(ContextChain.people())[0].tags.count }
    #expect(count == 0)
  }

  @Test func permanentIDsComeFromTheLevelThatHasTheObject() throws {
    let chain = try ContextChain(levels: 4)
    let leaf = chain.contexts[3]
    try leaf.performAndWait {
      let person = Person(context: leaf)
      person.name = "Ada"
      try leaf.save()
      for context in [chain.contexts[2], chain.contexts[1]] {
        try context.performAndWait {
          try context.save()
          context.reset()
        }
      }
      try leaf.obtainPermanentIDs(for: [person])
      #expect(!person.objectID.isTemporaryID)
      chain.root.performAndWait {
        #expect(chain.root.object(with: person.objectID).isInserted)
        chain.root.rollback()
      }
      let other = Person(context: leaf)
      try leaf.save()
      chain.contexts[2].performAndWait { chain.contexts[2].rollback() }
      #expect(throws: CocoaError.self) { try leaf.obtainPermanentIDs(for: [other]) }
    }
  }

  @Test func aCountSeesTheDeleteRulesOfTheParent() throws {
    let chain = try ContextChain()
    let (root, child) = (chain.root, chain.child)
    try root.performAndWait {
      Badge(context: root).owner = Person(context: root)
      try root.save()
      root.delete(try root.fetch(ContextChain.people())[0])
    }
    let count = try child.performAndWait { try child.count(for: NSFetchRequest<Badge>(entityName: "Badge")) }
    #expect(count == 0)
  }

  @Test func parentsMayBeSetFromTheBottom() throws {
    let company = try CompanyStore()
    let contexts = (0..<3).map { _ in NSManagedObjectContext(.privateQueue) }
    contexts[2].parent = contexts[1]
    contexts[1].parent = contexts[0]
    contexts[0].persistentStoreCoordinator = company.coordinator
    try contexts[2].performAndWait {
      #expect(contexts[2].persistentStoreCoordinator === company.coordinator)
      Person(context: contexts[2]).name = "Ada"
      for context in contexts.reversed() { try context.performAndWait { try context.save() } }
    }
    #expect(try company.run { try $0.fetch(ContextChain.people()).map(\.name) } == ["Ada"])
  }

  /// Each stops the program.
  @Test func parentsThatCannotBeAreRefused() async {
    await #expect(processExitsWith: .failure) {
      let (a, b) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
      b.parent = a
      a.parent = b
    }
    await #expect(processExitsWith: .failure) {
      let (a, b) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
      b.parent = a
      b.parent = nil
    }
    await #expect(processExitsWith: .failure) {
      let company = try CompanyStore()
      let (a, b) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
      b.persistentStoreCoordinator = company.coordinator
      b.parent = a
    }
    await #expect(processExitsWith: .failure) {
      let (a, b) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
      b.parent = a
      b.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: UndoStack.model)
    }
    await #expect(processExitsWith: .failure) {
      let (a, b) = (
        NSManagedObjectContext(concurrencyType: .confinementConcurrencyType), NSManagedObjectContext(.privateQueue)
      )
      b.parent = a
    }
  }

  @Test func aChildReadsAsynchronouslyAndAsDictionaries() async throws {
    let chain = try ContextChain()
    let (root, child) = (chain.root, chain.child)
    try root.performAndWait {
      Person(context: root).name = "Ada"
      try root.save()
      Person(context: root).name = "Bob"
    }
    let names = try await withCheckedThrowingContinuation { continuation in
      child.performAndWait {
        let request = NSAsynchronousFetchRequest(fetchRequest: ContextChain.people()) { result in
          continuation.resume(returning: (result.finalResult ?? []).map { $0.name ?? "" })
        }
        do { try child.execute(request) } catch { continuation.resume(throwing: error) }
      }
    }
    #expect(names == ["Ada", "Bob"])
    let found = try await child.perform {
      let request = NSFetchRequest<NSDictionary>(entityName: "Person")
      (request.resultType, request.propertiesToFetch) = (.dictionaryResultType, ["name"])
      return try child.fetch(request).map { $0["name"] as? String }
    }
    // Unsaved changes are not part of dictionaries.
    #expect(found == ["Ada"])
  }

  /// As the tests of CoreDataPlus observe on Apple's platforms.
  @Test func transientValuesReachTheParentOnly() throws {
    let (name, speed) = (NSAttributeDescription(), NSAttributeDescription())
    (name.name, name.attributeType) = ("name", .stringAttributeType)
    (speed.name, speed.attributeType, speed.isTransient, speed.isOptional) = (
      "speed", .integer64AttributeType, true, false
    )
    let entity = NSEntityDescription()
    (entity.name, entity.properties) = ("Car", [name, speed])
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
    let (root, child) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
    root.persistentStoreCoordinator = coordinator
    child.parent = root
    try child.performAndWait {
      let car = NSEntityDescription.insertNewObject(forEntityName: "Car", into: child)
      car.setValue(50, forKey: "speed")
      try child.save()
      #expect(car.value(forKey: "speed") as? Int == 50)
      let own = try root.performAndWait {
        let own = root.object(with: car.objectID)
        #expect(own.value(forKey: "speed") as? Int == 50)
        // The attribute is mandatory.
        try root.save()
        return own
      }
      car.setValue(20, forKey: "speed")
      try child.save()
      root.performAndWait { #expect(own.value(forKey: "speed") as? Int == 20 && own.hasChanges) }
      child.refresh(car, mergeChanges: false)
      #expect(car.value(forKey: "speed") == nil)
    }
  }

  /// A policy of the root saves a child while it resolves a conflict.
  private final class SavingPolicy: NSMergePolicy, @unchecked Sendable {
    nonisolated(unsafe) var child: NSManagedObjectContext?

    override func resolve(mergeConflicts list: [Any]) throws {
      try super.resolve(mergeConflicts: list)
      try child?.performAndWait {
        if let child { Person(context: child).name = "Bob" }
        try child?.save()
      }
    }
  }

  @Test(.ofRootContexts) func aMergePolicyMaySaveAChild() throws {
    let chain = try ContextChain()
    try chain.changeWhatOthersHaveSaved { $0.salary = 1 }
    try chain.root.performAndWait {
      let policy = SavingPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
      policy.child = chain.child
      chain.root.mergePolicy = policy
      try chain.root.save()
    }
    #expect(try chain.stored() == ["Ada", "Bob"])
  }
}
