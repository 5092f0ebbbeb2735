import SQLEngine
import StoreProtocol

/// Parts of a schema that no model of ours makes and that may run anything when a row is written: triggers, views,
/// virtual tables, computed columns, conditions, conflict clauses, and indexes of expressions.
///
/// A file that has one is opened read-only.
enum SQLiteForeignObjects {
  /// Why the store must not be written, nil where it may be.
  static func reason(_ connection: SQLiteConnection, _ layout: SQLLayout) throws(StoreError) -> String? {
    // Made only for a file that has such objects.
    var expected: Set<String>?
    // The patterns find candidates. Real stores have almost none.
    let objects = try connection.prepare(
      """
      SELECT type, name, sql FROM sqlite_master
      WHERE type IN ('trigger', 'view') OR (type = 'index' AND sql LIKE '%(%(%') OR (type = 'table' AND (
        sql LIKE 'CREATE VIRTUAL%' OR sql LIKE '%CONFLICT%' OR sql LIKE '%CHECK%' OR sql LIKE '%DEFAULT%' OR sql LIKE '%AS%(%'))
      """)
    while try objects.step() {
      guard let type = objects.string(0), let name = objects.string(1), let sql = objects.string(2) else { continue }
      let known = expected ?? Set(SQLSchemaText(layout).statements.map(normalized))
      expected = known
      if known.contains(normalized(sql)) { continue }
      switch type {
      case "index": if hasCall(sql) { return unexplained(type, name) }
      case "table" where !sql.uppercased().hasPrefix("CREATE VIRTUAL"):
        if let clause = clause(sql) {
          return "the table \(name) has a \(clause) clause, which Core Data does not write"
        }
      default: return unexplained(type, name)
      }
    }
    return nil
  }

  /// A clause of a table's statement that computes a value (a default may be a constant), or one by which a violated
  /// rule does not fail the statement but skips or removes a row.
  private static func clause(_ sql: String) -> String? {
    let words = words(sql)
    for index in words.indices.dropLast(2)
    where words[index] == "ON" && words[index + 1] == "CONFLICT" && words[index + 2] != "ABORT" {
      return "ON CONFLICT \(words[index + 2])"
    }
    return zip(words, words.dropFirst()).first {
      ["CHECK", "GENERATED", "AS"].contains($0) || ($0 == "DEFAULT" && $1 == "(")
    }?.0
  }

  private static func unexplained(_ type: String, _ name: String) -> String {
    "it has the \(type) \(name), which the model does not explain"
  }

  private static func normalized(_ sql: String) -> String {
    sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  /// The statement's bare words in upper case, with parentheses as words of their own. Quoted names, texts and comments
  /// are left out.
  private static func words(_ sql: String) -> [String] {
    var words: [String] = []
    var word = ""
    var quote: Unicode.Scalar?
    /// Whether a comment is open; true if it ends with its line.
    var comment: Bool?
    var last: Unicode.Scalar = " "
    for scalar in sql.uppercased().unicodeScalars + [" "] {
      let previous = last
      last = scalar
      if let endsWithLine = comment {
        if endsWithLine ? scalar == "\n" : previous == "*" && scalar == "/" { comment = nil }
        continue
      }
      if let end = quote {
        if scalar == end { quote = nil }
        continue
      }
      if previous == "-" && scalar == "-" || previous == "/" && scalar == "*" {
        comment = scalar == "-"
        last = " "
        continue
      }
      if scalar.properties.isAlphabetic || scalar == "_" || ("0"..."9").contains(scalar) {
        word.unicodeScalars.append(scalar)
        continue
      }
      if !word.isEmpty { words.append(word) }
      word = ""
      switch scalar {
      case "\"", "'", "`": quote = scalar
      case "[": quote = "]"
      case "(", ")": words.append(String(scalar))
      default: break
      }
    }
    return words
  }

  /// Whether an index is of anything but columns: then it has more than one pair of parentheses.
  private static func hasCall(_ sql: String) -> Bool { words(sql).count { $0 == "(" } > 1 }
}
