import Foundation
import StoreProtocol
import StoreSchema

/// Predicates that a statement of a database may not be able to say, or says something else with: the people are those
/// of ``collections``.
extension ConformanceSuite {
  static let statements: [ConformanceCase] =
    [
      found("FET-015", "functions", "age" + repeated(40) { _ in " + 1" } + " == 45", [0]),
      found("FET-015", "choices", nested(40, "0") { "TERNARY(age == \($0), \($0), \($1))" } + " == 5", [0]),
      found("FET-015", "alternating", nested(40, "age == 5") { "(name == 'x\($0)' OR (age == 5 AND \($1)))" }, [0]),
      found("FET-015", "subqueries", tagged(15) { "SUBQUERY(\($0), $\($1), \($2)).@count > 0" }, [0, 1, 3]),
      found("FET-015", "not-empty", tagged(15) { "SUBQUERY(\($0), $\($1), \($2)) != nil" }, [0, 1, 3]),
      // Each level lies at the deep end of a long chain.
      found(
        "FET-015", "chains",
        tagged(5) { "SUBQUERY(\($0), $\($1), \($2)" + repeated(65) { " OR 3 == \($0)" } + ") != nil" }, [0, 1, 3]),
      found(
        "FET-015", "chains-of-objects",
        tagged(3) { collection, name, inner in
          let other = name == "p1" ? "$p1.label" : name == "p2" ? "$p2.name" : "$p3.label"
          return "SUBQUERY(\(collection), $\(name), (\(inner))" + repeated(250) { " OR \(other) == 'x\($0)'" }
            + ") != nil"
        }, [0, 1, 3]),
      // A negated order of values that are conditions themselves.
      found(
        "FET-015", "negated-orders",
        "NOT (" + nested(16, "age < age") { "TERNARY(NOT (\($1)), age, age) < age" } + ")", [0, 1, 2, 3]),
      found("FET-015", "negated-order-of-choice", "NOT (TERNARY(age > 5, age, 3) < 4)", [2]),
      found("FET-015", "negated-order-of-nil", "NOT (TERNARY(age > 5, 3, nil) < 4)", [0, 1, 3]),
      found("FET-015", "negated-in", "NOT (TERNARY(age > 5, age, nil) IN {5, 7})", [0, 1, 3]),
      found("FET-015", "negated-in-nil", "NOT (TERNARY(age > 5, age, nil) IN {5, nil})", [2]),
      found("FET-015", "in-nil", "TERNARY(age > 5, age, nil) IN {5, nil}", [0, 1, 3]),
      found("FET-015", "negated-between", "NOT (TERNARY(age > 5, age, nil) BETWEEN {5, 7})", [0, 1, 3]),
      found("FET-015", "negated-prefix", "NOT (TERNARY(age > 5, nil, name) BEGINSWITH 'A')", [1, 2, 3]),
      found("FET-012", "like-prefix", "name LIKE 'A*'", [0]), found("FET-012", "like-whole", "name LIKE 'Bob'", [1]),
      found("FET-012", "not-like-prefix", "NOT (name LIKE 'A*')", [1, 2, 3]),
      found("FET-012", "like-escaped", "name LIKE 'B\\\\ob'", [1]),
      found("FET-012", "like-one", "name LIKE 'Ev?'", [3]),
      found("FET-012", "like-prefix-folded", "name LIKE[c] 'aD*'", [0]),
      found("FET-021", "noindex", "noindex(boss).name == 'Ada'", [1, 2]),
      found("FET-021", "noindex-self", "noindex(SELF).name == 'Ada'", [0]),
      found("FET-021", "noindex-twice", "noindex(noindex(boss)).boss.name == 'Ada'", [3]),
      found("FET-021", "noindex-value", "noindex(age) == 5", [0]),
      found("FET-017", "noindex-any", "ANY noindex(reports).age > 5", [0]),
      found("FET-019", "noindex-variable", "SUBQUERY(tags, $t, noindex($t).label == 'red').@count > 0", [0, 1]),
      found(
        "FET-019", "distinct-objects", "SUBQUERY(distinct(team.members.tags), $t, $t != nil).@count == 2", [0, 1, 2]),
      found("FET-019", "distinct-exists", "SUBQUERY(distinct(team.members.tags), $t, $t != nil) != nil", [0, 1, 2]),
      found("FET-022", "index", "reports[0].boss.name == 'Ada'", [0]),
      found("FET-022", "index-of-to-one", "team.members.boss[1].name == 'Ada'", [0, 1, 2]),
      found("FET-022", "index-of-nil", "team.members.boss[0].name == nil", [0, 1, 2, 3]),
      found("INH-007", "name-behind-nil", "boss.entity.name != 'Tag'", [0, 1, 2, 3]),
      found("INH-007", "name-is-nil", "boss.entity.name == nil", [0]),
      found("INH-007", "name-is-not-nil", "boss.entity.name != nil", [1, 2, 3]),
      found("INH-007", "name-not-equal", "NOT (boss.entity.name == 'Person')", [0]),
      found("INH-007", "name-in-nil", "boss.entity.name IN {nil, 'Tag'}", [0]),
    ] + statementCases

  private static func repeated(_ count: Int, _ text: (Int) -> String) -> String { (0..<count).map(text).joined() }

  /// A text around a text around … the innermost, with the number of each.
  private static func nested(_ depth: Int, _ innermost: String, _ around: (Int, String) -> String) -> String {
    (0..<depth).reduce(innermost) { around($1, $0) }
  }

  /// Whether a walk from people to tags to people and so on comes to a red tag: `around` makes a condition of a
  /// collection, the name of its element, and the condition of that element.
  private static func tagged(_ depth: Int, _ around: (String, String, String) -> String) -> String {
    var text = "$p\(depth).label == 'red'"
    for level in stride(from: depth, through: 1, by: -1) {
      let collection = (level == 1 ? "" : "$p\(level - 1).") + (level % 2 == 1 ? "tags" : "people")
      text = around(collection, "p\(level)", text)
    }
    return text
  }

  private static let statementCases: [ConformanceCase] = [
    ConformanceCase("FET-021/noindex-refused", "a value has no keys", level: .queryable) { c in
      let s = try c.open(Fixtures.people())
      for format in [
        "noindex(age).name == 'x'", "noindex(entity).age == 5", "SUBQUERY(tags, $t, noindex($t).age == 5).@count > 0",
      ] {
        c.expect(try PredicateCheck.refusal(format, s) != nil, format)
      }
    },
    ConformanceCase(
      "FET-024/ancestor", "a reference that names another entity of the tree means the object of its key",
      level: .queryable, profiles: Profile.fetching
    ) { c in
      let s = try c.open(Fixtures.inheritance())
      let top = try s.insert("Folder2", ["name": "top"])
      let file = try s.insert("File", ["name": "file", "parent": .to(top)])
      let other = try s.insert("Folder1", ["name": "other", "parent": .to(top)])
      for name in ["Node", "Folder1", "File"] {
        let entity = try s.entity(name).index
        let (named, root, none) = (
          Cell.to(ObjectReference(entity: entity, key: file.key)),
          Cell.to(ObjectReference(entity: entity, key: top.key)),
          Cell.to(ObjectReference(entity: entity, key: 1 << 40))
        )
        let expected: [(String, [Cell], [ObjectReference])] = [
          ("SELF == %@", [named], [file]), ("%@ == SELF", [named], [file]),
          ("SELF IN {%@, %@}", [named, none], [file]), ("SELF != %@", [named], [top, other]),
          ("parent == %@", [root], [file, other]), ("parent != %@", [root], [top]),
          ("parent IN {%@}", [root], [file, other]), ("NOT (parent IN {%@})", [root], [top]),
          ("%@ IN children", [named], [top]), ("children CONTAINS %@", [named], [top]),
          ("NOT (children CONTAINS %@)", [named], [file, other]), ("ANY children == %@", [named], [top]),
          ("ANY children.parent == %@", [root], [top]), ("%@ IN children.parent", [root], [top]),
          ("%@ IN {SELF, parent}", [root], [top, file, other]),
          ("%@ IN {%@}", [named, .to(file)], [top, file, other]),
          ("%@ == %@", [named, .to(file)], [top, file, other]), ("%@ IN distinct(children)", [named], [top]),
          ("%@ == %@", [named, root], []), ("SELF == %@", [none], []),
        ]
        for (format, arguments, objects) in expected {
          c.equal(try s.fetch("Node", format, arguments), objects, "\(format) of \(name)")
        }
      }
    },
    ConformanceCase("FET-022/index-refused", "an element of a collection of collections is none", level: .queryable) {
      c in
      let s = try c.open(Fixtures.people())
      for format in ["ANY reports[0].tags.label == 'red'", "reports[0].tags.@count == 1", "reports[0].tags != nil"] {
        c.expect(try PredicateCheck.refusal(format, s) != nil, format)
      }
    },
    ConformanceCase(
      "FET-025/decimals", "powers and remainders of decimals", level: .queryable, profiles: Profile.fetching
    ) { c in
      let s = try c.open(Fixtures.allTypes())
      let o = try s.commit {
        try $0.insert("AllTypes", ["decimal": .decimal("2")])
        try $0.insert("AllTypes", ["decimal": .decimal("7.5")])
      }
      c.equal(try s.fetch("AllTypes", "decimal ** 0.5 == 1.4142135623730951"), [o[0]])
      c.equal(try s.fetch("AllTypes", "(decimal ** 0.5) * (decimal ** 0.5) == 2.0000000000000004"), [o[0]])
      c.equal(try s.fetch("AllTypes", "decimal ** 2 == 4"), [o[0]])
      c.equal(try s.fetch("AllTypes", "modulus:by:(decimal, 2) == 1.5"), [o[1]])
    },
    ConformanceCase(
      "FET-052/far", "sorts over more relationships than a statement joins", level: .queryable, profiles: [.plain]
    ) { c in
      let s = try c.open(Fixtures.people())
      let people = try staff(s)
      func far(_ hops: Int, _ end: String) -> String { repeated(hops) { _ in "boss." } + end }
      c.equal(try s.fetch("Person", sort: [far(80, "name"), "-age"]), [people[2], people[0], people[3], people[1]])
      let sorts = (0..<30).map { far($0 + 2, "team.title") } + ["-age"]
      let found = try s.fetch("Person", far(38, "name") + " == nil", sort: sorts)
      c.equal(Set(found), Set(people))
    },
    ConformanceCase(
      "FET-024/no-value", "what has no value, of values of any kind", level: .queryable, profiles: Profile.fetching
    ) { c in
      let s = try c.open(Fixtures.allTypes())
      let o = try s.commit {
        try $0.insert("AllTypes", ["large": .data(.init([1, 2])), "transformable": .data(.init([1]))])
        try $0.insert("AllTypes", [:])
      }
      for name in ["large", "transformable"] {
        c.equal(try s.fetch("AllTypes", "\(name) == nil"), [o[1]], name)
        c.equal(try s.fetch("AllTypes", "\(name) != nil"), [o[0]], name)
        c.equal(try s.fetch("AllTypes", "NOT (\(name) != nil)"), [o[1]], name)
      }
    },
  ]
}
