import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// What can still be read of damaged stores is put into new ones.
extension ConformanceSuite {
  static let salvages: [ConformanceCase] = [
    ConformanceCase(
      "COR-014", "of a damaged store what can be read is there again in a new one, and it stays as it is",
      requires: [.localFiles, .salvage], profiles: Profile.plainOnly, sites: 2
    ) { c in
      let people = 400
      let s = try c.open(Fixtures.people())
      try s.commit { changes in
        for number in 1...people {
          let person = try changes.insert("Person", ["name": .text("person \(number)"), "age": .int(Int64(number))])
          if number % 8 == 0 {
            try changes.tag(person, add: [changes.insert("Tag", ["label": .text("tag \(number)")])])
          }
        }
      }
      let expected = Dictionary(
        uniqueKeysWithValues: try s.objects("Person").map { ($0.key, try s.value($0, "name")) })
      let lines = try StoreLines.read(s.store)
      try s.close()
      let good = try c.fileBytes()
      c.leavesDamage()
      var (found, wrong, rounds, failures, untold) = (0, 0, 0, 0, 0)
      for round in 0..<20 {
        var bad = good
        // One byte, a whole sector of the disk, or the end.
        let choice = c.random.below(good.count)
        switch round % 10 {
        case 8: for index in choice..<min(choice + 512, good.count) { bad[index] = 0 }
        case 9: bad = good.prefix(good.count / 2 + c.random.below(good.count / 2))
        default: bad[choice] ^= UInt8(1 + c.random.below(255))
        }
        try bad.write(to: c.url)
        rounds += 1
        let salvage = Salvage(try Fixtures.people()) { _ in }
        do {
          try salvage.read(c.url, of: c.backend, options: StoreOptions())
          try c.backend.make(at: c.url(of: 1), from: salvage, options: StoreOptions())
        } catch let error as StoreError {
          c.expect(!error.message.isEmpty, "an error without a sentence")
          failures += 1
          continue
        }
        c.expect(try c.fileBytes() == bad, "the damaged store has changed")
        let copy = try c.open(Fixtures.people(), in: 1)
        let people = try copy.objects("Person")
        found += people.count
        for person in people where try copy.value(person, "name") != expected[person.key] { wrong += 1 }
        if salvage.lossCount == 0, try StoreLines.read(copy.store) != lines { untold += 1 }
        c.equal(ConsistencyCheck.problems(of: copy.store), [], "the new store, after \(choice)")
        try copy.close()
        try c.backend.destroy(at: c.url(of: 1), options: StoreOptions())
        c.isReplaced()
      }
      try good.write(to: c.url)
      c.expect(failures <= rounds / 5, "nothing was read of \(failures) of \(rounds)")
      c.expect(found >= people * rounds * 3 / 5, "\(found) of \(people * rounds) objects were read")
      c.expect(wrong <= rounds, "\(wrong) objects are not as they were")
      // Where nothing has a checksum a value that still looks like one is taken for sound.
      c.expect(
        untold <= (c.backend.capabilities.contains(.checksums) ? 0 : rounds / 2), "of \(untold) losses nothing was told"
      )
    },
    ConformanceCase(
      "COR-014/sound", "a store that is not damaged is salvaged whole, with its links, orders and large data",
      requires: [.localFiles, .salvage], profiles: Profile.plainOnly, sites: 2
    ) { c in
      func salvaged(_ schema: Schema, _ s: Session) throws {
        let expected = try StoreLines.read(s.store)
        try s.close()
        let salvage = Salvage(schema) { c.expect(false, "lost: \($0)") }
        try salvage.read(c.url, of: c.backend, options: StoreOptions())
        try c.backend.make(at: c.url(of: 1), from: salvage, options: StoreOptions())
        let copy = try c.open(schema, in: 1)
        c.equal(try StoreLines.read(copy.store), expected)
        try copy.close()
        for choice in 0...1 { try c.backend.destroy(at: c.url(of: choice), options: StoreOptions()) }
        c.isReplaced()
      }
      let shapes = try c.open(Fixtures.shapes())
      try shapes.fillShapes()
      try salvaged(Fixtures.shapes(), shapes)
      let all = try c.open(Fixtures.allTypes())
      try all.insert(
        "AllTypes", ["large": .data(Data(repeating: 7, count: 300_000)), "string": "é\u{0}x", "double": .double(0.1)])
      try all.insert("AllTypes", ["large": .data(Data(repeating: 9, count: 30)), "uuid": .uuid(UUID())])
      try salvaged(Fixtures.allTypes(), all)
    },
    ConformanceCase(
      "COR-014/contradictions", "what contradicts something else is left out, and told", requires: .salvage,
      profiles: Profile.plainOnly, sites: 2
    ) { c in
      let schema = try Fixtures.people()
      var losses: [StoreFinding.Kind] = []
      let salvage = Salvage(schema) { losses.append($0.kind) }
      let s = try c.open(schema)
      let (person, tag) = (try s.entity("Person"), try s.entity("Tag"))
      let builder = RowBuilder()
      guard let boss = person.relationship(named: "boss"), let slot = boss.slot,
        let email = s.attribute("email", of: person)?.slot, let tags = person.relationship(named: "tags")
      else { return }
      for key in [1, 2, 2, 0] as [Int64] {
        builder.begin(slots: person.slots.count)
        builder.setString(email, "same")
        builder.setInt(slot, key + 1)
        salvage.add(builder.finish(key: key, entity: person.index, version: 1))
      }
      builder.begin(slots: tag.slots.count)
      salvage.add(builder.finish(key: 7, entity: tag.index, version: 1))
      salvage.link(tags, of: 1, to: [7, 7, 8])
      salvage.link(tags, of: 5, to: [7])
      try c.backend.make(at: c.url(of: 1), from: salvage, options: StoreOptions())
      let copy = try c.open(schema, in: 1)
      let people = try copy.objects("Person")
      c.equal(people.map(\.key), [1, 2])
      c.equal(try copy.links(people[0], "boss").map(\.key), [2])
      c.equal(try copy.links(people[0], "tags").map(\.key), [7])
      c.equal(try copy.links(people[1], "boss").count, 0)
      c.equal(try copy.values("Person", "email").filter { $0 == .string("same") }.count, 1)
      c.equal(ConsistencyCheck.problems(of: copy.store), [])
      // Two keys, a reference and two links to nothing, links from nothing; and an email that must be unique.
      c.equal(losses.filter { $0 == .key }.count, 2)
      c.equal(losses.filter { $0 == .reference }.count, 3)
      c.equal(losses.filter { $0 == .value }.count, 1)
      c.equal(salvage.lossCount, losses.count)
    },
    ConformanceCase(
      "COR-014/sides", "relationships of which one side is left are whole again, and those that contradict end",
      requires: .salvage, profiles: Profile.plainOnly, sites: 2
    ) { c in
      let schema = try Fixtures.shapes()
      var losses: [StoreFinding.Kind] = []
      let salvage = Salvage(schema) { losses.append($0.kind) }
      guard let source = schema.entity(named: "Source"), let target = schema.entity(named: "Target") else { return }
      func slot(_ name: String, _ entity: Entity) throws -> Int {
        guard let slot = entity.relationship(named: name)?.slot else { throw Failure("\(name) has no slot") }
        return slot
      }
      func many(_ name: String, _ entity: Entity) throws -> Relationship {
        guard let relationship = entity.relationship(named: name) else { throw Failure("there is no \(name)") }
        return relationship
      }
      let builder = RowBuilder()
      func add(_ key: Int64, _ entity: Entity, _ references: [(String, Int64)] = []) throws {
        builder.begin(slots: entity.slots.count)
        for (name, target) in references { builder.setInt(try slot(name, entity), target) }
        salvage.add(builder.finish(key: key, entity: entity.index, version: 1))
      }
      try add(1, source, [("oneOne", 11)])
      try add(2, source, [("oneOne", 11), ("oneWay", 12)])
      try add(3, source)
      for key in 11...14 { try add(Int64(key), target, [("orderedOneBack", 1)]) }
      // Whose they are only the other side says; one says that it is nobody's who is there.
      try add(15, target)
      try add(16, target, [("orderedOneBack", 98)])
      salvage.link(try many("orderedOne", source), of: 2, to: [15, 14, 16])
      salvage.link(try many("orderedOne", source), of: 3, to: [15])
      salvage.link(try many("orderedOne", source), of: 1, to: [13, 99, 11])
      salvage.link(try many("orderedMany", source), of: 1, to: [14, 12])
      salvage.link(try many("manyManyBack", target), of: 11, to: [3, 2])
      salvage.link(try many("manyWay", source), of: 1, to: [11, 12])
      salvage.link(try many("manyWay", source), of: 2, to: [12, 13])
      salvage.link(try many("friends", source), of: 1, to: [2])
      try c.backend.make(at: c.url(of: 1), from: salvage, options: StoreOptions())
      let copy = try c.open(schema, in: 1)
      c.equal(ConsistencyCheck.problems(of: copy.store), [])
      let s = try copy.objects("Source")
      let t = try copy.objects("Target")
      c.equal(try copy.links(t[0], "oneOneBack").map(\.key), [1])
      c.equal(try copy.links(s[1], "oneOne").map(\.key), [])
      c.equal(try copy.links(s[1], "oneWay").map(\.key), [12])
      c.equal(try copy.links(s[0], "orderedOne").map(\.key), [13, 11, 12, 14])
      c.equal(try copy.links(s[1], "orderedOne").map(\.key), [15, 16])
      c.equal(try copy.links(t[4], "orderedOneBack").map(\.key), [2])
      c.equal(try copy.links(s[2], "orderedOne").map(\.key), [])
      c.equal(try copy.links(s[0], "orderedMany").map(\.key), [14, 12])
      c.equal(Set(try copy.links(s[1], "manyMany").map(\.key)), [11])
      c.equal(Set(try copy.links(s[0], "manyWay").map(\.key)), [11, 12])
      c.equal(Set(try copy.links(s[1], "manyWay").map(\.key)), [13])
      c.equal(try copy.links(s[1], "friends").map(\.key), [1])
      // A pair, two that are another one's, and one of two owners.
      c.equal(losses.filter { $0 == .inverse }.count, 4)
      c.equal(losses.filter { $0 == .reference }.count, 2)
    },
  ]
}
