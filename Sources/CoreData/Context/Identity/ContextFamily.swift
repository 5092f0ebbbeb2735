import StoreSchema
import Synchronization

/// A root context with its child contexts, their children, and so on. They share their objects' temporary keys: a new
/// object has the same key in each of them.
///
/// When a new object gets its permanent key, in whichever context, the family notes it. Each context takes the new keys
/// up on its own queue; see ``ContextCore/takeUpKeys()``. Any thread may use it.
final class ContextFamily: Sendable {
  /// Distinguishes the temporary IDs of different families. Never zero.
  let number: UInt64
  private static let lastNumber = Atomic<UInt64>(0)
  private let lastTemporaryKey = Atomic<Int64>(0)
  /// See ``hasChildContexts``.
  private let hasChildren = Atomic<Bool>(false)
  /// How many keys have been noted.
  private let noted = Atomic<Int>(0)
  private let state = Mutex(State())

  private struct State {
    /// The keys that were noted last, in their order. The first one has the number `first`.
    var keys: ContiguousArray<NewKey> = []
    var first = 0
    var permanent: [Int64: NewKey] = [:]
    var members: [(link: ContextLink, takenUp: Int)] = []
    /// The versions of the rows that the root has saved or merged last, and those from before.
    var known: [RowName: Int64] = [:]
    var knownBefore: [RowName: Int64] = [:]
  }

  struct NewKey {
    let temporary, permanent: Int64
    /// The index of the store that has the object.
    let store: UInt16
  }

  private struct RowName: Hashable {
    let store: UInt16
    let root: Int
    let key: Int64
  }

  /// A row that the root has saved or merged.
  struct KnownRow {
    let key, version: Int64
    /// The index of the root entity.
    let root: Int

    init(_ row: Row, root: Int) { (key, version, self.root) = (row.key, row.version, root) }
  }

  /// How many keys are kept although all contexts have taken them up: a client may still have an old ID. As many
  /// versions of rows are kept at least.
  static let kept = 1 << 16

  init() { number = Self.lastNumber.add(1, ordering: .relaxed).newValue }

  func nextTemporaryKey() -> Int64 { lastTemporaryKey.subtract(1, ordering: .relaxed).newValue }

  /// Whether there are, or were, child contexts. Without them no key is noted.
  var hasChildContexts: Bool { hasChildren.load(ordering: .acquiring) }

  /// Adds a context that has a parent, or is one.
  func add(_ link: ContextLink) {
    hasChildren.store(true, ordering: .releasing)
    state.withLock { state in
      if state.members.contains(where: { $0.link === link }) { return }
      let count = state.members.count
      if count >= 8 && count.nonzeroBitCount == 1 { state.members.removeAll { $0.link.isOver } }
      state.members.append((link, state.first + state.keys.count))
    }
  }

  /// The contexts of the family that still exist, if there are child contexts.
  var contexts: [ContextCore] {
    if !hasChildContexts { return [] }
    return state.withLock { $0.members }.compactMap(\.link.core)
  }

  // MARK: Permanent keys

  /// How many keys have been noted since the family began.
  var count: Int { noted.load(ordering: .acquiring) }

  /// Notes the permanent keys of objects that had temporary ones.
  func note(_ keys: ContiguousArray<NewKey>) {
    if keys.isEmpty || !hasChildContexts { return }
    state.withLock { state in
      state.keys += keys
      for key in keys { state.permanent[key.temporary] = key }
      noted.store(state.first + state.keys.count, ordering: .releasing)
    }
  }

  /// The keys from a number on.
  func keys(from number: Int) -> ContiguousArray<NewKey> {
    state.withLock { state in ContiguousArray(state.keys.dropFirst(max(0, number - state.first))) }
  }

  /// The permanent key of a temporary one; the key itself if none is known.
  func present(_ key: Int64) -> Int64 { newKey(of: key)?.permanent ?? key }

  /// The permanent key and the store of a temporary key, if they are known.
  func newKey(of key: Int64) -> NewKey? { key > 0 || count == 0 ? nil : state.withLock { $0.permanent[key] } }

  // MARK: Rows that the root knows

  /// Notes rows that the root has saved or merged, for ``isKnown(_:root:store:)``.
  func noteKnown(_ rows: some Sequence<KnownRow>, store: UInt16) {
    state.withLock { state in
      if state.known.count >= Self.kept { (state.knownBefore, state.known) = (state.known, [:]) }
      for row in rows { state.known[RowName(store: store, root: row.root, key: row.key)] = row.version }
    }
  }

  /// Forgets the versions of a store. Called where the root finds another store at the index, or the same one at
  /// another URL: versions count anew there.
  func forgetKnown(store: UInt16) {
    state.withLock { state in
      state.known = state.known.filter { $0.key.store != store }
      state.knownBefore = state.knownBefore.filter { $0.key.store != store }
    }
  }

  /// Whether the root has saved or merged this very version of a row. It then knew every earlier version. Older ones
  /// are forgotten.
  func isKnown(_ row: Row, root: Int, store: UInt16) -> Bool {
    let name = RowName(store: store, root: root, key: row.key)
    return state.withLock { ($0.known[name] ?? $0.knownBefore[name]) == row.version }
  }

  /// Notes that a context has taken up all keys before a number. Keys that no context needs any more are forgotten.
  func noteTakenUp(_ count: Int, by link: ContextLink) {
    state.withLock { state in
      for index in state.members.indices where state.members[index].link === link {
        state.members[index].takenUp = count
      }
      if state.keys.count < 2 * Self.kept { return }
      state.members.removeAll { $0.link.isOver }
      let required = state.members.map(\.takenUp).min() ?? count
      let surplus = min(required - state.first, state.keys.count - Self.kept)
      if surplus < Self.kept { return }
      for key in state.keys.prefix(surplus) { state.permanent[key.temporary] = nil }
      state.keys.removeFirst(surplus)
      state.first += surplus
    }
  }
}
