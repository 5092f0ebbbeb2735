import CSQLite
import Foundation
import SQLEngine
import StoreProtocol
import StoreQuery
import StoreSchema

/// The SQL functions of one connection, and the rows that the trigger functions have noted.
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
    for function in SQLFunction.all { try register(function, on: connection) }
  }

  /// Registers a function that conditions call.
  private func register(_ function: SQLFunction, on connection: SQLiteConnection) throws(StoreError) {
    let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC
    let position = UnsafeMutableRawPointer(bitPattern: function.code)
    let result =
      function.isAggregate
      ? sqlite3_create_function_v2(
        connection.database, function.name, 2, flags, position, nil, Self.collect, Self.finish, nil)
      : sqlite3_create_function_v2(
        connection.database, function.name, -1, flags, position, Self.evaluate, nil, nil, nil)
    try connection.check(result, "registering a function")
  }

  private static func function(_ context: OpaquePointer?) -> SQLFunction? {
    SQLFunction(code: Int(bitPattern: sqlite3_user_data(context)))
  }

  private static let evaluate: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
    context, count, values in
    let function = SQLiteFunctions.function(context)
    if function == .compare, count == 6, let values, let matches = SQLiteFunctions.match(values, context) {
      return sqlite3_result_int(context, matches ? 1 : 0)
    }
    let arguments = (0..<Int(count)).map { SQLiteStatement.stored(values?[$0]) }
    SQLiteFunctions.give(function?.evaluate(arguments) ?? .null, context)
  }

  // MARK: Texts

  private final class Matcher {
    let matcher: TextMatcher
    init(_ matcher: TextMatcher) { self.matcher = matcher }
  }

  /// Compares a text with one that is the same for all rows, and so is prepared once. Nil for other comparisons.
  private static func match(_ values: UnsafeMutablePointer<OpaquePointer?>, _ context: OpaquePointer?) -> Bool? {
    let position: Int32 = 5
    let matcher: Matcher
    if let known = sqlite3_get_auxdata(context, position) {
      matcher = Unmanaged<Matcher>.fromOpaque(known).takeUnretainedValue()
    } else {
      guard SQLFunction.isText(code: sqlite3_value_int64(values[2])),
        SQLFunction.isText(code: sqlite3_value_int64(values[4])), sqlite3_value_type(values[5]) == SQLITE_TEXT,
        let op = StoreQuery.Predicate.Operator(rawValue: UInt(clamping: sqlite3_value_int64(values[0])))
      else { return nil }
      let options = StoreQuery.Predicate.Options(rawValue: UInt(clamping: sqlite3_value_int64(values[1])))
      let pattern = String(decoding: bytes(values[5]), as: UTF8.self)
      guard let made = try? TextMatcher(op, options, pattern: pattern) else { return nil }
      matcher = Matcher(made)
      // SQLite keeps it while the argument stays the same.
      sqlite3_set_auxdata(context, position, Unmanaged.passRetained(matcher).toOpaque()) {
        if let matcher = $0 { Unmanaged<Matcher>.fromOpaque(matcher).release() }
      }
    }
    if sqlite3_value_type(values[3]) == SQLITE_NULL { return false }
    return sqlite3_value_type(values[3]) == SQLITE_TEXT ? matcher.matcher.matches(utf8: bytes(values[3])) : nil
  }

  private static func bytes(_ value: OpaquePointer?) -> UnsafeBufferPointer<UInt8> {
    let start = sqlite3_value_text(value)
    return UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
  }

  // MARK: Aggregates

  // SQLite keeps the address of a group's collector, null before the first value.

  private static let collect: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
    context, count, values in
    guard let memory = sqlite3_aggregate_context(context, Int32(MemoryLayout<UnsafeRawPointer?>.size)) else {
      return sqlite3_result_error_nomem(context)
    }
    // Zeroed at first.
    let position = memory.assumingMemoryBound(to: UnsafeMutablePointer<SQLAggregation>?.self)
    if position.pointee == nil {
      guard let aggregation = SQLiteFunctions.function(context).flatMap(SQLAggregation.init) else { return }
      position.pointee = .allocate(capacity: 1)
      position.pointee?.initialize(to: aggregation)
    }
    guard count == 2, let values, let collector = position.pointee else { return }
    if sqlite3_value_type(values[1]) == SQLITE_FLOAT, SQLFunction.isReal(code: sqlite3_value_int64(values[0])) {
      return collector.pointee.add(real: sqlite3_value_double(values[1]))
    }
    let arguments = [SQLiteStatement.stored(values[0]), SQLiteStatement.stored(values[1])]
    for value in SQLFunction.values(arguments[...]) ?? [] { collector.pointee.add(value) }
  }

  private static let finish: @convention(c) (OpaquePointer?) -> Void = { context in
    guard let empty = SQLiteFunctions.function(context).flatMap(SQLAggregation.init) else {
      return sqlite3_result_null(context)
    }
    let memory = sqlite3_aggregate_context(context, 0)
    let position = memory?.assumingMemoryBound(to: UnsafeMutablePointer<SQLAggregation>?.self)
    let collector = position?.pointee?.move() ?? empty
    position?.pointee?.deallocate()
    position?.pointee = nil
    SQLiteFunctions.give(collector.value, context)
  }

  // MARK: Values

  /// Returns a value in the form that a column has.
  private static func give(_ value: Value, _ context: OpaquePointer?) {
    let transient = SQLiteStatement.transient
    switch value {
    case .null: sqlite3_result_null(context)
    case .bool(let x): sqlite3_result_int(context, x ? 1 : 0)
    case .int(let x): sqlite3_result_int64(context, x)
    case .double(let x), .date(let x): sqlite3_result_double(context, x)
    // Never a REAL, which is a double in what a function gives (`SQLValueType.decimalOrDouble`).
    case .decimal(let x): give(.string(DecimalText.format(x)), context)
    case .string(var x), .uri(var x):
      x.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          // Without an address it would be NULL.
          if let start = $0.baseAddress, !$0.isEmpty {
            sqlite3_result_text64(context, start, UInt64($0.count), transient, UInt8(SQLITE_UTF8))
          } else {
            sqlite3_result_text(context, "", 0, transient)
          }
        }
      }
    case .uuid(let x):
      withUnsafeBytes(of: x.uuid) { sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), transient) }
    case .data(let x):
      if x.isEmpty { return sqlite3_result_zeroblob(context, 0) }
      x.withUnsafeBytes { sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), transient) }
    case .reference(let x): sqlite3_result_int64(context, x.key)
    }
  }
}
