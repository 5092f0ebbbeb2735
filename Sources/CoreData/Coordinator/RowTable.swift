import CRuntime
import Foundation
import StoreSchema

/// Rows in memory that their owner lends for a call, to be read and replaced; none of them nil.
///
/// Sendable, unchecked: nobody else uses the memory during the call.
struct RowChunk: @unchecked Sendable {
  let rows: UnsafeMutableBufferPointer<Row?>

  @inline(__always)
  func key(_ index: Int) -> Int64 { rows[index].view?.key ?? 0 }
}

/// Rows by key: open addressing with linear probing, like ``IdentityMap``, but owning its rows.
///
/// A row knows its key, so the table is one array.
struct RowTable: ~Copyable {
  private var rows: UnsafeMutablePointer<Row?>
  private var mask: Int
  private(set) var count = 0

  init(capacity: Int = 16) {
    // No row is a null pointer.
    rows = cd_allocate_zeroed(capacity, MemoryLayout<Row?>.stride).bindMemory(to: Row?.self, capacity: capacity)
    mask = capacity - 1
  }

  deinit {
    rows.deinitialize(count: mask + 1)
    free(rows)
  }

  /// The place of a key, or the free place where it belongs.
  @inline(__always)
  private func place(_ key: Int64) -> Int {
    var index = KeyPlace.home(key, mask: mask)
    while let row = rows[index].view, row.key != key { index = (index &+ 1) & mask }
    return index
  }

  @inline(__always)
  private func address(of index: Int) -> UnsafeRawPointer? { unsafeBitCast(rows[index], to: UnsafeRawPointer?.self) }

  @inline(__always)
  func row(_ key: Int64) -> Row? { rows[place(key)] }

  /// Keeps the newer of the given and the known row by version, and gives back the known one if both are the same, so that
  /// it is shared. Of two of one version that differ, which only someone who does not count versions can cause, the given
  /// one is kept. An unknown row is kept if `isCurrent`.
  @inline(__always)
  mutating func merge(_ row: Row, isCurrent: Bool) -> Row {
    reserve(1)
    let index = place(row.key)
    if let known = rows[index] {
      if known.version > row.version { return row }
      if known.version == row.version && known.hasEqualBytes(row) { return known }
    } else {
      if !isCurrent { return row }
      count &+= 1
    }
    rows[index] = row
    return row
  }

  /// Keeps the row that a commit has written, unless a newer one is known.
  @inline(__always)
  mutating func put(_ row: Row) {
    reserve(1)
    let index = place(row.key)
    if let known = rows[index].view {
      if known.version > row.version { return }
    } else {
      count &+= 1
    }
    rows[index] = row
  }

  /// ``merge(_:isCurrent:)`` for many rows, each replaced by what ``merge(_:isCurrent:)`` gives back.
  mutating func merge(_ read: RowChunk, isCurrent: Bool) {
    reserve(read.rows.count)
    for index in read.rows.indices {
      // Eight neighbours share a stretch of places; the next but one is asked for.
      if index & 7 == 0 && index + 16 < read.rows.count {
        cd_prefetch(rows + KeyPlace.home(read.key(index + 16), mask: mask))
      }
      let place = place(read.key(index))
      guard rows[place] != nil else {
        if isCurrent {
          count &+= 1
          rows[place] = read.rows[index]
        }
        continue
      }
      if let row = read.rows[index] { read.rows[index] = merge(row, isCurrent: isCurrent) }
    }
  }

  @inline(__always)
  mutating func reserve(_ more: Int) {
    if (count &+ more) &* 5 > (mask &+ 1) &* 4 { grow(by: more) }
  }

  mutating func remove(_ key: Int64) {
    var index = place(key)
    guard rows[index] != nil else { return }
    rows[index] = nil
    count &-= 1
    var next = (index &+ 1) & mask
    while let row = rows[next] {
      let home = KeyPlace.home(row.key, mask: mask)
      // The entry may move back only if its home is not between the gap and itself.
      if (next &- home) & mask >= (next &- index) & mask {
        rows[index] = row
        rows[next] = nil
        index = next
      }
      next = (next &+ 1) & mask
    }
  }

  /// Drops rows that nobody else holds, but for the first `limit` bytes of them.
  mutating func sweep(keeping limit: Int) {
    var kept = 0
    var unused: [Int64] = []
    for index in 0...mask where rows[index]?.isUniquelyHeld() == true {
      guard let row = rows[index] else { continue }
      kept += row.byteCount
      if kept > limit { unused.append(row.key) }
    }
    for key in unused { remove(key) }
  }

  private mutating func grow(by more: Int) {
    var capacity = (mask + 1) * 2
    while (count + more) * 5 > capacity * 4 { capacity *= 2 }
    var larger = RowTable(capacity: capacity)
    for index in 0...mask {
      // The rows are all over the memory: one is asked for while others are moved.
      if index + 8 <= mask { cd_prefetch(address(of: index + 8)) }
      guard let key = rows[index].view?.key else { continue }
      // Moved without counting: the old table is left with nothing.
      swap(&rows[index], &larger.rows[larger.place(key)])
    }
    larger.count = count
    self = larger
  }
}
