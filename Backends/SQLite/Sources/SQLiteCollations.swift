import CSQLite
import SQLEngine
import StoreProtocol
import StoreQuery
import StoreSchema

/// Registers the collations that sorts name.
enum SQLiteCollations {
  static func register(on connection: SQLiteConnection) throws(StoreError) {
    for (position, collation) in SQLCollation.all.enumerated() {
      let result = sqlite3_create_collation_v2(
        connection.database, collation.name, SQLITE_UTF8, UnsafeMutableRawPointer(bitPattern: position + 1),
        { position, aCount, a, bCount, b in
          let order = SQLCollation.all[Int(bitPattern: position) - 1].order
          let (a, b) = (SQLiteCollations.text(a, aCount), SQLiteCollations.text(b, bCount))
          switch SortComparison.compare(.string(a), .string(b), order) {
          case .ascending: return -1
          case .same: return 0
          case .descending: return 1
          }
        }, nil)
      try connection.check(result, "registering a collation")
    }
  }

  private static func text(_ start: UnsafeRawPointer?, _ count: Int32) -> String {
    String(decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count)), as: UTF8.self)
  }
}
