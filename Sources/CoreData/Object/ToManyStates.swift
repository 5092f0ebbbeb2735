import StoreSchema

/// The states of an object's to-many relationships, each made when it is first asked for.
///
/// Most entities that have such a relationship have one. Its state is held without a list: after a save of many objects
/// each list would have to come from memory, which takes as long as all that is done with it. They are not copied, so
/// that looking at them counts no references.
struct ToManyStates: ~Copyable {
  /// Of an entity with one to-many relationship.
  private var only: ToManyState?
  /// Of an entity with several, by `Relationship.toManyIndex`; nil until the first is made.
  private var list: ContiguousArray<ToManyState?>?

  /// Whether none has been made.
  var isEmpty: Bool { only == nil && list == nil }

  /// Nil where none has been made, and for a to-one relationship.
  subscript(relationship: Relationship) -> ToManyState? {
    guard let index = relationship.toManyIndex else { return nil }
    return self[index]
  }

  subscript(index: Int) -> ToManyState? { uncounted(index)?.takeUnretainedValue() }

  /// The state, not counted: valid as long as it is not replaced.
  @inline(__always)
  func uncounted(_ index: Int) -> Unmanaged<ToManyState>? {
    if let only = unsafeBitCast(only, to: Unmanaged<ToManyState>?.self) { return index == 0 ? only : nil }
    guard let list, index < list.count else { return nil }
    return list.withUnsafeBytes { $0.bindMemory(to: Unmanaged<ToManyState>?.self)[index] }
  }

  /// Keeps the first state of a relationship, of an object of `entity`.
  mutating func add(_ state: ToManyState, at index: Int, of entity: Entity) {
    if entity.toManyCount == 1 {
      only = state
    } else {
      if list == nil { list = ContiguousArray(repeating: nil, count: entity.toManyCount) }
      list?[index] = state
    }
  }

  /// Lets go of what is known of a relationship.
  mutating func remove(_ relationship: Relationship) {
    guard let index = relationship.toManyIndex else { return }
    if only != nil { only = nil } else if self[index] != nil { list?[index] = nil }
  }

  mutating func removeAll() { self = ToManyStates() }

  /// Calls `body` with each, not counted: it must not replace them.
  @inline(__always)
  func forEach(_ body: (ToManyState) -> Void) {
    unsafeBitCast(only, to: Unmanaged<ToManyState>?.self)?._withUnsafeGuaranteedRef(body)
    if let list { for case let state? in list { body(state) } }
  }

  func contains(where isWanted: (ToManyState) -> Bool) -> Bool {
    var isFound = false
    forEach { if !isFound && isWanted($0) { isFound = true } }
    return isFound
  }

  /// Whether members or their order have changed since the last save.
  var hasChanges: Bool { contains { $0.hasChanges } }
}
