import CoreData
import Foundation

extension GraphSuite {
  static let children: [GraphCase] = [
    GraphCase("SAV-036", "a save of a child context reaches its parent only", ways: .own) { g in
      let (parent, child) = (try g.writing, try g.newContext(childOf: g.writing))
      let person = try g.run(
        { c in
          let boss = c.insert("Person", ["name": "boss"])
          let person = c.insert("Person", ["name": "a", "age": 1, "boss": boss])
          try c.save()
          g.expect(!c.hasChanges && person.objectID.isTemporaryID, "the child has changes, or the ID is permanent")
          return person
        }, child)
      g.equal(try g.stored("Person", "name"), [])
      try g.run(
        { c in
          g.equal(c.insertedObjects.count, 2)
          let own = try c.one("Person", "name", "a")
          g.equal(own.objectID, person.objectID)
          g.expect(own !== person, "both contexts have the same object")
          g.equal((own.value(forKey: "boss") as? NSManagedObject)?.text("name"), "boss")
          try c.save()
        }, parent)
      g.equal(try g.stored("Person", "name"), ["a", "boss"])
      try g.run(
        { c in
          g.expect(!person.objectID.isTemporaryID, "the child has no permanent ID")
          g.expect(try c.one("Person", "name", "a") === person, "the child has another object now")
          person.setValue(2, forKey: "age")
          c.delete(try c.one("Person", "name", "boss"))
          try c.save()
        }, child)
      g.equal(try g.stored("Person", "name"), ["a", "boss"])
      try g.run({ try $0.save() }, parent)
      g.equal(try g.stored("Person", "name"), ["a"])
      try g.read { c in g.equal(try c.one("Person", "name", "a").number("age"), 2) }
      try g.run(
        { c in
          person.setValue(99_999, forKey: "age")
          _ = try g.fails(1610, what: "a save of the child with a number that does not fit") { try c.save() }
          g.expect(person.hasChanges, "the change is gone")
        }, child)
      _ = try g.run({ c in g.expect(!c.hasChanges, "an invalid change has reached the parent") }, parent)
    },
    GraphCase("SAV-037", "a save of a child context wins over unsaved edits of its parent", ways: .own) { g in
      try g.write { $0.insert("Person", ["name": "a", "age": 1, "email": "old"]) }
      let child = try g.newContext(childOf: g.writing)
      try g.run(
        { c in
          let person = try c.one("Person", "name", "a")
          person.setValue(2, forKey: "age")
          try g.run(
            { parent in
              let own = try parent.one("Person", "name", "a")
              own.setValue(3, forKey: "age")
              own.setValue("new", forKey: "email")
            }, g.writing)
          try c.save()
          g.equal(person.number("age"), 2)
          c.refresh(person, mergeChanges: false)
          g.equal([person.text("email"), person.number("age").map(String.init)], ["new", "2"])
        }, child)
      try g.run({ try $0.save() }, g.writing)
      try g.read { c in
        let person = try c.one("Person", "name", "a")
        g.equal([person.text("email"), person.number("age").map(String.init)], ["new", "2"])
      }
    },
    GraphCase("SAV-038", "a save that fails at the root of three contexts can be repeated", ways: .own) { g in
      try g.write { $0.insert("Person", ["name": "a", "age": 1]) }
      let root = try g.newContext()
      let middle = try g.newContext(childOf: root)
      let leaf = try g.newContext(childOf: middle)
      try g.run(
        { c in
          try c.one("Person", "name", "a").setValue(2, forKey: "age")
          c.insert("Person", ["name": "b"])
          try g.write { try $0.one("Person", "name", "a").setValue(3, forKey: "age") }
          try c.save()
          try g.run({ try $0.save() }, middle)
        }, leaf)
      try g.run(
        { c in
          try g.fails(133020, what: "the save of the root") { try c.save() }
          g.equal([c.updatedObjects.count, c.insertedObjects.count], [1, 1])
          g.equal(try c.one("Person", "name", "a").number("age"), 2)
        }, root)
      for context in [middle, leaf] {
        try g.run(
          { c in
            g.expect(!c.hasChanges, "a child has changes that it has saved")
            g.equal(try c.objects("Person", by: "name").map { $0.number("age") }, [2, nil])
          }, context)
      }
      g.equal(try g.stored("Person", "name"), ["a"])
      try g.run(
        { c in
          c.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
          try c.save()
        }, root)
      g.equal(try g.stored("Person", "name"), ["a", "b"])
      try g.run({ c in g.equal(try c.one("Person", "name", "a").number("age"), 2) }, g.newContext())
    },
  ]
}

extension Graph {
  /// The texts of an attribute in the store, in their order, as a new context reads them.
  fileprivate func stored(_ entity: String, _ attribute: String) throws -> [String] {
    try run({ try $0.objects(entity, by: attribute).compactMap { $0.text(attribute) } }, newContext())
  }
}
