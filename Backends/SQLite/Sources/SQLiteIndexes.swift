import Foundation
import SQLEngine
import StoreProtocol
import StoreSchema

/// Keeps a store's fetch indexes in line with its model.
///
/// Fetch indexes are no part of the version hash: a model may gain and lose some, and older files have them under other
/// names. Apple's framework changes them at the next migration. Here the first commit changes them, in its own
/// transaction. A file that is only read keeps its indexes. R-trees are left alone, because a new one would have to be
/// filled.
struct SQLiteIndexes {
  private struct Present {
    let name: String
    let table: String
    let isUnique: Bool
    var terms: [String] = []
    /// The condition of a partial index, empty for any other.
    let filter: String
  }

  private let layout: SQLLayout
  private let present: [Present]

  init(_ connection: SQLiteConnection, _ layout: SQLLayout) throws(StoreError) {
    self.layout = layout
    var found: [Present] = []
    let columns = try connection.prepare(
      """
      SELECT m.name, m.tbl_name, m.sql, c.name, c.desc FROM sqlite_master m JOIN pragma_index_xinfo(m.name) c
      WHERE m.type = 'index' AND m.sql IS NOT NULL AND c.key = 1 ORDER BY m.rowid, c.seqno
      """)
    while try columns.step() {
      guard let name = columns.string(0), let table = columns.string(1), let sql = columns.string(2) else { continue }
      if found.last?.name != name {
        let filter = sql.range(of: ") WHERE ").map { String(sql[$0.upperBound...]) } ?? ""
        found.append(Present(name: name, table: table, isUnique: sql.hasPrefix("CREATE UNIQUE"), filter: filter))
      }
      found[found.count - 1].terms.append("\(columns.string(3) ?? "") \(columns.int(4) == 1 ? "DESC" : "ASC")")
    }
    present = found
  }

  /// The statements that make missing indexes and drop those that the model no longer has; mostly none.
  var changes: [String] {
    let text = SQLSchemaText(layout)
    let (required, names) = (text.fetchIndexes, text.fetchIndexNames)
    let former = present.filter { !names.contains($0.name) && isFormerFetchIndex($0) }
    let kept = present.filter { index in !former.contains { $0.name == index.name } }
    let missing = required.filter { index in
      guard let table = index.table else { return false }
      return !kept.contains {
        $0.name == index.name || ($0.table == table && $0.terms == index.terms && $0.filter == index.filter)
      }
    }
    // A name in a foreign file may hold any character.
    return former.map { "DROP INDEX \(SQLLiteral.name($0.name))" } + missing.map(\.sql)
  }

  /// Whether an index is named as Core Data names the fetch indexes of an entity that has the index's table.
  private func isFormerFetchIndex(_ index: Present) -> Bool {
    !index.isUnique
      && layout.schema.storedEntities.contains {
        index.name.hasPrefix("Z_\($0.name)_") && layout.table($0.index).name == index.table
      }
  }
}
