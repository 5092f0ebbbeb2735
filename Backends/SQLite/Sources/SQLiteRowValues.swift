import CSQLite
import Foundation

/// Finds the values of a statement's current row, one for each column.
///
/// A call for a column looks for errors, which costs more than reading the value. SQLite keeps the values of a row in
/// adjacent registers (its opcode `ResultRow`), the same ones at every step of a run. No documentation promises that.
/// So the values that were found at one row are used again only where
///
/// - they are adjacent, which is checked each time they are found, and
/// - they have not moved, which is checked at the first row of each run of the first and the last of them, and at every
///   other row of the first.
///
/// Values that are not adjacent are found anew at each row. `Sources/RuntimeAccess/README.md` lists this trick, and how
/// to turn it off.
struct SQLiteRowValues: ~Copyable {
  private var values: UnsafeMutablePointer<OpaquePointer?>?
  private var last = -1
  private var isFirstRow = true
  /// Whether values may be used again at the next row.
  private(set) var areKept: Bool

  /// `mayKeep` is false for values that are found anew at each row.
  init(mayKeep: Bool = Self.mayKeep) { areKept = mayKeep }

  deinit { values?.deallocate() }

  /// Must be called when the statement is reset.
  @inline(__always)
  mutating func beginRun() { isFirstRow = true }

  /// The values of the current row. Valid until the next step.
  @inline(__always)
  mutating func current(of statement: OpaquePointer) -> UnsafePointer<OpaquePointer?> {
    guard let values, areKept, values.pointee == sqlite3_column_value(statement, 0), !isFirstRow || hasLast(statement)
    else { return find(statement) }
    return UnsafePointer(values)
  }

  /// Whether the last value is where it was. Notes that the first row of the run has been seen.
  private mutating func hasLast(_ statement: OpaquePointer) -> Bool {
    isFirstRow = false
    return values?[last] == sqlite3_column_value(statement, Int32(truncatingIfNeeded: last))
  }

  @inline(never)
  private mutating func find(_ statement: OpaquePointer) -> UnsafePointer<OpaquePointer?> {
    let count = max(1, Int(sqlite3_column_count(statement)))
    if count != last + 1 {
      values?.deallocate()
      values = nil
    }
    let found = values ?? .allocate(capacity: count)
    for column in 0..<count { (found + column).initialize(to: sqlite3_column_value(statement, Int32(column))) }
    (values, last, isFirstRow) = (found, count - 1, false)
    areKept = areKept && Self.areAdjacent(UnsafeBufferPointer(start: found, count: count))
    return UnsafePointer(found)
  }

  /// Whether each value is as far behind the one before it as the second is behind the first.
  static func areAdjacent(_ values: UnsafeBufferPointer<OpaquePointer?>) -> Bool {
    let addresses = values.map { Int(bitPattern: $0) }
    guard addresses.count > 1 else { return true }
    let size = addresses[1] - addresses[0]
    return size > 0 && zip(addresses, addresses.dropFirst()).allSatisfy { $1 - $0 == size }
  }

  /// Whether the process has not turned the trick off.
  private static let mayKeep: Bool = {
    let names = ProcessInfo.processInfo.environment["OPENCOREDATA_WITHOUT"]?.split(separator: ",") ?? []
    return !names.contains("all") && !names.contains("sqliteRegisters")
  }()
}
