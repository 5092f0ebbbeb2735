import CoreData
import Foundation

extension GraphSuite {
  static let relationships: [GraphCase] = [
    GraphCase("REL-001", "setting a to-one relationship changes the inverse at once") { g in
      try g.write { c in
        let team = c.insert("Team", ["title": "a"])
        let person = c.insert("Person", ["name": "p"])
        person.setValue(team, forKey: "team")
        g.equal(team.texts("members", "name"), ["p"])
        c.insert("Person", ["name": "q", "team": team])
        g.equal(team.texts("members", "name"), ["p", "q"])
      }
      try g.read { c in
        g.equal(try c.one("Team", "title", "a").texts("members", "name"), ["p", "q"])
        g.equal(try c.one("Person", "name", "p").one("team")?.text("title"), "a")
      }
    },
    moving("remove", "by removing and adding") { a, b, person in
      a.remove(person, from: "members")
      b.add(person, to: "members")
    },
    moving("add", "by adding alone") { _, b, person in b.add(person, to: "members") },
    moving("set", "by setting its own side") { _, b, person in person.setValue(b, forKey: "team") },
    GraphCase("REL-003/graph", "a one-to-one partner that gets a new partner leaves its old one", { Models.pairs }) {
      g in
      try g.write { c in
        let right = c.insert("Right", ["name": "r"])
        c.insert("Left", ["name": "a", "partner": right])
        c.insert("Left", ["name": "b"])
      }
      try g.write { c in
        let (a, b) = (try c.one("Left", "name", "a"), try c.one("Left", "name", "b"))
        b.setValue(try c.one("Right", "name", "r"), forKey: "partner")
        g.expect(a.one("partner") == nil, "the old partner still has it")
      }
      try g.read { c in
        g.expect(try c.one("Left", "name", "a").one("partner") == nil, "the old partner still has it")
        g.equal(try c.one("Right", "name", "r").one("partner")?.text("name"), "b")
      }
    },
    GraphCase("REL-004/graph", "links that are added and removed from both sides in one save are stored once") { g in
      try g.write { c in
        let (a, b) = (c.insert("Person", ["name": "a"]), c.insert("Person", ["name": "b"]))
        let (x, y) = (c.insert("Tag", ["label": "x"]), c.insert("Tag", ["label": "y"]))
        a.add(x, to: "tags")
        x.add(a, to: "people")
        x.add(b, to: "people")
        b.add(y, to: "tags")
      }
      try g.write { c in
        let (a, b) = (try c.one("Person", "name", "a"), try c.one("Person", "name", "b"))
        let (x, y) = (try c.one("Tag", "label", "x"), try c.one("Tag", "label", "y"))
        a.remove(x, from: "tags")
        y.add(a, to: "people")
        y.remove(b, from: "people")
        b.add(y, to: "tags")
      }
      try g.read { c in
        g.equal(try c.one("Person", "name", "a").texts("tags", "label"), ["y"])
        g.equal(try c.one("Person", "name", "b").texts("tags", "label"), ["x", "y"])
        g.equal(try c.one("Tag", "label", "x").texts("people", "name"), ["b"])
        g.equal(try c.one("Tag", "label", "y").texts("people", "name"), ["a", "b"])
      }
    },
    GraphCase("REL-006/graph", "an object may be related to itself, and can be deleted", { Models.pairs }) { g in
      try g.write { c in
        let (a, b) = (c.insert("Ring", ["name": "a"]), c.insert("Ring", ["name": "b"]))
        a.setValue(a, forKey: "next")
        b.setValue(b, forKey: "next")
        a.add(a, to: "friends")
        a.add(b, to: "friends")
        g.equal(b.texts("friends", "name"), ["a"])
      }
      try g.read { c in
        let a = try c.one("Ring", "name", "a")
        g.expect(a.one("next") === a && a.one("previous") === a, "it is not its own neighbour")
        g.equal(a.texts("friends", "name"), ["a", "b"])
        g.equal(try c.one("Ring", "name", "b").texts("friends", "name"), ["a"])
      }
      try g.write { c in c.delete(try c.one("Ring", "name", "a")) }
      try g.read { c in g.equal(try c.one("Ring", "name", "b").texts("friends", "name"), []) }
    },
    GraphCase("REL-013", "too few and too many destinations fail the save", { Models.counts }, ways: .own) { g in
      try g.inWriting { c in
        for (count, code) in [(1, 1580), (2, nil), (3, nil), (4, 1590)] as [(Int, Int?)] {
          let group = c.insert("Group", ["name": "g"])
          for _ in 0..<count { c.insert("Member", ["group": group]) }
          if let code {
            let error = try g.fails(code, what: "\(count) members") { try c.save() }
            g.equal(error?.userInfo[NSValidationKeyErrorKey] as? String, "members")
          } else {
            try g.label("\(count) members") { try c.save() }
          }
          c.rollback()
        }
        g.equal(try c.number(of: "Group"), 2)
        g.equal(try c.number(of: "Member"), 5)
      }
    },
    GraphCase("REL-014", "a mandatory to-one relationship that is nil fails the save", { Models.counts }, ways: .own) {
      g in
      try g.inWriting { c in
        let badge = c.insert("Badge", ["name": "b"])
        let error = try g.fails(1570) { try c.save() }
        g.equal(error?.userInfo[NSValidationKeyErrorKey] as? String, "owner")
        badge.setValue(c.insert("Member"), forKey: "owner")
        try c.save()
        badge.setValue(nil, forKey: "owner")
        try g.fails(1570, what: "the update") { try c.save() }
      }
    },
    GraphCase(
      "REL-015", "a relationship between objects of two stores fails the save", { Models.configured }, ways: .own,
      sites: 2
    ) { g in
      let coordinator = g.emptyCoordinator()
      try g.add(0, to: coordinator, configuration: "A")
      try g.add(1, to: coordinator, configuration: "B")
      let c = try g.newContext(coordinator)
      try c.performAndWait {
        let first = c.insert("First", ["name": "a", "other": c.insert("Second", ["name": "b"])])
        try g.fails(133010) { try c.save() }
        first.setValue(nil, forKey: "other")
        try c.save()
        g.equal(try c.number(of: "First"), 1)
        g.equal(try c.number(of: "Second"), 1)
      }
    },
    GraphCase("REL-017", "deleting an object leaves no dangling references") { g in
      try g.write { c in
        c.insert("Team", ["title": "t"])
        c.insert("Person", ["name": "p"])
      }
      try g.inWriting { c in
        let (team, person) = (try c.one("Team", "title", "t"), try c.one("Person", "name", "p"))
        c.delete(team)
        c.processPendingChanges()
        person.setValue(team, forKey: "team")
        do { try c.save() } catch {
          g.expect((1550...1680).contains((error as NSError).code), "threw \(Graph.text(of: error))")
          c.rollback()
        }
      }
      try g.read { c in
        let person = try c.one("Person", "name", "p")
        g.expect(person.one("team").map { !$0.isDeleted && $0.text("title") == "t" } ?? true, "it leads to nothing")
      }
    },
    GraphCase("REL-019/graph", "a destination of a subentity has its own entity", { Models.inheritance }) { g in
      try g.write { c in
        let file = c.insert("File", ["name": "f"])
        c.insert("Folder2", ["name": "d", "children": NSSet(array: [file, c.insert("Folder4", ["name": "e"])])])
      }
      try g.read { c in
        g.equal(
          try c.one("Node", "name", "d").many("children").compactMap(\.entity.name).sorted(), ["File", "Folder4"])
        g.equal(try c.one("Node", "name", "f").one("parent")?.entity.name, "Folder2")
      }
    },
    GraphCase(
      "REL-020", "a to-many fault takes one request to the store", needs: .persistent, ways: .own, needsBackend: true
    ) {
      g in
      try g.write { c in
        let team = c.insert("Team", ["title": "t"])
        for number in 0..<20 { c.insert("Person", ["name": "p\(number)", "team": team]) }
      }
      try g.requests { c, requests in
        let team = try c.one("Team", "title", "t")
        let before = requests()
        g.equal(team.many("members").count, 20)
        g.equal(requests(), before + 1, "to count the members")
        g.equal(Set(team.many("members").compactMap { $0.text("name") }).count, 20)
        g.equal((team.value(forKey: "members") as? NSSet)?.count, 20)
        g.equal(requests(), before + 1, "to read the members, which came with it")
      }
    },
    GraphCase(
      "REL-020/whole", "a to-many fault of a store that holds all of its rows reads no file", without: .rowLevel,
      ways: .own, needsBackend: true, disturbsFiles: true
    ) { g in
      try g.requests { c, requests in
        let new = c.insert("Team", ["title": "t"])
        for number in 0..<20 { c.insert("Person", ["name": "p\(number)", "team": new]) }
        try c.save()
        c.reset()
        let team = try c.one("Team", "title", "t")
        let before = requests()
        g.equal(try g.readings { g.equal(team.many("members").count, 20) }, 0, "calls that read a file")
        g.expect(requests() <= before + 1, "\(requests() - before) requests for one fault")
      }
    },
    GraphCase("REL-022/graph", "a ring of mandatory relationships is saved in one save", { Models.pairs }) { g in
      try g.write { c in
        let objects = ["a", "b", "c"].map { c.insert("Ring", ["name": $0]) }
        for (index, object) in objects.enumerated() { object.setValue(objects[(index + 1) % 3], forKey: "next") }
      }
      try g.read { c in
        let a = try c.one("Ring", "name", "a")
        g.equal(a.one("next")?.text("name"), "b")
        g.equal(a.one("next")?.one("next")?.text("name"), "c")
        g.expect(a.one("next")?.one("next")?.one("next") === a, "the ring is open")
        g.equal(a.one("previous")?.text("name"), "c")
      }
    },
    GraphCase(
      "REL-023", "a fetched property has the result of its fetch, and is fetched again after a refresh",
      { Models.fetched }, ways: .own
    ) {
      g in
      try g.inWriting { c in
        let shelf = c.insert("Shelf", ["colour": "red"])
        for (title, colour) in [("b", "red"), ("a", "red"), ("c", "blue")] {
          c.insert("Book", ["title": title, "colour": colour])
        }
        try c.save()
        let titles = { (shelf.value(forKey: "alike") as? [NSManagedObject])?.map { $0.text("title") } }
        g.equal(titles(), ["a", "b"])
        c.insert("Book", ["title": "d", "colour": "red"])
        try c.save()
        c.refresh(shelf, mergeChanges: true)
        g.equal(titles(), ["a", "b", "d"])
      }
    },
    GraphCase("REL-025", "a derived count is right after a cascade", { Models.derived }, needs: .derivation) { g in
      try g.write { c in
        for name in ["a", "b"] {
          let shelf = c.insert("Shelf", ["name": name])
          for title in ["x", "y"] { c.insert("Book", ["title": name + title, "shelf": shelf]) }
        }
      }
      try g.write { c in
        c.delete(try c.one("Shelf", "name", "a"))
        c.delete(try c.one("Book", "title", "by"))
      }
      try g.read { c in
        let shelf = try c.one("Shelf", "name", "b")
        c.refresh(shelf, mergeChanges: false)
        g.equal(shelf.number("count"), 1)
        g.equal(try c.objects("Book").map { $0.text("title") }, ["bx"])
      }
    },
  ]

  private static func moving(
    _ way: String, _ title: String,
    _ move: @escaping @Sendable (NSManagedObject, NSManagedObject, NSManagedObject) -> Void
  ) -> GraphCase {
    GraphCase("REL-002/graph/\(way)", "a member goes from one owner to another \(title)") { g in
      try g.write { c in
        let team = c.insert("Team", ["title": "a"])
        c.insert("Team", ["title": "b"])
        c.insert("Person", ["name": "p", "team": team])
        c.insert("Person", ["name": "q", "team": team])
      }
      func check(_ c: NSManagedObjectContext) throws {
        g.equal(try c.one("Team", "title", "a").texts("members", "name"), ["q"])
        g.equal(try c.one("Team", "title", "b").texts("members", "name"), ["p"])
        g.equal(try c.one("Person", "name", "p").one("team")?.text("title"), "b")
      }
      try g.write { c in
        move(try c.one("Team", "title", "a"), try c.one("Team", "title", "b"), try c.one("Person", "name", "p"))
        try check(c)
      }
      try g.read(check)
    }
  }
}
