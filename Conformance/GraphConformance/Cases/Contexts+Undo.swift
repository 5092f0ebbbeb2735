import CoreData
import Foundation

extension GraphSuite {
  static let undo: [GraphCase] = [
    GraphCase("DEL-012", "an undone deletion leaves the object as it was, with the same ID") { g in
      let manager = UndoManager()
      try g.write { c in
        let tag = c.insert("Tag", ["label": "t"])
        let team = c.insert("Team", ["title": "core"])
        c.insert("Person", ["name": "a", "age": 4, "team": team, "tags": NSSet(object: tag)])
        c.insert("Person", ["name": "b", "boss": try c.one("Person", "name", "a"), "team": team])
      }
      try g.run(
        { c in
          c.undoManager = manager
          let person = try c.one("Person", "name", "a")
          let id = person.objectID
          c.delete(try c.one("Team", "title", "core"))
          c.processPendingChanges()
          g.expect(person.isDeleted, "the cascade has not reached the person")
          c.undo()
          g.expect(!person.isDeleted && person.objectID == id, "the person is still deleted, or has another ID")
          g.expect(!c.hasChanges, "there are changes after the undo")
          person.setValue(5, forKey: "age")
          try c.save()
        }, try g.writing)
      try g.read { c in
        let team = try c.one("Team", "title", "core")
        g.equal(team.texts("members", "name"), ["a", "b"])
        let person = try c.one("Person", "name", "a")
        g.equal(person.number("age"), 5)
        g.equal(person.texts("tags", "label"), ["t"])
        g.equal(person.texts("reports", "name"), ["b"])
        g.equal(try c.one("Tag", "label", "t").texts("people", "name"), ["a"])
      }
      // Saved deletions are undone too, as new objects.
      try g.write { c in
        c.undoManager = manager
        c.delete(try c.one("Team", "title", "core"))
        try c.save()
        g.equal(try c.number(of: "Person"), 0)
        c.undo()
        g.equal(c.insertedObjects.count, 3)
      }
      try g.read { c in
        g.equal(try c.one("Team", "title", "core").texts("members", "name"), ["a", "b"])
        g.equal(try c.one("Person", "name", "b").one("boss")?.text("name"), "a")
        g.equal(try c.one("Tag", "label", "t").texts("people", "name"), ["a"])
      }
    },
    GraphCase("SAV-033", "undo after a save that failed goes back to before the edits") { g in
      try g.write { $0.insert("Person", ["name": "a", "age": 1]) }
      try g.run(
        { c in
          c.undoManager = UndoManager()
          let person = try c.one("Person", "name", "a")
          person.setValue(99_999, forKey: "age")
          person.setValue("b", forKey: "name")
          c.insert("Person", ["name": "c", "boss": person])
          _ = try g.fails(1610, what: "a save with a number that does not fit") { try c.save() }
          g.equal(c.insertedObjects.count, 1)
          c.undo()
          g.equal([person.text("name"), person.number("age").map(String.init)], ["a", "1"])
          g.expect(!c.hasChanges && person.many("reports").isEmpty, "edits are left")
          try c.save()
          c.redo()
          g.equal(person.text("name"), "b")
          _ = try g.fails(1610, what: "a save after the redo") { try c.save() }
          person.setValue(2, forKey: "age")
          try c.save()
        }, try g.writing)
      try g.read { c in
        let person = try c.one("Person", "name", "b")
        g.equal(person.number("age"), 2)
        g.equal(person.texts("reports", "name"), ["c"])
      }
    },
    GraphCase("CTX-013", "undo and redo of 1000 random operations lead through the same states", ways: .own) { g in
      let context = try g.writing
      var random = NumberStream(seed: g.seed)
      var model = PlainStaff()
      // The states before each event that can be undone, and after each that can be redone.
      var (past, future): ([PlainStaff], [PlainStaff]) = ([], [])
      try g.run(
        { c in
          c.undoManager = UndoManager()
          for step in 0..<1000 {
            switch random.next(below: 10) {
            case 0..<3:
              c.undo()
              if let state = past.popLast() { (model, future) = (state, future + [model]) }
            case 3..<5:
              c.redo()
              if let state = future.popLast() { (model, past) = (state, past + [model]) }
            default:
              let before = model
              try model.change(c, &random)
              c.processPendingChanges()
              if model != before { (past, future) = (past + [before], []) }
            }
            if step % 100 == 99 { try c.save() }
            let difference = try model.difference(from: c)
            if !g.expect(difference == nil, "step \(step): \(difference ?? "")") { return }
          }
          try c.save()
        }, context)
      try g.read { c in g.equal(try model.difference(from: c), nil) }
    },
  ]
}

/// People, teams and tags as plain values.
private struct PlainStaff: Equatable {
  struct Person: Equatable {
    var age: Int?
    var team: String?
    var tags: Set<String> = []
  }

  var people: [String: Person] = [:]
  var teams: Set<String> = []
  var tags: Set<String> = []

  /// Changes something in a context, and here. It may change nothing.
  mutating func change(_ context: NSManagedObjectContext, _ random: inout NumberStream) throws {
    let names = ["a", "b", "c", "d", "e", "f"]
    let name = names[random.next(below: names.count)]
    let other = names[random.next(below: names.count)]
    switch random.next(below: 6) {
    case 0:
      if teams.insert(other).inserted { context.insert("Team", ["title": other]) }
      if tags.insert(name).inserted { context.insert("Tag", ["label": name]) }
    case 1:
      if !teams.contains(other) || random.next(below: 3) > 0 { return }
      context.delete(try context.one("Team", "title", other))
      teams.remove(other)
      people = people.filter { $1.team != other }
    default:
      if people[name] == nil {
        people[name] = Person(age: 1)
        context.insert("Person", ["name": name, "age": 1])
        return
      }
      try changePerson(name, other, context, &random)
    }
  }

  private mutating func changePerson(
    _ name: String, _ other: String, _ context: NSManagedObjectContext, _ random: inout NumberStream
  ) throws {
    let person = try context.one("Person", "name", name)
    switch random.next(below: 4) {
    case 0:
      let age = random.next(below: 4) == 0 ? nil : random.next(below: 5)
      people[name]?.age = age
      person.setValue(age, forKey: "age")
    case 1:
      let team = teams.contains(other) ? other : nil
      people[name]?.team = team
      person.setValue(try team.map { try context.one("Team", "title", $0) }, forKey: "team")
    case 2:
      if !tags.contains(other) { return }
      let tag = try context.one("Tag", "label", other)
      if people[name]?.tags.remove(other) != nil {
        person.remove(tag, from: "tags")
      } else {
        people[name]?.tags.insert(other)
        person.add(tag, to: "tags")
      }
    default:
      if random.next(below: 3) > 0 { return }
      people[name] = nil
      context.delete(person)
    }
  }

  /// How a context differs; nil where it has this state, on both sides of all relationships.
  func difference(from context: NSManagedObjectContext) throws -> String? {
    var found = PlainStaff()
    for person in try context.objects("Person") {
      found.people[person.text("name") ?? "?"] = Person(
        age: person.number("age"), team: person.one("team")?.text("title"), tags: Set(person.texts("tags", "label")))
    }
    for team in try context.objects("Team") {
      let title = team.text("title") ?? "?"
      found.teams.insert(title)
      let members = found.people.filter { $1.team == title }.keys.sorted()
      if team.texts("members", "name") != members { return "the team \(title) has other members than \(members)" }
    }
    for tag in try context.objects("Tag") {
      let label = tag.text("label") ?? "?"
      found.tags.insert(label)
      let tagged = found.people.filter { $1.tags.contains(label) }.keys.sorted()
      if tag.texts("people", "name") != tagged { return "the tag \(label) has other people than \(tagged)" }
    }
    return found == self ? nil : "\(found), not \(self)"
  }
}
