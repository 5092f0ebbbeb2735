import CoreData
import Foundation

extension GraphSuite {
  static let conflicts: [GraphCase] = [
    GraphCase(
      "LCK-001/graph", "a save conflicts with another context's change, and the error has both snapshots", ways: .own
    ) { g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try g.change(mine, ["name": "a"], in: a)
        try b.performAndWait {
          theirs.setValue("b", forKey: "name")
          let error = try g.fails(133020) { try b.save() }
          let conflicts = error?.userInfo["conflictList"] as? [NSMergeConflict] ?? []
          g.equal(conflicts.count, 1)
          g.expect(conflicts.first?.sourceObject === theirs, "not the object")
          // A conflict with the coordinator's rows: "has a source object and a cached snapshot but no persisted
          // snapshot",
          // https://developer.apple.com/documentation/coredata/nsmergeconflict
          g.equal(conflicts.first?.objectSnapshot?["name"] as? String, "p")
          g.equal(conflicts.first?.cachedSnapshot?["name"] as? String, "a")
          g.expect(conflicts.first?.persistedSnapshot == nil, "there is a stored snapshot")
          g.expect(
            (conflicts.first?.oldVersionNumber ?? 0) < (conflicts.first?.newVersionNumber ?? 0), "versions do not grow")
          g.expect(theirs.hasChanges && theirs.text("name") == "b", "the change is gone")
        }
        g.equal(try g.elsewhere { try $0.objects("Person", by: "name").map { $0.text("name") } }, ["a"])
      }
    },
    GraphCase("LCK-002/graph", "changes of different attributes are a conflict too", ways: .own) { g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try g.change(mine, ["name": "a"], in: a)
        try b.performAndWait {
          theirs.setValue(5, forKey: "age")
          try g.fails(133020) { try b.save() }
        }
      }
    },
    GraphCase("LCK-007/graph", "changing what another context has deleted is a conflict", ways: .own) { g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try g.delete(mine, in: a)
        try b.performAndWait {
          theirs.setValue("b", forKey: "name")
          let error = try g.fails(133020) { try b.save() }
          let conflict = (error?.userInfo["conflictList"] as? [NSMergeConflict])?.first
          g.equal(conflict?.newVersionNumber, 0)
          g.expect(conflict?.persistedSnapshot == nil, "there is a stored snapshot")
        }
        g.equal(try g.elsewhere { try $0.number(of: "Person") }, 0)
      }
    },
    GraphCase("LCK-008/graph", "deleting what another context has changed is a conflict", ways: .own) { g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try g.change(mine, ["name": "a"], in: a)
        try b.performAndWait {
          b.delete(theirs)
          try g.fails(133020) { try b.save() }
          b.rollback()
          g.expect(!theirs.isDeleted, "the rollback leaves it deleted")
        }
        g.equal(try g.elsewhere { try $0.number(of: "Person") }, 1)
      }
    },
    GraphCase("LCK-009/graph", "deleting what another context has deleted is a conflict", ways: .own) { g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try g.delete(mine, in: a)
        try b.performAndWait {
          b.delete(theirs)
          let error = try g.fails(133020) { try b.save() }
          g.equal((error?.userInfo["conflictList"] as? [NSMergeConflict])?.map(\.newVersionNumber) ?? [], [0])
          b.rollback()
          b.refresh(theirs, mergeChanges: false)
          try b.save()
          g.equal(try b.number(of: "Person"), 0)
        }
      }
    },
    GraphCase("LCK-012/graph", "a conflict is detected for an object that does not change itself", ways: .own) { g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try g.change(mine, ["name": "a"], in: a)
        try b.performAndWait {
          b.detectConflicts(for: theirs)
          b.insert("Tag")
          try g.fails(133020) { try b.save() }
        }
        g.equal(try g.elsewhere { try $0.number(of: "Tag") }, 0)
      }
    },
    GraphCase("LCK-012/alone", "a conflict is detected by a save without any change", ways: .own) { g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try b.performAndWait {
          b.detectConflicts(for: theirs)
          try b.save()
        }
        try g.change(mine, ["name": "a"], in: a)
        try b.performAndWait {
          b.detectConflicts(for: theirs)
          let error = try g.fails(133020) { try b.save() }
          g.equal((error?.userInfo["conflictList"] as? [NSMergeConflict])?.map(\.sourceObject), [theirs])
          b.refresh(theirs, mergeChanges: true)
          b.detectConflicts(for: theirs)
          try b.save()
        }
      }
    },
    GraphCase("LCK-013/graph", "every conflict is listed, and nothing is saved", ways: .own) { g in
      try g.both { a, b in
        try a.performAndWait {
          for number in 0..<1000 { a.insert("Person", ["name": "\(number)", "age": 1]) }
          try a.save()
        }
        let theirs = try b.performAndWait { try b.objects("Person", by: "name") }
        b.performAndWait { for one in theirs { _ = one.number("age") } }
        try a.performAndWait {
          for one in try a.objects("Person", NSPredicate(format: "name BEGINSWITH %@", "7")) {
            one.setValue(2, forKey: "age")
          }
          try a.save()
        }
        try b.performAndWait {
          for one in theirs { one.setValue(3, forKey: "age") }
          let error = try g.fails(133020) { try b.save() }
          let names = (error?.userInfo["conflictList"] as? [NSMergeConflict] ?? []).compactMap {
            $0.sourceObject.text("name")
          }
          g.equal(names.sorted(), ((0..<1000).map { "\($0)" }.filter { $0.hasPrefix("7") }).sorted())
        }
        g.equal(try g.elsewhere { try $0.objects("Person", NSPredicate(format: "age == 3")).count }, 0)
      }
    },
    GraphCase("LCK-014/graph", "after a conflict, a refresh that keeps changes makes the save succeed", ways: .own) {
      g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try g.change(mine, ["name": "a"], in: a)
        try b.performAndWait {
          theirs.setValue(5, forKey: "age")
          try g.fails(133020) { try b.save() }
          b.refresh(theirs, mergeChanges: true)
          g.equal(theirs.text("name"), "a")
          g.equal(theirs.number("age"), 5)
          try b.save()
        }
        let found = try g.elsewhere { c in
          try c.objects("Person").map { "\($0.text("name") ?? "") \($0.number("age") ?? 0)" }
        }
        g.equal(found, ["a 5"])
      }
    },
    GraphCase("LCK-017/graph", "a value that was changed and changed back is a conflict", ways: .own) { g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try a.performAndWait {
          for name in ["x", "p"] {
            mine.setValue(name, forKey: "name")
            try a.save()
          }
        }
        try b.performAndWait {
          theirs.setValue("b", forKey: "name")
          try g.fails(133020) { try b.save() }
        }
      }
    },
    GraphCase("LCK-018/graph", "increments that are repeated after conflicts are all kept", ways: .own, races: true) {
      g in
      try g.countTogether { c, times in
        var done = 0
        for _ in 0..<5000 where done < times {
          do {
            let person = try c.one("Person", "name", "p")
            c.refresh(person, mergeChanges: false)
            person.setValue((person.number("age") ?? 0) + 1, forKey: "age")
            try c.save()
            done += 1
          } catch let error as NSError where error.code == 133020 { c.rollback() }
        }
      }
    },
    GraphCase("LCK-022/graph", "detecting conflicts prevents write skew", ways: .own) { g in
      try g.write { c in for name in ["a", "b"] { c.insert("Person", ["name": name, "age": 1]) } }
      try g.both { a, b in
        func pair(_ c: NSManagedObjectContext) throws -> [NSManagedObject] {
          let found = try c.objects("Person", by: "name")
          for one in found { _ = one.number("age") }
          return found
        }
        let (mine, theirs) = (try a.performAndWait { try pair(a) }, try b.performAndWait { try pair(b) })
        try a.performAndWait {
          a.detectConflicts(for: mine[1])
          mine[0].setValue(0, forKey: "age")
          try a.save()
        }
        try b.performAndWait {
          b.detectConflicts(for: theirs[0])
          theirs[1].setValue(0, forKey: "age")
          try g.fails(133020) { try b.save() }
        }
      }
      g.equal(try g.elsewhere { try $0.objects("Person", by: "name").map { $0.number("age") } }, [0, 1])
    },
    GraphCase("REL-005/graph", "links that two contexts add to one object are both saved, or conflict", ways: .own) {
      g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try a.performAndWait {
          mine.add(a.insert("Tag", ["label": "x"]), to: "tags")
          try a.save()
        }
        let isSaved = b.performAndWait { () -> Bool in
          theirs.add(b.insert("Tag", ["label": "y"]), to: "tags")
          do {
            try b.save()
            return true
          } catch {
            g.equal((error as NSError).code, 133020)
            return false
          }
        }
        g.equal(
          try g.elsewhere { try $0.one("Person", "name", "p").texts("tags", "label") }, isSaved ? ["x", "y"] : ["x"])
      }
    },
  ]
}

extension Graph {
  /// Runs `body` with two contexts of the case's coordinator.
  func both(_ body: (NSManagedObjectContext, NSManagedObjectContext) throws -> Void) throws {
    try body(newContext(), newContext())
  }

  /// Runs `body` in four contexts at once. Each must add one to the age of the person p `times` times, and no increment
  /// may be lost.
  func countTogether(
    _ body: @escaping @Sendable (_ context: NSManagedObjectContext, _ times: Int) throws -> Void
  ) throws {
    try write { $0.insert("Person", ["name": "p", "age": 0]) }
    let contexts = try (0..<4).map { _ in try newContext() }
    let problems = Recorder()
    atOnce(contexts.count) { index in
      let context = contexts[index]
      context.performAndWait {
        do { try body(context, 25) } catch { problems.note(Graph.text(of: error)) }
      }
    }
    equal(problems.take(), [])
    equal(try elsewhere { try $0.objects("Person").map { $0.number("age") } }, [100])
  }

  /// A saved person that both contexts have read.
  func person(
    in a: NSManagedObjectContext, and b: NSManagedObjectContext, name: String = "p"
  ) throws -> (NSManagedObject, NSManagedObject) {
    let mine = try a.performAndWait { () -> NSManagedObject in
      let person = a.insert("Person", ["name": name, "age": 1])
      try a.save()
      return person
    }
    let theirs = try b.performAndWait { () -> NSManagedObject in
      let person = try b.existingObject(with: mine.objectID)
      _ = person.text("name")
      return person
    }
    return (mine, theirs)
  }

  /// Runs `body` in a new context.
  func elsewhere<R>(_ body: (NSManagedObjectContext) throws -> R) throws -> R { try run(body, newContext()) }
}
