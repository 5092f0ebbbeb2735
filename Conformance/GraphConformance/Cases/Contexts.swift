import CoreData
import Foundation

extension GraphSuite {
  static let contexts: [GraphCase] = [
    GraphCase("CTX-001", "another context can fetch what one context has saved", ways: .own) { g in
      try g.both { a, b in
        g.equal(try b.performAndWait { try b.number(of: "Tag") }, 0)
        try a.performAndWait {
          a.insert("Tag", ["label": "a"])
          try a.save()
        }
        g.equal(try b.performAndWait { try b.objects("Tag").map { $0.text("label") } }, ["a"])
      }
    },
    GraphCase("CTX-002", "an object that was read keeps its values until it is refreshed", ways: .own) { g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try a.performAndWait {
          mine.setValue("new", forKey: "name")
          try a.save()
        }
        b.performAndWait { g.equal(theirs.text("name"), "p") }
        b.performAndWait {
          b.refresh(theirs, mergeChanges: false)
          g.equal(theirs.text("name"), "new")
        }
      }
    },
    GraphCase("CTX-003", "automatic merging loads the saves of others and keeps the context's own changes", ways: .own)
    { g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        b.performAndWait {
          b.automaticallyMergesChangesFromParent = true
          theirs.setValue(9, forKey: "age")
        }
        try a.performAndWait {
          mine.setValue("new", forKey: "name")
          try a.save()
        }
        try g.eventually("the name is merged") { b.performAndWait { theirs.text("name") == "new" } }
        b.performAndWait { g.equal(theirs.number("age"), 9) }
        try b.performAndWait { try b.save() }
        g.equal(try g.elsewhere { try $0.one("Person", "name", "new").number("age") }, 9)
      }
    },
    GraphCase("CTX-004", "merging a save applies insertions, updates and deletions; unsaved values win", ways: .own) {
      g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        let leaving = try a.performAndWait { () -> NSManagedObject in
          let tag = a.insert("Tag", ["label": "leaving"])
          try a.save()
          return tag
        }
        let gone = try b.performAndWait { try b.one("Tag", "label", "leaving") }
        b.performAndWait { theirs.setValue(9, forKey: "age") }
        let watch = NotificationCenter.default.addObserver(
          forName: .NSManagedObjectContextDidSave, object: a, queue: nil
        ) { note in b.performAndWait { b.mergeChanges(fromContextDidSave: note) } }
        defer { NotificationCenter.default.removeObserver(watch) }
        let id = try a.performAndWait { () -> NSManagedObjectID in
          mine.setValue("new", forKey: "name")
          mine.setValue(5, forKey: "age")
          let tag = a.insert("Tag", ["label": "added"])
          a.delete(leaving)
          try a.save()
          return tag.objectID
        }
        b.performAndWait {
          g.equal(theirs.text("name"), "new")
          g.equal(theirs.number("age"), 9)
          g.expect(gone.isDeleted || gone.managedObjectContext == nil, "the deleted object is still there")
          g.equal(b.registeredObject(for: id)?.text("label") ?? b.object(with: id).text("label"), "added")
        }
      }
    },
    GraphCase(
      "CTX-005", "remote changes are merged by the URIs of their IDs; unknown URIs are ignored", ways: .own
    ) { g in
      let uri = URL(string: "x-coredata://\(UUID().uuidString)/Tag/p1")
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        let changed = try a.performAndWait { () -> URL in
          mine.setValue("new", forKey: "name")
          try a.save()
          return mine.objectID.uriRepresentation()
        }
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSUpdatedObjectsKey: [changed] + [uri].compactMap { $0 }], into: [b])
        b.performAndWait { g.equal(theirs.text("name"), "new") }
      }
    },
    GraphCase("CTX-006", "a refresh without merging discards changes, including those of relationships", ways: .own) {
      g in
      try g.inWriting { c in
        let person = c.insert("Person", ["name": "p", "team": c.insert("Team", ["title": "t"])])
        let other = c.insert("Team", ["title": "u"])
        try c.save()
        person.setValue("q", forKey: "name")
        person.setValue(other, forKey: "team")
        c.refresh(person, mergeChanges: false)
        g.expect(person.isFault, "it is no fault")
        g.expect(!person.hasChanges, "it has changes")
        g.equal(person.text("name"), "p")
        g.equal(person.one("team")?.text("title"), "t")
      }
    },
    GraphCase("CTX-007", "refreshing all objects keeps unsaved changes", ways: .own) { g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try a.performAndWait {
          mine.setValue("new", forKey: "name")
          try a.save()
        }
        b.performAndWait {
          theirs.setValue(7, forKey: "age")
          let tag = b.insert("Tag", ["label": "x"])
          b.refreshAllObjects()
          g.equal(theirs.text("name"), "new")
          g.equal(theirs.number("age"), 7)
          g.equal(tag.text("label"), "x")
          g.expect(tag.isInserted && theirs.isUpdated, "a change is gone")
        }
      }
    },
    GraphCase(
      "CTX-008", "a fault is filled from the row cache only within the staleness interval", needs: .cachedRows,
      ways: .own
    ) { g in
      try g.write { $0.insert("Person", ["name": "p", "age": 1]) }
      let second = try g.newContext(try g.newCoordinator())
      let id = try second.performAndWait {
        let person = try second.one("Person", "name", "p")
        g.equal(person.number("age"), 1)
        return person.objectID
      }
      // A reset keeps the row cache; refreshing an object drops its row.
      func age(_ interval: TimeInterval) -> Int? {
        second.performAndWait {
          second.reset()
          second.stalenessInterval = interval
          return second.object(with: id).number("age")
        }
      }
      g.equal(second.stalenessInterval, -1)
      try g.write { try $0.one("Person", "name", "p").setValue(2, forKey: "age") }
      g.equal(age(-1), 1, "whatever its age")
      g.equal(age(0), 2, "of no age")
      try g.write { try $0.one("Person", "name", "p").setValue(3, forKey: "age") }
      g.equal(age(3600), 2, "of an hour")
      Thread.sleep(forTimeInterval: 0.02)
      g.equal(age(0.01), 3, "of a moment")
      try second.performAndWait {
        second.object(with: id).setValue(4, forKey: "age")
        try second.save()
      }
      g.equal(age(3600), 4, "after a save")
    },
    GraphCase(
      "CTX-009/graph", "a coordinator sees the saves of another one on the same store", needs: .secondOpening,
      ways: .own
    ) { g in
      try g.write { $0.insert("Person", ["name": "p", "age": 1]) }
      let second = try g.newContext(try g.newCoordinator())
      let theirs = try second.performAndWait { () -> NSManagedObject in
        let person = try second.one("Person", "name", "p")
        g.equal(person.number("age"), 1)
        return person
      }
      try g.write { c in
        try c.one("Person", "name", "p").setValue(2, forKey: "age")
        c.insert("Person", ["name": "q"])
      }
      try second.performAndWait {
        g.equal(try second.number(of: "Person"), 2)
        second.refresh(theirs, mergeChanges: false)
        g.equal(theirs.number("age"), 2)
      }
    },
    GraphCase("CTX-011", "the did-save notification is posted once, with the exact sets and permanent IDs", ways: .own)
    { g in
      try g.inWriting { c in
        let (changed, gone) = (c.insert("Tag", ["label": "a"]), c.insert("Tag", ["label": "b"]))
        c.insert("Tag", ["label": "untouched"])
        try c.save()
        let recorder = Recorder(c)
        let sets = Held<[String: Set<NSManagedObject>]>([:])
        let watch = NotificationCenter.default.addObserver(
          forName: .NSManagedObjectContextDidSave, object: c, queue: nil
        ) { note in
          for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
            sets.value[key] = note.userInfo?[key] as? Set<NSManagedObject>
          }
          g.expect((note.object as? NSManagedObjectContext) === c, "another context tells it")
          g.expect(
            sets.value[NSInsertedObjectsKey]?.allSatisfy { !$0.objectID.isTemporaryID } ?? true, "an ID is temporary")
        }
        defer { NotificationCenter.default.removeObserver(watch) }
        let new = c.insert("Tag", ["label": "c"])
        changed.setValue("A", forKey: "label")
        c.delete(gone)
        try c.save()
        g.equal(sets.value[NSInsertedObjectsKey] ?? [], [new])
        g.equal(sets.value[NSUpdatedObjectsKey] ?? [], [changed])
        g.equal(sets.value[NSDeletedObjectsKey] ?? [], [gone])
        g.equal(recorder.take().count { $0.hasPrefix("didSave") }, 1)
      }
    },
    GraphCase("CTX-012", "the change notification lists exactly the changes of each operation", ways: .own) { g in
      try g.inWriting { c in
        let recorder = Recorder(c)
        let tag = c.insert("Tag", ["label": "a"])
        c.processPendingChanges()
        g.equal(recorder.take(), ["didChange inserted 1"])
        try c.save()
        _ = recorder.take()
        tag.setValue("b", forKey: "label")
        c.processPendingChanges()
        g.equal(recorder.take(), ["didChange updated 1"])
        let person = c.insert("Person")
        person.add(tag, to: "tags")
        c.processPendingChanges()
        g.equal(recorder.take(), ["didChange inserted 1 updated 1"])
        try c.save()
        _ = recorder.take()
        c.refresh(tag, mergeChanges: false)
        g.equal(recorder.take(), ["didChange refreshed 1"])
        c.delete(tag)
        c.processPendingChanges()
        g.equal(recorder.take(), ["didChange updated 1 deleted 1"])
        c.processPendingChanges()
        g.equal(recorder.take(), [])
      }
    },
    GraphCase("CTX-022", "the changes that a results controller reports convert one result to the next", ways: .own) {
      g in
      var random = NumberStream(seed: g.seed)
      try g.inWriting { c in
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.predicate = NSPredicate(format: "age < 5")
        let controller = NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: c, sectionNameKeyPath: nil, cacheName: nil)
        let mirror = Mirrored()
        controller.delegate = mirror
        try controller.performFetch()
        for step in 0..<60 {
          for _ in 0...random.next(below: 4) {
            let known = try c.objects("Person", by: "name")
            switch random.next(below: 4) {
            case 0: c.insert("Person", ["name": "\(random.next(below: 1000)) \(step)", "age": random.next(below: 8)])
            case 1: if let one = known.first { c.delete(one) }
            case 2:
              if !known.isEmpty {
                known[random.next(below: known.count)].setValue("\(random.next(below: 1000)) s\(step)", forKey: "name")
              }
            default:
              if !known.isEmpty {
                known[random.next(below: known.count)].setValue(random.next(below: 8), forKey: "age")
              }
            }
          }
          c.processPendingChanges()
          if step % 5 == 0 { try c.save() }
          let expected = try c.fetch(request)
          g.expect(
            mirror.objects == expected,
            "step \(step): the mirror has \(mirror.objects.count), the fetch \(expected.count)")
          g.expect(controller.fetchedObjects ?? [] == expected, "step \(step): the controller has another result")
        }
      }
    },
  ]
}

/// An array that is updated from the changes that a results controller reports.
private final class Mirrored: NSObject, NSFetchedResultsControllerDelegate {
  var objects: [NSManagedObject] = []
  private var gone: [Int] = []
  private var come: [(Int, NSManagedObject)] = []

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    (gone, come) = ([], [])
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    guard let object = anObject as? NSManagedObject else { return }
    if type == .delete || type == .move, let indexPath { gone.append(indexPath[1]) }
    if type == .insert || type == .move, let newIndexPath { come.append((newIndexPath[1], object)) }
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    for index in gone.sorted(by: >) { objects.remove(at: index) }
    for (index, object) in come.sorted(by: { $0.0 < $1.0 }) { objects.insert(object, at: index) }
  }
}

extension Graph {
  /// Waits until a condition holds. Fails the case if it does not hold within ten seconds.
  func eventually(_ what: String, _ condition: () throws -> Bool) throws {
    for _ in 0..<1000 {
      if try condition() { return }
      Thread.sleep(forTimeInterval: 0.01)
    }
    try fail("it never happens that \(what)")
  }
}
