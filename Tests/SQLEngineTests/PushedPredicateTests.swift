import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema
import Testing

@testable import SQLEngine
@testable import SQLiteBackend

/// The conditions that are translated to SQL are valid for SQLite and short; the evaluator handles the others.
@Suite struct PushedPredicateTests {
  private let layout: SQLLayout
  private let folder: Scratch

  init() throws {
    layout = SQLLayout(schema: try Company.schema())
    folder = try Scratch()
  }

  private func resolved(_ format: String, of entity: String) throws -> ResolvedPredicate {
    let entity = try #require(layout.schema.entity(named: entity))
    return try PredicateResolver(layout.schema, entity).resolve(StoreQuery.Predicate(format: format))
  }

  /// The condition of a predicate within the text of a statement; nil if the predicate is not translated to SQL.
  private func statement(_ format: String, of entity: String = "Person") throws -> String? {
    var translation = SQLPredicate(layout, entity: try #require(layout.schema.entity(named: entity)))
    guard let condition = translation.condition(try resolved(format, of: entity)) else { return nil }
    let table = layout.table(translation.scopes[0].entity.index).name
    return "SELECT t0.Z_PK FROM \(table) t0\(translation.joins) WHERE t0.Z_ENT IN (1, 2) AND "
      + condition.statement.text + " ORDER BY t0.ZNAME, t0.Z_PK LIMIT ? OFFSET ?"
  }

  private func database() throws -> SQLiteConnection {
    let connection = try SQLiteConnection(folder.url.appending(path: "store").path, .readWriteCreate, timeout: 1)
    for statement in SQLSchemaText(layout).statements { try connection.execute(statement) }
    try connection.execute("CREATE TABLE \(SQLText.listName(0)) (v PRIMARY KEY) WITHOUT ROWID")
    return connection
  }

  private static func nested(_ depth: Int, _ innermost: String, _ around: (Int, String) -> String) -> String {
    (0..<depth).reduce(innermost) { around($1, $0) }
  }

  private static func repeated(_ count: Int, _ text: (Int) -> String) -> String { (0..<count).map(text).joined() }

  /// A path from people to tags, to people and so on.
  private static func walk(_ depth: Int, _ around: (String, String, String) -> String) -> String {
    var text = depth % 2 == 1 ? "$p\(depth).label == 'red'" : "$p\(depth).age == 5"
    for level in stride(from: depth, through: 1, by: -1) {
      let collection = (level == 1 ? "" : "$p\(level - 1).") + (level % 2 == 1 ? "tags" : "people")
      text = around(collection, "p\(level)", text)
    }
    return text
  }

  /// Predicates of one kind, by depth.
  struct Shape: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// A predicate is translated to SQL at least up to this depth.
    let least: Int
    let format: @Sendable (Int) -> String

    init(_ name: String, _ least: Int, _ format: @escaping @Sendable (Int) -> String) {
      (testDescription, self.least, self.format) = (name, least, format)
    }
  }

  static let shapes: [Shape] = [
    Shape("functions", 8) { "age" + repeated($0) { _ in " + 1" } + " == 5" },
    Shape("folded texts", 8) { nested($0, "name") { _, text in "lowercase(\(text))" } + " ==[c] 'a'" },
    Shape("choices", 6) { nested($0, "0") { "TERNARY(age == \($0), \($0), \($1))" } + " == 5" },
    Shape("conditions of choices", 5) { nested($0, "age == 1") { "TERNARY(\($1), age, \($0)) == \($0)" } },
    Shape("negated choices", 5) { "NOT (" + nested($0, "age < age") { "TERNARY(NOT (\($1)), age, 1) < age" } + ")" },
    Shape("negated lists", 4) {
      "NOT (" + nested($0, "age < age") { "TERNARY(NOT (\($1)), age, 1) IN {\($0), nil, 7}" } + ")"
    },
    Shape("negated ranges", 4) {
      "NOT (" + nested($0, "age < age") { "TERNARY(NOT (\($1)), age, 1) BETWEEN {1, \($0)}" } + ")"
    },
    Shape("and and or", 8) { nested($0, "age == 5") { "(name == 'x\($0)' OR (age == 5 AND \($1)))" } },
    Shape("counts", 5) { walk($0) { "SUBQUERY(\($0), $\($1), \($2)).@count > 0" } },
    Shape("negated counts", 5) { walk($0) { "NOT (SUBQUERY(\($0), $\($1), \($2)).@count > 0)" } },
    Shape("existence", 4) { walk($0) { "SUBQUERY(\($0), $\($1), \($2)) != nil" } },
    Shape("absence", 4) { walk($0) { "SUBQUERY(\($0), $\($1), NOT (\($2))) == nil" } },
    Shape("chains of 20", 4) {
      walk($0) { collection, name, text in
        "SUBQUERY(\(collection), $\(name), \(text)\(repeated(20) { _ in " OR $\(name) == nil" })) != nil"
      }
    },
    Shape("chains of 120", 2) {
      walk($0) { collection, name, text in
        let key = collection.hasSuffix("tags") ? "label" : "name"
        let chain = repeated(120) { " OR $\(name).\(key) == 'x\($0)'" }
        return "SUBQUERY(\(collection), $\(name), \(text)\(chain)) != nil"
      }
    },
    Shape("chains of conditions", 20) { "age == 1" + repeated($0 * 40) { " OR age == \($0)" } },
    Shape("lists", 60) { "age IN {1" + repeated($0 * 100) { ", \($0)" } + "}" },
    Shape("joins", 15) { depth in
      repeated(depth) { "badge.owner." + repeated($0) { _ in "badge.owner." } + "age != 5 AND " } + "age == 1"
    },
  ]

  @Test(arguments: shapes) func whatIsSaidInSQLIsWhatSQLiteTakes(_ shape: Shape) throws {
    let connection = try database()
    var deepest = 0
    for depth in 1...60 {
      guard let text = (try? statement(shape.format(depth))) ?? nil else {
        if depth > deepest + 2 { break }
        continue
      }
      deepest = depth
      #expect(throws: Never.self, "\(depth)") { _ = try connection.prepare(text) }
    }
    #expect(deepest >= shape.least)
  }

  @Test(arguments: [
    "TERNARY(NOT (%), age, 1) < age", "TERNARY(NOT (%), age, 1) IN {1, nil}", "TERNARY(NOT (%), age, 1) IN {2}",
  ])
  func whatIsNoColumnIsWrittenOnce(_ format: String) throws {
    let around = { (_: Int, text: String) in format.replacingOccurrences(of: "%", with: text) }
    let text = try #require(try statement("NOT (" + Self.nested(4, "age < age", around) + ")"))
    #expect(text.components(separatedBy: "CASE").count == 5)
    // The work stays limited at any depth.
    #expect(try statement("NOT (" + Self.nested(60, "age < age", around) + ")") == nil)
  }

  @Test func negationsOfColumnsStayWhatIndexesServe() throws {
    let negated = try #require(try statement("NOT (age < 5 OR name IN {'a', 'b'})"))
    #expect(negated.contains("(t0.ZAGE IS NULL OR t0.ZAGE >= ?)"))
    #expect(negated.contains("(t0.ZNAME IS NULL OR NOT t0.ZNAME IN (?, ?))"))
  }

  @Test func listsOfAboutOneLengthAreOneStatement() throws {
    func list(_ count: Int) throws -> String? {
      try statement("age IN {" + (1...count).map(String.init).joined(separator: ", ") + "}")
    }
    #expect(try list(5) == list(8) && list(5) != list(4) && list(5) != list(9))
    #expect(try Set((1...512).map(list)).count == 10)
  }

  @Test(arguments: [
    ("decimal ** 0.5 == 2", false), ("modulus:by:(decimal, 2) == 1", false), ("decimal + 1 == 2", true),
    ("int64 ** 2 == 4", true), ("double ** decimal == 2", false), ("blob == nil", true), ("NOT (blob != nil)", true),
    ("list != nil", true), ("blob == data", false), ("list IN {nil, 1}", false), ("blob < data", false),
    ("TERNARY(int64 == 1, blob, list) == data", false), ("length(blob) == 1", false),
  ])
  func typesSayWhatIsSaidInSQL(_ format: String, _ isPushed: Bool) throws {
    #expect(try (statement(format, of: "Everything") != nil) == isPushed)
  }

  @Test(arguments: [
    ("SUBQUERY(distinct(department.people.tags), $t, $t != nil).@count == 1", false),
    ("SUBQUERY(distinct(department.people.tags), $t, $t != nil) != nil", true),
    ("SUBQUERY(department.people.tags, $t, $t != nil).@count == 1", true),
    ("distinct(department.people.tags)[0] == nil", false), ("SELF IN distinct(department.people)", true),
  ])
  func distinctObjectsAreNotCountedTwice(_ format: String, _ isPushed: Bool) throws {
    #expect(try (statement(format) != nil) == isPushed)
  }

  @Test func sortsJoinNoMoreThanSQLiteTakes() throws {
    let entity = try #require(layout.schema.entity(named: "Person"))
    let resolver = PredicateResolver(layout.schema, entity)
    func far(_ count: Int) -> String { Self.repeated(count) { _ in "badge.owner." } }
    func sorts(_ counts: Range<Int>) throws -> [ResolvedSort] {
      try counts.map { ResolvedSort(path: try resolver.path(far($0) + "department.title"), isAscending: true) }
    }
    var alone = SQLPredicate(layout, entity: entity)
    #expect(alone.order(try sorts(0..<15)) != nil)
    var many = SQLPredicate(layout, entity: entity)
    #expect(many.order(try sorts(0..<25)) == nil)
    // Together with a predicate that uses 40 of them.
    var both = SQLPredicate(layout, entity: entity)
    #expect(both.condition(try resolver.resolve(.init(format: far(20) + "age == 1"))) != nil)
    #expect(both.order(try sorts(0..<5)) != nil)
    #expect(both.order(try sorts(0..<25)) == nil)
  }

  // MARK: Statements

  @Test func whatSQLiteDoesNotTakeIsNoDamage() throws {
    let connection = try database()
    let deep = Self.nested(200, "1") { _, text in "(\(text) + 1)" }
    func code(_ sql: String) throws -> StoreError.Code? {
      do throws(StoreError) { _ = try connection.prepare(sql) } catch { return error.code }
      return nil
    }
    #expect(try code("SELECT \(deep)") == .unsupported)
    #expect(try code("SELECT \(Array(repeating: "1", count: 1200).joined(separator: " + "))") == .unsupported)
    #expect(try code("SELECT 1 FROM missing") == .corrupt)
  }

  @Test func whatWasUsedLastIsKept() {
    var kept = RecentStatements<Int, String>(limit: 100)
    kept.keep("often", as: -1)
    for number in 0..<1000 {
      #expect(kept.find(-1) == "often")
      #expect(kept.find(number) == nil)
      kept.keep("\(number)", as: number)
      #expect(kept.find(number) == "\(number)")
      #expect(kept.count <= 100)
    }
    #expect(kept.find(0) == nil && kept.find(990) == "990")
  }

  @Test func shapesOfFetchesAndPrefetchesAreBounded() throws {
    let connection = try database()
    let statements = SQLStatements(connection, SQLBinding(layout))
    let reader = SQLReader(statements)
    let people = try #require(layout.schema.entity(named: "Department")?.relationship(named: "people"))
    for count in 2...600 { try reader.destinations(of: people, owners: (1...Int64(count)).map { $0 }) { _, _ in } }
    #expect(statements.count <= 12)
    let entity = try #require(layout.schema.entity(named: "Everything"))
    // Each set of changed attributes has a statement of its own.
    for bits in 0..<(1 << entity.slots.count) where bits < 5000 {
      var changed = SlotSet()
      for slot in entity.slots.indices where bits >> slot & 1 == 1 { changed.insert(slot) }
      _ = try statements.update(entity.index, changed)
    }
    #expect(statements.count <= 1100)
  }

  @Test func listsOfAFetchAreGoneWithIt() throws {
    let connection = try database()
    let reader = SQLReader(SQLStatements(connection, SQLBinding(layout)))
    let plan = FetchPlan(
      entities: try #require(layout.schema.entity(named: "Person")).subtree,
      predicate: try resolved("age IN {" + (1...600).map(String.init).joined(separator: ", ") + "}", of: "Person"))
    for _ in 0..<2 {
      try reader.fetch(plan) { _ in }
      try reader.fetchReferences(plan) { _ in }
      #expect(try reader.count(plan) == 0)
      #expect(try connection.integer("SELECT count(*) FROM \(SQLText.listName(0))") == 0)
    }
  }

  // MARK: Conditions in memory

  @Test func anExplanationSaysWhichConditionsAreLeft() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + end) } }
    let store = try SQLiteBackend().open(at: url, schema: layout.schema, options: StoreOptions())
    let plan = FetchPlan(
      entities: try #require(layout.schema.entity(named: "Everything")).subtree,
      predicate: try resolved("int16 == 1 AND decimal ** 2 == 4 AND string == 'a'", of: "Everything"))
    let lines = try FetchExecution(store.snapshot()).explanation(of: plan, layout.schema)
    #expect(lines.prefix(2) == ["predicate: 1 of 3 conditions in memory", "  decimal ** 2 == 4"])
    #expect(lines.dropFirst(2).first?.contains("t0.ZINT16 = ?") == true)
    try store.close()
  }

  @Test(arguments: [
    ("age == 1", "age == $value"), ("NOT (tags.@count > 2)", "NOT tags.@count > $value"), ("age == nil", "age == nil"),
    ("ANY tags.label == 'red'", "SUBQUERY(tags, $x1, $x1.label == $value).@count > 0"),
    ("department.title BEGINSWITH[c] 'a'", "department.title BEGINSWITH[c] $value"),
    ("TERNARY(age > 1, name, nil) == 'a'", "TERNARY(age > $value, name, nil) == $value"),
    ("age IN {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}", "age IN {1, 2, 3, 4, 5, 6, 7, 8, $and_2_more}"),
  ])
  func residualsAreReadable(_ format: String, _ expected: String) throws {
    let text = try resolved(format, of: "Person").text(layout.schema, showsValues: !expected.contains("$value"))
    #expect(text == expected)
  }

  @Test func aPrefixOfAPatternIsARange() throws {
    let like = try #require(try statement("name LIKE 'ab*'"))
    #expect(like.contains("(t0.ZNAME >= ? AND t0.ZNAME < ?) AND OCDCompare("))
    #expect(try statement("name LIKE[c] 'ab*'")?.contains(">=") == false)
    #expect(try statement("name LIKE '*ab'")?.contains(">=") == false)
  }
}
