import CSQLite
import Foundation
import SQLEngine
import StoreProtocol
import StoreQuery
import StoreSchema

/// The SQL functions of one connection, and what the trigger functions have noted.
///
/// All are declared innocuous, because with an untrusted schema SQLite lets triggers call no others.
final class SQLiteFunctions {
  /// Rows whose derived attributes a trigger has written: entity number and key.
  private(set) var touched: [(number: Int64, key: Int64)] = []

  func takeTouched() -> [(number: Int64, key: Int64)] {
    defer { touched.removeAll(keepingCapacity: true) }
    return touched
  }

  func register(on connection: SQLiteConnection) throws(StoreError) {
    let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS
    let this = Unmanaged.passUnretained(self).toOpaque()
    // The bodies of Core Data's triggers call these, with (table, Z_ENT, Z_PK, attribute, value).
    for name in [
      "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
      "NSCoreDataTriggerUpdateAffectedObjectValue",
    ] {
      let result = sqlite3_create_function_v2(
        connection.database, name, -1, flags, this,
        { context, count, values in
          defer { sqlite3_result_null(context) }
          guard count >= 3, let values, let data = sqlite3_user_data(context) else { return }
          let functions = Unmanaged<SQLiteFunctions>.fromOpaque(data).takeUnretainedValue()
          functions.touched.append((sqlite3_value_int64(values[1]), sqlite3_value_int64(values[2])))
        }, nil, nil, nil)
      try connection.check(result, "registering a function")
    }
    let result = sqlite3_create_function_v2(
      connection.database, SQLPredicate.functionName, 4, flags | SQLITE_DETERMINISTIC, nil,
      { context, _, values in
        guard let values else { return }
        sqlite3_result_int(context, SQLiteFunctions.compare(values) ? 1 : 0)
      }, nil, nil, nil)
    try connection.check(result, "registering a function")
  }

  /// (value, operator, options, constant) by the shared comparison kernel.
  private static func compare(_ values: UnsafeMutablePointer<OpaquePointer?>) -> Bool {
    guard let op = StoreQuery.Predicate.Operator(rawValue: UInt(clamping: sqlite3_value_int64(values[1]))) else {
      return false
    }
    let options = StoreQuery.Predicate.Options(rawValue: UInt(clamping: sqlite3_value_int64(values[2])))
    return ComparisonKernel.evaluate(op, options, left: text(values[0]), right: text(values[3]))
  }

  private static func text(_ value: OpaquePointer?) -> Value {
    guard let start = sqlite3_value_text(value) else { return .null }
    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    return .string(String(decoding: bytes, as: UTF8.self))
  }
}
