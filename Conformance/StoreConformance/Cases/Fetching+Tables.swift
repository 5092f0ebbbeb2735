import StoreProtocol
import StoreSchema

/// Values instead of objects, grouped on request.
extension ConformanceSuite {
  static let tables: [ConformanceCase] = [
    table("FET-067", "a row that was there already is left out; texts differ by their scalars") {
      c, s in
      try s.commit {
        for name: Cell in ["b", nil, "a", "b", "\u{e9}", nil, "e\u{301}"] { try $0.insert("Person", ["name": name]) }
      }
      let all: [[Value]] = [
        [.null], [.string("a")], [.string("b")], [.string("e\u{301}")], [.string("\u{e9}")],
      ]
      c.equal(try s.table("Person", ["name"], isDistinct: true), all)
      c.equal(try s.table("Person", ["name"], isDistinct: true, offset: 1, limit: 2), Array(all[1...2]))
      c.equal(try s.table("Person", ["name"], isDistinct: true, sort: ["-name"], limit: 2), [all[4], all[3]])
      // By what is left out of the rows: the first of each counts.
      c.equal(try s.table("Person", ["name"], isDistinct: true, sort: ["SELF"], limit: 3), [all[2], all[0], all[1]])
      c.equal(try s.table("Person", ["name"], offset: 1, limit: 3), [[.null], [.string("a")], [.string("b")]])
    },
    table("FET-068", "groups with their number, sum, mean and ends; nil is a group", requires: .grouping) { c, s in
      let people: [(Cell, Cell)] = [("a", 1), (nil, 10), ("b", nil), ("a", 4), (nil, -3), ("c", 7)]
      try s.commit { for (name, age) in people { try $0.insert("Person", ["name": name, "age": age]) } }
      let columns = ["name", "count:SELF", "count:age", "sum:age", "average:age", "min:age", "max:age"]
      let a: [Value] = [.string("a"), .int(2), .int(2), .int(5), .double(2.5), .int(1), .int(4)]
      let none: [Value] = [.null, .int(2), .int(2), .int(7), .double(3.5), .int(-3), .int(10)]
      let b: [Value] = [.string("b"), .int(1), .int(0), .int(0), .null, .null, .null]
      let d: [Value] = [.string("c"), .int(1), .int(1), .int(7), .double(7), .int(7), .int(7)]
      c.equal(try s.table("Person", columns, groups: ["name"]), [none, a, b, d])
      c.equal(try s.table("Person", columns, groups: ["name"], sort: ["name"]), [none, a, b, d])
      c.equal(try s.table("Person", columns, groups: ["name"], sort: ["-name"], offset: 1, limit: 2), [b, a])
      c.equal(try s.table("Person", columns, groups: ["name"], having: "name > 'a'"), [b, d])
      c.equal(
        try s.table("Person", ["name", "sum:age"], "age > 0", groups: ["name"]),
        [[.null, .int(10)], [.string("a"), .int(5)], [.string("c"), .int(7)]])
      c.equal(try s.table("Person", ["sum:age", "max:name"]), [[.int(19), .string("c")]])
    },
    table("FET-068/path", "groups by what to-one relationships lead to", requires: .grouping) { c, s in
      let teams = try s.commit { for title: Cell in ["x", "y", "x"] { try $0.insert("Team", ["title": title]) } }
      try s.commit {
        for (age, team) in [(1, teams[0]), (2, teams[1]), (4, teams[2]), (8, teams[0])] as [(Cell, ObjectReference)] {
          try $0.insert("Person", ["age": age, "team": .to(team)])
        }
        try $0.insert("Person", ["age": 16])
      }
      c.equal(
        try s.table("Person", ["team.title", "sum:age"], groups: ["team.title"]),
        [[.null, .int(16)], [.string("x"), .int(13)], [.string("y"), .int(2)]])
      c.equal(
        try s.table("Person", ["team", "sum:age"], groups: ["team"], having: "team != nil"),
        [[.reference(teams[0]), .int(9)], [.reference(teams[1]), .int(2)], [.reference(teams[2]), .int(4)]])
      c.equal(try s.table("Person", ["count:team.title", "max:team.title"]), [[.int(4), .string("y")]])
    },
    table("FET-068/having", "groups are kept by what their columns are", requires: .grouping) { c, s in
      for (name, age) in [("a", 1), ("b", 2), ("a", 3), (nil, 4), ("c", nil), ("a", 3)] as [(Cell, Cell)] {
        try s.commit { _ = try $0.insert("Person", ["name": name, "age": age]) }
      }
      let columns = ["name", "count:SELF", "count:distinct:age"]
      let a: [Value] = [.string("a"), .int(3), .int(2)]
      let b: [Value] = [.string("b"), .int(1), .int(1)]
      let d: [Value] = [.string("c"), .int(1), .int(0)]
      c.equal(try s.table("Person", columns, groups: ["name"], having: "$countSELF > 1"), [a])
      c.equal(try s.table("Person", columns, groups: ["name"], having: "$countSELF = 1 AND name != nil"), [b, d])
      c.equal(try s.table("Person", columns, groups: ["name"], having: "NOT $countdistinctage IN {1, 2}"), [d])
      c.equal(try s.table("Person", ["sum:age"], having: "$sumage > 12"), [[.int(13)]])
      c.equal(try s.table("Person", ["sum:age"], having: "$sumage > 13"), [])
    },
    table("FET-068/expressions", "columns and groups are expressions too", requires: .grouping) { c, s in
      for (name, age) in [("a", 1), ("B", 2), ("A", 3), (nil, 4), ("b", 7)] as [(Cell, Cell)] {
        try s.commit { _ = try $0.insert("Person", ["name": name, "age": age]) }
      }
      c.equal(
        try s.table("Person", ["uppercase(name)", "sum:age * 2"], groups: ["uppercase(name)"]),
        [[.null, .int(8)], [.string("A"), .int(8)], [.string("B"), .int(18)]])
      c.equal(
        try s.table("Person", ["modulus:by:(age, 2)", "max:age"], groups: ["modulus:by:(age, 2)"]),
        [[.int(0), .int(4)], [.int(1), .int(7)]])
      c.equal(
        try s.table("Person", ["name", "age + 1", "5"], "age < 3", sort: ["-age"]),
        [[.string("B"), .int(3), .int(5)], [.string("a"), .int(2), .int(5)]])
      c.equal(
        try s.table("Person", ["TERNARY(age > 2, 'old', 'new')"], isDistinct: true),
        [[.string("new")], [.string("old")]])
      c.equal(try s.table("Person", ["5", "count:SELF"]), [[.int(5), .int(5)]])
      c.equal(try s.table("Person", ["5", "count:SELF"], "FALSEPREDICATE"), [[.int(5), .int(0)]])
    },
    table("FET-068/refused", "what makes no sense in groups is refused", requires: .grouping) { c, s in
      try c.refuses(.invalidArgument) { _ = try s.table("Person", ["name", "count:age"]) }
      try c.refuses(.invalidArgument) { _ = try s.table("Person", ["count:age"], groups: ["name"], sort: ["age"]) }
      try c.refuses(.invalidArgument) { _ = try s.table("Person", ["count:age"], groups: ["name"], having: "age > 1") }
      try c.refuses(.invalidArgument) { _ = try s.table("Person", ["name"], having: "name > 'a'") }
    },
    table("FET-069", "of no objects the number is 0, the sum 0, and all else nil", requires: .grouping) { c, s in
      let columns = ["count:SELF", "count:age", "sum:age", "average:age", "min:age", "max:age"]
      let none: [[Value]] = [[.int(0), .int(0), .int(0), .null, .null, .null]]
      c.equal(try s.table("Person", columns), none)
      try s.commit { try $0.insert("Person", ["name": "a", "age": 1]) }
      c.equal(try s.table("Person", columns, "age > 1"), none)
      c.equal(try s.table("Person", ["name"] + columns, "age > 1", groups: ["name"]), [])
    },
  ]

  private static func table(
    _ id: String, _ title: String, requires: Capabilities = [],
    _ body: @escaping @Sendable (CaseContext, Session) throws -> Void
  ) -> ConformanceCase {
    ConformanceCase(
      id, title, requires: requires, level: .queryable, profiles: [.plain, .reopen, .noPushdown, .twoStores]
    ) { c in try body(c, try c.open(Fixtures.people())) }
  }
}
