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
    for function in SQLFunction.allCases { try register(function, on: connection) }
  }

  /// Registers a function that conditions call.
  private func register(_ function: SQLFunction, on connection: SQLiteConnection) throws(StoreError) {
    let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC
    let place = UnsafeMutableRawPointer(bitPattern: (SQLFunction.allCases.firstIndex(of: function) ?? 0) + 1)
    let result =
      function.isAggregate
      ? sqlite3_create_function_v2(
        connection.database, function.rawValue, 2, flags, place, nil, Self.collect, Self.finish, nil)
      : sqlite3_create_function_v2(
        connection.database, function.rawValue, -1, flags, place, Self.evaluate, nil, nil, nil)
    try connection.check(result, "registering a function")
  }

  private static func function(_ context: OpaquePointer?) -> SQLFunction? {
    let place = Int(bitPattern: sqlite3_user_data(context)) - 1
    return SQLFunction.allCases.indices.contains(place) ? SQLFunction.allCases[place] : nil
  }

  private static let evaluate: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
    context, count, values in
    let arguments = (0..<Int(count)).map { SQLiteStatement.stored(values?[$0]) }
    SQLiteFunctions.give(SQLiteFunctions.function(context)?.evaluate(arguments) ?? .null, context)
  }

  // MARK: Aggregates

  private final class Collection {
    var collector: Aggregate.Collector
    init(_ aggregate: Aggregate) { collector = Aggregate.Collector(aggregate) }
  }

  private static let collect: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
    context, count, values in
    guard let memory = sqlite3_aggregate_context(context, Int32(MemoryLayout<UnsafeRawPointer?>.size)),
      let aggregate = SQLiteFunctions.function(context)?.aggregate
    else { return sqlite3_result_error_nomem(context) }
    // Zeroed at first.
    let place = memory.assumingMemoryBound(to: Unmanaged<Collection>?.self)
    let collection = place.pointee?.takeUnretainedValue() ?? Collection(aggregate)
    if place.pointee == nil { place.pointee = Unmanaged.passRetained(collection) }
    let arguments = (0..<Int(count)).map { SQLiteStatement.stored(values?[$0]) }
    for value in SQLFunction.values(arguments[...]) ?? [] { collection.collector.add(value) }
  }

  private static let finish: @convention(c) (OpaquePointer?) -> Void = { context in
    guard let aggregate = SQLiteFunctions.function(context)?.aggregate else { return sqlite3_result_null(context) }
    let place = sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(to: Unmanaged<Collection>?.self)
    let collection = place?.pointee?.takeRetainedValue() ?? Collection(aggregate)
    place?.pointee = nil
    SQLiteFunctions.give(collection.collector.value, context)
  }

  // MARK: Values

  /// Gives a value as a column would have it.
  private static func give(_ value: Value, _ context: OpaquePointer?) {
    let transient = SQLiteStatement.transient
    switch value {
    case .null: sqlite3_result_null(context)
    case .bool(let x): sqlite3_result_int(context, x ? 1 : 0)
    case .int(let x): sqlite3_result_int64(context, x)
    case .double(let x), .date(let x): sqlite3_result_double(context, x)
    case .decimal(let x):
      switch SQLiteDecimal.form(of: DecimalText.format(x)) {
      case .integer(let x): sqlite3_result_int64(context, x)
      case .real(let x): sqlite3_result_double(context, x)
      case .text(let text): give(.string(text), context)
      }
    case .string(var x), .uri(var x):
      x.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          sqlite3_result_text64(context, $0.baseAddress, UInt64($0.count), transient, UInt8(SQLITE_UTF8))
        }
      }
    case .uuid(let x):
      withUnsafeBytes(of: x.uuid) { sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), transient) }
    case .data(let x):
      x.withUnsafeBytes { sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), transient) }
    case .reference(let x): sqlite3_result_int64(context, x.key)
    }
  }
}
