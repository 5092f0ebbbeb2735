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
      #expect(people.count == 1)
      // What the fetch has read stays until the block ends.
      root.performAndWait { ada.department?.title = "Support" }
      #expect(held[0].title == "Sales")
    }
  }

  // MARK: Outside of blocks

  private func unqueued(_ chain: ContextChain) -> NSManagedObjectContext {
    let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    child.parent = chain.root
    return child
  }

  /// An earlier fetch has given the fault its row.
  @Test func aLaterFetchReadsHeldFaults() throws {
    let chain = try ContextChain()
    let (root, child) = (chain.root, unqueued(chain))
    let ada = try people(["Ada"], chain)[0]
    let held = try child.fetch(ContextChain.people())
    root.performAndWait { ada.age = 9 }
    Tag(context: child).label = "red"
    var seen: [Int16] = []
    let request = NSFetchRequest<Tag>(entityName: "Tag")
    request.predicate = NSPredicate { _, _ in
      seen.append(held[0].age)
      return true
    }
    #expect(try child.fetch(request).count == 1 && seen == [9])
  }

  /// A block of the fetch changes what it has not seen yet, in the parent, and uses the child's queue.
  @Test func theResultsOfAFetchAgreeOutsideOfBlocks() throws {
    let stack = try UndoStack()
    let root = stack.context
    let second = try stack.coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let items = try root.performAndWait {
      let items = ["a", "b", "c", "d"].map { UndoStack.insert($0, root) }
      for item in items { item["number"] = 1 }
      for item in items[2...] { root.assign(item, to: second) }
      try root.save()
      return items
    }
    let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    child.parent = root
    var seen: [Int] = []
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.relationshipKeyPathsForPrefetching = ["friends"]
    request.predicate = NSPredicate { object, _ in
      root.performAndWait { for item in items { item["number"] = 2 } }
      child.performAndWait {}
      seen.append((object as? NSManagedObject)?["number"] as? Int ?? 0)
      return true
    }
    #expect(try child.fetch(request).count == 4 && seen == [1, 1, 1, 1])
  }

  // MARK: Members

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

  /// The parent's object has the same values each time, and other members. The child's fault has prefetched members.
  @Test func membersFollowAFaultWithEqualValues() throws {
    let stack = try UndoStack(levels: 2)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let owner = stack.event { context in
      _ = UndoStack.insert("b", context)
      return UndoStack.insert("a", context)
    }
    try stack.saveAll()
    let items = try parent.performAndWait { try UndoStack.items(parent) }
    let upper = try #require(parent.performAndWait { items.first { $0["name"] as? String == "a" } })
    parent.performAndWait { upper["number"] = 1 }
    for friends in [items, [], [items[1]]] {
      try child.performAndWait {
        child.refresh(owner, mergeChanges: false)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.relationshipKeyPathsForPrefetching = ["friends"]
        let found = try child.fetch(request)
        #expect(found.count == 2 && owner.isFault && !owner.hasFault(forRelationshipNamed: "friends"))
      }
      parent.performAndWait {
        upper["friends"] = NSSet(array: friends)
        parent.processPendingChanges()
      }
      try child.performAndWait {
        _ = try UndoStack.items(child)
        #expect(UndoStack.linked(owner, "friends").count == friends.count)
      }
    }
  }

  /// A prefetch reads the store, although another context has read the object before.
  @Test func aPrefetchReadsTheStore() throws {
    let company = try CompanyStore()
    try company.run { context in
      let (person, department) = (Person(context: context), Department(context: context))
      (person.department, department.title) = (department, "Research")
      try context.save()
    }
    let departments = NSFetchRequest<Department>(entityName: "Department")
    departments.returnsObjectsAsFaults = false
    let reader = company.context()
    try reader.performAndWait {
      let found = try reader.fetch(departments)
      #expect(found.map(\.title) == ["Research"])
      reader.reset()
    }
    let second = try company.reopened()
    try second.run { context in
      try context.fetch(departments).first?.title = "Sales"
      try context.save()
    }
    try reader.performAndWait {
      let request = ContextChain.people()
      request.relationshipKeyPathsForPrefetching = ["department"]
      let found = try reader.fetch(request)
      #expect(found.map { $0.department?.title } == ["Sales"])
    }
  }

  /// What a merge has reported as deleted keeps its values, also where a child reads its members.
  @Test func aChildsReadLeavesDeletedObjects() throws {
    let chain = try ContextChain()
    let (root, child) = (chain.root, chain.child)
    let ada = try people(["Ada"], chain)[0]
    let department = try #require(root.performAndWait { ada.department })
    root.performAndWait { #expect(department.title == "Research") }
    let id = department.objectID
    let lower = try child.performAndWait { try child.existingObject(with: id) as? Department }
    nonisolated(unsafe) var saved: Notification?
    try chain.company.run { other in
      let watch = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: other, queue: nil
      ) { saved = $0 }
      defer { NotificationCenter.default.removeObserver(watch) }
      other.delete(try other.existingObject(with: id))
      try other.save()
    }
    let deletion = try #require(saved)
    root.performAndWait { root.mergeChanges(fromContextDidSave: deletion) }
    child.performAndWait { #expect(lower?.people == []) }
    root.performAndWait { #expect(department.isDeleted && department.title == "Research") }
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

  /// The IDs do not need the values, of which the parent has one that no row can have.
  @Test func aFetchOfIDsReadsNoValues() throws {
    let stack = try UndoStack(levels: 2)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let item = try stack.savedItem()
    root.performAndWait { root.object(with: item.objectID)["list"] = NSObject() }
    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
    request.resultType = .managedObjectIDResultType
    try child.performAndWait {
      var ids = try child.fetch(request)
      #expect(ids == [item.objectID])
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let new = UndoStack.insert("b", child)
      ids = try child.fetch(request)
      #expect(ids == [item.objectID, new.objectID])
      #expect(throws: (any Error).self) { try UndoStack.items(child) }
    }
  }
}
