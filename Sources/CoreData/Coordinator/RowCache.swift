import StoreSchema
import Synchronization

/// The rows that one store's contexts share: by key, the newest known state of an object.
///
/// Rows that no object uses any more are kept up to `unusedLimit` bytes a root entity, so that faults fire without I/O.
final class RowCache: Sendable {
  private let roots: [Mutex<Table>.Box]
  private static let unusedLimit = 64 << 20

  struct Table: ~Copyable {
    var rows = RowTable()
    /// When this many rows are reached, those that nobody uses are dropped.
    var sweepAt = 1 << 18

    mutating func prepare(for more: Int) {
      if rows.count + more > sweepAt {
        rows.sweep(keeping: RowCache.unusedLimit)
        sweepAt = max(1 << 18, (rows.count + more) * 2)
      }
      rows.reserve(more)
    }
  }

  init(roots: Int) { self.roots = (0..<roots).map { _ in Mutex<Table>.Box() } }

  func row(_ root: Int, _ key: Int64) -> Row? { roots[root].mutex.withLock { $0.rows.row(key) } }

  /// Keeps the newer of the given and the known row by version, and gives it back.
  func merge(_ root: Int, _ row: Row) -> Row {
    roots[root].mutex.withLock { table in
      table.prepare(for: 1)
      return table.rows.merge(row)
    }
  }

  /// The same for many rows under one lock.
  func merge(_ root: Int, _ rows: inout ContiguousArray<Row>) {
    roots[root].mutex.withLock { table in
      table.prepare(for: rows.count)
      for index in rows.indices { rows[index] = table.rows.merge(rows[index]) }
    }
  }

  func remove(_ root: Int, _ keys: [Int64]) {
    roots[root].mutex.withLock { table in for key in keys { table.rows.remove(key) } }
  }

  func removeAll() {
    for root in roots { root.mutex.withLock { $0 = Table() } }
  }
}

extension Mutex where Value == RowCache.Table {
  /// A mutex in an array needs a home of its own.
  final class Box: Sendable {
    let mutex = Mutex(RowCache.Table())
  }
}
