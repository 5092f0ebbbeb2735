import StoreSchema

/// The states of an object's to-many relationships, each made when it is first asked for.
///
/// They are a chain: an object without any has one word for them, and most objects have one. A list would be memory of
/// its own, for which every save of many objects would wait. The chain is not copied, so that to look at it retains
/// nothing.
struct ToManyStates: ~Copyable {
  private var first: ToManyState?

  deinit { Self.release(first) }

  /// Whether there is none.
  var isEmpty: Bool { first == nil }

  /// Nil where none has been made, and for a to-one relationship.
  subscript(relationship: Relationship) -> ToManyState? {
    guard let index = relationship.toManyIndex else { return nil }
    return self[index]
  }

  /// By `Relationship.toManyIndex`.
  subscript(index: Int) -> ToManyState? { unretained(index)?.takeUnretainedValue() }

  /// The same, valid as long as the chain holds it.
  @inline(__always)
  func unretained(_ index: Int) -> Unmanaged<ToManyState>? {
    var next = unsafeBitCast(first, to: Unmanaged<ToManyState>?.self)
    while let state = next {
      if state._withUnsafeGuaranteedRef({ $0.index == index }) { return state }
      next = state._withUnsafeGuaranteedRef { $0.unretainedNext }
    }
    return nil
  }

  /// Adds the first state of a relationship.
  mutating func add(_ state: ToManyState) {
    state.next = first
    first = state
  }

  /// Lets go of what is known of a relationship.
  mutating func remove(_ relationship: Relationship) {
    guard let state = self[relationship] else { return }
    if let before = find({ $0.next === state }) { before.next = state.next } else { first = state.next }
    state.next = nil
  }

  /// Lets go of all. Members that go with them find the chain empty.
  mutating func removeAll() { Self.release(first.take()) }

  /// One by one: a chain that is freed as a whole recurses.
  private static func release(_ chain: consuming ToManyState?) {
    while let state = chain { chain = state.next.take() }
  }

  /// Calls `body` with each. They are not retained: it must not take any out of the chain.
  @inline(__always)
  func forEach(_ body: (ToManyState) -> Void) {
    _ = find {
      body($0)
      return false
    }
  }

  func contains(where isWanted: (ToManyState) -> Bool) -> Bool { find(isWanted) != nil }

  @inline(__always)
  private func find(_ isWanted: (ToManyState) -> Bool) -> ToManyState? {
    var next = unsafeBitCast(first, to: Unmanaged<ToManyState>?.self)
    while let state = next {
      if state._withUnsafeGuaranteedRef(isWanted) { return state.takeUnretainedValue() }
      next = state._withUnsafeGuaranteedRef { $0.unretainedNext }
    }
    return nil
  }

  /// Whether members or their order have changed since the last save.
  var hasChanges: Bool { contains { $0.hasChanges } }
}
