import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// What predicates over collections, functions and subqueries mean: each case says which of its people are found.
extension ConformanceSuite {
  static let collections: [ConformanceCase] =
    [
      // Ada 5: red and blue; reports Bob and the nameless one. Bob nil: red. Nameless 7: no tags; reports Eve.
      // Eve -1: blue and a tag without label. The first three are of the team "core".
      found("FET-017", "any", "ANY tags.label == 'red'", [0, 1]),
      found("FET-017", "some", "SOME tags.label == 'blue'", [0, 3]),
      found("FET-017", "all", "ALL tags.label == 'red'", [1, 2]),
      found("FET-017", "none", "NONE tags.label == 'red'", [2, 3]),
      found("FET-017", "any-nil", "ANY tags.label == nil", [3]),
      found("FET-017", "all-not-nil", "ALL tags.label != nil", [0, 1, 2]),
      found("FET-017", "not-any", "NOT (ANY tags.label == 'red')", [2, 3]),
      found("FET-017", "not-all", "NOT (ALL tags.label == 'red')", [0, 3]),
      found("FET-017", "any-in", "ANY tags.label IN {'red', 'green'}", [0, 1]),
      found("FET-017", "any-between", "ANY reports.age BETWEEN {0, 9}", [0]),
      found("FET-017", "any-greater", "ANY reports.age > 5", [0]),
      found("FET-017", "all-greater", "ALL reports.age > 0", [1, 3]),
      found("FET-017", "any-text", "ANY reports.name BEGINSWITH[c] 'e'", [2]),
      found("FET-017", "any-to-one", "ANY reports.team.title == 'core'", [0]),
      found("FET-017", "any-to-one-nil", "ANY reports.team == nil", [2]),
      found("FET-018", "two", "ANY tags.label == 'red' AND ANY tags.label == 'blue'", [0]),
      found("FET-018", "other", "ANY tags.label == 'blue' AND NONE tags.label == 'red'", [3]),
      found("FET-019", "count", "SUBQUERY(tags, $t, $t.label == 'red').@count == 1", [0, 1]),
      found(
        "FET-019", "nested", "SUBQUERY(reports, $r, SUBQUERY($r.tags, $t, $t.label == 'red').@count > 0).@count > 0",
        [0]),
      found("FET-019", "any-inside", "SUBQUERY(reports, $r, ANY $r.tags.label == 'red').@count == 0", [1, 2, 3]),
      found("FET-019", "outer-object", "SUBQUERY(reports, $r, $r.age > age).@count > 0", [0]),
      found(
        "FET-019", "outer-variable",
        "SUBQUERY(team.members, $m, SUBQUERY($m.reports, $r, $r.boss == $m AND $r.age > $m.age).@count == 1).@count == 1",
        [0, 1, 2]),
      found("FET-019", "values", "SUBQUERY(reports, $r, $r.age != nil).@sum.age == 7", [0]),
      found("FET-019", "any-of", "ANY SUBQUERY(reports, $r, $r.age < 0).name == 'Eve'", [2]),
      found("FET-020", "count", "tags.@count == 2", [0, 3]), found("FET-020", "count-none", "tags.@count == 0", [2]),
      found("FET-020", "sum", "reports.@sum.age == 7", [0]),
      found("FET-020", "sum-none", "reports.@sum.age == 0", [1, 3]),
      found("FET-020", "sum-behind", "reports.age.@sum == 7", [0]),
      found("FET-020", "average", "reports.@avg.age == 7", [0]),
      found("FET-020", "average-none", "reports.@avg.age == nil", [1, 3]),
      found("FET-020", "least", "reports.@min.age == -1", [2]),
      found("FET-020", "greatest", "reports.@max.age == 7", [0]),
      found("FET-020", "least-none", "reports.@min.age == nil", [1, 3]),
      found("FET-020", "values", "tags.label.@count == 1", [1, 3]),
      found("FET-020", "function", "sum(reports.age) == 7", [0]),
      found("FET-020", "greatest-text", "tags.@max.label == 'red'", [0, 1]),
      found("FET-022", "any", "ANY reports.tags.label == 'red'", [0]),
      found("FET-022", "count", "team.members.tags.@count == 3", [0, 1, 2]),
      found("FET-023", "to-many-nil", "tags == nil", [2]),
      found("FET-023", "to-many-not-nil", "tags != nil", [0, 1, 3]),
      found("FET-025", "add", "age + 1 == 6", [0]), found("FET-025", "multiply", "age * 2 > 9", [0, 2]),
      found("FET-025", "divide", "age / 2 == 2", [0]), found("FET-025", "divide-real", "age / 2.0 == 2.5", [0]),
      found("FET-025", "divide-zero", "age / 0 == nil", [0, 1, 2, 3]),
      found("FET-025", "remainder", "modulus:by:(age, 2) == 1", [0, 2]),
      found("FET-025", "negate", "-age == 1", [3]), found("FET-025", "power", "age ** 2 == 49", [2]),
      found("FET-025", "bits", "age & 1 == 1", [0, 2, 3]), found("FET-025", "shift", "age << 1 == 14", [2]),
      found("FET-025", "complement", "~age == 0", [3]), found("FET-025", "nil", "age + 1 == nil", [1]),
      found("FET-025", "overflow", "9223372036854775807 + age > 9223372036854775807", [0, 2]),
      found("FET-026", "abs", "abs(age) == 1", [3]), found("FET-026", "lowercase", "lowercase(name) == 'ada'", [0]),
      found("FET-026", "uppercase", "uppercase(name) == 'EVE'", [3]),
      found("FET-026", "length", "length(name) == 3", [0, 1, 3]),
      found("FET-026", "length-nil", "length(name) == nil", [2]),
      found("FET-026", "canonical", "canonical(name) == 'ada'", [0]),
      found("FET-026", "now", "now() > CAST(0, 'NSDate')", [0, 1, 2, 3]),
      found("FET-026", "floor", "floor(age / 2.0) == 2", [0]), found("FET-026", "root", "sqrt(age) > 2.5", [2]),
      found("FET-026", "cast", "CAST(age, 'NSString') == '5'", [0]),
      found("FET-026", "ternary", "TERNARY(age > 5, 'big', 'small') == 'big'", [2]),
      found("FET-026", "ternary-path", "TERNARY(age == nil, name, 'known') == 'Bob'", [1]),
      found("FET-012", "both", "name ==[cd] 'ADÁ'", [0]), found("FET-012", "normalised", "name ==[n] 'ada'", []),
      found("FET-012", "locale", "name ==[l] 'Ada'", [0]), found("FET-012", "in", "name IN[c] {'ADA', 'eve'}", [0, 3]),
      found("FET-031", "number-text", "age == '5'", []), found("FET-031", "text-number", "name > 5", []),
      found("FET-031", "unequal", "name != 5", [0, 1, 2, 3]),
      found("FET-031", "not", "NOT (age == '5')", [0, 1, 2, 3]),
      found("FET-031", "between", "name BETWEEN {1, 2}", []), found("FET-031", "in", "age IN {'5', 7}", [2]),
    ] + collectionCases

  /// A case of four people, a team and tags: which of the people a predicate selects.
  static func found(_ row: String, _ name: String, _ predicate: String, _ expected: [Int]) -> ConformanceCase {
    ConformanceCase("\(row)/\(name)", predicate, level: .queryable, profiles: [.plain, .noPushdown, .single]) { c in
      let s = try c.open(Fixtures.people())
      let people = try Self.staff(s)
      let found = try s.fetch("Person", predicate)
      c.equal(found.compactMap { people.firstIndex(of: $0) }, expected)
      c.equal(found.count, expected.count)
      c.equal(try s.count("Person", predicate), expected.count, "count")
    }
  }

  /// Four people, a team of three of them, and three tags; gives the people.
  static func staff(_ s: Session) throws -> [ObjectReference] {
    let objects = try s.commit {
      let team = try $0.insert("Team", ["title": "core"])
      let (red, blue) = (try $0.insert("Tag", ["label": "red"]), try $0.insert("Tag", ["label": "blue"]))
      let unnamed = try $0.insert("Tag")
      let ada = try $0.insert("Person", ["name": "Ada", "age": 5, "team": .to(team)])
      let bob = try $0.insert("Person", ["name": "Bob", "boss": .to(ada), "team": .to(team)])
      let nameless = try $0.insert("Person", ["age": 7, "boss": .to(ada), "team": .to(team)])
      let eve = try $0.insert("Person", ["name": "Eve", "age": -1, "boss": .to(nameless)])
      try $0.tag(ada, add: [red, blue], remove: [])
      try $0.tag(bob, add: [red], remove: [])
      try $0.tag(eve, add: [blue, unnamed], remove: [])
    }
    return Array(objects.suffix(4))
  }

  private static let collectionCases: [ConformanceCase] = [
    ConformanceCase(
      "FET-024/to-many", "objects are looked for in relationships", level: .queryable, profiles: Profile.fetching
    ) { c in
      let s = try c.open(Fixtures.people())
      let people = try staff(s)
      let red = try s.fetch("Tag", "label == 'red'")[0]
      for predicate in ["%@ IN tags", "tags CONTAINS %@", "ANY tags == %@", "ANY tags IN {%@}"] {
        c.equal(try s.fetch("Person", predicate, [.to(red)]), [people[0], people[1]], predicate)
        c.equal(try s.fetch("Person", "NOT (\(predicate))", [.to(red)]), [people[2], people[3]], "NOT " + predicate)
      }
      c.equal(try s.fetch("Tag", "%@ IN people", [.to(people[1])]), [red])
      c.equal(try s.fetch("Person", "self IN boss.reports"), [people[1], people[2], people[3]])
      c.equal(try s.fetch("Person", "SUBQUERY(team.members, $m, $m != SELF).@count == 2"), Array(people[0...2]))
    },
    ConformanceCase(
      "FET-028", "numbers of several types, compared by their values", level: .queryable, profiles: Profile.fetching
    ) { c in
      let s = try c.open(Fixtures.allTypes())
      let tenth = Double(Float(0.1))
      let o = try s.commit {
        try $0.insert("AllTypes", ["float": .double(tenth), "double": 0.1, "decimal": .decimal("0.1"), "int64": 3])
        try $0.insert("AllTypes", ["float": 3, "double": 3, "decimal": .decimal("3"), "int64": .int(.max)])
      }
      c.equal(try s.fetch("AllTypes", "float == %@", [.double(tenth)]), [o[0]])
      c.equal(try s.fetch("AllTypes", "float == 0.1"), [], "a Float is what it is")
      c.equal(try s.fetch("AllTypes", "double == decimal"), [o[0], o[1]])
      c.equal(try s.fetch("AllTypes", "decimal == 0.1"), [o[0]])
      c.equal(try s.fetch("AllTypes", "decimal == 3"), [o[1]])
      c.equal(try s.fetch("AllTypes", "double == 3"), [o[1]])
      c.equal(try s.fetch("AllTypes", "int64 == 3.0"), [o[0]])
      c.equal(try s.fetch("AllTypes", "int64 < 9223372036854775808.0"), [o[0], o[1]], "no rounding")
      c.equal(try s.fetch("AllTypes", "decimal IN {0.1, 7}"), [o[0]])
      c.equal(try s.fetch("AllTypes", "decimal BETWEEN {1, 3}"), [o[1]])
      let digits = "12345678901234567890123456789012345678"
      let long = try s.insert("AllTypes", ["decimal": .decimal(digits), "string": .text(digits)])
      c.equal(try s.fetch("AllTypes", "decimal == %@", [.decimal(digits)]), [long])
      c.equal(try s.fetch("AllTypes", "decimal > %@", [.decimal("12345678901234567890123456789012345677")]), [long])
      c.equal(try s.fetch("AllTypes", "decimal == %@", [.text(digits)]), [], "a text is no number")
      c.equal(
        try s.fetch("AllTypes", "decimal - 1 == %@", [.decimal("12345678901234567890123456789012345677")]), [long])
      c.equal(try s.fetch("AllTypes", "CAST(decimal, 'NSString') == string"), [long])
    },
    ConformanceCase("FET-030", "data, UUIDs and URIs, exactly", level: .queryable, profiles: Profile.fetching) { c in
      let s = try c.open(Fixtures.allTypes())
      let ids = (1...3).map { UUID(uuid: ($0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255)) }
      let data = [Data(), Data([0]), Data([0, 255])]
      let o = try s.commit {
        for index in 0..<3 {
          try $0.insert(
            "AllTypes", ["uuid": .uuid(ids[index]), "data": .data(data[index]), "uri": .uri("x://\(index)")])
        }
      }
      for index in 0..<3 {
        c.equal(try s.fetch("AllTypes", "uuid == %@", [.uuid(ids[index])]), [o[index]], "uuid")
        c.equal(try s.fetch("AllTypes", "data == %@", [.data(data[index])]), [o[index]], "data")
        c.equal(try s.fetch("AllTypes", "uri == %@", [.uri("x://\(index)")]), [o[index]], "uri")
      }
      c.equal(try s.fetch("AllTypes", "uuid IN {%@, %@}", [.uuid(ids[0]), .uuid(ids[2])]), [o[0], o[2]])
      c.equal(try s.fetch("AllTypes", "data IN {%@, %@}", [.data(data[1]), .data(data[2])]), [o[1], o[2]])
      c.equal(try s.fetch("AllTypes", "data > %@", [.data(data[1])]), [o[2]])
      c.equal(try s.fetch("AllTypes", sort: ["-uuid"]), Array(o.reversed()))
    },
    ConformanceCase("FET-032", "unknown keys are errors, whatever they look like", level: .queryable) { c in
      let s = try c.open(Fixtures.people())
      for key in [
        "nothing", "objectID)--", "name; DROP TABLE ZPERSON", "Z_PK", "team.nothing", "tags.nothing.@count",
        "name.@count",
      ] {
        c.expect(try PredicateCheck.refusal("%K == 1", s, key: key)?.isEmpty == false, "\(key) was found")
      }
    },
    ConformanceCase("FET-034", "a variable without a value is an error", level: .queryable) { c in
      let s = try c.open(Fixtures.people())
      for format in ["age == $x", "SUBQUERY(tags, $t, $u.label == nil).@count > 0", "$p", "$t.label == nil"] {
        let refusal = try PredicateCheck.refusal(format, s)
        c.expect(refusal?.contains("$") == true, "\(format): \(refusal ?? "resolved")")
      }
    },
    ConformanceCase(
      "FET-022/refused", "a collection is not compared as if it were one value", level: .queryable
    ) { c in
      let s = try c.open(Fixtures.people())
      for format in ["tags.label == 'red'", "age > reports.age", "tags.label BEGINSWITH 'r'", "name == {1, 2}"] {
        let refusal = try PredicateCheck.refusal(format, s)
        c.expect(refusal?.contains("ANY") == true, "\(format): \(refusal ?? "resolved")")
      }
    },
    ConformanceCase(
      "INH-007", "the entity of an object, and its name", requirements: ["INH-006"], level: .queryable,
      profiles: Profile.fetching
    ) { c in
      let schema = try Fixtures.inheritance()
      let s = try c.open(schema)
      guard let root = schema.entities.first(where: { $0.subtree.count > 2 && $0.superentity == nil }) else {
        throw HarnessProblem("the model has no tree")
      }
      let concrete = root.subtree.map { schema.entities[$0] }.filter { !$0.isAbstract }
      let o = try s.commit { for entity in concrete { try $0.insert(entity.name) } }
      for (index, entity) in concrete.enumerated() {
        c.equal(try s.fetch(root.name, "entity.name == '\(entity.name)'"), [o[index]], entity.name)
        c.equal(try s.fetch(root.name, "entity.name != '\(entity.name)'"), o.filter { $0 != o[index] }, entity.name)
      }
      c.equal(try s.fetch(root.name, "entity.name IN {'\(concrete[0].name)', 'x'}"), [o[0]])
      c.equal(try s.fetch(root.name, "entity.name BEGINSWITH 'nothing'"), [])
      c.equal(try s.fetch(root.name, "entity IN {99999, -1, 'x'}"), [])
      if let own = concrete.last?.attributes.first(where: { root.attribute(named: $0.name) == nil }) {
        let refusal = try PredicateCheck.refusal("%K == nil", s, key: own.name, of: root.name)
        c.expect(refusal != nil, "a key of a subentity was found")
      }
    },
    ConformanceCase(
      "SEC-021", "long lists, deep nests and long patterns take bounded time",
      requirements: ["FET-006", "FET-009", "FET-015"],
      level: .queryable, size: .medium, profiles: [.plain, .noPushdown]
    ) { c in
      let s = try c.open(Fixtures.people())
      let name = String(repeating: "a", count: 40)
      let o = try s.commit {
        for age in 0..<20 { try $0.insert("Person", ["name": .text(name), "age": .int(Int64(age))]) }
      }
      for count in [300_000, 1_000_000] {
        let list = Array(repeating: "%@", count: count).joined(separator: ",")
        let many = (0..<count).map { Cell.int(Int64($0) * 2) }
        c.equal(try s.count("Person", "age IN {\(list)}", many), 10, "\(count) values")
        c.equal(try s.count("Person", "NOT (age IN {\(list)})", many), 10, "\(count) values")
      }
      let wide = (0..<10_000).map { "age == \($0)" }.joined(separator: " OR ")
      c.equal(try s.fetch("Person", wide), o)
      let deep = String(repeating: "NOT (", count: 150) + "age == 1" + String(repeating: ")", count: 150)
      c.equal(try s.count("Person", deep), 1)
      let deepest = String(repeating: "NOT (", count: 1000) + "age == 1" + String(repeating: ")", count: 1000)
      do { c.equal(try s.count("Person", deepest), 1) } catch {
        c.expect(error is FormatError, "a nest of a thousand threw \(error), which is no error of a format")
      }
      for pattern in ["*a", "%"] {
        c.equal(try s.count("Person", "name LIKE %@", [.text(String(repeating: pattern, count: 50_000))]), 0, pattern)
      }
      c.equal(try s.count("Person", "name MATCHES '(a+)+$'"), 20)
      c.equal(try s.count("Person", "name MATCHES '(a+)+b'"), 0)
    },
  ]
}
