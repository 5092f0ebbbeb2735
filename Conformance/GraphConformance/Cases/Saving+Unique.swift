import CoreData
import Foundation

/// How saves with merge policies resolve unique values that two objects share.
extension GraphSuite {
  static let uniqueValues: [GraphCase] = [
    unique("SAV-012/graph", "a new object with the unique value of a stored object is merged into it") { g, name, c in
      let stored = c.insert("Person", ["email": "x", "name": "old", "age": 1])
      stored.add(c.insert("Tag", ["label": "old"]), to: "tags")
      stored.setValue(c.insert("Team", ["title": "old"]), forKey: "team")
      try c.save()
      let new = c.insert("Person", ["email": "x", "name": "new"])
      new.add(c.insert("Tag", ["label": "new"]), to: "tags")
      let report = c.insert("Person", ["name": "report"])
      report.setValue(new, forKey: "boss")
      try c.save()
      g.expect(new.managedObjectContext == nil || new.isDeleted, "the new object is still there")
      g.expect(!c.hasChanges, "something is left to be saved")
      let isNew = name == "object" || name == "overwrite"
      let expected = [isNew ? "new" : "old", isNew ? "-" : "1", name == "overwrite" ? "-" : "old", "new,old", "report"]
      func look(_ c: NSManagedObjectContext) throws -> [String] {
        let one = try c.one("Person", "email", "x")
        return [
          one.text("name") ?? "-", one.number("age").map { "\($0)" } ?? "-", one.one("team")?.text("title") ?? "-",
          one.texts("tags", "label").joined(separator: ","), one.texts("reports", "name").joined(separator: ","),
        ]
      }
      g.equal(try look(c), expected, "here")
      g.equal(try g.elsewhere(look), expected, "elsewhere")
    },
    unique("SAV-011/policies", "of several new objects with the same unique value, one remains") { g, name, c in
      let team = c.insert("Team", ["title": "t"])
      let people = (0..<3).map { number -> NSManagedObject in
        let one = c.insert("Person", ["email": "x", "name": "\(number)"])
        one.setValue(team, forKey: "team")
        return one
      }
      try c.save()
      g.equal(people.map { $0.managedObjectContext != nil && !$0.isDeleted }, [true, false, false])
      let expected = name == "object" || name == "overwrite" ? ["2"] : ["0"]
      g.equal(team.texts("members", "name"), expected, "here")
      g.equal(try g.elsewhere { try $0.one("Team", "title", "t").texts("members", "name") }, expected, "elsewhere")
    },
    unique("SAV-012/stored", "no policy deletes a stored object to resolve a conflict of unique values") { g, name, c in
      c.insert("Person", ["email": "x", "name": "x"])
      let other = c.insert("Person", ["email": "y", "name": "y"])
      try c.save()
      other.setValue("x", forKey: "email")
      other.setValue("z", forKey: "name")
      if name == "object" || name == "overwrite" {
        let error = try g.fails(133021) { try c.save() }
        g.equal((error?.userInfo["conflictList"] as? [NSConstraintConflict])?.count, 1)
        g.equal(other.text("email"), "x")
        c.rollback()
      } else {
        try c.save()
        g.equal(other.text("name"), name == "store" ? "z" : "y")
        g.equal(other.text("email"), "y")
      }
      g.equal(try g.elsewhere { try $0.objects("Person", by: "email").map { $0.text("email") } }, ["x", "y"])
    },
    unique("SAV-012/again", "a large import of values that were imported before is merged in one save") { g, name, c in
      for round in ["a", "b"] {
        for number in 0..<200 { c.insert("Person", ["email": "\(number)", "name": round]) }
        try c.save()
      }
      let expected: Set = [name == "object" || name == "overwrite" ? "b" : "a"]
      let found = try g.elsewhere { try $0.objects("Person").map { $0.text("name") ?? "-" } }
      g.equal(found.count, 200)
      g.equal(Set(found), expected)
    },
    unique("LCK-023/policies", "a changed row and a unique value in use are merged in one save") { g, name, c in
      let other = try g.newContext()
      let (theirs, mine) = try g.person(in: other, and: c)
      c.insert("Person", ["email": "x", "name": "old"])
      try c.save()
      try g.change(theirs, ["name": "a"], in: other)
      mine.setValue("b", forKey: "name")
      c.insert("Person", ["email": "x", "name": "new"])
      try c.save()
      let isNew = name == "object" || name == "overwrite"
      g.equal(
        try g.elsewhere { try $0.objects("Person", by: "name").map { $0.text("name") } },
        isNew ? ["b", "new"] : ["a", "old"])
    },
    GraphCase(
      "SAV-012/own", "a custom policy keeps stored values that the new object lacks", needs: .uniqueness, ways: .own
    ) { g in
      try g.both { _, c in
        try c.performAndWait {
          c.mergePolicy = Filling(merge: .mergeByPropertyObjectTrumpMergePolicyType)
          c.insert("Person", ["email": "x", "name": "old", "age": 1])
          try c.save()
          c.insert("Person", ["email": "x", "name": "new"])
          try c.save()
          let one = try c.one("Person", "email", "x")
          g.equal(one.text("name"), "new")
          g.equal(one.number("age"), 1)
        }
      }
    },
  ]

  private static func unique(
    _ id: String, _ title: String,
    _ body: @escaping @Sendable (Graph, _ name: String, NSManagedObjectContext) throws -> Void
  ) -> GraphCase {
    GraphCase(id, title, needs: .uniqueness, ways: .own) { g in
      try g.eachPolicy { name, _, c in
        try c.performAndWait {
          try body(g, name, c)
          for entity in ["Person", "Tag", "Team"] { for object in try c.objects(entity) { c.delete(object) } }
          try c.save()
        }
      }
    }
  }
}

/// Copies values of the stored object into a new object that lacks them.
private final class Filling: NSMergePolicy, @unchecked Sendable {
  override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    for conflict in list {
      guard let stored = conflict.databaseObject else { continue }
      for object in conflict.conflictingObjects {
        for key in stored.entity.attributesByName.keys where object.value(forKey: key) == nil {
          object.setValue(stored.value(forKey: key), forKey: key)
        }
      }
    }
    try super.resolve(constraintConflicts: list)
  }
}
