import CoreData
import Foundation

/// How saves resolve conflicts with the merge policies.
extension GraphSuite {
  static let mergePolicies: [GraphCase] = [
    merged(
      "LCK-003", "the store's value wins if both changed it; other changes of the context are kept", ["store"],
      [
        "store": "a 7 b@"
      ]),
    merged(
      "LCK-004", "this context's value wins if both changed it; other changes of the store are kept", ["object"],
      [
        "object": "b 7 b@"
      ]),
    merged(
      "LCK-005", "all values of this context win, changed or not", ["overwrite"], ["overwrite": "b 1 b@"]),
    merged("LCK-006", "all values of the store win", ["rollback"], ["rollback": "a 7 -"]),
    GraphCase("LCK-006/others", "objects without conflicts are saved with every policy", ways: .own) { g in
      try g.eachPolicy { name, a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try g.change(mine, ["name": "a"], in: a)
        try b.performAndWait {
          theirs.setValue("b", forKey: "name")
          b.insert("Tag", ["label": name])
          try b.save()
          g.expect(!b.hasChanges, "something is left to be saved")
        }
        g.equal(try g.elsewhere { try $0.objects("Tag", NSPredicate(format: "label == %@", name)).count }, 1)
      }
    },
    GraphCase("LCK-007/policies", "deleted objects stay deleted, and no object refers to them", ways: .own) { g in
      try g.eachPolicy { name, a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        let friend = try b.performAndWait { () -> NSManagedObject in
          let friend = b.insert("Person", ["name": "friend of \(name)"])
          let tag = b.insert("Tag", ["label": name])
          try b.save()
          theirs.setValue("b", forKey: "name")
          friend.setValue(theirs, forKey: "boss")
          theirs.add(tag, to: "tags")
          return friend
        }
        try g.delete(mine, in: a)
        try b.performAndWait {
          try b.save()
          g.expect(theirs.isDeleted && !b.hasChanges, "the object is not gone, or something is left to be saved")
          g.expect(friend.one("boss") == nil, "there is a link to what is gone")
        }
        try g.elsewhere { c in
          let found = try c.objects("Person", NSPredicate(format: "name ENDSWITH %@", name))
          g.equal(found.map { $0.one("boss") == nil }, [true])
          g.equal(try c.objects("Person", NSPredicate(format: "name == %@", "b")).count, 0)
          g.equal(try c.objects("Tag", NSPredicate(format: "label == %@", name)).map { $0.many("people").count }, [0])
        }
      }
    },
    GraphCase(
      "LCK-008/policies", "a conflicting deletion is saved, or the object is restored with its links, by policy",
      ways: .own
    ) { g in
      try g.eachPolicy { name, a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        let (friend, tag, team) = try a.performAndWait { () -> (NSManagedObject, NSManagedObject, NSManagedObject) in
          let friend = a.insert("Person", ["name": "friend"])
          let (tag, team) = (a.insert("Tag", ["label": "t"]), a.insert("Team", ["title": "t"]))
          mine.add(tag, to: "tags")
          mine.setValue(team, forKey: "team")
          friend.setValue(mine, forKey: "boss")
          try a.save()
          return (friend, tag, team)
        }
        b.performAndWait {
          b.refreshAllObjects()
          for one in [friend, tag, team] { _ = b.object(with: one.objectID).objectID }
          g.equal(theirs.texts("reports", "name"), ["friend"])
          g.equal(theirs.texts("tags", "label"), ["t"])
          g.equal(theirs.one("team")?.texts("members", "name"), ["p"])
          b.delete(theirs)
        }
        try g.change(mine, ["name": "a"], in: a)
        let isKept = name == "store" || name == "rollback"
        func look(_ c: NSManagedObjectContext, _ what: String) {
          g.label(what) {
            let (friend, tag) = (c.object(with: friend.objectID), c.object(with: tag.objectID))
            let team = c.object(with: team.objectID)
            g.equal(friend.one("boss")?.text("name"), isKept ? "a" : nil)
            g.equal(tag.texts("people", "name"), isKept ? ["a"] : [])
            g.equal(team.texts("members", "name"), isKept ? ["a"] : [])
            guard isKept, let person = friend.one("boss") else { return }
            g.equal(person.texts("reports", "name"), ["friend"])
            g.equal(person.texts("tags", "label"), ["t"])
            g.equal(person.one("team")?.text("title"), "t")
          }
        }
        try b.performAndWait {
          try b.save()
          g.equal(theirs.isDeleted || theirs.managedObjectContext == nil, !isKept)
          g.expect(!b.hasChanges, "something is left to be saved")
          look(b, "here")
        }
        try g.elsewhere { look($0, "elsewhere") }
      }
    },
    GraphCase("LCK-009/policies", "an object that both contexts delete is no conflict", ways: .own) { g in
      try g.eachPolicy { _, a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try g.delete(mine, in: a)
        try b.performAndWait {
          b.delete(theirs)
          try b.save()
          g.expect(!b.hasChanges, "something is left to be saved")
        }
        g.equal(try g.elsewhere { try $0.number(of: "Person") }, 0)
      }
    },
    GraphCase("LCK-010", "a to-one relationship is merged with its old and its new inverse", ways: .own) { g in
      try g.eachPolicy { name, a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        let teams = try a.performAndWait { () -> [NSManagedObject] in
          let teams = ["1", "2", "3"].map { a.insert("Team", ["title": $0]) }
          mine.setValue(teams[0], forKey: "team")
          try a.save()
          return teams
        }
        func here(_ c: NSManagedObjectContext) -> [NSManagedObject] { teams.map { c.object(with: $0.objectID) } }
        b.performAndWait {
          b.refreshAllObjects()
          g.equal(here(b).map { $0.many("members").count }, [1, 0, 0])
          theirs.setValue(here(b)[2], forKey: "team")
        }
        try a.performAndWait {
          mine.setValue(teams[1], forKey: "team")
          try a.save()
        }
        let expected = name == "store" || name == "rollback" ? [0, 1, 0] : [0, 0, 1]
        try b.performAndWait {
          try b.save()
          g.equal(here(b).map { $0.many("members").count }, expected, "here")
          g.equal(here(b).map { $0 === theirs.one("team") ? 1 : 0 }, expected, "here")
        }
        try g.elsewhere { c in g.equal(here(c).map { $0.many("members").count }, expected, "elsewhere") }
      }
    },
    GraphCase("LCK-011", "additions and removals of members by both contexts are merged", ways: .own) { g in
      try g.eachPolicy { name, a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try a.performAndWait {
          for label in ["old", "gone"] { mine.add(a.insert("Tag", ["label": label]), to: "tags") }
          try a.save()
        }
        b.performAndWait {
          b.refreshAllObjects()
          for tag in theirs.many("tags") where tag.text("label") == "gone" { theirs.remove(tag, from: "tags") }
          theirs.add(b.insert("Tag", ["label": "y"]), to: "tags")
          theirs.setValue("b", forKey: "name")
        }
        try a.performAndWait {
          mine.add(a.insert("Tag", ["label": "x"]), to: "tags")
          mine.setValue("a", forKey: "name")
          try a.save()
        }
        let expected = name == "rollback" ? ["gone", "old", "x"] : ["old", "x", "y"]
        try b.performAndWait {
          try b.save()
          g.equal(theirs.texts("tags", "label"), expected, "here")
          g.equal(theirs.many("tags").filter { !$0.many("people").contains(theirs) }.count, 0, "one-sided links")
        }
        let found = try g.elsewhere { c in c.object(with: theirs.objectID).texts("tags", "label") }
        g.equal(found, expected, "elsewhere")
      }
    },
    GraphCase(
      "LCK-011/order", "the preferred context's order of members is kept; new members follow at its end",
      { Models.ordered }, ways: .own
    ) { g in
      try g.eachPolicy { name, a, b in
        let mine = a.performAndWait { a.insert("Playlist", ["name": "p"]) }
        let theirs = try a.performAndWait { () -> NSManagedObject in
          let songs = ["1", "2", "3"].map { a.insert("Song", ["name": $0]) }
          mine.setValue(NSOrderedSet(array: songs), forKey: "songs")
          try a.save()
          return try b.performAndWait { try b.existingObject(with: mine.objectID) }
        }
        b.performAndWait {
          g.equal(theirs.texts("songs", "name"), ["1", "2", "3"])
          theirs.setValue(NSOrderedSet(array: theirs.many("songs").reversed()), forKey: "songs")
          theirs.setValue("b", forKey: "name")
        }
        try a.performAndWait {
          mine.mutableOrderedSetValue(forKey: "songs").insert(a.insert("Song", ["name": "4"]), at: 0)
          mine.setValue("a", forKey: "name")
          try a.save()
        }
        let isStored = name == "store" || name == "rollback"
        let expected = isStored ? ["4", "1", "2", "3"] : ["3", "2", "1", "4"]
        try b.performAndWait {
          try b.save()
          g.equal(theirs.texts("songs", "name"), expected, "here")
        }
        let found = try g.elsewhere { c in c.object(with: mine.objectID).texts("songs", "name") }
        g.equal(found, expected, "elsewhere")
      }
    },
    GraphCase("LCK-012/policies", "an object that is only checked for conflicts is read again", ways: .own) { g in
      try g.eachPolicy { _, a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try g.change(mine, ["name": "a"], in: a)
        try b.performAndWait {
          b.detectConflicts(for: theirs)
          b.insert("Tag")
          try b.save()
          g.equal(theirs.text("name"), "a")
        }
      }
    },
    GraphCase("LCK-013/policies", "every one of many conflicts is merged", ways: .own) { g in
      try g.eachPolicy { name, a, b in
        let ids = try a.performAndWait { () -> [NSManagedObjectID] in
          let people = (0..<300).map { _ in a.insert("Person", ["name": "p", "age": 1]) }
          try a.save()
          for one in people { one.setValue("a", forKey: "name") }
          return people.map(\.objectID)
        }
        try b.performAndWait {
          for id in ids { b.object(with: id).setValue(5, forKey: "age") }
          try a.performAndWait { try a.save() }
          try b.save()
        }
        let found = try g.elsewhere { c in
          Set(ids.map { "\(c.object(with: $0).text("name") ?? "") \(c.object(with: $0).number("age") ?? 0)" })
        }
        g.equal(found, [["overwrite": "p 5", "rollback": "a 1"][name] ?? "a 5"])
      }
    },
    GraphCase(
      "LCK-024", "a deletion despite a conflict cascades to current members, or everything stays",
      ways: .own
    ) {
      g in
      try g.eachPolicy { name, a, b in
        let mine = try a.performAndWait { () -> NSManagedObject in
          let team = a.insert("Team", ["title": "t"])
          team.add(a.insert("Person", ["name": "old"]), to: "members")
          try a.save()
          return team
        }
        try b.performAndWait {
          let theirs = b.object(with: mine.objectID)
          g.equal(theirs.text("title"), "t")
          g.equal(theirs.texts("members", "name"), ["old"])
          b.delete(theirs)
          try a.performAndWait {
            mine.setValue("changed", forKey: "title")
            mine.add(a.insert("Person", ["name": "new"]), to: "members")
            try a.save()
          }
          try b.save()
          g.expect(!b.hasChanges, "something is left to be saved")
        }
        let isKept = name == "store" || name == "rollback"
        try g.elsewhere { c in
          g.equal(try c.number(of: "Team"), isKept ? 1 : 0)
          g.equal(try c.objects("Person", by: "name").map { $0.text("name") }, isKept ? ["new", "old"] : [])
          g.equal(
            try c.objects("Person").map { $0.one("team")?.text("title") }, isKept ? ["changed", "changed"] : [])
          for object in try c.objects("Team") + c.objects("Person") { c.delete(object) }
          try c.save()
        }
      }
    },
  ]

  /// One context changes name and age, the other name and e-mail. The second context then has, and saves, the expected
  /// values.
  private static func merged(
    _ id: String, _ title: String, _ policies: [String], _ expected: [String: String]
  ) -> GraphCase {
    GraphCase(id, title, ways: .own) { g in
      try g.eachPolicy(policies) { name, a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try g.change(mine, ["name": "a", "age": 7], in: a)
        func text(_ object: NSManagedObject) -> String {
          "\(object.text("name") ?? "-") \(object.number("age") ?? 0) \(object.text("email") ?? "-")"
        }
        try b.performAndWait {
          theirs.setValue("b", forKey: "name")
          theirs.setValue("b@", forKey: "email")
          try b.save()
          g.equal(text(theirs), expected[name], "here")
          g.expect(!b.hasChanges && !theirs.hasChanges, "something is left to be saved")
          // The merged object can be changed and saved like any other.
          theirs.setValue(9, forKey: "age")
          try b.save()
          theirs.setValue(Int(expected[name]?.split(separator: " ")[1] ?? "") ?? 0, forKey: "age")
          try b.save()
        }
        g.equal(try g.elsewhere { text($0.object(with: mine.objectID)) }, expected[name], "elsewhere")
      }
    }
  }
}

extension Graph {
  /// Runs `body` with each merge policy and two contexts, of which the second has the policy.
  func eachPolicy(
    _ names: [String] = ["store", "object", "overwrite", "rollback"],
    _ body: (_ name: String, NSManagedObjectContext, NSManagedObjectContext) throws -> Void
  ) throws {
    let policies = [
      "store": NSMergePolicy.mergeByPropertyStoreTrump, "object": NSMergePolicy.mergeByPropertyObjectTrump,
      "overwrite": NSMergePolicy.overwrite, "rollback": NSMergePolicy.rollback,
    ]
    for name in names {
      guard let policy = policies[name] else { try fail("no policy \(name)") }
      try label(name) {
        try both { a, b in
          b.performAndWait { b.mergePolicy = policy }
          try body(name, a, b)
        }
      }
    }
  }

  /// Deletes an object in its context and saves.
  func delete(_ object: NSManagedObject, in context: NSManagedObjectContext) throws {
    try context.performAndWait {
      context.delete(object)
      try context.save()
    }
  }

  /// Changes an object in its context and saves.
  func change(_ object: NSManagedObject, _ values: [String: Any], in context: NSManagedObjectContext) throws {
    try context.performAndWait {
      for (key, value) in values { object.setValue(value, forKey: key) }
      try context.save()
    }
  }
}
