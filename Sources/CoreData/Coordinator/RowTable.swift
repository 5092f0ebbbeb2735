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

/// Rows by key.
///
/// Stores hand out keys one after another, so the rows of 32 neighbours lie in a page, each in its own place, and only
/// pages are searched for: by open addressing with linear probing. A search reads no row, and a table that grows moves
/// none.
struct RowTable: ~Copyable {
  private typealias Rows = UnsafeMutablePointer<Row?>

  private struct Page {
    var number: Int64 = 0
    /// Nil for a free place.
    var rows: Rows?
    /// How many rows there are.
    var count = 0
  }

  private static let pageSize = 32

  private var pages: UnsafeMutablePointer<Page>
  private var mask: Int
  private(set) var pageCount = 0
  private(set) var count = 0

  /// `capacity` is how many pages there is room for, a power of two from 2 on.
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

  /// Where the search for a page begins. The highest bits of the product spread consecutive numbers evenly (Fibonacci
  /// hashing).
  @inline(__always)
  private func home(_ number: Int64) -> Int {
    let product = UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: product &>> UInt64(truncatingIfNeeded: mask.leadingZeroBitCount))
  }

  /// The index of a page, or of the free place where it belongs.
  @inline(__always)
  private func index(_ number: Int64) -> Int {
    var index = home(number)
    while pages[index].rows != nil && pages[index].number != number { index = (index &+ 1) & mask }
    return index
  }

  /// The place of a key in a page that is there.
  @inline(__always)
  private func place(_ key: Int64, _ page: Int) -> Rows {
    pages[page].rows.unsafelyUnwrapped + Int(truncatingIfNeeded: key & 31)
  }

  /// The place of a key, nil where there is no page for it.
  @inline(__always)
  private func place(_ key: Int64) -> Rows? {
    pages[index(Self.number(key))].rows.map { $0 + Int(truncatingIfNeeded: key & 31) }
  }

  /// The index of the page for a key, made if need be.
  @inline(__always)
  private mutating func madePage(_ key: Int64) -> Int {
    let found = index(Self.number(key))
    return pages[found].rows == nil ? makePage(Self.number(key)) : found
  }

  @inline(never)
  private mutating func makePage(_ number: Int64) -> Int {
    reservePages(1)
    // No row is a null pointer.
    let rows = cd_allocate_zeroed(Self.pageSize, MemoryLayout<Row?>.stride)
      .bindMemory(to: Row?.self, capacity: Self.pageSize)
    let free = index(number)
    pages[free] = Page(number: number, rows: rows)
    pageCount &+= 1
    return free
  }

  /// Puts a row into a place of a page where none is.
  @inline(__always)
  private mutating func fill(_ page: Int, _ row: consuming Row?, _ key: Int64) {
    place(key, page).initialize(to: row)
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
    // The old places are left with nothing that they would free.
    for index in 0...larger.mask { larger.pages[index].rows = nil }
  }

  /// Frees a page that has no row any more.
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
  func row(_ key: Int64) -> Row? { place(key)?.pointee }

  /// Keeps the newer of the given and the known row by version, and gives back the known one if both are the same, so
  /// that it is shared. Of two of one version that differ, which only someone who does not count versions can cause,
  /// the given one is kept. An unknown row is kept if `isCurrent`.
  @inline(__always)
  mutating func merge(_ row: Row, isCurrent: Bool) -> Row {
    if let place = place(row.key), let known = place.pointee {
      if known.version > row.version { return row }
      if known.version == row.version && known.hasEqualBytes(row) { return known }
      place.pointee = row
    } else if isCurrent {
      fill(madePage(row.key), row, row.key)
    }
    return row
  }

  /// Asks the processor for the row of a key that will be needed soon.
  @inline(__always)
  func prefetch(_ key: Int64) {
    if let place = place(key) { cd_prefetch(UnsafeRawPointer(place).load(as: UnsafeRawPointer?.self)) }
  }

  /// Keeps the row that a commit has written, unless a newer one is known.
  @inline(__always)
  mutating func put(_ row: Row) {
    let page = madePage(row.key)
    let place = place(row.key, page)
    guard let known = place.pointee.view else { return fill(page, row, row.key) }
    if known.version <= row.version { place.pointee = row }
  }

  /// ``merge(_:isCurrent:)`` for many rows, each replaced by what ``merge(_:isCurrent:)`` gives back.
  mutating func merge(_ read: RowChunk, isCurrent: Bool) {
    for index in read.rows.indices {
      if isCurrent {
        let key = read.key(index)
        let page = madePage(key)
        if place(key, page).pointee == nil {
          fill(page, read.rows[index], key)
          continue
        }
      }
      if let row = read.rows[index] { read.rows[index] = merge(row, isCurrent: isCurrent) }
    }
  }

  /// Makes room for so many more rows with neighbouring keys.
  @inline(__always)
  mutating func reserve(_ more: Int) {
    let pages = (count &+ more) / Self.pageSize
    if pages > pageCount { reservePages(pages - pageCount) }
  }

  mutating func remove(_ key: Int64) { _ = take(key) }

  /// Removes a row and gives it back.
  mutating func take(_ key: Int64) -> Row? {
    let page = index(Self.number(key))
    guard pages[page].rows != nil, let row = place(key, page).pointee.take() else { return nil }
    count &-= 1
    pages[page].count &-= 1
    if pages[page].count == 0 { removePage(page) }
    return row
  }

  /// Drops rows that nobody else holds, but for the first `limit` bytes of them.
  mutating func sweep(keeping limit: Int) {
    var kept = 0
    var unused: [Int64] = []
    for index in 0...mask {
      guard let rows = pages[index].rows else { continue }
      for place in 0..<Self.pageSize where rows[place]?.isUniquelyHeld() == true {
        guard let row = rows[place] else { continue }
        kept += row.byteCount
        if kept > limit { unused.append(row.key) }
      }
    }
    for key in unused { remove(key) }
  }
}
