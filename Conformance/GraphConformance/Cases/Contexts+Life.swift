import CoreData
import Dispatch
import Foundation

extension GraphSuite {
  static let contextLives: [GraphCase] = [
    GraphCase("CTX-014", "blocks can be nested, and their errors are rethrown", ways: .own) { g in
      try g.both { a, b in
        let number = a.performAndWait { b.performAndWait { a.performAndWait { 7 } } }
        g.equal(number, 7)
        try g.fails(CocoaError.Code.featureUnsupported.rawValue) {
          try a.performAndWait { try b.performAndWait { throw CocoaError(.featureUnsupported) } }
        }
        let done = DispatchSemaphore(value: 0)
        a.perform {
          _ = a.performAndWait { a.insert("Tag", ["label": "from perform"]) }
          done.signal()
        }
        done.wait()
        g.equal(a.performAndWait { a.insertedObjects.count }, 1)
      }
    },
    GraphCase("CTX-016", "a context without references completes its save and is then released safely", ways: .own) {
      g in
      let coordinator = try g.coordinator
      let done = DispatchSemaphore(value: 0)
      do {
        let c = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        c.persistentStoreCoordinator = coordinator
        c.perform {
          c.insert("Tag", ["label": "a"])
          do { try c.save() } catch { g.expect(false, "threw \(Graph.text(of: error))") }
          done.signal()
        }
      }
      done.wait()
      g.equal(try g.countElsewhere("Tag"), 1)
    },
    GraphCase("CTX-017", "objects that outlive their context have no context and can be released", ways: .own) { g in
      try g.write { $0.insert("Tag", ["label": "a"]) }
      let coordinator = try g.coordinator
      var held: [NSManagedObject] = []
      do {
        let c = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        c.persistentStoreCoordinator = coordinator
        held = try c.performAndWait { try c.objects("Tag") }
      }
      g.equal(held.count, 1)
      g.expect(held[0].managedObjectContext == nil, "the context is still there")
      held = []
    },
    GraphCase("CTX-018", "a context retains unsaved objects and releases saved ones", ways: .own) { g in
      let c = try g.newContext()
      try c.performAndWait {
        weak var new = c.insert("Tag", ["label": "a"])
        c.processPendingChanges()
        g.expect(new != nil, "an unsaved object is gone")
        try c.save()
        weak var changed: NSManagedObject?
        do {
          let tag = try c.one("Tag", "label", "a")
          changed = tag
          tag.setValue("b", forKey: "label")
        }
        g.expect(changed?.text("label") == "b", "a changed object is gone")
        try c.save()
        g.expect(changed == nil && new == nil, "a saved object is still held")
        g.equal(c.registeredObjects.count, 0)
      }
    },
    GraphCase("CTX-019", "a context that retains registered objects keeps them until the property is reset", ways: .own)
    { g in
      let c = try g.newContext()
      try c.performAndWait {
        c.retainsRegisteredObjects = true
        weak var tag = c.insert("Tag", ["label": "a"])
        try c.save()
        g.expect(tag != nil, "a saved object is gone")
        c.retainsRegisteredObjects = false
        g.expect(tag == nil, "a saved object is still held")
      }
    },
    oneCoordinator("CTX-020", 40, .small), oneCoordinator("CTX-020/thousand", 1000, .tenth),
    readers("CTX-021", 500, .small), readers("CTX-021/many", 10_000, .tenth),
    GraphCase(
      "CTX-023", "objects receive their life cycle methods in the documented order", { Models.recorded }, ways: .own
    ) { g in
      try g.write { c in c.insert("Recorded", ["number": 1]) }
      let c = try g.newContext()
      try c.performAndWait {
        let recorder = Recorder()
        c.userInfo["recorder"] = recorder
        let object = try c.objects("Recorded")[0]
        g.equal(recorder.take(), [])
        g.equal(object.number("number"), 1)
        g.equal(recorder.take(), ["awakeFromFetch"])
        c.refresh(object, mergeChanges: false)
        g.equal(recorder.take(), ["willTurnIntoFault", "didTurnIntoFault"])
        g.equal(object.number("number"), 1)
        g.equal(recorder.take(), ["awakeFromFetch"])
        c.delete(object)
        g.equal(recorder.take(), ["prepareForDeletion"])
        c.rollback()
        c.insert("Recorded")
        g.equal(recorder.take().filter { $0.hasPrefix("awake") }, ["awakeFromInsert"])
      }
    },
    GraphCase("CTX-024", "a reset frees objects that retain each other", ways: .own) { g in
      let c = try g.newContext()
      try c.performAndWait {
        weak var held: NSManagedObject?
        do {
          let (a, b) = (c.insert("Person", ["name": "a"]), c.insert("Person", ["name": "b"]))
          a.setValue(b, forKey: "boss")
          b.setValue(a, forKey: "boss")
          try c.save()
          _ = (a.texts("reports", "name"), b.texts("reports", "name"))
          held = a
        }
        c.reset()
        g.expect(held == nil, "an object is still there")
      }
    },
    chain("CTX-025", 40_000, .small), chain("CTX-025/million", 1_000_000, .million),
  ]

  private static func oneCoordinator(_ id: String, _ count: Int, _ size: Load) -> GraphCase {
    GraphCase(id, "\(count) contexts work on one coordinator", ways: .own, races: true, size: size) { g in
      let contexts = try (0..<count).map { _ in try g.newContext() }
      let problems = Recorder()
      atOnce(8) { thread in
        for index in stride(from: thread, to: contexts.count, by: 8) {
          let c = contexts[index]
          c.performAndWait {
            c.insert("Tag", ["label": "\(index)"])
            do { try c.save() } catch { problems.note(Graph.text(of: error)) }
          }
        }
      }
      g.equal(problems.take(), [])
      g.equal(try g.elsewhere { try Set($0.objects("Tag").compactMap { $0.text("label") }).count }, count)
    }
  }

  private static func chain(_ id: String, _ count: Int, _ size: Load) -> GraphCase {
    GraphCase(id, "\(count) objects in a row are freed on a small stack", { Models.chain }, ways: .own, size: size) {
      g in
      let c = try g.newContext()
      let thread = SmallThread {
        c.performAndWait {
          var last: NSManagedObject?
          for number in 0..<count {
            let link = c.insert("Link", ["number": number])
            last?.setValue(link, forKey: "next")
            last = link
          }
          last = nil
          c.reset()
        }
      }
      try thread.run()
      g.equal(c.performAndWait { c.registeredObjects.count }, 0)
    }
  }

  private static func readers(_ id: String, _ count: Int, _ size: Load) -> GraphCase {
    GraphCase(
      id, "faults are read by eight contexts while another saves, and nothing stops", ways: .own, races: true,
      size: size
    ) { g in
      try g.write { c in for number in 0..<count { c.insert("Person", ["name": "\(number)", "age": 1]) } }
      let contexts = try (0..<8).map { _ in try g.newContext() }
      let problems = Recorder()
      atOnce(9) { thread in
        do {
          if thread == 8 {
            for round in 2..<7 {
              try g.inWriting { c in
                for person in try c.objects("Person") { person.setValue(round, forKey: "age") }
                try c.save()
              }
            }
          } else {
            let c = contexts[thread]
            for _ in 0..<3 {
              try c.performAndWait {
                for person in try c.objects("Person") where !(1..<7).contains(person.number("age") ?? 0) {
                  problems.note("age \(person.number("age") ?? 0)")
                }
                c.reset()
              }
            }
          }
        } catch { problems.note(Graph.text(of: error)) }
      }
      g.equal(problems.take(), [])
      g.equal(try g.elsewhere { try $0.objects("Person", NSPredicate(format: "age == 6")).count }, count)
    }
  }
}
