import Foundation
import StoreSchema
import Synchronization

/// The row indexes of an entity hierarchy, sorted by an index of the model. Rows without a value come first.
struct AtomicOrder: Sendable {
  private let index: AtomicIndex
  private let places: [Int32]
  private let nullCount: Int

  init(_ index: AtomicIndex, _ rows: [Row]) {
    self.index = index
    var (nulls, others): ([Int32], [Int32]) = ([], [])
    for (place, row) in rows.enumerated() where index.entities.contains(row.entity) {
      if row.isNull(index.slot) { nulls.append(Int32(place)) } else { others.append(Int32(place)) }
    }
    if index.kind.isBytes {
      let slot = index.slot
      others.sort { a, b in
        rows[Int(a)].withBytes(slot) { x in
          rows[Int(b)].withBytes(slot) { y in Self.compare(x, y) < 0 }
        }
      }
    } else {
      var keyed = others.map { (word: index.word(rows[Int($0)]), place: $0) }
      keyed.sort { $0.word < $1.word }
      others = keyed.map(\.place)
    }
    (places, nullCount) = (nulls + others, nulls.count)
  }

  /// The indexes of the rows in a key range.
  func places(in stretch: AtomicStretch, _ rows: [Row]) -> ArraySlice<Int32> {
    switch stretch {
    case .nulls: return places[..<nullCount]
    case .between(let low, let high):
      let start = low.map { key in first(rows) { !precedes($0, key) } } ?? nullCount
      let end = high.map { key in first(rows) { follows($0, key) } } ?? places.count
      return places[start..<max(start, end)]
    case .prefix(let prefix):
      let start = first(rows) { !precedes($0, .bytes(prefix)) }
      let end = first(rows) { row in
        follows(row, .bytes(prefix)) && row.withBytes(index.slot) { !$0.starts(with: prefix) }
      }
      return places[start..<end]
    }
  }

  /// The first position with a value whose row meets `isBehind`, which all later rows meet, too.
  private func first(_ rows: [Row], where isBehind: (Row) -> Bool) -> Int {
    var (low, high) = (nullCount, places.count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(rows[Int(places[middle])]) { high = middle } else { low = middle + 1 }
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
    var asked: Set<Int> = []
    var orders: [Int: AtomicOrder] = [:]
  }

  private let state = Mutex(State())

  /// The order of an index, nil on the first request.
  func order(_ number: Int, _ index: AtomicIndex, _ rows: [Row]) -> AtomicOrder? {
    state.withLock { state in
      if let known = state.orders[number] { return known }
      if state.asked.insert(number).inserted { return nil }
      let order = AtomicOrder(index, rows)
      state.orders[number] = order
      return order
    }
  }

  /// Called when the rows change.
  func clear() {
    state.withLock { state in
      if !state.asked.isEmpty { state = State() }
    }
  }
}
