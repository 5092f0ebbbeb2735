import Foundation
import StoreProtocol
import StoreSchema

extension ConformanceSuite {
  static let links: [ConformanceCase] = [
    ConformanceCase("REL-002", "a member that moves leaves the old owner", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit {
        let a = try $0.insert("Team")
        try $0.insert("Team")
        for _ in 0..<3 { try $0.insert("Person", ["team": .to(a)]) }
      }
      try s.update(o[3], ["team": .to(o[1])])
      c.equal(try s.links(o[0], "members"), [o[2], o[4]])
      c.equal(try s.links(o[1], "members"), [o[3]])
      try s.update(o[3], ["team": nil])
      c.equal(try s.links(o[1], "members"), [])
      c.equal(try s.value(o[3], "team"), nil)
    },
    ConformanceCase("REL-003", "one to one: the partner is taken from another", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.shapes())
      let o = try s.commit {
        let target = try $0.insert("Target")
        let source = try $0.insert("Source", ["oneOne": .to(target)])
        try $0.insert("Source")
        $0.set.insertions[0] = $0.set.insertions[0]
        try $0.insert("Target", ["oneOneBack": .to(source)])
      }
      // The row of the first target gets its partner, as the layer above does for both sides.
      try s.commit {
        try $0.update(o[1], ["oneOne": .to(o[3])])
        try $0.update(o[0], ["oneOneBack": nil])
      }
      try s.commit {
        try $0.update(o[1], ["oneOne": nil])
        try $0.update(o[2], ["oneOne": .to(o[3])])
        try $0.update(o[3], ["oneOneBack": .to(o[2])])
      }
      c.equal(try s.value(o[1], "oneOne"), nil)
      c.equal(try s.value(o[2], "oneOne"), .to(o[3]))
      c.equal(try s.value(o[3], "oneOneBack"), .to(o[2]))
    },
    ConformanceCase("REL-004", "pairs are added and removed from both sides at once", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit {
        let people = try $0.insert(3, "Person")
        let tags = try $0.insert(3, "Tag")
        try $0.tag(people[0], add: [tags[0], tags[1]])
        try $0.tag(people[1], add: [tags[1], tags[2]])
      }
      let (people, tags) = (Array(o[0..<3]), Array(o[3..<6]))
      c.equal(try s.links(tags[1], "people"), [people[0], people[1]])
      try s.commit {
        try $0.tag(people[0], add: [tags[2]], remove: [tags[0]])
        try $0.tag(people[2], add: [tags[2]])
        try $0.tag(people[1], remove: [tags[2]])
      }
      c.equal(try people.map { try s.links($0, "tags") }, [[tags[1], tags[2]], [tags[1]], [tags[2]]])
      c.equal(try tags.map { try s.links($0, "people") }, [[], [people[0], people[1]], [people[0], people[2]]])
    },
    ConformanceCase("REL-004/twice", "a pair that is there already is there once", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit {
        try $0.insert("Person")
        try $0.insert("Tag")
      }
      for _ in 0..<2 { try s.commit { try $0.tag(o[0], add: [o[1]]) } }
      c.equal(try s.links(o[0], "tags"), [o[1]])
      c.equal(try s.links(o[1], "people"), [o[0]])
      try s.commit { try $0.tag(o[0], remove: [o[1]]) }
      try s.commit { try $0.tag(o[0], remove: [o[1]]) }
      c.equal(try s.links(o[0], "tags"), [])
    },
    ConformanceCase("REL-005", "two owners' additions to one set are both there", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit {
        let person = try $0.insert("Person")
        let tags = try $0.insert(3, "Tag")
        try $0.tag(person, add: [tags[0]])
      }
      try s.commit { try $0.tag(o[0], add: [o[1], o[2]]) }
      try s.commit { try $0.tag(o[0], add: [o[3]]) }
      c.equal(try s.links(o[0], "tags"), [o[1], o[2], o[3]])
    },
    ConformanceCase("REL-006", "an object can be linked with itself", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.people())
      let person = try s.insert("Person")
      try s.update(person, ["boss": .to(person)])
      c.equal(try s.value(person, "boss"), .to(person))
      c.equal(try s.links(person, "reports"), [person])
      try s.delete(person)
      c.equal(try s.objects("Person"), [])
    },
    ConformanceCase("REL-006/symmetric", "a relationship may be its own inverse", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.shapes())
      let o = try s.commit {
        let three = try $0.insert(3, "Source")
        try $0.link(three[0], "friends", add: [three[1], three[0]])
        try $0.link(three[2], "friends", add: [three[0]])
      }
      c.equal(try s.links(o[0], "friends"), [o[0], o[1], o[2]])
      c.equal(try s.links(o[1], "friends"), [o[0]])
      try s.commit { try $0.link(o[1], "friends", remove: [o[0]]) }
      c.equal(try s.links(o[0], "friends"), [o[0], o[2]])
      try s.delete(o[0])
      c.equal(try s.links(o[2], "friends"), [])
    },
    ConformanceCase("REL-007", "a one-way link ends with its destination", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.shapes())
      let o = try s.commit {
        let targets = try $0.insert(3, "Target")
        let source = try $0.insert("Source", ["oneWay": .to(targets[0])])
        try $0.link(source, "manyWay", add: targets)
      }
      c.equal(try s.links(o[3], "manyWay"), Array(o[0..<3]))
      try s.delete(o[1])
      c.equal(try s.links(o[3], "manyWay"), [o[0], o[2]])
      try s.commit { try $0.link(o[3], "manyWay", remove: [o[0]]) }
      c.equal(try s.links(o[3], "manyWay"), [o[2]])
      c.equal(try s.value(o[3], "oneWay"), .to(o[0]))
    },
    ConformanceCase("REL-007/moves", "a one-way destination belongs to one owner", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.shapes())
      let o = try s.commit {
        try $0.insert("Source")
        try $0.insert("Source")
        try $0.insert("Target")
      }
      try s.commit { try $0.link(o[0], "manyWay", add: [o[2]]) }
      try s.commit {
        try $0.link(o[1], "manyWay", add: [o[2]])
        try $0.link(o[0], "manyWay", remove: [o[2]])
      }
      c.equal(try s.links(o[0], "manyWay"), [])
      c.equal(try s.links(o[1], "manyWay"), [o[2]])
    },
    ConformanceCase(
      "REL-019", "a reference keeps the entity of what it leads to", requirements: ["INH-005"],
      profiles: Profile.reading
    ) { c in
      let s = try c.open(Fixtures.inheritance())
      let o = try s.commit {
        let folder = try $0.insert("Folder4")
        try $0.insert("File", ["parent": .to(folder)])
        try $0.insert("Folder2", ["parent": .to(folder)])
      }
      c.equal(try s.value(o[1], "parent"), .to(o[0]))
      c.equal(try s.links(o[0], "children"), [o[1], o[2]])
    },
    children("REL-021", 20_000, .medium), children("REL-021/million", 1_000_000, .large),
    ConformanceCase("REL-022", "objects that need each other are inserted together", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit {
        let next = try $0.insert(3, "Person")
        for (site, person) in next.enumerated() {
          let row = $0.set.insertions[site]
          guard let slot = s.schema.entities[person.entity].relationship(named: "boss")?.slot,
            row.patch(slot, .reference(next[(site + 1) % 3]))
          else { throw HarnessProblem("the row cannot be changed") }
        }
      }
      for site in 0..<3 {
        c.equal(try s.value(o[site], "boss"), .to(o[(site + 1) % 3]))
        c.equal(try s.links(o[site], "reports"), [o[(site + 2) % 3]])
      }
    },
    ConformanceCase(
      "REL-018", "a link of what is no relationship is refused, and nothing is written", profiles: Profile.oneOpening
    ) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit {
        try $0.insert("Person")
        try $0.insert("Tag")
      }
      try c.refuses(.invalidArgument) {
        try s.commit {
          try $0.insert("Tag", ["label": "lost"])
          $0.set.links.append(.init(entity: o[0].entity, relationship: 99, owner: o[0].key, added: [o[1]], removed: []))
        }
      }
      try c.refuses(.invalidArgument) {
        try s.commit {
          $0.set.links.append(.init(entity: o[0].entity, relationship: 0, owner: -7, added: [], removed: []))
        }
      }
      c.equal(try s.objects("Tag"), [o[1]])
    },
  ]

  /// One more child beside `count`, which are saved in parts.
  private static func children(_ id: String, _ count: Int, _ size: Size) -> ConformanceCase {
    ConformanceCase(
      id, "one more child of many is one more row", requires: .rowLevel, size: size, profiles: [.plain]
    ) { c in
      let s = try c.open(Fixtures.people())
      let team = try s.insert("Team")
      for _ in stride(from: 0, to: count, by: 20_000) {
        try s.commit { for _ in 0..<20_000 { try $0.insert("Person", ["team": .to(team)]) } }
      }
      let start = Date()
      for _ in 0..<20 { try s.insert("Person", ["team": .to(team)]) }
      let seconds = Date().timeIntervalSince(start)
      c.expect(seconds < 5, "20 insertions beside \(count) took \(seconds) s")
      c.equal(try s.links(team, "members").count, count + 20)
    }
  }
}

extension Changes {
  /// Tags of a person, told from the side that the model says is to tell.
  mutating func tag(_ person: ObjectReference, add: [ObjectReference] = [], remove: [ObjectReference] = []) throws {
    try pair(person, "tags", "people", add: add, remove: remove)
  }

  /// Pairs of a relationship between two sets, told from its primary side.
  mutating func pair(
    _ owner: ObjectReference, _ name: String, _ back: String, add: [ObjectReference] = [],
    remove: [ObjectReference] = []
  ) throws {
    if try isPrimary(owner, name) { return try link(owner, name, add: add, remove: remove) }
    for other in add { try link(other, back, add: [owner]) }
    for other in remove { try link(other, back, remove: [owner]) }
  }
}
