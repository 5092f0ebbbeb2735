import Foundation
import StoreSchema
import Synchronization

/// The row indexes of an entity hierarchy, sorted by an index of the model. Rows without a value come first.
struct AtomicOrder: Sendable {
  private let index: AtomicIndex
  private let positions: [Int32]
  private let nullCount: Int

  init(_ index: AtomicIndex, _ rows: [Row]) {
    self.index = index
    var (nulls, others): ([Int32], [Int32]) = ([], [])
    for (position, row) in rows.enumerated() where index.entities.contains(row.entity) {
      if row.isNull(index.slot) { nulls.append(Int32(position)) } else { others.append(Int32(position)) }
    }
    if index.kind.isBytes {
      let slot = index.slot
      others.sort { a, b in
        rows[Int(a)].withBytes(slot) { x in
          rows[Int(b)].withBytes(slot) { y in Self.compare(x, y) < 0 }
        }
      }
    } else {
      var keyed = others.map { (word: index.word(rows[Int($0)]), position: $0) }
      keyed.sort { $0.word < $1.word }
      others = keyed.map(\.position)
    }
    (positions, nullCount) = (nulls + others, nulls.count)
  }

  /// The indexes of the rows in a key range.
  func positions(in keyRange: AtomicKeyRange, _ rows: [Row]) -> ArraySlice<Int32> {
    switch keyRange {
    case .nulls: return positions[..<nullCount]
    case .between(let low, let high):
      let start = low.map { key in first(rows) { !precedes($0, key) } } ?? nullCount
      let end = high.map { key in first(rows) { follows($0, key) } } ?? positions.count
      return positions[start..<max(start, end)]
    case .prefix(let prefix):
      let start = first(rows) { !precedes($0, .bytes(prefix)) }
      let end = first(rows) { row in
        follows(row, .bytes(prefix)) && row.withBytes(index.slot) { !$0.starts(with: prefix) }
      }
      return positions[start..<end]
    }
  }

  /// The first position with a value whose row meets `isBehind`, which all later rows meet, too.
  private func first(_ rows: [Row], where isBehind: (Row) -> Bool) -> Int {
    var (low, high) = (nullCount, positions.count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(rows[Int(positions[middle])]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private func precedes(_ row: Row, _ key: AtomicIndex.Key) -> Bool {
    switch key {
    case .word(let word): index.word(row) < word
    case .bytes(let bytes): compare(row, bytes) < 0
    }
  }

  private func follows(_ row: Row, _ key: AtomicIndex.Key) -> Bool {
    switch key {
    case .word(let word): index.word(row) > word
    case .bytes(let bytes): compare(row, bytes) > 0
    }
  }

  private func compare(_ row: Row, _ bytes: [UInt8]) -> Int {
    row.withBytes(index.slot) { x in bytes.withUnsafeBytes { Self.compare(x, $0) } }
  }

  /// Negative, zero or positive.
  private static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    guard let x = a.baseAddress, let y = b.baseAddress else { return a.count - b.count }
    let difference = memcmp(x, y, min(a.count, b.count))
    return difference != 0 ? Int(difference) : a.count - b.count
  }
}

/// The sorted row indexes of one version of an entity hierarchy.
///
/// An order is built when it is requested for the second time. If the rows change after each fetch, a scan is faster
/// than building an order.
final class AtomicOrders: Sendable {
  private struct State {
    var requested: Set<Int> = []
    var orders: [Int: AtomicOrder] = [:]
  }

  private let state = Mutex(State())

  /// The order of an index, nil on the first request.
  func order(_ number: Int, _ index: AtomicIndex, _ rows: [Row]) -> AtomicOrder? {
    state.withLock { state in
      if let known = state.orders[number] { return known }
      if state.requested.insert(number).inserted { return nil }
      let order = AtomicOrder(index, rows)
      state.orders[number] = order
      return order
    }
  }

  /// Called when the rows change.
  func clear() {
    state.withLock { state in
      if !state.requested.isEmpty { state = State() }
    }
  }
}
