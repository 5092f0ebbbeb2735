import CoreData
import Foundation

/// A predicate selects the same objects in all contexts of use: unsaved objects, in memory, and in a fetch from any
/// store.
extension GraphSuite {
  static let predicates: [GraphCase] = [
    GraphCase(
      "FET-017/graph", "predicates over collections select the same in memory, before and after a save",
      requirements: ["FET-018", "FET-019", "FET-020", "FET-022", "FET-023", "FET-024"], ways: .own
    ) { g in
      try g.inWriting { c in
        staff(c)
        for isSaved in [false, true] {
          if isSaved { try c.save() }
          let all = try c.objects("Person")
          for (format, expected) in staffPredicates {
            let predicate = NSPredicate(format: format)
            let fetched = try c.objects("Person", predicate).compactMap { $0.text("email") }.sorted()
            g.equal(fetched, expected, "\(format), \(isSaved ? "saved" : "new")")
            let kept = all.filter { predicate.evaluate(with: $0) }.compactMap { $0.text("email") }.sorted()
            g.equal(kept, expected, "\(format) in memory")
          }
        }
      }
    },
    GraphCase(
      "FET-062/predicates", "predicates over collections include unsaved changes", requirements: ["FET-059"], ways: .own
    ) { g in
      try g.inWriting { c in
        staff(c)
        try c.save()
        let ada = try c.one("Person", "name", "Ada")
        let tag = c.insert("Tag", ["label": "green"])
        ada.add(tag, to: "tags")
        let isGreen = NSPredicate(format: "ANY tags.label == 'green'")
        g.equal(try c.objects("Person", isGreen).compactMap { $0.text("name") }, ["Ada"])
        // The person and its row are unchanged; one of its tags has changed.
        try c.save()
        tag.setValue("grey", forKey: "label")
        g.equal(try c.count(for: request("Tag", "label == 'grey' AND ANY people.name == 'Ada'")), 1)
        // Here, too, Ada is unchanged, but the label of her tag has changed.
        g.equal(
          try c.objects("Person", NSPredicate(format: "ANY tags.label == 'grey'")).map { $0.text("name") }, ["Ada"])
        g.equal(try c.count(for: request("Person", "ANY tags.label == 'green'")), 0)
        let byBoss = request("Person", "boss != nil")
        byBoss.sortDescriptors = [NSSortDescriptor(key: "boss.age", ascending: true)]
        g.equal(try c.fetch(byBoss).map { $0.text("email") }, ["b", "n", "e"])
        ada.setValue(9, forKey: "age")
        g.equal(try c.fetch(byBoss).map { $0.text("email") }, ["e", "b", "n"])
        byBoss.fetchLimit = 2
        g.equal(try c.fetch(byBoss).map { $0.text("email") }, ["e", "b"])
        c.delete(tag)
        g.equal(try c.count(for: request("Tag", "ANY people.name == 'Ada'")), 2)
        g.equal(try c.count(for: request("Person", "tags.@count == 2")), 2)
      }
    },
    GraphCase("FET-024/graph", "predicates find objects and IDs in to-many relationships", ways: .own) { g in
      try g.inWriting { c in
        staff(c)
        try c.save()
        let red = try c.one("Tag", "label", "red")
        for value in [red, red.objectID] as [Any] {
          for format in ["ANY tags == %@", "%@ IN tags", "tags CONTAINS %@"] {
            let found = try c.objects("Person", NSPredicate(format: format, value)).compactMap { $0.text("email") }
            g.equal(found.sorted(), ["a", "b"], format)
          }
        }
        let unsaved = c.insert("Tag")
        g.equal(try c.objects("Person", NSPredicate(format: "ANY tags == %@", unsaved)).count, 0)
        g.equal(try c.objects("Person", NSPredicate(format: "NONE tags == %@", unsaved)).count, 4)
      }
    },
    GraphCase("FET-017/deep", "deeply nested predicates are evaluated or refused", ways: .own) { g in
      try g.inWriting { c in
        for age in 0..<9 { c.insert("Person", ["age": age]) }
        try c.save()
        // Combined one at a time, as code does that folds a list of conditions.
        let parts = (0..<3000).map { NSPredicate(format: "age == %d", $0 + 3) }
        let any = parts.dropFirst().reduce(parts[0]) { NSCompoundPredicate(orPredicateWithSubpredicates: [$0, $1]) }
        g.equal(try c.objects("Person", any).count, 6)
        var not = NSPredicate(format: "age == 3")
        for _ in 0..<100 { not = NSCompoundPredicate(notPredicateWithSubpredicate: not) }
        g.equal(try c.objects("Person", not).count, 1)
        for _ in 0..<5000 { not = NSCompoundPredicate(notPredicateWithSubpredicate: not) }
        try g.fails(134060, what: "deep negation") { _ = try c.objects("Person", not) }
        var sum = NSExpression(forKeyPath: "age")
        for _ in 0..<5000 {
          sum = NSExpression(forFunction: "add:to:", arguments: [sum, NSExpression(forConstantValue: 1)])
        }
        let deep = NSComparisonPredicate(
          leftExpression: sum, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct, type: .equalTo)
        try g.fails(134060, what: "a deep sum") { _ = try c.objects("Person", deep) }
      }
    },
    GraphCase("FET-054/graph", "strings are sorted with the selector of the sort descriptor", ways: .own) { g in
      try g.inWriting { c in
        let names: [Any?] = ["file10", "File9", "file1", "\u{e9}a", "Eb", nil]
        for name in names { c.insert("Person", ["name": name ?? NSNull()]) }
        for isSaved in [false, true] {
          if isSaved { try c.save() }
          for (selector, expected) in [
            (nil, ["Eb", "File9", "file1", "file10"]), ("compare:", ["Eb", "File9", "file1", "file10"]),
            ("caseInsensitiveCompare:", ["Eb", "file1", "file10", "File9"]),
            ("localizedStandardCompare:", ["\u{e9}a", "Eb", "file1", "File9"]),
          ] as [(Selector?, [String])] {
            let sorted = request("Person", "TRUEPREDICATE")
            sorted.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true, selector: selector)]
            (sorted.fetchOffset, sorted.fetchLimit) = (1, 4)
            g.equal(try c.fetch(sorted).map { $0.text("name") }, expected, "\(selector ?? "none"), \(isSaved)")
          }
        }
        let unknown = request("Person", "TRUEPREDICATE")
        unknown.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true, selector: "shuffledCompare:")]
        try g.fails(134060) { _ = try c.fetch(unknown) }
      }
    },
    GraphCase("FET-033", "a block predicate is evaluated in memory, on every store", ways: .own) { g in
      try g.inWriting { c in
        staff(c)
        try c.save()
        let isOld = NSPredicate { object, _ in ((object as? NSManagedObject)?.number("age") ?? 0) > 5 }
        g.equal(try c.objects("Person", isOld).compactMap { $0.text("email") }, ["n"])
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [isOld, NSPredicate(format: "name == nil")])
        g.equal(try c.objects("Person", both).count, 1)
      }
    },
    GraphCase("INH-007/graph", "the entity of an object is available as a key", { Models.inheritance }, ways: .own) {
      g in
      try g.inWriting { c in
        c.insert("File", ["name": "a"])
        c.insert("Folder1", ["name": "b"])
        c.insert("Folder2", ["name": "c"])
        for isSaved in [false, true] {
          if isSaved { try c.save() }
          for (format, expected) in [
            ("entity.name == 'Folder1'", ["b"]), ("entity.name != 'File'", ["b", "c"]),
            ("entity.name BEGINSWITH 'Folder'", ["b", "c"]), ("entity.name IN {'File', 'Folder2'}", ["a", "c"]),
          ] {
            let predicate = NSPredicate(format: format)
            let found = try c.objects("Node", predicate).compactMap { $0.text("name") }
            g.equal(found.sorted(), expected, format)
            let kept = try c.objects("Node").filter { predicate.evaluate(with: $0) }.compactMap { $0.text("name") }
            g.equal(kept.sorted(), expected, "\(format) in memory")
          }
        }
      }
    },
  ]

  private static func request(_ entity: String, _ format: String) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = NSPredicate(format: format)
    return request
  }

  /// Four people, named by their e-mail addresses. `a` is Ada, 5, with the tags red and blue; b and n report to her.
  /// `b` is Bob, without an age, with the tag red. `n` has no name, 7; e reports to n. `e` is Eve, -1, with the tag
  /// blue and a tag without a label.
  private static func staff(_ c: NSManagedObjectContext) {
    let team = c.insert("Team", ["title": "core"])
    let (red, blue, unnamed) = (c.insert("Tag", ["label": "red"]), c.insert("Tag", ["label": "blue"]), c.insert("Tag"))
    let ada = c.insert("Person", ["name": "Ada", "age": 5, "email": "a", "team": team])
    let bob = c.insert("Person", ["name": "Bob", "email": "b", "team": team, "boss": ada])
    let nameless = c.insert("Person", ["age": 7, "email": "n", "team": team, "boss": ada])
    let eve = c.insert("Person", ["name": "Eve", "age": -1, "email": "e", "boss": nameless])
    for (person, tags) in [(ada, [red, blue]), (bob, [red]), (eve, [blue, unnamed])] {
      for tag in tags { person.add(tag, to: "tags") }
    }
  }

  private static let staffPredicates: [(format: String, expected: [String])] = [
    ("ANY tags.label == 'red'", ["a", "b"]), ("ALL tags.label == 'red'", ["b", "n"]),
    ("NONE tags.label == 'red'", ["e", "n"]), ("ANY tags.label == nil", ["e"]),
    ("NOT (ALL tags.label == 'red')", ["a", "e"]), ("ANY tags.label IN {'blue', 'green'}", ["a", "e"]),
    ("ANY tags.label == 'red' AND ANY tags.label == 'blue'", ["a"]), ("ALL reports.age > 0", ["b", "e"]),
    ("ANY reports.age BETWEEN {0, 9}", ["a"]), ("ANY reports.name BEGINSWITH[c] 'e'", ["n"]),
    ("ANY reports.team.title == 'core'", ["a"]), ("ANY reports.tags.label == 'red'", ["a"]),
    ("SUBQUERY(tags, $t, $t.label == 'red').@count == 1", ["a", "b"]),
    ("SUBQUERY(reports, $r, $r.age > age).@count > 0", ["a"]),
    ("SUBQUERY(reports, $r, SUBQUERY($r.tags, $t, $t.label == 'red').@count > 0).@count > 0", ["a"]),
    ("ANY SUBQUERY(reports, $r, $r.age < 0).name == 'Eve'", ["n"]),
    ("tags.@count == 2", ["a", "e"]), ("tags.@count == 0", ["n"]), ("tags.label.@count == 1", ["b", "e"]),
    ("reports.@sum.age == 7", ["a"]), ("reports.@sum.age == 0", ["b", "e"]), ("reports.@avg.age == nil", ["b", "e"]),
    ("reports.@min.age == -1", ["n"]), ("reports.@max.age == 7", ["a"]), ("reports.age.@sum == 7", ["a"]),
    ("tags == nil", ["n"]), ("tags != nil", ["a", "b", "e"]), ("self IN boss.reports", ["b", "e", "n"]),
    ("boss.boss == nil", ["a", "b", "n"]), ("age + 1 == 6", ["a"]), ("age / 2 == 2", ["a"]),
    ("age / 0 == nil", ["a", "b", "e", "n"]),
    ("length(name) == 3", ["a", "b", "e"]), ("canonical(name) == 'ada'", ["a"]), ("abs(age) == 1", ["e"]),
    ("CAST(age, 'NSString') == '5'", ["a"]), ("TERNARY(age > 5, 'big', 'small') == 'big'", ["n"]),
    ("age == '5'", []), ("NOT (age == '5')", ["a", "b", "e", "n"]), ("name ==[cd] 'ADÁ'", ["a"]),
    ("now() > CAST(0, 'NSDate')", ["a", "b", "e", "n"]),
  ]
}
