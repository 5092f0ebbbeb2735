import StoreProtocol
import StoreQuery
import StoreSchema

/// Rows with keys near those of the faults that were read from one view, for one root entity (decision 031).
///
/// Where faults fire one by one, the store searches for each row anew, which costs more than the row itself. After
/// enough of these misses, rows with near keys are read ahead and kept here. They are not put into the row cache,
/// because they belong to this view and are dropped with it. Useless reads are limited by the number of faults that
/// found their row here, and by the number of stored objects.
final class ReadAhead {
  let root: Int
  private let subtree: Range<Int>
  @exclusivity(unchecked) private var rows = RowTable()
  private var byteCount = 0
  /// How many faults did not find their row here.
  private var missCount = 0
  /// How many misses there must be before rows are read ahead.
  private var threshold = ReadAhead.firstMisses
  private var isEstimated = false
  /// How many more key ranges may be read, even if none of their rows is used.
  private var credit = 0

  private static let firstMisses = 32
  private static let keyRange: Int64 = 16
  private static let byteLimit = 32 << 20
  /// A search costs about as much as reading this number of adjacent rows.
  private static let gain = 4

  init(root: Int, subtree: Range<Int>) {
    self.root = root
    self.subtree = subtree
  }

  /// A row that was read ahead. It is removed from here.
  @inline(__always)
  func take(_ key: Int64) -> Row? {
    guard rows.count > 0, let row = rows.take(key) else { return nil }
    byteCount -= row.byteCount
    credit += Self.gain
    return row
  }

  /// The row of a key that was not read ahead. All calls must pass the same view.
  func row(_ key: Int64, in view: any StoreSnapshot) throws(StoreError) -> Row? {
    missCount += 1
    // A damaged file may contain keys that no row has.
    if missCount >= threshold && key > 0 {
      if !isEstimated {
        estimate(view)
      } else if credit > 0 && byteCount < Self.byteLimit {
        credit -= 1
        return try readKeyRange(key, view)
      }
    }
    return try view.row(of: root, key: key)
  }

  /// Sets the limits by the number of stored objects. Where faults are few compared with it, nothing is read ahead.
  private func estimate(_ view: any StoreSnapshot) {
    isEstimated = true
    guard let count = view.fetching?.estimatedCount(FetchPlan(entities: subtree)) else { return }
    threshold = Self.firstMisses + count / 256
    credit = Self.firstMisses + count / 128
  }

  private func readKeyRange(_ key: Int64, _ view: any StoreSnapshot) throws(StoreError) -> Row? {
    let first = key & ~(Self.keyRange - 1)
    var found: Row?
    do throws(StoreError) {
      let isRead = try view.rows(of: root, between: max(1, first)...(first | (Self.keyRange - 1))) {
        (row: consuming Row) in
        if row.key == key {
          found = row
        } else {
          byteCount += row.byteCount
          rows.put(row)
        }
      }
      if isRead { return found }
    } catch {
      // An error in a neighbour's row does not belong to this fault. The single read below reports errors of its own
      // row.
    }
    credit = 0
    return try view.row(of: root, key: key)
  }
}
