import StoreSchema

/// The states of an object's to-many relationships, each made at its first use.
///
/// They form a linked list. An object without states stores one nil pointer, and most entities with to-many
/// relationships have one. An array would need one more allocation for each object, which a save of many objects would
/// have to fetch from memory. The list is not copied, so that a look-up retains nothing.
struct ToManyStates: ~Copyable {
  private var first: ToManyState?

  deinit { Self.release(first) }

  /// Whether there are no states.
  var isEmpty: Bool { first == nil }

  /// The state of a relationship; nil where none has been made, and for a to-one relationship.
  subscript(relationship: Relationship) -> ToManyState? {
    guard let index = relationship.toManyIndex else { return nil }
    return self[index]
  }

  /// By `Relationship.toManyIndex`.
  subscript(index: Int) -> ToManyState? { unretained(index)?.takeUnretainedValue() }

  /// The same, not retained: valid as long as the state is in the list.
  @inline(__always)
  func unretained(_ index: Int) -> Unmanaged<ToManyState>? {
    var next = unsafeBitCast(first, to: Unmanaged<ToManyState>?.self)
    while let state = next {
      if state._withUnsafeGuaranteedRef({ $0.index == index }) { return state }
      next = state._withUnsafeGuaranteedRef { $0.unretainedNext }
    }
    return nil
  }

  /// Adds the state of a relationship that has none yet.
  mutating func add(_ state: ToManyState) {
    state.next = first
    first = state
  }

  /// Removes the state of a relationship.
  mutating func remove(_ relationship: Relationship) {
    guard let state = self[relationship] else { return }
    if let before = find({ $0.next === state }) { before.next = state.next } else { first = state.next }
    state.next = nil
  }

  /// Releases all states. A member's `deinit` that runs because of it finds the list empty.
  mutating func removeAll() { Self.release(first.take()) }

  /// Removes all states, for a later release by the caller.
  mutating func moveAll(to states: inout ContiguousArray<ToManyState>) {
    forEach { states.append($0) }
    removeAll()
  }

  /// Releases the states one by one: freeing the whole list at once would recurse.
  private static func release(_ chain: consuming ToManyState?) {
    while let state = chain { chain = state.next.take() }
  }

  /// Calls `body` with each state. They are not retained: `body` must not remove any.
  @inline(__always)
  func forEach(_ body: (ToManyState) -> Void) {
    _ = find {
      body($0)
      return false
    }
  }

  /// Calls `body` with each state. It may run code of the client, which may remove states.
  func forEachRetained(_ body: (ToManyState) -> Void) {
    var next = unsafeBitCast(first, to: Unmanaged<ToManyState>?.self)
    while let state = next?.retain() {
      state._withUnsafeGuaranteedRef(body)
      // Nil for a state that was removed.
      next = state._withUnsafeGuaranteedRef { $0.unretainedNext }
      state.release()
    }
  }

  func contains(where condition: (ToManyState) -> Bool) -> Bool { find(condition) != nil }

  @inline(__always)
  private func find(_ condition: (ToManyState) -> Bool) -> ToManyState? {
    var next = unsafeBitCast(first, to: Unmanaged<ToManyState>?.self)
    while let state = next {
      if state._withUnsafeGuaranteedRef(condition) { return state.takeUnretainedValue() }
      next = state._withUnsafeGuaranteedRef { $0.unretainedNext }
    }
    return nil
  }

  /// Whether members or their order have changed since the last save.
  var hasChanges: Bool { contains { $0.hasChanges } }
}
