import CoreData
import Foundation

/// Fetches in contexts with unsaved changes, and fetches that load the saved changes of other contexts.
extension GraphSuite {
  static let fetchesOverChanges: [GraphCase] = [
    GraphCase(
      "FET-059/faults", "a sorted fetch over unsaved changes does not fill faults without changes",
      requirements: ["FET-063"],
      ways: .own, needsBackend: true
    ) { g in
      try staff(g)
      for (key, withValues) in [("age", true), ("age", false), ("team.title", true), ("team.title", false)] {
        let c = try g.newContext()
        try g.label("\(key), includesPropertyValues \(withValues)") {
          try c.performAndWait {
            try c.one("Person", "name", "p3").setValue(20, forKey: "age")
            c.insert("Person", ["name": "new", "age": 5])
            let request = people(sort: key)
            request.includesPropertyValues = withValues
            let found = try c.fetch(request)
            g.equal(found.count { !$0.isFault }, 2, "objects that are read")
            let rest = ["p0", "p2", "p4", "p6", "p8", "p1", "p3", "p5", "p7", "p9"]
            let byAge = ["p0", "p1", "p2", "p4", "p5", "new", "p6", "p7", "p8", "p9", "p3"]
            g.equal(found.map { $0.text("name") }, key == "age" ? byAge : ["new"] + rest)
            request.returnsObjectsAsFaults = false
            g.expect(try c.fetch(request).allSatisfy { !$0.isFault }, "there are faults")
          }
        }
      }
    },
    GraphCase(
      "FET-059/requests", "a fetch over unsaved changes requests no single objects from the store", needs: .persistent,
      ways: .own, needsBackend: true
    ) { g in
      try staff(g)
      for (key, withValues) in [("age", true), ("age", false), ("team.title", true), ("team.title", false)] {
        try g.requests { c, requests in
          c.insert("Person", ["name": "new", "age": 5])
          let request = people(sort: key)
          request.includesPropertyValues = withValues
          let before = requests()
          g.equal(try c.fetch(request).count, 11)
          // The people and their teams, each fetched once for the rows and once for the sort values.
          g.expect(requests() - before <= 5, "\(requests() - before) requests by \(key) with values \(withValues)")
          let (found, counted) = (requests(), try c.count(for: request))
          g.equal(counted, 11)
          g.expect(requests() - found <= 1, "\(requests() - found) requests to count")
        }
      }
    },
    GraphCase(
      "FET-030/unsaved", "data that allows external storage has its value before the save, too", { Models.allTypes },
      ways: .own
    ) { g in
      try g.inWriting { c in
        c.insert("AllTypes", ["number": 1, "large": Data([2, 7])])
        c.insert("AllTypes", ["number": 2])
        for isSaved in [false, true] {
          if isSaved { try c.save() }
          for (format, expected) in [("large == %@", [1]), ("large != %@", [2]), ("large IN {%@}", [1])] {
            let predicate = NSPredicate(format: format, Data([2, 7]))
            let found = try c.objects("AllTypes", predicate)
            g.equal(found.map { $0.number("number") }, expected, "\(format), \(isSaved)")
            g.expect(found.allSatisfy { predicate.evaluate(with: $0) }, "\(format) in memory, \(isSaved)")
          }
        }
      }
    },
    GraphCase("FET-059/window", "unsaved deletions and changes shift the window of a limited fetch", ways: .own) { g in
      try staff(g)
      let c = try g.newContext()
      try c.performAndWait {
        for name in ["p0", "p4"] { c.delete(try c.one("Person", "name", name)) }
        try c.one("Person", "name", "p9").setValue(-1, forKey: "age")
        let all = ["p9", "p1", "p2", "p3", "p5", "p6", "p7", "p8"]
        for withValues in [true, false] {
          for (offset, limit) in [(0, 3), (1, 3), (3, 2), (5, 0), (7, 9), (8, 1)] {
            let request = people(sort: "age")
            (request.fetchOffset, request.fetchLimit) = (offset, limit)
            request.includesPropertyValues = withValues
            let expected = Array(all.dropFirst(offset).prefix(limit == 0 ? 10 : limit))
            g.equal(try c.fetch(request).map { $0.text("name") ?? "" }, expected, "offset \(offset), limit \(limit)")
            g.equal(try c.count(for: request), expected.count, "counted with offset \(offset), limit \(limit)")
            request.resultType = .managedObjectIDResultType
            let ids = try c.fetch(request.retyped(as: NSManagedObjectID.self))
            g.equal(try ids.map { try c.existingObject(with: $0).text("name") ?? "" }, expected, "IDs")
          }
        }
      }
    },
    GraphCase("FET-066/changes", "a count includes unsaved changes and creates no objects", ways: .own) { g in
      try staff(g)
      let c = try g.newContext()
      try c.performAndWait {
        let (gone, young) = (try c.one("Person", "name", "p8"), try c.one("Person", "name", "p7"))
        let old = try c.one("Person", "name", "p1")
        c.delete(gone)
        young.setValue(0, forKey: "age")
        old.setValue(50, forKey: "age")
        let new = c.insert("Person", ["age": 60])
        for (format, expected) in [("age > 5", 4), ("age <= 5", 6), ("TRUEPREDICATE", 10), ("age == 8", 0)] {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
          request.predicate = NSPredicate(format: format)
          g.equal(try c.count(for: request), expected, format)
          (request.fetchOffset, request.fetchLimit) = (2, 3)
          g.equal(try c.count(for: request), min(3, max(0, expected - 2)), format + ", cut")
          g.equal(try c.fetch(request).count, min(3, max(0, expected - 2)), format + ", cut, fetched")
        }
        withExtendedLifetime((gone, young, old, new)) {}
      }
    },
    GraphCase(
      "FET-072/changes", "a fetch with affected stores includes unsaved changes of these stores only", ways: .own,
      sites: 2
    ) { g in
      let (c, stores) = try g.twoStores()
      try c.performAndWait {
        // The people of even age are in the first store.
        let all = try c.objects("Person", by: "age")
        all[0].setValue(20, forKey: "age")
        c.delete(all[3])
        c.assign(c.insert("Person", ["age": 11]), to: stores[1])
        c.insert("Person", ["age": 10])
        for (site, expected) in [[2, 4, 6, 10, 20], [1, 5, 7, 11]].enumerated() {
          for withValues in [true, false] {
            let request = people(sort: "age")
            request.affectedStores = [stores[site]]
            request.includesPropertyValues = withValues
            g.equal(try c.fetch(request).map { $0.number("age") }, expected, "store \(site)")
            g.equal(try c.count(for: request), expected.count, "counted in store \(site)")
          }
        }
        let request = people(sort: "age")
        request.affectedStores = []
        g.equal(try c.fetch(request).count, 0)
      }
    },
    GraphCase(
      "FET-073/changes", "a fetch over two stores and unsaved changes is sorted, limited and counted as one",
      ways: .own, sites: 2
    ) { g in
      let (c, stores) = try g.twoStores()
      try c.performAndWait {
        try c.objects("Person", NSPredicate(format: "age == 0"))[0].setValue(9, forKey: "age")
        c.delete(try c.objects("Person", NSPredicate(format: "age == 5"))[0])
        c.assign(c.insert("Person", ["age": 3]), to: stores[0])
        for ascending in [true, false] {
          let all = [1, 2, 3, 3, 4, 6, 7, 9]
          let request = people(sort: "age", ascending: ascending)
          g.equal(try c.fetch(request).map { $0.number("age") }, ascending ? all : all.reversed())
          (request.fetchOffset, request.fetchLimit) = (2, 4)
          g.equal(try c.fetch(request).map { $0.number("age") }, ascending ? [3, 3, 4, 6] : [6, 4, 3, 3])
          g.equal(try c.count(for: request), 4)
          request.predicate = NSPredicate(format: "age > 3")
          g.equal(try c.count(for: request), 2)
        }
      }
    },
    GraphCase("FET-071/changed", "a refreshing fetch keeps unsaved changes", ways: .own) { g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        b.performAndWait { theirs.setValue("unsaved", forKey: "name") }
        try a.performAndWait {
          mine.setValue(9, forKey: "age")
          try a.save()
        }
        try b.performAndWait {
          for (withValues, size) in [(true, 0), (false, 0), (true, 10)] {
            g.expect(try b.fetch(refreshing("Person", withValues, size))[0] === theirs, "it is another object")
            g.equal(theirs.text("name"), "unsaved")
            g.equal(theirs.number("age"), 1)
            g.expect(theirs.hasChanges, "it has no changes any more")
          }
        }
      }
    },
    GraphCase("FET-071/keys", "a fetch of IDs or in batches refreshes too", ways: .own) { g in
      for (withValues, size) in [(false, 0), (true, 10)] {
        try g.label("includesPropertyValues \(withValues), fetchBatchSize \(size)") {
          try g.both { a, b in
            let name = "p\(size)"
            try a.performAndWait {
              for age in 0..<3 { a.insert("Person", ["name": name, "age": age]) }
              try a.save()
            }
            try b.performAndWait {
              let request = refreshing("Person", withValues, size)
              request.predicate = NSPredicate(format: "name == %@", name)
              request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
              let found = try b.fetch(request)
              // The third object stays a fault.
              g.equal(found.prefix(2).map { $0.number("age") }, [0, 1])
              try a.performAndWait {
                for person in try a.objects("Person", request.predicate) {
                  person.setValue((person.number("age") ?? 0) + 10, forKey: "age")
                }
                try a.save()
              }
              g.expect(try b.fetch(request).elementsEqual(found, by: ===), "they are other objects")
              g.equal(found.map { $0.number("age") }, [10, 11, 12])
            }
          }
        }
      }
    },
    GraphCase("FET-071/members", "a refreshing fetch loads new members of relationships", ways: .own) { g in
      try g.both { a, b in
        try a.performAndWait {
          let person = a.insert("Person", ["name": "p", "team": a.insert("Team", ["title": "t"])])
          person.add(a.insert("Tag", ["label": "red"]), to: "tags")
          try a.save()
        }
        try b.performAndWait {
          let (team, person) = (try b.one("Team", "title", "t"), try b.one("Person", "name", "p"))
          g.equal(team.texts("members", "name"), ["p"])
          g.equal(person.texts("tags", "label"), ["red"])
          try a.performAndWait {
            a.insert("Person", ["name": "q", "team": try a.one("Team", "title", "t")])
            try a.one("Person", "name", "p").add(a.insert("Tag", ["label": "blue"]), to: "tags")
            try a.save()
          }
          for entity in ["Team", "Person"] { _ = try b.fetch(refreshing(entity)) }
          g.equal(team.texts("members", "name"), ["p", "q"])
          g.equal(person.texts("tags", "label"), ["blue", "red"])
        }
      }
    },
    GraphCase(
      "FET-071/derived", "a refreshing fetch loads values that the store has derived", { Models.derived },
      needs: .derivation, ways: .own
    ) { g in
      try g.both { a, b in
        try a.performAndWait {
          a.insert("Book", ["title": "a", "pages": 1, "shelf": a.insert("Shelf", ["name": "s"])])
          try a.save()
        }
        try b.performAndWait {
          let shelf = try b.fetch(refreshing("Shelf"))[0]
          g.equal(shelf.number("count"), 1)
          try a.performAndWait {
            a.insert("Book", ["title": "b", "pages": 1, "shelf": try a.one("Shelf", "name", "s")])
            try a.save()
          }
          _ = try b.fetch(refreshing("Shelf"))
          g.equal(shelf.number("count"), 2)
        }
      }
    },
  ]

  static func people(sort key: String, ascending: Bool = true) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending)]
    return request
  }

  private static func refreshing(
    _ entity: String, _ withValues: Bool = true, _ batchSize: Int = 0
  ) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.shouldRefreshRefetchedObjects = true
    (request.includesPropertyValues, request.fetchBatchSize) = (withValues, batchSize)
    return request
  }

  /// Ten people, p0 to p9 by age. Those of even age are in team a, the others in team b.
  private static func staff(_ g: Graph) throws {
    try g.write { c in
      let teams = ["a", "b"].map { c.insert("Team", ["title": $0]) }
      for age in 0..<10 { c.insert("Person", ["name": "p\(age)", "age": age, "team": teams[age % 2]]) }
    }
  }
}
