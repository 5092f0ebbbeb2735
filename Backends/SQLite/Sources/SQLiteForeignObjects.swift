import SQLEngine
import StoreProtocol

/// Triggers, views and virtual tables that no model of ours makes.
///
/// They may do anything when a row is written. A file that has one is opened read-only.
enum SQLiteForeignObjects {
  /// Why the store must not be written, nil where it may be.
  static func reason(_ connection: SQLiteConnection, _ layout: SQLLayout) throws(StoreError) -> String? {
    // Made only for a file that has any.
    var expected: Set<String>?
    let objects = try connection.prepare(
      """
      SELECT type, name, sql FROM sqlite_master
      WHERE type IN ('trigger', 'view') OR (type = 'table' AND sql LIKE 'CREATE VIRTUAL%')
      """)
    while try objects.step() {
      guard let type = objects.string(0), let name = objects.string(1), let sql = objects.string(2) else { continue }
      let known = expected ?? Set(SQLSchemaText(layout).statements.map(normalized))
      expected = known
      if !known.contains(normalized(sql)) {
        return "it has the \(type) \(name), which the model does not explain"
      }
    }
    return nil
  }

  private static func normalized(_ sql: String) -> String {
    sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
