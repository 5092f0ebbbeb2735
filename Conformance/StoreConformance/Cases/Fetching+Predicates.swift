import Foundation
import StoreProtocol
import StoreSchema

/// What predicates mean: each case says which of its people are found.
extension ConformanceSuite {
  static let predicates: [ConformanceCase] =
    [
      // name, age: a 5, b nil, nil 7, "" 0, A -1, ab 5
      meaning("FET-001", "age-equal", "age == 5", [0, 5]), meaning("FET-001", "age-unequal", "age != 5", [1, 2, 3, 4]),
      meaning("FET-001", "nil-equal", "age == nil", [1]),
      meaning("FET-001", "nil-unequal", "age != nil", [0, 2, 3, 4, 5]),
      meaning("FET-001", "text-equal", "name == 'a'", [0]), meaning("FET-001", "text-nil", "name == nil", [2]),
      meaning("FET-001", "turned", "5 == age", [0, 5]),
      meaning("FET-002", "less", "age < 5", [3, 4]), meaning("FET-002", "atMost", "age <= 5", [0, 3, 4, 5]),
      meaning("FET-002", "greater", "age > 0", [0, 2, 5]), meaning("FET-002", "atLeast", "age >= 0", [0, 2, 3, 5]),
      meaning("FET-002", "text", "name < 'a'", [3, 4]), meaning("FET-002", "nil", "age < nil", []),
      meaning("FET-002", "turned", "0 < age", [0, 2, 5]),
      meaning("FET-003", "not-less", "NOT (age < 5)", [0, 1, 2, 5]),
      meaning("FET-003", "not-greater", "NOT (age > 0)", [1, 3, 4]),
      meaning("FET-004", "unequal", "name != 'a'", [1, 2, 3, 4, 5]),
      meaning("FET-004", "not-equal", "NOT (name == 'a')", [1, 2, 3, 4, 5]),
      meaning("FET-005", "inside", "age BETWEEN {0, 5}", [0, 3, 5]),
      meaning("FET-005", "one", "age BETWEEN {5, 5}", [0, 5]),
      meaning("FET-005", "turned", "age BETWEEN {5, 0}", []),
      meaning("FET-005", "not", "NOT (age BETWEEN {0, 5})", [1, 2, 4]),
      meaning("FET-006", "some", "age IN {5, 7, 5}", [0, 2, 5]), meaning("FET-006", "none", "age IN {}", []),
      meaning("FET-006", "not-none", "NOT (age IN {})", [0, 1, 2, 3, 4, 5]),
      meaning("FET-006", "text", "name IN {'a', 'ab', 'x'}", [0, 5]),
      meaning("FET-006", "not", "NOT (age IN {5, 7})", [1, 3, 4]),
      meaning("FET-007", "begins", "name BEGINSWITH 'a'", [0, 5]),
      meaning("FET-007", "ends", "name ENDSWITH 'b'", [1, 5]),
      meaning("FET-007", "contains", "name CONTAINS 'b'", [1, 5]),
      meaning("FET-007", "not-contains", "NOT (name CONTAINS 'b')", [0, 2, 3, 4]),
      meaning("FET-008", "star", "name LIKE 'a*'", [0, 5]), meaning("FET-008", "mark", "name LIKE '?'", [0, 1, 4]),
      meaning("FET-008", "all", "name LIKE '*'", [0, 1, 3, 4, 5]),
      meaning("FET-009", "matches", "name MATCHES 'a.?'", [0, 5]),
      meaning("FET-010", "case", "name ==[c] 'A'", [0, 4]),
      meaning("FET-010", "begins", "name BEGINSWITH[c] 'A'", [0, 4, 5]),
      meaning("FET-015", "and", "age == 5 AND name == 'a'", [0]),
      meaning("FET-015", "or", "age == 7 OR name == 'A'", [2, 4]),
      meaning("FET-015", "nest", "NOT (age == 5 OR NOT (age == nil OR age > 5))", [1, 2]),
      meaning("FET-016", "true", "TRUEPREDICATE", [0, 1, 2, 3, 4, 5]),
      meaning("FET-016", "false", "FALSEPREDICATE", []),
      meaning("FET-026", "empty", "lowercase(name) == ''", [3]),
      meaning("FET-026", "empty-length", "length(name) == 0", [3]),
      meaning("FET-036", "quote", "name == \"a' OR 'a' == 'a\"", []),
    ] + predicateCases

  private static func meaning(_ row: String, _ name: String, _ predicate: String, _ expected: [Int]) -> ConformanceCase
  {
    ConformanceCase("\(row)/\(name)", predicate, level: .queryable, profiles: [.plain, .noPushdown, .single]) { c in
      let s = try c.open(Fixtures.people())
      let people: [(Cell, Cell)] = [("a", 5), ("b", nil), (nil, 7), ("", 0), ("A", -1), ("ab", 5)]
      let o = try s.commit { for (name, age) in people { try $0.insert("Person", ["name": name, "age": age]) } }
      let found = try s.fetch("Person", predicate)
      c.equal(found.compactMap { o.firstIndex(of: $0) }, expected)
      c.equal(found.count, expected.count)
      c.equal(try s.count("Person", predicate), expected.count, "count")
    }
  }

  private static let predicateCases: [ConformanceCase] = [
    texts(
      "FET-007", "wildcards", ["%", "_", "\\", "*", "?", "'", "a%b", "a\u{0}b"], "CONTAINS",
      [("%", [0, 6]), ("_", [1]), ("\\", [2]), ("*", [3]), ("?", [4]), ("'", [5]), ("\u{0}", [7])]),
    texts(
      "FET-010", "folding", ["É", "é", "K", "\u{212A}", "σ", "ς", "Σ", "x"], "==[c]",
      [("é", [0, 1]), ("k", [2, 3]), ("Σ", [4, 5, 6])]),
    texts(
      "FET-011", "diacritics", ["é", "e", "e\u{301}", "Å", "A", "x"], "==[d]", [("e", [0, 1, 2]), ("A", [3, 4])]),
    texts("FET-013", "literal", ["é", "e\u{301}"], "==", [("é", [0]), ("e\u{301}", [1])]),
    texts(
      "FET-014", "order", ["\u{E000}", "😀", "z", "Z", "é"], "<",
      [("a", [3]), ("\u{E000}", [2, 3, 4]), ("😀", [0, 2, 3, 4])]),
    ConformanceCase("FET-006/many", "a list of many values", level: .queryable, profiles: [.plain, .noPushdown]) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit { for age in 0..<20 { try $0.insert("Person", ["age": .int(Int64(age * 1000))]) } }
      let list = (0..<10_000).map { "\($0)" }.joined(separator: ",")
      c.equal(try s.fetch("Person", "age IN {\(list)}"), Array(o[0..<10]))
    },
    ConformanceCase(
      "FET-021", "paths over to-one relationships, nil on the way", level: .queryable, profiles: Profile.fetching
    ) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit {
        let team = try $0.insert("Team", ["title": "t"])
        let top = try $0.insert("Person", ["name": "top", "team": .to(team)])
        let middle = try $0.insert("Person", ["name": "middle", "boss": .to(top)])
        try $0.insert("Person", ["name": "low", "boss": .to(middle)])
      }
      c.equal(try s.fetch("Person", "boss.name == 'top'"), [o[2]])
      c.equal(try s.fetch("Person", "boss.boss.team.title == 't'"), [o[3]])
      c.equal(try s.fetch("Person", "boss.name == nil"), [o[1]])
      c.equal(try s.fetch("Person", "NOT (boss.boss.name == 'top')"), [o[1], o[2]])
      c.equal(try s.fetch("Person", sort: ["boss.name", "name"]), [o[1], o[3], o[2]])
    },
    ConformanceCase(
      "FET-023", "relationships and objects are compared as what they are", requirements: ["FET-024"],
      level: .queryable, profiles: Profile.fetching
    ) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit {
        let team = try $0.insert("Team")
        try $0.insert("Person", ["team": .to(team)])
        try $0.insert("Person")
      }
      c.equal(try s.fetch("Person", "team == %@", [.to(o[0])]), [o[1]])
      c.equal(try s.fetch("Person", "team != %@", [.to(o[0])]), [o[2]])
      c.equal(try s.fetch("Person", "team == nil"), [o[2]])
      c.equal(try s.fetch("Person", "self == %@", [.to(o[2])]), [o[2]])
      c.equal(try s.fetch("Person", "team == %@", [.to(ObjectReference(entity: 0, key: 0))]), [])
    },
    ConformanceCase("FET-027", "booleans and numbers meet", level: .queryable, profiles: Profile.fetching) { c in
      let s = try c.open(Fixtures.allTypes())
      let o = try s.commit { for value: Cell in [true, false, nil] { try $0.insert("AllTypes", ["bool": value]) } }
      c.equal(try s.fetch("AllTypes", "bool == YES"), [o[0]])
      c.equal(try s.fetch("AllTypes", "bool == 1"), [o[0]])
      c.equal(try s.fetch("AllTypes", "bool == NO"), [o[1]])
      c.equal(try s.fetch("AllTypes", "bool != YES"), [o[1], o[2]])
    },
    ConformanceCase("FET-029", "times are compared to the last bit", level: .queryable, profiles: Profile.fetching) {
      c in
      let s = try c.open(Fixtures.allTypes())
      let time = 700_000_000.123_456_7
      let o = try s.commit { for t in [time, time.nextUp] { try $0.insert("AllTypes", ["date": .date(t)]) } }
      c.equal(try s.fetch("AllTypes", "date == %@", [.date(time)]), [o[0]])
      c.equal(try s.fetch("AllTypes", "date > %@", [.date(time)]), [o[1]])
    },
    ConformanceCase(
      "FET-004/all", "for every type, nil is unequal to a value and equal to nil", level: .queryable,
      profiles: [.plain, .noPushdown]
    ) { c in
      let s = try c.open(Fixtures.allTypes())
      let values: [String: Cell] = [
        "int16": 1, "int32": 1, "int64": 1, "double": 1.5, "float": 1.5, "decimal": .decimal("1.5"), "bool": true,
        "string": "x", "date": .date(1), "uuid": .uuid(UUID()), "uri": .uri("x:y"), "data": .data(Data([1])),
      ]
      let full = try s.insert("AllTypes", values)
      let empty = try s.insert("AllTypes")
      for (name, value) in values {
        c.equal(try s.fetch("AllTypes", "\(name) == %@", [value]), [full], "\(name) ==")
        c.equal(try s.fetch("AllTypes", "\(name) != %@", [value]), [empty], "\(name) !=")
        c.equal(try s.fetch("AllTypes", "NOT (\(name) == %@)", [value]), [empty], "NOT \(name) ==")
        c.equal(try s.fetch("AllTypes", "\(name) == nil"), [empty], "\(name) == nil")
        c.equal(try s.fetch("AllTypes", "\(name) != nil"), [full], "\(name) != nil")
      }
    },
  ]

  /// Which of some names each text finds.
  private static func texts(
    _ row: String, _ name: String, _ names: [String], _ op: String, _ questions: [(String, [Int])]
  ) -> ConformanceCase {
    ConformanceCase("\(row)/\(name)", "\(op) with \(name)", level: .queryable, profiles: [.plain, .noPushdown]) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit { for name in names { try $0.insert("Person", ["name": .text(name)]) } }
      for (text, expected) in questions {
        let found = try s.fetch("Person", "name \(op) %@", [.text(text)]).compactMap { o.firstIndex(of: $0) }
        c.equal(found, expected, "\(op) \(text.debugDescription)")
      }
    }
  }
}
