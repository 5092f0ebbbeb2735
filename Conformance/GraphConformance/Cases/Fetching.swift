import CoreData
import Foundation

extension GraphSuite {
  static let fetches: [GraphCase] = [
    GraphCase("FET-050/graph", "nil sorts first in ascending and last in descending order, saved or not", ways: .own) {
      g in
      try g.inWriting { c in
        for name in ["b", nil, "a"] as [String?] { c.insert("Person").setValue(name, forKey: "name") }
        for _ in 0..<2 {
          g.equal(try c.objects("Person", by: "name").map { $0.text("name") }, [nil, "a", "b"])
          g.equal(try c.objects("Person", by: "name", ascending: false).map { $0.text("name") }, ["b", "a", nil])
          try c.save()
        }
      }
    },
    GraphCase("FET-051/graph", "pages over equal sort keys neither overlap nor omit objects") { g in
      try g.write { c in
        for number in 0..<50 { c.insert("Person", ["name": number % 2 == 0 ? "x" : "y", "age": number]) }
      }
      try g.read { c in
        var found: [Int] = []
        for offset in stride(from: 0, to: 50, by: 7) {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
          request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
          (request.fetchOffset, request.fetchLimit) = (offset, 7)
          found += try c.fetch(request).compactMap { $0.number("age") }
        }
        g.equal(found.count, 50)
        g.equal(Set(found).count, 50)
        g.expect(found.prefix(25).allSatisfy { $0 % 2 == 0 }, "the order is wrong")
      }
    },
    GraphCase("FET-052/graph", "sorting by several keys and through to-one relationships, including nil ones") { g in
      try g.write { c in
        let teams = ["b", "a"].map { c.insert("Team", ["title": $0]) }
        for (name, age, team) in [("p", 1, 0), ("q", 2, 1), ("r", 1, 1), ("s", 3, nil)] as [(String, Int, Int?)] {
          let person = c.insert("Person", ["name": name, "age": age])
          person.setValue(team.map { teams[$0] }, forKey: "team")
        }
      }
      try g.read { c in
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = [
          NSSortDescriptor(key: "team.title", ascending: true), NSSortDescriptor(key: "age", ascending: false),
        ]
        g.equal(try c.fetch(request).map { $0.text("name") }, ["s", "q", "r", "p"])
        request.sortDescriptors = [
          NSSortDescriptor(key: "age", ascending: true), NSSortDescriptor(key: "name", ascending: false),
        ]
        g.equal(try c.fetch(request).map { $0.text("name") }, ["r", "p", "q", "s"])
      }
    },
    GraphCase(
      "FET-053", "sorting by a to-many relationship or a transient value is refused", { Models.allTypes }, ways: .own,
      sites: 2
    ) { g in
      try g.write { $0.insert("AllTypes") }
      let people = try g.newContext(g.newCoordinator(Models.people, site: 1))
      try g.inWriting { c in
        try g.fails(134060, what: "sorting by a transient value") { _ = try c.objects("AllTypes", by: "transient") }
        try g.fails(134060, what: "sorting by an unknown key") { _ = try c.objects("AllTypes", by: "nothing") }
      }
      try people.performAndWait {
        _ = try g.fails(134060, what: "sorting by a relationship") { _ = try people.objects("Person", by: "reports") }
      }
    },
    GraphCase("FET-057/graph", "a limit of 0 means no limit") { g in
      try g.write { c in for _ in 0..<5 { c.insert("Tag") } }
      try g.read { c in
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        request.fetchLimit = 0
        g.equal(try c.fetch(request).count, 5)
        g.equal(try c.count(for: request), 5)
      }
    },
    GraphCase("FET-058/graph", "limits and offsets, also beyond the number of objects") { g in
      try g.write { c in for number in 0..<10 { c.insert("Person", ["age": number]) } }
      try g.read { c in
        for (offset, limit, expected) in [
          (0, 3, [0, 1, 2]), (8, 5, [8, 9]), (10, 5, []), (1000, 1, []), (3, 0, [3, 4, 5, 6, 7, 8, 9]),
          (9, Int.max, [9]), (Int.max, Int.max, []),
        ] {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
          request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
          (request.fetchOffset, request.fetchLimit) = (offset, limit)
          g.equal(try c.fetch(request).map { $0.number("age") }, expected, "offset \(offset), limit \(limit)")
        }
      }
    },
    GraphCase(
      "FET-058/negative", "negative limits, offsets and batch sizes are refused with an error that names them",
      ways: .own
    ) { g in
      try g.inWriting { c in
        let numbers: [(String, (NSFetchRequest<NSManagedObject>) -> Void)] = [
          ("fetchLimit", { $0.fetchLimit = -1 }), ("fetchOffset", { $0.fetchOffset = -2 }),
          ("fetchBatchSize", { $0.fetchBatchSize = Int.min }),
        ]
        for (name, change) in numbers {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
          change(request)
          let error = try g.fails(134060, what: name) { _ = try c.fetch(request) }
          g.expect(error?.localizedDescription.contains(name) == true, "the error does not name \(name)")
          try g.fails(134060, what: "counting with \(name)") { _ = try c.count(for: request) }
          request.resultType = .dictionaryResultType
          _ = try g.fails(134060, what: "dictionaries with \(name)") {
            _ = try c.fetch(request.retyped(as: NSDictionary.self))
          }
        }
      }
    },
    GraphCase("FET-059", "a limit applies to stored and unsaved objects together", ways: .own) { g in
      try g.inWriting { c in
        for number in [1, 3, 5, 7, 9] { c.insert("Person", ["age": number, "name": "\(number)"]) }
        try c.save()
        c.insert("Person", ["age": 2, "name": "new"])
        try c.one("Person", "name", "1").setValue(8, forKey: "age")
        c.delete(try c.one("Person", "name", "3"))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        g.equal(try c.fetch(request).map { $0.number("age") }, [2, 5, 7, 8, 9])
        (request.fetchOffset, request.fetchLimit) = (1, 3)
        g.equal(try c.fetch(request).map { $0.number("age") }, [5, 7, 8])
        request.predicate = NSPredicate(format: "age > 6")
        (request.fetchOffset, request.fetchLimit) = (0, 2)
        g.equal(try c.fetch(request).map { $0.number("age") }, [7, 8])
      }
    },
    GraphCase(
      "FET-060", "a batched fetch has every element, even if rows are deleted in the meantime",
      requirements: ["FET-061"],
      ways: .own
    ) { g in
      try g.write { c in for number in 0..<1000 { c.insert("Person", ["age": number]) } }
      let other = try g.newContext()
      try other.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        request.fetchBatchSize = 20
        let found = try other.fetch(request)
        g.equal(found.count, 1000)
        g.equal(found.prefix(30).map { $0.number("age") }, Array(0..<30))
        try g.inWriting { c in
          for person in try c.objects("Person", NSPredicate(format: "age >= 990")) { c.delete(person) }
          try c.save()
        }
        g.equal(found.count, 1000)
        g.equal(found[100..<990].map { $0.number("age") }, Array(100..<990))
        for person in found[990...] {
          g.expect(person.number("age") == nil || person.number("age") ?? 0 >= 990, "another row")
        }
      }
    },
    GraphCase(
      "FET-060/requests", "a batch takes one request, including prefetched relationships and values",
      requirements: ["FET-063"],
      needs: .persistent, ways: .own, needsBackend: true
    ) { g in
      try g.write { c in
        for number in 0..<200 {
          c.insert("Person", ["age": number, "team": c.insert("Team", ["title": "\(number)"])])
        }
      }
      for (asFaults, paths) in [(true, []), (false, []), (true, ["team"]), (false, ["team", "tags"])] {
        try g.requests { c, requests in
          let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
          request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
          (request.fetchBatchSize, request.returnsObjectsAsFaults) = (20, asFaults)
          request.relationshipKeyPathsForPrefetching = paths
          let before = requests()
          let found = try c.fetch(request)
          g.equal(requests() - before, 1, "requests of the fetch")
          g.expect(found.allSatisfy(\.isFault), "something was read at once")
          g.equal(found[45].number("age"), 45)
          g.equal(found.indices.filter { !found[$0].isFault }, asFaults ? [45] : Array(40..<60))
          g.equal(requests() - before, 2 + paths.count, "requests after one batch")
          for person in found {
            if !paths.isEmpty { _ = person.one("team")?.text("title") }
            if paths.count > 1 { _ = person.many("tags").count }
          }
          g.equal(found.map { $0.number("age") }, Array(0..<200))
          g.equal(requests() - before, 1 + 10 * (1 + paths.count), "requests after all batches")
        }
      }
    },
    GraphCase("FET-062", "a fetch includes pending changes unless it excludes them", ways: .own) { g in
      try g.inWriting { c in
        let (a, b) = (c.insert("Person", ["name": "a", "age": 1]), c.insert("Person", ["name": "b", "age": 1]))
        try c.save()
        a.setValue(5, forKey: "age")
        c.delete(b)
        c.insert("Person", ["name": "c", "age": 5])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "age == 5")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        g.equal(try c.fetch(request).map { $0.text("name") }, ["a", "c"])
        g.equal(try c.count(for: request), 2)
        request.includesPendingChanges = false
        g.equal(try c.fetch(request).count, 0)
        request.predicate = NSPredicate(format: "age == 1")
        g.equal(try c.fetch(request).map { $0.text("name") }, ["a", "b"])
        g.equal(try c.count(for: request), 2)
      }
    },
    GraphCase("FET-063", "fetched objects are faults according to the request", ways: .own) { g in
      try g.write { $0.insert("Tag", ["label": "a"]) }
      for (asFaults, withValues) in [(true, true), (false, true), (true, false)] {
        let c = try g.newContext()
        try c.performAndWait {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
          request.returnsObjectsAsFaults = asFaults
          request.includesPropertyValues = withValues
          let tag = try c.fetch(request)[0]
          g.equal(tag.isFault, asFaults, "returnsObjectsAsFaults \(asFaults), includesPropertyValues \(withValues)")
          g.equal(tag.text("label"), "a")
          g.expect(!tag.isFault, "it is a fault after its value was read")
        }
      }
    },
    GraphCase("FET-064/graph", "IDs are returned in the requested order") { g in
      try g.write { c in for name in ["b", "c", "a"] { c.insert("Person", ["name": name]) } }
      try g.read { c in
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
        request.resultType = .managedObjectIDResultType
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        g.equal(try c.fetch(request).map { try c.existingObject(with: $0).text("name") }, ["a", "b", "c"])
      }
    },
    GraphCase("FET-066/graph", "a count equals the number of objects that the same request fetches", ways: .own) { g in
      try g.inWriting { c in
        for number in 0..<10 { c.insert("Person", ["age": number]) }
        for isSaved in [false, true] {
          if isSaved { try c.save() }
          for (offset, limit) in [(0, 0), (0, 3), (8, 5), (20, 0), (2, 0)] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: "age > 0")
            (request.fetchOffset, request.fetchLimit) = (offset, limit)
            g.equal(try c.count(for: request), try c.fetch(request).count, "offset \(offset), limit \(limit)")
          }
          let numbers = NSFetchRequest<NSNumber>(entityName: "Person")
          numbers.resultType = .countResultType
          g.equal(try c.fetch(numbers), [10])
        }
      }
    },
    GraphCase(
      "FET-070", "prefetched relationships are available without another request", needs: .rowLevel,
      ways: .own
    ) { g in
      try g.write { c in
        let team = c.insert("Team", ["title": "t"])
        for name in ["a", "b", "c"] { c.insert("Person", ["name": name, "team": team]) }
      }
      let c = try g.newContext()
      try c.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.relationshipKeyPathsForPrefetching = ["members"]
        let team = try c.fetch(request)[0]
        g.expect(!team.hasFault(forRelationshipNamed: "members"), "the members are a fault")
        g.equal(team.texts("members", "name"), ["a", "b", "c"])
      }
    },
    GraphCase("FET-071", "a fetch keeps the values of registered objects unless it refreshes them", ways: .own) {
      g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try a.performAndWait {
          mine.setValue(9, forKey: "age")
          try a.save()
        }
        try b.performAndWait {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
          g.equal(try b.fetch(request)[0].number("age"), 1)
          request.shouldRefreshRefetchedObjects = true
          g.expect(try b.fetch(request)[0] === theirs, "it is another object")
          g.equal(theirs.number("age"), 9)
        }
      }
    },
    GraphCase("FET-072", "a fetch reads only its affected stores", ways: .own, sites: 2) { g in
      let (c, stores) = try g.twoStores()
      try c.performAndWait {
        for (site, store) in stores.enumerated() {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
          request.affectedStores = [store]
          g.equal(try c.fetch(request).map { ($0.number("age") ?? 0) % 2 }, [site, site, site, site])
          g.equal(try c.count(for: request), 4)
        }
      }
    },
    GraphCase(
      "FET-073", "a fetch over two stores is sorted, limited and counted as one", ways: .own, sites: 2
    ) { g in
      let (c, _) = try g.twoStores()
      try c.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
        g.equal(try c.fetch(request).map { $0.number("age") }, [7, 6, 5, 4, 3, 2, 1, 0])
        (request.fetchOffset, request.fetchLimit) = (1, 3)
        g.equal(try c.fetch(request).map { $0.number("age") }, [6, 5, 4])
        g.equal(try c.count(for: request), 3)
        (request.fetchOffset, request.fetchLimit) = (0, 0)
        request.predicate = NSPredicate(format: "age < 3")
        g.equal(try c.count(for: request), 3)
      }
    },
    GraphCase("FET-074", "a fetch request template is substituted without changing the template", ways: .own) { g in
      guard let model = Models.people.copy() as? NSManagedObjectModel else { try g.fail("the model cannot be copied") }
      let template = NSFetchRequest<any NSFetchRequestResult>()
      template.entity = model.entitiesByName["Person"]
      template.predicate = NSPredicate(format: "name == $NAME")
      model.setFetchRequestTemplate(template, forName: "byName")
      let c = try g.newContext(try g.newCoordinator(model))
      try c.performAndWait {
        for name in ["a", "b"] { c.insert("Person", ["name": name]) }
        try c.save()
        for name in ["a", "b"] {
          guard let filled = model.fetchRequestFromTemplate(withName: "byName", substitutionVariables: ["NAME": name])
          else { try g.fail("there is no request byName") }
          let found = try c.fetch(filled).compactMap { $0 as? NSManagedObject }
          g.equal(found.map { $0.text("name") }, [name])
        }
        g.expect(model.fetchRequestTemplate(forName: "byName") != nil, "the template is gone")
      }
    },
    GraphCase("FET-076", "a fetch during the deletion of all rows returns all of them or none", ways: .own, races: true)
    { g in
      let reader = try g.newContext()
      let problems = Recorder()
      for _ in 0..<5 {
        try g.write { c in for number in 0..<100 { c.insert("Person", ["age": number]) } }
        atOnce(2) { thread in
          do {
            if thread == 0 {
              try g.inWriting { c in
                for person in try c.objects("Person") { c.delete(person) }
                try c.save()
              }
            } else {
              for _ in 0..<10 {
                try reader.performAndWait {
                  reader.reset()
                  let count = try reader.objects("Person").count
                  if count != 0 && count != 100 { problems.note("\(count) rows") }
                }
              }
            }
          } catch { problems.note(Graph.text(of: error)) }
        }
      }
      g.equal(problems.take(), [])
    },
    GraphCase("FET-077/entity", "a fetch of an unknown entity, or of no entity, is refused", ways: .own) {
      g in
      try g.inWriting { c in
        for request in [NSFetchRequest<NSManagedObject>(entityName: "Nobody"), NSFetchRequest<NSManagedObject>()] {
          let name = request.entityName
          let error = try g.fails(134060, what: "fetching \(name ?? "nothing")") { _ = try c.fetch(request) }
          g.expect(error?.localizedDescription.contains(name ?? "no entity") == true, "the error does not name it")
          _ = try g.fails(134060, what: "counting \(name ?? "nothing")") { _ = try c.count(for: request) }
        }
      }
    },
    GraphCase("FET-077", "a fetch with unknown keys in its predicate or sort order is refused", ways: .own) {
      g in
      try g.write { $0.insert("Tag") }
      try g.inWriting { c in
        for format in ["nothing == 1", "people.nothing == 1", "label.x == 1"] {
          try g.fails(134060, what: format) { _ = try c.objects("Tag", NSPredicate(format: format)) }
          let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
          request.predicate = NSPredicate(format: format)
          try g.fails(134060, what: "counting \(format)") { _ = try c.count(for: request) }
        }
      }
    },
  ]
}

extension Graph {
  /// A context with two stores. The people of even age are in the first, those of odd age in the second.
  func twoStores() throws -> (NSManagedObjectContext, [NSPersistentStore]) {
    let coordinator = emptyCoordinator()
    let stores = try [add(0, to: coordinator), add(1, to: coordinator)]
    let context = try newContext(coordinator)
    try context.performAndWait {
      for age in 0..<8 {
        let person = context.insert("Person", ["age": age])
        context.assign(person, to: stores[age % 2])
      }
      try context.save()
    }
    return (context, stores)
  }
}
