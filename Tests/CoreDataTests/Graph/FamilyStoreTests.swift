import CoreData
import Foundation
import Testing

/// Child contexts over several stores, and values of several parts.
@Suite struct FamilyStoreTests {
  /// The keys of objects begin at 1 in each store.
  @Test func anObjectOfAnotherStoreIsNotGone() throws {
    let stack = try UndoStack(levels: 2)
    let second = try stack.coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let (first, other) = try root.performAndWait {
      let (first, other) = (UndoStack.insert("first", root), UndoStack.insert("other", root))
      root.assign(other, to: second)
      try root.save()
      return (first, other)
    }
    let (lost, kept) = child.performAndWait { (child.object(with: first.objectID), child.object(with: other.objectID)) }
    child.performAndWait {
      child.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      (lost["name"], kept["name"]) = ("changed", "kept")
    }
    try root.performAndWait {
      root.delete(first)
      try root.save()
    }
    try child.performAndWait {
      try child.save()
      #expect(!kept.isDeleted && kept["name"] as? String == "kept")
    }
    root.performAndWait { #expect(other["name"] as? String == "kept") }
  }

  private func address(_ item: NSManagedObject) -> NSDictionary? {
    (item["address"] as? [String: Any]).map { NSDictionary(dictionary: $0) }
  }

  /// The elements of a composite attribute are one value.
  @Test func aCompositeValueReachesTheParentAsAWhole() throws {
    let stack = try UndoStack(levels: 2)
    let (root, child) = (stack.contexts[0], stack.contexts[1])
    let item = stack.event { context in
      let item = UndoStack.insert("a", context)
      item["address"] = ["city": "c", "floor": 1]
      return item
    }
    try stack.saveAll()
    let upper = root.performAndWait {
      let upper = root.object(with: item.objectID)
      upper["address"] = ["city": "c", "floor": 2]
      return upper
    }
    try child.performAndWait {
      item["address"] = ["city": "d", "floor": 1]
      try child.save()
    }
    root.performAndWait { #expect(address(upper) == ["city": "d", "floor": 1]) }
  }

  @Test func anUndoSetsACompositeValueAsAWhole() throws {
    let stack = try UndoStack()
    let item = try stack.savedItem()
    stack.event { _ in item["address"] = ["city": "c", "floor": 1] }
    stack.event { _ in item["address"] = ["city": "d", "floor": 1] }
    try stack.saveAll()
    try stack.elsewhere { other in
      other.object(with: item.objectID)["address"] = ["city": "d", "floor": 2]
      try other.save()
    }
    stack.event { $0.refresh(item, mergeChanges: true) }
    stack.event { $0.undo() }
    stack.context.performAndWait { #expect(address(item) == ["city": "c", "floor": 1]) }
    stack.event { $0.redo() }
    stack.context.performAndWait { #expect(address(item) == ["city": "d", "floor": 2]) }
  }

  /// The root refuses what a child has assigned to a store that does not take it.
  @Test(arguments: [2, 3]) func anAssignmentToAWrongStoreIsRefused(levels: Int) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ConfiguredStore.model())
    let stores = try ["Staff", "Notes"].map {
      try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: $0, at: nil, options: nil)
    }
    var contexts: [NSManagedObjectContext] = []
    for _ in 0..<levels {
      let next = NSManagedObjectContext(.privateQueue)
      if let parent = contexts.last { next.parent = parent } else { next.persistentStoreCoordinator = coordinator }
      contexts.append(next)
    }
    let child = contexts[levels - 1]
    child.performAndWait {
      let note = NSEntityDescription.insertNewObject(forEntityName: "Audit", into: child)
      child.assign(note, to: stores[0])
    }
    for context in contexts.dropFirst().reversed() { try context.performAndWait { try context.save() } }
    contexts[0].performAndWait {
      let error = #expect(throws: CocoaError.self) { try contexts[0].save() }
      #expect(error?.code.rawValue == 134030)
    }
  }
}
