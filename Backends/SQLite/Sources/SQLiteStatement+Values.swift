import CSQLite
import SQLEngine
import StoreProtocol
import StoreSchema

/// Rows of plain values.
extension SQLiteStatement {
  func drain(
    _ columns: [SQLResultColumn], _ numbers: EntityNumbers, _ body: ([Value]) -> Void
  ) throws(StoreError) {
    defer { reset() }
    // One array for all rows, unless `body` keeps it.
    var values = [Value](repeating: .null, count: columns.count)
    while try step() {
      var position: Int32 = 0
      for (index, column) in columns.enumerated() {
        values[index] = value(column, &position, numbers)
        position += 1
      }
      body(values)
    }
  }

  private func value(_ column: SQLResultColumn, _ position: inout Int32, _ numbers: EntityNumbers) -> Value {
    let found = sqlite3_column_value(handle, position)
    let isNull = sqlite3_value_type(found) == SQLITE_NULL
    switch column {
    case .null: return .null
    case .value(let code): return SQLResultColumn.value(Self.stored(found), code: code)
    case .attribute(let kind): return isNull ? .null : value(kind, found, position)
    case .reference(let hasNumber, let destination):
      let key = sqlite3_value_int64(found)
      if hasNumber { position += 1 }
      if isNull { return .null }
      let entity = hasNumber ? numbers.entity(int(position)) : nil
      return .reference(ObjectReference(entity: entity ?? destination, key: key))
    }
  }

  private func value(_ kind: SlotKind, _ found: OpaquePointer?, _ position: Int32) -> Value {
    switch kind {
    case .int16, .int32, .int64: .int(sqlite3_value_int64(found))
    case .bool: .bool(sqlite3_value_int64(found) != 0)
    case .double, .float: .double(sqlite3_value_double(found))
    case .date: .date(sqlite3_value_double(found))
    case .string: string(position).map(Value.string) ?? .null
    default: SQLResultColumn.value(Self.stored(found), kind)
    }
  }
}
