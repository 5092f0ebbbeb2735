import CRuntime
import Dispatch
import StoreProtocol
import StoreSchema
import Synchronization

/// The rows that one store's contexts share: by key, the newest known state of an object.
///
/// Rows that no object uses any more are kept up to `unusedLimit` bytes a root entity, so that faults fire without I/O.
final class RowCache: Sendable {
  private let roots: [Mutex<Table>.Box]
  private static let unusedLimit = 64 << 20
  private let commitNumber = Atomic<UInt64>(0)

  /// The number of the last commit that this process made to the store.
  var lastCommit: UInt64 { commitNumber.load(ordering: .acquiring) }

  private let views = Atomic<UInt64>(0)
  /// The last number from before the store got its engine.
  private let lastOfFormer = Atomic<UInt64>(0)
  /// The end of the last view of which rows are here.
  private let newest = Atomic<UInt64>(0)

  /// The number that was given last; see ``ViewStamp``.
  var lastView: UInt64 { views.load(ordering: .acquiring) }
  /// The next number.
  func nextView() -> UInt64 { views.add(1, ordering: .acquiringAndReleasing).newValue }

  /// Whether a view is of the store's engine, not of a former one.
  @inline(__always)
  func isOfEngine(_ view: ViewStamp) -> Bool { view.start > lastOfFormer.load(ordering: .acquiring) }

  /// Whether this process has committed nothing since a view of the engine was taken.
  @inline(__always)
  func isCurrent(_ view: ViewStamp) -> Bool { view.commitNumber >= lastCommit }

  /// Whether rows are here that may be newer than a view: others have read them.
  func hasRows(after view: ViewStamp) -> Bool { newest.load(ordering: .acquiring) > view.start }

  private func note(_ view: ViewStamp) {
    if newest.load(ordering: .relaxed) < view.end { newest.max(view.end, ordering: .releasing) }
  }

  struct Table: ~Copyable {
    var rows = RowTable()
    /// When this many rows are reached, those that nobody uses are dropped.
    var sweepAt = 1 << 18
    /// When rows were read, in nanoseconds of uptime, by key. Nil until a context asks for the age of one: a row that
    /// is not in it is of unknown age.
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

  func row(_ root: Int, _ key: Int64) -> Row? { roots[root].mutex.withLock { $0.rows.row(key) } }

  /// Keeps the newer of the given and the known row by version, and gives back the given one, shared where it is the
  /// same as the known. `view` is what it was read from. An old view adds no row, for the row may have been deleted
  /// since; a view of a former engine changes nothing.
  func merge(_ root: Int, _ row: Row, view: ViewStamp) -> Row {
    roots[root].mutex.withLock { table in
      guard isOfEngine(view) else { return row }
      note(view)
      table.prepare(for: 1)
      table.note(row.key)
      return table.rows.merge(row, isCurrent: isCurrent(view))
    }
  }

  /// Makes room for so many rows in all.
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

  /// Takes over what a commit has done. Called in the order of the commits.
  func publish(_ changes: SealedChanges, _ receipt: Receipt, _ schema: Schema) {
    // First the number: a reader that still finds the old one under a root's lock comes before the changes there.
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

  /// Keeps rows that were written. Those of one entity mostly come together, and are kept under one lock.
  @inline(__always)
  private func put(_ count: Int, _ schema: Schema, _ row: (Int) -> Row) {
    var index = 0
    while index < count {
      let entity = row(index).entity
      roots[schema.entities[entity].root].mutex.withLock { table in
        repeat {
          // The row that comes is asked for, and the one in whose place it comes.
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

  /// Forgets a row that was not read or written within the last seconds, so that the next look at it asks the store.
  /// Gives whether it did. The first question is answered with yes: from then on ages are known.
  func removeOlder(_ root: Int, _ key: Int64, than seconds: Double) -> Bool {
    roots[root].mutex.withLock { table in
      if table.readAt == nil { table.readAt = [:] }
      if let time = table.readAt?[key], Double(DispatchTime.now().uptimeNanoseconds &- time) < seconds * 1e9 {
        return false
      }
      table.remove(key)
      return true
    }
  }

  func remove(_ root: Int, _ keys: [Int64]) {
    roots[root].mutex.withLock { table in for key in keys { table.remove(key) } }
  }

  /// Begins anew for another engine, of other commits. Rows that are still read from views of the former engine are not
  /// kept. The caller lets nobody take a view meanwhile.
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
  /// A mutex in an array needs a home of its own.
  final class Box: Sendable {
    let mutex = Mutex(RowCache.Table())
  }
}
