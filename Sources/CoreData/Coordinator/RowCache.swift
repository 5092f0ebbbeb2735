import CRuntime
import Dispatch
import StoreProtocol
import StoreSchema
import Synchronization

/// The rows that the contexts of a store share: by key, the newest known state of an object.
///
/// Rows that no object uses any more are kept up to `unusedLimit` bytes for each root entity, so that faults fire
/// without I/O.
final class RowCache: Sendable {
  private let roots: [Mutex<Table>.Box]
  private static let unusedLimit = 64 << 20
  private let commitNumber = Atomic<UInt64>(0)

  /// The number of the last commit that this process made to the store.
  var lastCommit: UInt64 { commitNumber.load(ordering: .acquiring) }

  private let views = Atomic<UInt64>(0)
  /// The last number that was handed out before the store got its present engine.
  private let lastOfFormer = Atomic<UInt64>(0)
  /// The end of the newest view that has contributed rows.
  private let newest = Atomic<UInt64>(0)

  /// The last number that was handed out; see ``ViewStamp``.
  var lastView: UInt64 { views.load(ordering: .acquiring) }
  /// The next number.
  func nextView() -> UInt64 { views.add(1, ordering: .acquiringAndReleasing).newValue }

  /// Whether a view belongs to the store's present engine, not to a former one.
  @inline(__always)
  func isOfEngine(_ view: ViewStamp) -> Bool { view.start > lastOfFormer.load(ordering: .acquiring) }

  /// Whether this process has made no commit since a view of the engine was taken.
  @inline(__always)
  func isCurrent(_ view: ViewStamp) -> Bool { view.commitNumber >= lastCommit }

  /// Whether the cache may have rows that are newer than a view, because others have read them.
  func hasRows(after view: ViewStamp) -> Bool { newest.load(ordering: .acquiring) > view.start }

  private func note(_ view: ViewStamp) {
    if newest.load(ordering: .relaxed) < view.end { newest.max(view.end, ordering: .releasing) }
  }

  struct Table: ~Copyable {
    var rows = RowTable()
    /// When the table reaches this number of rows, unused rows are dropped.
    var sweepAt = 1 << 18
    /// When rows were read, in nanoseconds of uptime, by key. Nil until a context needs the age of a row. A row without
    /// an entry is of unknown age.
    var readAt: [Int64: UInt64]?

    mutating func note(_ key: Int64) { if readAt != nil { readAt?[key] = DispatchTime.now().uptimeNanoseconds } }

    mutating func remove(_ key: Int64) {
      rows.remove(key)
      readAt?[key] = nil
    }

    mutating func prepare(for more: Int) {
      if rows.count + more > sweepAt {
        rows.sweep(keeping: RowCache.unusedLimit)
        if readAt != nil { readAt = [:] }
        sweepAt = max(1 << 18, (rows.count + more) * 2)
      }
      rows.reserve(more)
    }
  }

  init(roots: Int) { self.roots = (0..<roots).map { _ in Mutex<Table>.Box() } }

  /// A cache that keeps no rows, for the children of a context: only the parent knows the present state of an object.
  static func withoutRows() -> RowCache { RowCache(roots: 0) }

  func row(_ root: Int, _ key: Int64) -> Row? {
    if root >= roots.count { return nil }
    return roots[root].mutex.withLock { $0.rows.row(key) }
  }

  /// Keeps the newer of the given and the known row by version. Returns the given row, or the known one where both are
  /// equal, so that it is shared. `view` is the view that the row was read from. An old view adds no row, because the
  /// row may have been deleted since. A view of a former engine changes nothing.
  func merge(_ root: Int, _ row: Row, view: ViewStamp) -> Row {
    roots[root].mutex.withLock { table in
      guard isOfEngine(view) else { return row }
      note(view)
      table.prepare(for: 1)
      table.note(row.key)
      return table.rows.merge(row, isCurrent: isCurrent(view))
    }
  }

  /// Makes room for `count` rows in all.
  func expect(_ root: Int, _ count: Int) {
    roots[root].mutex.withLock { $0.rows.reserve(max(0, count - $0.rows.count)) }
  }

  /// The same for many rows under one lock.
  func merge(_ root: Int, _ rows: RowChunk, view: ViewStamp) {
    roots[root].mutex.withLock { table in
      guard isOfEngine(view) else { return }
      note(view)
      table.prepare(for: rows.rows.count)
      if table.readAt != nil { for case let row? in rows.rows { table.note(row.key) } }
      table.rows.merge(rows, isCurrent: isCurrent(view))
    }
  }

  /// Applies the changes of a commit. Called in the order of the commits.
  func publish(_ changes: SealedChanges, _ receipt: Receipt, _ schema: Schema) {
    // The number is stored first: a reader that still finds the old number under a root's lock has read before the
    // changes there.
    commitNumber.store(receipt.commitNumber, ordering: .releasing)
    var counts = Array(repeating: 0, count: roots.count)
    for row in changes.insertions { counts[schema.entities[row.entity].root] += 1 }
    for root in roots.indices where counts[root] > 0 { roots[root].mutex.withLock { $0.prepare(for: counts[root]) } }
    let (insertions, updates) = (changes.insertions, changes.updates)
    put(insertions.count, schema) { insertions[$0] }
    put(updates.count, schema) { updates.row(at: $0) }
    var gone: [Int: [Int64]] = [:]
    for deletion in changes.deletions {
      gone[schema.entities[deletion.reference.entity].root, default: []].append(deletion.reference.key)
    }
    for touched in receipt.touched { gone[schema.entities[touched.entity].root, default: []].append(touched.key) }
    for (root, keys) in gone { remove(root, keys) }
  }

  /// Keeps written rows. Rows of one entity are mostly adjacent, and are kept under one lock.
  @inline(__always)
  private func put(_ count: Int, _ schema: Schema, _ row: (Int) -> Row) {
    var index = 0
    while index < count {
      let entity = row(index).entity
      roots[schema.entities[entity].root].mutex.withLock { table in
        repeat {
          // Prefetches a later row, and the row that it replaces.
          if index &+ 8 < count { cd_prefetch(unsafeBitCast(row(index &+ 8), to: UnsafeRawPointer.self)) }
          if index &+ 4 < count { table.rows.prefetch(row(index &+ 4).key) }
          let written = row(index)
          table.note(written.key)
          table.rows.put(written)
          index += 1
        } while index < count && row(index).entity == entity
      }
    }
  }

  /// Removes a row that was not read or written within the last `seconds`, so that the next read goes to the store.
  /// Returns whether it did. The first call always returns true, because ages are recorded only from then on.
  func removeOlder(_ root: Int, _ key: Int64, than seconds: Double) -> Bool {
    if root >= roots.count { return false }
    return roots[root].mutex.withLock { table in
      if table.readAt == nil { table.readAt = [:] }
      if let time = table.readAt?[key], Double(DispatchTime.now().uptimeNanoseconds &- time) < seconds * 1e9 {
        return false
      }
      table.remove(key)
      return true
    }
  }

  func remove(_ root: Int, _ keys: [Int64]) {
    if root >= roots.count { return }
    roots[root].mutex.withLock { table in for key in keys { table.remove(key) } }
  }

  /// Empties the cache for another engine, which has other commits. Rows that are still read from views of the former
  /// engine are not kept. The caller makes sure that no view is taken meanwhile.
  func begin() {
    lastOfFormer.store(nextView(), ordering: .releasing)
    commitNumber.store(0, ordering: .releasing)
    removeAll()
  }

  func removeAll() {
    for root in roots { root.mutex.withLock { $0 = Table() } }
  }
}

extension Mutex where Value == RowCache.Table {
  /// An array cannot hold a mutex directly.
  final class Box: Sendable {
    let mutex = Mutex(RowCache.Table())
  }
}
