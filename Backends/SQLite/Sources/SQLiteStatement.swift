import CSQLite
import Foundation
import SQLEngine
import StoreProtocol
import StoreSchema
import StoreSupport

/// A compiled SQLite statement.
final class SQLiteStatement: SQLStatement {
  let handle: OpaquePointer
  private unowned let connection: SQLiteConnection
  private let sql: String
  private let trace: (@Sendable (String, Double) -> Void)?
  @exclusivity(unchecked) private var values: SQLiteRowValues
  /// Why a parameter could not be bound. The parameter is NULL then, and the statement must not be run.
  private var refusal = SQLITE_OK

  init(
    _ handle: OpaquePointer, _ connection: SQLiteConnection, sql: String,
    trace: (@Sendable (String, Double) -> Void)?, values: consuming SQLiteRowValues = SQLiteRowValues()
  ) {
    self.handle = handle
    self.connection = connection
    self.sql = sql
    self.trace = trace
    self.values = values
  }

  deinit { sqlite3_finalize(handle) }

  func step() throws(StoreError) -> Bool {
    if refusal != SQLITE_OK { throw refused() }
    let began = trace == nil ? 0 : Date.timeIntervalSinceReferenceDate
    let result = sqlite3_step(handle)
    if let trace { trace(sql, Date.timeIntervalSinceReferenceDate - began) }
    switch result {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw SQLiteError.make(result, connection.database, "running a statement", sql: sql)
    }
  }

  @inline(never)
  private func refused() -> StoreError {
    defer { refusal = SQLITE_OK }
    return SQLiteError.make(refusal, connection.database, "binding a value", sql: sql)
  }

  /// Keeps the result of a binding that needs memory or may be too long.
  @inline(__always)
  private func keep(_ result: Int32) { if result != SQLITE_OK { refusal = result } }

  func reset() {
    sqlite3_reset(handle)
    values.beginRun()
    refusal = SQLITE_OK
  }

  func run() throws(StoreError) {
    defer { reset() }
    while try step() {}
  }

  func run(_ first: Int64, _ second: Int64, at index: Int32) throws(StoreError) {
    sqlite3_bind_int64(handle, index, first)
    sqlite3_bind_int64(handle, index + 1, second)
    try run()
  }

  // MARK: Parameters

  func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, value) }

  func bindNull(at index: Int32) { sqlite3_bind_null(handle, index) }

  func bind(_ value: Value, at index: Int32) {
    switch value {
    case .null: sqlite3_bind_null(handle, index)
    case .bool(let x): sqlite3_bind_int(handle, index, x ? 1 : 0)
    case .int(let x): sqlite3_bind_int64(handle, index, x)
    case .double(let x), .date(let x): sqlite3_bind_double(handle, index, x)
    case .decimal(let x): bind(decimal: DecimalText.format(x), index)
    case .string(let x), .uri(let x): bind(text: x, index)
    case .uuid(let x): withUnsafeBytes(of: x.uuid) { bind(blob: $0, index, transient: true) }
    case .data(let x): x.withUnsafeBytes { bind(blob: $0, index, transient: true) }
    case .reference(let x): sqlite3_bind_int64(handle, index, x.key)
    }
  }

  func bind(_ row: Row, _ columns: [BoundColumn], from first: Int32, _ numbers: EntityNumbers) {
    var index = first
    for column in columns {
      bind(row, column, index, numbers)
      index &+= 1
    }
  }

  @inline(__always)
  private func bind(_ row: Row, _ column: BoundColumn, _ index: Int32, _ numbers: EntityNumbers) {
    let slot = column.slot
    if row.isNull(slot) {
      sqlite3_bind_null(handle, index)
      return
    }
    switch column.kind {
    case .int16, .int32, .int64, .bool, .reference: sqlite3_bind_int64(handle, index, row.int(slot))
    case .referenceEntity: sqlite3_bind_int64(handle, index, numbers.numbers[Int(row.int(slot))])
    case .double, .float, .date: sqlite3_bind_double(handle, index, row.double(slot))
    case .string, .uri:
      row.withBytes(slot) { bytes in
        let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        keep(sqlite3_bind_text64(handle, index, start, UInt64(bytes.count), nil, UInt8(SQLITE_UTF8)))
      }
    case .uuid, .data, .transformable, .externalData: row.withBytes(slot) { bind(blob: $0, index, transient: false) }
    case .decimal: bind(decimal: row.string(slot), index)
    }
  }

  private func bind(decimal text: String, _ index: Int32) {
    switch SQLiteDecimal.form(of: text) {
    case .integer(let x): sqlite3_bind_int64(handle, index, x)
    case .real(let x): sqlite3_bind_double(handle, index, x)
    case .text(let text): bind(text: text, index)
    }
  }

  private func bind(text: String, _ index: Int32) {
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        // An empty buffer may have no address, and SQLite reads a null address as NULL.
        if let start = $0.baseAddress, !$0.isEmpty {
          keep(sqlite3_bind_text64(handle, index, start, UInt64($0.count), Self.transient, UInt8(SQLITE_UTF8)))
        } else {
          sqlite3_bind_text(handle, index, "", 0, Self.transient)
        }
      }
    }
  }

  private func bind(blob: UnsafeRawBufferPointer, _ index: Int32, transient: Bool) {
    if blob.isEmpty {
      sqlite3_bind_zeroblob(handle, index, 0)
    } else {
      keep(sqlite3_bind_blob64(handle, index, blob.baseAddress, UInt64(blob.count), transient ? Self.transient : nil))
    }
  }

  /// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
  static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

  // MARK: Columns

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  func int(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  func string(_ column: Int32) -> String? {
    guard let start = sqlite3_column_text(handle, column) else { return nil }
    return String(decoding: UnsafeBufferPointer(start: start, count: count(column)), as: UTF8.self)
  }

  func data(_ column: Int32) -> Data? {
    if isNull(column) { return nil }
    return Data(blob(sqlite3_column_value(handle, column)))
  }

  /// Appends a column of the current row with its type and its length, so that different rows give different bytes.
  func append(_ column: Int32, to bytes: inout [UInt8]) {
    bytes.append(UInt8(truncatingIfNeeded: sqlite3_column_type(handle, column)))
    let start = sqlite3_column_text(handle, column)
    let text = UnsafeBufferPointer(start: start, count: start == nil ? 0 : count(column))
    withUnsafeBytes(of: text.count) { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: text)
  }

  func stored(_ column: Int32) -> SQLStoredValue { Self.stored(sqlite3_column_value(handle, column)) }

  /// A value of a column, or an argument of a function.
  static func stored(_ value: OpaquePointer?) -> SQLStoredValue {
    switch sqlite3_value_type(value) {
    case SQLITE_NULL: return .null
    case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
    case SQLITE_TEXT:
      let start = sqlite3_value_text(value)
      return .text(
        Data(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))))
    default:
      let start = sqlite3_value_blob(value)
      return .blob(
        Data(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))))
    }
  }

  private func count(_ column: Int32) -> Int { Int(sqlite3_column_bytes(handle, column)) }

  @inline(__always)
  private func blob(_ value: OpaquePointer?) -> UnsafeRawBufferPointer {
    // The address first: reading it decides the form whose length is read next.
    let start = sqlite3_value_blob(value)
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
  }

  func row(_ shape: RowShape, _ builder: RowBuilder) throws(StoreError) -> Row? {
    let values = values.current(of: handle)
    guard let entity = shape.numbers.entity(sqlite3_value_int64(values[0])),
      let columns = shape.columns(of: entity)
    else { return nil }
    let key = sqlite3_value_int64(values[1])
    guard key > 0 else { return nil }
    var (column, end) = (shape.columns + columns.lowerBound, shape.columns + columns.upperBound)
    var word = builder.beginFilled(slots: columns.count)
    // Few variables: all that live across SQLite's calls fit into registers.
    while column != end {
      word.pointee = try read(values[Int(column.pointee.column)], column, shape, builder)
      column += 1
      word += 1
    }
    return builder.finish(key: key, entity: entity, version: sqlite3_value_int64(values[2]))
  }

  func row(key: Int64, _ shape: RowShape, _ builder: RowBuilder) throws(StoreError) -> Row? {
    defer { reset() }
    sqlite3_bind_int64(handle, 1, key)
    return try step() ? try row(shape, builder) : nil
  }

  func drain(_ shape: RowShape, _ builder: RowBuilder, _ body: (consuming Row) -> Void) throws(StoreError) {
    defer { reset() }
    while try step() {
      if let row = try row(shape, builder) { body(row) }
    }
  }

  /// The word of a value's slot. Null gives zero, and is marked as null.
  @inline(__always)
  private func read(
    _ value: OpaquePointer?, _ column: UnsafePointer<BoundColumn>, _ shape: RowShape, _ builder: RowBuilder
  ) throws(StoreError) -> UInt64 {
    switch column.pointee.kind {
    case .reference:
      // Keys count from 1; no other key leads to an object.
      let key = sqlite3_value_int64(value)
      if key > 0 { return UInt64(bitPattern: key) }
    case .int16, .int32, .int64, .bool:
      let number = sqlite3_value_int64(value)
      // Only zero can stand for NULL, so most values need no second call.
      if number != 0 || !isNull(value) { return UInt64(bitPattern: number) }
    case .double, .float, .date:
      let number = sqlite3_value_double(value)
      if number != 0 { return number.bitPattern }
      if !isNull(value) { return 0 }
    case .string, .uri:
      if let start = sqlite3_value_text(value) {
        return builder.add(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
      }
      // A text must not count as empty because SQLite has no memory for it.
      if !isNull(value) { throw SQLiteError.make(SQLITE_NOMEM, connection.database, "reading a text", sql: sql) }
    case .uuid, .data, .transformable, .externalData:
      let bytes = blob(value)
      if column.pointee.kind == .uuid && bytes.count != 16 { try checkUUID(bytes, value) }
      if !bytes.isEmpty || !isNull(value) { return builder.add(bytes) }
    case .decimal, .referenceEntity:
      if let word = try rareWord(value, column.pointee, shape.numbers, builder) { return word }
    }
    builder.setNull(column.pointee.slot)
    return 0
  }

  @inline(__always)
  private func isNull(_ value: OpaquePointer?) -> Bool { sqlite3_value_type(value) == SQLITE_NULL }

  private func rareWord(
    _ value: OpaquePointer?, _ column: BoundColumn, _ numbers: EntityNumbers, _ builder: RowBuilder
  ) throws(StoreError) -> UInt64? {
    if isNull(value) { return nil }
    if column.kind == .referenceEntity { return numbers.entity(sqlite3_value_int64(value)).map { UInt64($0) } }
    var text = try decimal(value)
    return text.withUTF8 { builder.add(UnsafeRawBufferPointer($0)) }
  }

  /// Throws for bytes of another length than a UUID's, unless there are none because the value is NULL.
  private func checkUUID(_ bytes: UnsafeRawBufferPointer, _ value: OpaquePointer?) throws(StoreError) {
    if bytes.isEmpty && isNull(value) { return }
    throw StoreError(
      .corrupt, "A stored UUID has \(bytes.count) bytes instead of 16.", context: ["sql": sql])
  }

  /// The canonical text of a decimal that is not NULL.
  private func decimal(_ value: OpaquePointer?) throws(StoreError) -> String {
    var stored = ""
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return String(sqlite3_value_int64(value))
    case SQLITE_FLOAT:
      let number = sqlite3_value_double(value)
      if let text = SQLiteDecimal.text(number) { return text }
      stored = "\(number)"
    default:
      if let start = sqlite3_value_text(value) { stored = String(cString: start) }
      if let number = DecimalText.parse(stored.hasSuffix("d") ? String(stored.dropLast()) : stored) {
        return DecimalText.format(number)
      }
    }
    throw StoreError(.corrupt, "A stored decimal is not a number.", context: ["value": stored, "sql": sql])
  }
}

/// Decimals as SQLite's doubles.
enum SQLiteDecimal {
  enum Form {
    case integer(Int64)
    case real(Double)
    case text(String)
  }

  /// The column's form of a canonical decimal text. A number, where the nearest double reads back as the same decimal;
  /// otherwise the digits with a `d` behind them, which no column affinity turns into a number.
  static func form(of text: String) -> Form {
    if let integer = Int64(text), integer.magnitude < 1 << 53 { return .integer(integer) }
    if let double = Double(text), self.text(double) == text { return .real(double) }
    return .text(text + "d")
  }

  /// The canonical decimal text of a double by its shortest digits, nil for infinities and NaN.
  static func text(_ value: Double) -> String? {
    guard value.isFinite, let decimal = DecimalText.parse(value.description) else { return nil }
    return DecimalText.format(decimal)
  }
}
