import CRuntime
import Foundation
import StoreSchema

/// Rows in memory that their owner lends for a call, to be read and replaced. None of them is nil.
///
/// Sendable, unchecked: no other code uses the memory during the call.
struct RowChunk: @unchecked Sendable {
  let rows: UnsafeMutableBufferPointer<Row?>

  @inline(__always)
  func key(_ index: Int) -> Int64 { rows[index].view?.key ?? 0 }
}

/// Rows by key.
///
/// Stores hand out consecutive keys. So the rows of 32 adjacent keys lie in a page, each at a fixed index, and a search
/// looks only for the page: by open addressing with linear probing. A search reads no row, and a table that grows moves
/// none.
struct RowTable: ~Copyable {
  private typealias Rows = UnsafeMutablePointer<Row?>

  private struct Page {
    var number: Int64 = 0
    /// Nil for a free slot.
    var rows: Rows?
    /// The number of rows.
    var count = 0
  }

  private static let pageSize = 32

  private var pages: UnsafeMutablePointer<Page>
  private var mask: Int
  private(set) var pageCount = 0
  private(set) var count = 0

  /// `capacity` is the number of pages that the table has slots for, a power of two and at least 2.
  init(capacity: Int = 16) {
    pages = .allocate(capacity: capacity)
    pages.initialize(repeating: Page(), count: capacity)
    mask = capacity - 1
  }

  deinit {
    for index in 0...mask {
      guard let rows = pages[index].rows else { continue }
      rows.deinitialize(count: Self.pageSize)
      free(rows)
    }
    pages.deallocate()
  }

  // MARK: Pages

  @inline(__always)
  private static func number(_ key: Int64) -> Int64 { key &>> 5 }

  /// The slot where the search for a page begins. The highest bits of the product spread consecutive numbers evenly
  /// (Fibonacci hashing).
  @inline(__always)
  private func home(_ number: Int64) -> Int {
    let product = UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: product &>> UInt64(truncatingIfNeeded: mask.leadingZeroBitCount))
  }

  /// The slot of a page, or the free slot for it.
  @inline(__always)
  private func index(_ number: Int64) -> Int {
    var index = home(number)
    while pages[index].rows != nil && pages[index].number != number { index = (index &+ 1) & mask }
    return index
  }

  /// The address of a key's row in an existing page.
  @inline(__always)
  private func slot(_ key: Int64, _ page: Int) -> Rows {
    pages[page].rows.unsafelyUnwrapped + Int(truncatingIfNeeded: key & 31)
  }

  /// The address of a key's row; nil where there is no page for it.
  @inline(__always)
  private func slot(_ key: Int64) -> Rows? {
    pages[index(Self.number(key))].rows.map { $0 + Int(truncatingIfNeeded: key & 31) }
  }

  /// The slot of the page for a key. The page is made if necessary.
  @inline(__always)
  private mutating func madePage(_ key: Int64) -> Int {
    let found = index(Self.number(key))
    return pages[found].rows == nil ? makePage(Self.number(key)) : found
  }

  @inline(never)
  private mutating func makePage(_ number: Int64) -> Int {
    reservePages(1)
    let rows = cd_allocate(Self.pageSize * MemoryLayout<Row?>.stride)
      .bindMemory(to: Row?.self, capacity: Self.pageSize)
    rows.initialize(repeating: nil, count: Self.pageSize)
    let free = index(number)
    pages[free] = Page(number: number, rows: rows)
    pageCount &+= 1
    return free
  }

  /// Puts a row into a page that has none for the key.
  @inline(__always)
  private mutating func fill(_ page: Int, _ row: consuming Row?, _ key: Int64) {
    slot(key, page).initialize(to: row)
    pages[page].count &+= 1
    count &+= 1
  }

  private mutating func reservePages(_ more: Int) {
    if (pageCount + more) * 4 <= (mask + 1) * 3 { return }
    var capacity = (mask + 1) * 2
    while (pageCount + more) * 4 > capacity * 3 { capacity *= 2 }
    var larger = RowTable(capacity: capacity)
    for index in 0...mask where pages[index].rows != nil {
      larger.pages[larger.index(pages[index].number)] = pages[index]
    }
    swap(&pages, &larger.pages)
    swap(&mask, &larger.mask)
    // The old slots are emptied, so that nothing is freed with them.
    for index in 0...larger.mask { larger.pages[index].rows = nil }
  }

  /// Frees a page without rows.
  private mutating func removePage(_ index: Int) {
    var gap = index
    free(pages[gap].rows)
    pages[gap] = Page()
    pageCount &-= 1
    var next = (gap &+ 1) & mask
    while pages[next].rows != nil {
      // The page may move back only if its home is not between the gap and itself.
      if (next &- home(pages[next].number)) & mask >= (next &- gap) & mask {
        pages[gap] = pages[next]
        pages[next] = Page()
        gap = next
      }
      next = (next &+ 1) & mask
    }
  }

  // MARK: Rows

  @inline(__always)
  func row(_ key: Int64) -> Row? { slot(key)?.pointee }

  /// Keeps the newer of the given and the known row by version, and returns it. Returns the known row if both are
  /// equal, so that it is shared. If two rows of one version differ, which only a program that does not count versions
  /// can cause, the given one is kept. An unknown row is kept if `isCurrent`.
  @inline(__always)
  mutating func merge(_ row: Row, isCurrent: Bool) -> Row {
    if let slot = slot(row.key), let known = slot.pointee {
      if known.version > row.version { return row }
      if known.version == row.version && known.hasEqualBytes(row) { return known }
      slot.pointee = row
    } else if isCurrent {
      fill(madePage(row.key), row, row.key)
    }
    return row
  }

  /// Prefetches the row of a key that will be needed soon.
  @inline(__always)
  func prefetch(_ key: Int64) {
    if let slot = slot(key) { cd_prefetch(UnsafeRawPointer(slot).load(as: UnsafeRawPointer?.self)) }
  }

  /// Keeps the row that a commit has written, unless a newer one is known.
  @inline(__always)
  mutating func put(_ row: Row) {
    let page = madePage(row.key)
    let slot = slot(row.key, page)
    guard let known = slot.pointee.view else { return fill(page, row, row.key) }
    if known.version <= row.version { slot.pointee = row }
  }

  /// ``merge(_:isCurrent:)`` for many rows. Each is replaced by the row that ``merge(_:isCurrent:)`` returns.
  mutating func merge(_ read: RowChunk, isCurrent: Bool) {
    for index in read.rows.indices {
      if isCurrent {
        let key = read.key(index)
        let page = madePage(key)
        if slot(key, page).pointee == nil {
          fill(page, read.rows[index], key)
          continue
        }
      }
      if let row = read.rows[index] { read.rows[index] = merge(row, isCurrent: isCurrent) }
    }
  }

  /// Makes room for `more` rows with adjacent keys.
  @inline(__always)
  mutating func reserve(_ more: Int) {
    let pages = (count &+ more) / Self.pageSize
    if pages > pageCount { reservePages(pages - pageCount) }
  }

  mutating func remove(_ key: Int64) { _ = take(key) }

  /// Removes a row and returns it.
  mutating func take(_ key: Int64) -> Row? {
    let page = index(Self.number(key))
    guard pages[page].rows != nil, let row = slot(key, page).pointee.take() else { return nil }
    count &-= 1
    pages[page].count &-= 1
    if pages[page].count == 0 { removePage(page) }
    return row
  }

  /// Drops rows that nothing else holds, except for the first `limit` bytes of them.
  mutating func sweep(keeping limit: Int) {
    var kept = 0
    var unused: [Int64] = []
    for index in 0...mask {
      guard let rows = pages[index].rows else { continue }
      for slot in 0..<Self.pageSize where rows[slot]?.isUniquelyHeld() == true {
        guard let row = rows[slot] else { continue }
        kept += row.byteCount
        if kept > limit { unused.append(row.key) }
      }
    }
    for key in unused { remove(key) }
  }
}
