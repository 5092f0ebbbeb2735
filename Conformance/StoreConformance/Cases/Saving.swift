import StoreProtocol
import StoreSchema

extension ConformanceSuite {
  static let saves: [ConformanceCase] = [
    ConformanceCase("SAV-002", "insertions, changes, deletions and links come together", profiles: Profile.reading) {
      c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit {
        try $0.insert("Person", ["name": "a"])
        try $0.insert("Person", ["name": "b"])
        try $0.insert("Team", ["title": "t"])
      }
      let new = try s.commit {
        let tag = try $0.insert("Tag", ["label": "l"])
        try $0.update(o[0], ["name": "A", "team": .to(o[2]), "age": 5])
        try $0.delete(o[1])
        try $0.tag(o[0], add: [tag])
      }
      c.equal(try s.value(o[0], "name"), "A")
      c.equal(try s.value(o[0], "age"), 5)
      c.equal(try s.objects("Person"), [o[0]])
      c.equal(try s.links(o[2], "members"), [o[0]])
      c.equal(try s.links(o[0], "tags"), new)
      c.equal(try s.row(new[0])?.version, 1)
    },
    ConformanceCase(
      "SAV-005", "one conflict among many changes writes nothing", requirements: ["LCK-013"],
      profiles: Profile.oneOpening
    ) {
      c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit { for _ in 0..<200 { try $0.insert("Person", ["age": 1]) } }
      let found = try s.conflicts {
        for (number, object) in o.enumerated() where number != 77 { try $0.update(object, ["age": 2]) }
        try $0.delete(o[77], version: 5)
        try $0.insert("Tag", ["label": "lost"])
        try $0.tag(o[0], add: [$0.insert("Tag")])
      }
      c.equal(found.map(\.reference), [o[77]])
      c.equal(try s.values("Person", "age"), Array(repeating: .int(1), count: 200))
      c.equal(try s.objects("Tag"), [])
      c.equal(try s.row(o[0])?.version, 1)
    },
    ConformanceCase("SAV-007", "the save that was mended is there once", profiles: Profile.oneOpening) { c in
      let s = try c.open(Fixtures.people())
      let object = try s.insert("Person", ["name": "a"])
      for version in [Int64(9), 1] {
        let isBad = version != 1
        let found = try s.conflicts {
          try $0.insert("Tag", ["label": "t"])
          try $0.delete(object, version: version)
        }
        c.equal(found.count, isBad ? 1 : 0)
      }
      c.equal(try s.objects("Tag").count, 1)
      c.equal(try s.objects("Person"), [])
    },
    ConformanceCase("SAV-008", "a change set that does not fit the model writes nothing", profiles: Profile.oneOpening)
    { c in
      let s = try c.open(Fixtures.people())
      let builder = RowBuilder()
      builder.begin(slots: 1)
      let narrow = builder.finishDraft(key: 0, entity: try s.entity("Person").index, version: 1)
      try c.refuses(.invalidArgument) {
        try s.commit {
          try $0.insert("Tag")
          $0.set.insertions.append(narrow)
        }
      }
      try c.refuses(.invalidArgument) {
        try s.commit {
          try $0.insert("Tag")
          try $0.delete(ObjectReference(entity: 99, key: 1), version: 1)
        }
      }
      c.equal(try s.objects("Tag"), [])
      c.equal(try s.insert("Tag").key > 0, true)
    },
    ConformanceCase("SAV-032", "an error says what, and what to do", profiles: Profile.plainOnly) { c in
      let s = try c.open(Fixtures.people())
      try s.close()
      let error = try c.refuses(.closed) { _ = try s.store.snapshot() }
      c.expect((error?.message.count ?? 0) > 10, "the message is “\(error?.message ?? "")”")
      c.equal(error?.isRetryable, false)
    },
    ConformanceCase(
      "SAV-039", "what was opened read-only takes no change", requires: .readOnlyOpen, profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.people())
      try s.close()
      var options = StoreOptions()
      options.isReadOnly = true
      let reading = try c.open(s.schema, options)
      try c.refuses(.readOnly) { try reading.insert("Person") }
      c.equal(try reading.objects("Person"), [])
    },
    manyObjects("SAV-029", 50_000, .medium), manyObjects("SAV-029/million", 1_000_000, .large),
  ]

  /// Uniqueness, judged on the state after the save.
  static let uniqueness: [ConformanceCase] = [
    unique("SAV-011", "two new objects with one value") { c, s in
      let found = try s.conflicts {
        try $0.insert("Person", ["email": "a"])
        try $0.insert("Person", ["email": "a"])
        try $0.insert("Tag")
      }
      c.expect(!found.isEmpty, "there is no conflict")
      for conflict in found {
        guard case .constraint(let slots, _, let persisted) = conflict.kind else { try c.fail("no constraint") }
        c.equal(slots, [s.schema.entities[conflict.reference.entity].attribute(named: "email")?.slot ?? -1])
        c.expect(persisted == nil, "the other object is said to be stored")
      }
      c.equal(try s.objects("Person").count + s.objects("Tag").count, 0)
    },
    unique("SAV-012", "a new object with a stored value") { c, s in
      let stored = try s.insert("Person", ["email": "a", "name": "first"])
      let found = try s.conflicts { try $0.insert("Person", ["email": "a"]) }
      c.equal(found.count, 1)
      guard case .constraint(_, let other, let row)? = found.first?.kind else { try c.fail("no constraint") }
      c.equal(other, stored)
      c.equal(row?.key, stored.key)
      c.equal(try s.values("Person", "name"), [.string("first")])
    },
    unique("SAV-012/update", "a changed object with a stored value") { c, s in
      let o = try s.commit { for text: Cell in ["a", "b"] { try $0.insert("Person", ["email": text]) } }
      let found = try s.conflicts { try $0.update(o[1], ["email": "a", "name": "x"]) }
      c.equal(found.map(\.reference), [o[1]])
      c.equal(found.first?.versionRead, 1)
      c.equal(try s.values("Person", "email"), [.string("a"), .string("b")])
      c.equal(try s.value(o[1], "name"), nil)
    },
    unique("SAV-013", "two objects swap their values") { c, s in
      let o = try s.commit { for text: Cell in ["a", "b", "c"] { try $0.insert("Person", ["email": text]) } }
      try s.commit {
        try $0.update(o[0], ["email": "b"])
        try $0.update(o[1], ["email": "c"])
        try $0.update(o[2], ["email": "a"])
      }
      c.equal(try s.values("Person", "email"), [.string("b"), .string("c"), .string("a")])
    },
    unique("SAV-014", "nil is never the same as nil") { c, s in
      try s.commit { for _ in 0..<3 { try $0.insert("Person", ["name": "x"]) } }
      try s.insert("Person")
      c.equal(try s.objects("Person").count, 4)
    },
    unique("SAV-015", "values that only look alike are different") { c, s in
      try s.commit {
        for text: Cell in ["\u{E9}", "e\u{301}", "a", "A", " a", ""] { try $0.insert("Person", ["email": text]) }
      }
      c.equal(try s.objects("Person").count, 6)
      c.equal(try s.conflicts { try $0.insert("Person", ["email": ""]) }.count, 1)
      c.equal(try s.conflicts { try $0.insert("Person", ["email": "e\u{301}"]) }.count, 1)
    },
    unique("SAV-016", "a deleted object's value is free in the same save") { c, s in
      let old = try s.insert("Person", ["email": "a"])
      let new = try s.commit {
        try $0.delete(old)
        try $0.insert("Person", ["email": "a"])
      }
      c.equal(try s.objects("Person"), new)
    },
    unique("SAV-016/later", "a deleted or changed object's value is free later") { c, s in
      let old = try s.insert("Person", ["email": "a"])
      try s.update(old, ["email": "b"])
      let second = try s.insert("Person", ["email": "a"])
      try s.delete(second)
      let third = try s.insert("Person", ["email": "a"])
      c.equal(try s.objects("Person"), [old, third])
      c.equal(try s.conflicts { try $0.insert("Person", ["email": "b"]) }.count, 1)
    },
    unique("LCK-023", "a stale version and a taken value in one save") { c, s in
      let o = try s.commit { for text: Cell in ["a", "b"] { try $0.insert("Person", ["email": text]) } }
      let found = try s.conflicts {
        try $0.insert("Person", ["email": "a"])
        try $0.delete(o[1], version: 4)
      }
      c.expect(!found.isEmpty, "there is no conflict")
      c.expect(found.contains { $0.reference == o[1] }, "the stale object is not among \(found.map(\.brief))")
      c.equal(try s.objects("Person"), o)
    },
  ]

  private static func unique(
    _ id: String, _ title: String, _ body: @escaping @Sendable (CaseContext, Session) throws -> Void
  ) -> ConformanceCase {
    ConformanceCase(id, title, requires: .uniqueness, profiles: [.plain, .reopen, .single]) { c in
      try body(c, try c.open(Fixtures.people()))
    }
  }

  private static func manyObjects(_ id: String, _ count: Int, _ size: Size) -> ConformanceCase {
    ConformanceCase(id, "many objects in one save", size: size, profiles: Profile.plainOnly) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit {
        for number in 0..<count { try $0.insert("Person", ["age": .int(Int64(number % 100))]) }
      }
      c.equal(try s.objects("Person").count, count)
      try s.commit { for object in o { try $0.delete(object) } }
      c.equal(try s.objects("Person"), [])
    }
  }
}
