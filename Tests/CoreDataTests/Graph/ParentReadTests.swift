import CoreData
import Foundation
import TestSupport
import Testing

/// What a child reads: the parent's present state, whatever either of them has read before.
@Suite(.ofRootContexts) struct ParentReadTests {
  /// People with these names, in a department, saved by the root. Their ages are 1, 2 and so on.
  private func people(_ names: [String], _ chain: ContextChain) throws -> [Person] {
    try chain.root.performAndWait {
      let department = Department(context: chain.root)
      department.title = "Research"
      let people = names.enumerated().map { index, name in
        let person = Person(context: chain.root)
        (person.name, person.age, person.department) = (name, Int16(index + 1), department)
        return person
      }
      try chain.root.save()
      return people
    }
  }

  // MARK: Faults with former rows

  /// The child reads other objects first, in the same block.
  @Test func aHeldFaultAsksTheParent() throws {
    let chain = try ContextChain()
    let (root, child) = (chain.root, chain.child)
    let ada = try people(["Ada", "Bob"], chain)[0]
    let held = try child.performAndWait { try child.fetch(ContextChain.people("name == 'Ada'")) }
    root.performAndWait { ada.age = 9 }
    try child.performAndWait {
      #expect(held[0].isFault)
      #expect(try child.fetch(ContextChain.people("name == 'Bob'")).count == 1)
      #expect(held[0].age == 9)
      held[0].age += 1
      try child.save()
    }
    root.performAndWait { #expect(ada.age == 10) }
  }

  /// The results of one fetch agree with each other until the block ends.
  @Test func theResultsOfAFetchAgree() throws {
    let chain = try ContextChain()
    let (root, child) = (chain.root, chain.child)
    let stored = try people(["Ada", "Bob"], chain)
    try child.performAndWait {
      let found = try child.fetch(ContextChain.people())
      root.performAndWait { for person in stored { person.age = 9 } }
      #expect(found.map(\.age) == [1, 2])
    }
  }

  @Test func aPrefetchReadsHeldFaults() throws {
    let chain = try ContextChain()
    let (root, child) = (chain.root, chain.child)
    let ada = try people(["Ada"], chain)[0]
    let all = NSFetchRequest<Department>(entityName: "Department")
    let held = try child.performAndWait { try child.fetch(all) }
    root.performAndWait { ada.department?.title = "Sales" }
    try child.performAndWait {
      let request = ContextChain.people()
      (request.relationshipKeyPathsForPrefetching, request.returnsObjectsAsFaults) = (["department"], false)
      let people = try child.fetch(request)
      #expect(people.count == 1 && held[0].title == "Sales")
    }
  }

  /// The parent has faults with rows that are older than what others have saved; reading them gives the newest rows.
  @Test func membersHaveTheRowsThatTheParentWouldRead() throws {
    let chain = try ContextChain()
    let (root, child) = (chain.root, chain.child)
    let ada = try people(["Ada"], chain)[0]
    let department = try #require(root.performAndWait { ada.department })
    let id = ada.objectID
    let held = try root.performAndWait {
      #expect(department.people == [ada])
      root.refresh(ada, mergeChanges: false)
      return try root.fetch(ContextChain.people())
    }
    try chain.company.run { other in
      (try other.existingObject(with: id) as? Person)?.age = 2
      try other.save()
    }
    root.performAndWait { #expect(held[0].isFault) }
    child.performAndWait {
      let lower = child.object(with: department.objectID) as? Department
      #expect(lower?.people.map(\.age) == [2])
    }
    root.performAndWait { #expect(held[0].age == 2) }
  }

  // MARK: Objects that are gone for a while

  /// The middle context has read an object while the root had deleted it.
  @Test func aGrandchildReadsWhatTheMiddleKnewAsGone() throws {
    let chain = try ContextChain(levels: 3)
    let (root, middle, low) = (chain.root, chain.contexts[1], chain.contexts[2])
    let ada = try people(["Ada"], chain)[0]
    root.performAndWait { root.delete(ada) }
    let known = middle.performAndWait {
      let known = middle.object(with: ada.objectID) as? Person
      #expect(known?.name == nil && known?.isDeleted == true)
      return known
    }
    root.performAndWait { root.rollback() }
    low.performAndWait {
      let lower = low.object(with: ada.objectID) as? Person
      #expect(lower?.name == "Ada" && lower?.isDeleted == false)
    }
    middle.performAndWait { #expect(known?.name == "Ada" && known?.isDeleted == false) }
  }

  /// The middle context has a change on an object that it has to read again.
  @Test func aChangedFaultKeepsItsValues() throws {
    let chain = try ContextChain(levels: 3)
    let (root, middle, low) = (chain.root, chain.contexts[1], chain.contexts[2])
    let ada = try people(["Ada"], chain)[0]
    let other = try root.performAndWait {
      let other = Department(context: root)
      other.title = "Sales"
      try root.save()
      return other
    }
    let (person, moved) = middle.performAndWait {
      let person = middle.object(with: ada.objectID) as? Person
      let moved = middle.object(with: other.objectID) as? Department
      person?.department = moved
      return (person, moved)
    }
    root.performAndWait { root.delete(other) }
    middle.performAndWait {
      if let moved { middle.refresh(moved, mergeChanges: false) }
      #expect(moved?.title == nil)
    }
    root.performAndWait { root.rollback() }
    for _ in 0..<2 {
      low.performAndWait {
        let lower = low.object(with: other.objectID) as? Department
        #expect(lower?.title == "Sales")
        low.reset()
      }
    }
    middle.performAndWait { #expect(moved?.title == "Sales" && person?.name == "Ada") }
  }

  /// The parent stops the program where it reads an object that is gone itself. A child's read is no such read.
  @Test func aParentWithoutInaccessibleFaultsServesItsChild() throws {
    let chain = try ContextChain()
    let (root, child) = (chain.root, chain.child)
    let ada = try people(["Ada"], chain)[0]
    let id = try #require(root.performAndWait { ada.department?.objectID })
    root.performAndWait {
      root.reset()
      root.shouldDeleteInaccessibleFaults = false
    }
    try child.performAndWait {
      let lower = try #require(try child.existingObject(with: id) as? Department)
      #expect(lower.title == "Research")
      root.performAndWait { root.reset() }
      try chain.company.run { other in
        other.delete(try other.existingObject(with: id))
        try other.save()
      }
      #expect(lower.people.isEmpty)
    }
  }

  // MARK: Fetches

  /// Blocks and comparators see the parent's present values, also where the results are IDs or a number.
  @Test func blocksSeeTheParentsValues() throws {
    let chain = try ContextChain()
    let (root, child) = (chain.root, chain.child)
    let stored = try people(["Ada", "Bob", "Cy"], chain)
    try child.performAndWait {
      let held = try child.fetch(ContextChain.people())
      root.performAndWait { for (person, age) in zip(stored, [9, 8, 7]) { person.age = Int16(age) } }
      let request = ContextChain.people()
      request.predicate = NSPredicate { object, _ in (object as? Person).map { $0.age > 7 } ?? false }
      request.sortDescriptors = [
        NSSortDescriptor(key: "age", ascending: true) { a, b in
          ((a as? NSNumber)?.intValue ?? 0) < ((b as? NSNumber)?.intValue ?? 0) ? .orderedAscending : .orderedDescending
        }
      ]
      #expect(try child.count(for: request) == 2)
      let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
      (ids.predicate, ids.sortDescriptors) = (request.predicate, request.sortDescriptors)
      ids.resultType = .managedObjectIDResultType
      #expect(try child.fetch(ids) == [held[1].objectID, held[0].objectID])
      request.includesPropertyValues = false
      #expect(try child.fetch(request) == [held[1], held[0]])
    }
  }

  /// The parent's store sorts by values that the parent's objects do not show yet.
  @Test(arguments: [0, 2]) func pendingObjectsAreSortedInto(limit: Int) throws {
    let chain = try ContextChain()
    let (root, child) = (chain.root, chain.child)
    let stored = try people(["Ada", "Bob"], chain)
    let id = stored[0].objectID
    try chain.company.run { other in
      (try other.existingObject(with: id) as? Person)?.age = 10
      try other.save()
    }
    let request = ContextChain.people()
    (request.sortDescriptors, request.fetchLimit) = ([NSSortDescriptor(key: "age", ascending: true)], limit)
    try child.performAndWait {
      let new = Person(context: child)
      (new.name, new.age) = ("Cy", 3)
      let names = try child.fetch(request).map(\.name)
      #expect(names == (limit == 2 ? ["Bob", "Cy"] : ["Bob", "Cy", "Ada"]))
      child.rollback()
    }
    // As in the root itself.
    try root.performAndWait {
      let new = Person(context: root)
      (new.name, new.age) = ("Cy", 3)
      let names = try root.fetch(request).prefix(2).map(\.name)
      #expect(names == ["Bob", "Cy"])
    }
  }

  // MARK: Several stores

  /// A temporary ID keeps leading to its object after the object was assigned to another store and saved there.
  @Test(arguments: [false, true]) func anOldIDLeadsToAnAssignedObject(isSaved: Bool) throws {
    let stack = try UndoStack(levels: 2)
    let second = try stack.coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let (item, other, id) = try root.performAndWait {
      let (other, item) = (UndoStack.insert("other", root), UndoStack.insert("item", root))
      let id = item.objectID
      root.assign(item, to: second)
      if isSaved { try root.save() } else { try root.obtainPermanentIDs(for: [item, other]) }
      return (item, other, id)
    }
    root.performAndWait {
      #expect(root.object(with: id) === item && root.registeredObject(for: id) === item)
      #expect(item.objectID.persistentStore === second)
    }
    try child.performAndWait {
      #expect(child.object(with: id)["name"] as? String == "item")
      #expect(child.object(with: other.objectID)["name"] as? String == "other")
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.predicate = NSPredicate(format: "SELF == %@", id)
      let names = try child.fetch(request).map { $0["name"] as? String }
      #expect(names == ["item"])
    }
  }

  /// The child has made the object by an ID from before the parent assigned it to another store.
  @Test func anAssignedObjectCountsOnce() throws {
    let stack = try UndoStack(levels: 2)
    let second = try stack.coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let item = root.performAndWait {
      let item = UndoStack.insert("item", root)
      _ = item.objectID
      root.assign(item, to: second)
      return item
    }
    try child.performAndWait {
      let lower = child.object(with: item.objectID)
      lower["number"] = 1
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      #expect(try child.fetch(request) == [lower])
      #expect(try child.count(for: request) == 1)
      try child.save()
    }
    try root.performAndWait {
      #expect(item["number"] as? Int == 1)
      try root.save()
    }
    try child.performAndWait {
      #expect(child.object(with: item.objectID).objectID.persistentStore === second)
      let count = try child.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
      #expect(count == 1)
    }
  }

  /// The object was made, and its ID read, when there was no store.
  @Test func anIDFromBeforeTheFirstStoreLeadsToItsObject() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: UndoStack.model)
    let (root, child) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
    root.persistentStoreCoordinator = coordinator
    child.parent = root
    let item = root.performAndWait { UndoStack.insert("item", root) }
    let id = root.performAndWait { item.objectID }
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    try child.performAndWait {
      let lower = child.object(with: id)
      #expect(lower["name"] as? String == "item")
      lower["number"] = 1
      try child.save()
    }
    try root.performAndWait {
      #expect(item["number"] as? Int == 1)
      try root.save()
    }
  }
}
