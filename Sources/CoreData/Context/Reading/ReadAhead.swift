import StoreProtocol
import StoreQuery
import StoreSchema

/// The rows beside those of the faults that one view has been asked for, tree by tree (decision 031).
///
/// Whoever fires faults one by one all over a tree makes the store search for each row anew, which costs more than the
/// row itself. After enough of them the neighbours by key are read along and kept here, not in the row cache: they are
/// of this view, and go with it. What is read in vain is limited, by the faults that found their row here and by the
/// size of the tree.
final class ReadAhead {
  let root: Int
  private let subtree: Range<Int>
  @exclusivity(unchecked) private var rows = RowTable()
  @exclusivity(unchecked) private var byteCount = 0
  /// How many faults did not find their row here.
  @exclusivity(unchecked) private var missCount = 0
  /// How many of them there must be before neighbours are read.
  @exclusivity(unchecked) private var threshold = ReadAhead.firstMisses
  @exclusivity(unchecked) private var isEstimated = false
  /// How many more stretches may be read in vain.
  @exclusivity(unchecked) private var credit = 0

  private static let firstMisses = 32
  private static let stretch: Int64 = 16
  private static let byteLimit = 32 << 20
  /// A search costs about as much as to read so many rows that are at hand.
  private static let gain = 4

  init(root: Int, subtree: Range<Int>) {
    self.root = root
    self.subtree = subtree
  }

  /// A row that was read along, which is the caller's from here on.
  @inline(__always)
  func take(_ key: Int64) -> Row? {
    guard rows.count > 0, let row = rows.take(key) else { return nil }
    byteCount -= row.byteCount
    credit += Self.gain
    return row
  }

  /// The row of a key that was not read along, in the view that all calls are for.
  func row(_ key: Int64, in view: any StoreSnapshot) throws(StoreError) -> Row? {
    missCount += 1
    // A damaged file may lead to keys that no row has.
    if missCount >= threshold && key > 0 {
      if !isEstimated {
        estimate(view)
      } else if credit > 0 && byteCount < Self.byteLimit {
        credit -= 1
        return try readStretch(key, view)
      }
    }
    return try view.row(of: root, key: key)
  }

  /// Faults that are few against the objects that there are get nothing read along.
  private func estimate(_ view: any StoreSnapshot) {
    isEstimated = true
    guard let count = view.fetching?.estimatedCount(FetchPlan(entities: subtree)) else { return }
    threshold = Self.firstMisses + count / 256
    credit = Self.firstMisses + count / 128
  }

  private func readStretch(_ key: Int64, _ view: any StoreSnapshot) throws(StoreError) -> Row? {
    let first = key & ~(Self.stretch - 1)
    var found: Row?
    do throws(StoreError) {
      let isRead = try view.rows(of: root, between: max(1, first)...(first | (Self.stretch - 1))) {
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
      // A neighbour that cannot be read is not this fault's: the row alone says what is wrong with itself.
    }
    credit = 0
    return try view.row(of: root, key: key)
  }
}
