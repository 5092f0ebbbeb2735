import StoreProtocol
import StoreSchema

/// The first half of a commit: lists the keys to reserve and the objects to check, and seals the rows of a change set.
///
/// The engine begins its transaction, makes a draft, reserves ``keyNeeds`` and calls ``seal(_:)``. From then on it has
/// ``SealedChanges``, in which every object has its key. Nothing else writes to the rows of a change set.
public struct CommitDraft: ~Copyable {
  private var changes: ChangeSet
  private let schema: Schema
  /// The stored objects that new links lead to. The commit must make sure that they exist after it; see
  /// ``ChangeSet/linkTargets(_:)``.
  public let targets: [ObjectReference]

  /// How many keys the new objects of one entity hierarchy need.
  public struct KeyNeed: Sendable, Hashable {
    /// Index of the root entity.
    public let root: Int
    /// How many objects need a key.
    public internal(set) var count: Int
    /// The highest key that a new object brings with it; 0 for none. This key and all lower ones count as handed out.
    public internal(set) var highestGiven: Int64
  }

  /// One for each entity hierarchy that gets new objects, in the order in which they first appear.
  public private(set) var keyNeeds: [KeyNeed] = []

  /// The new objects that bring their keys with them.
  public var givenKeys: [ObjectReference] {
    if keyNeeds.allSatisfy({ $0.highestGiven == 0 }) { return [] }
    return changes.insertions.lazy.filter { $0.key > 0 }.map(\.reference)
  }

  /// With `isRehearsal` the changes are not committed now, and copies of the rows are sealed.
  public init(_ changes: ChangeSet, _ schema: Schema, isRehearsal: Bool = false) {
    self.changes = isRehearsal ? changes.withCopiedRows() : changes
    self.schema = schema
    targets = changes.linkTargets(schema)
    countKeys()
  }

  private mutating func countKeys() {
    // Objects of one entity are adjacent: their hierarchy is looked up once.
    var (entity, need) = (-1, 0)
    for index in changes.insertions.indices {
      if changes.insertions[index].entity != entity {
        entity = changes.insertions[index].entity
        let root = schema.entities[entity].root
        need = keyNeeds.firstIndex { $0.root == root } ?? keyNeeds.count
        if need == keyNeeds.count { keyNeeds.append(KeyNeed(root: root, count: 0, highestGiven: 0)) }
      }
      let key = changes.insertions[index].key
      if key > 0 {
        keyNeeds[need].highestGiven = max(keyNeeds[need].highestGiven, key)
      } else {
        keyNeeds[need].count += 1
      }
    }
  }

  /// Assigns keys of the ranges, by root entity, to the new objects, and seals all rows.
  ///
  /// Throws `invalidArgument` where a range has too few keys, or where the change set was sealed before with other
  /// keys. Then make a new change set.
  public consuming func seal(_ ranges: [Int: Range<Int64>]) throws(StoreError) -> SealedChanges {
    var next = ranges
    return try seal { (root, count) in
      guard let range = next[root], range.count >= count else { return nil }
      next[root] = range.dropFirst(count)
      return range.lowerBound
    }
  }

  /// The same where all entity hierarchies take their keys out of one range, in the order of the change set.
  public consuming func seal(all range: Range<Int64>) throws(StoreError) -> SealedChanges {
    var next = range
    return try seal { (_, count) in
      if next.count < count { return nil }
      defer { next = next.dropFirst(count) }
      return next.lowerBound
    }
  }

  /// `take` returns the first of `count` keys of a hierarchy, nil where there are not enough.
  private consuming func seal(_ take: (_ root: Int, _ count: Int) -> Int64?) throws(StoreError) -> SealedChanges {
    let changes = changes
    var keys: [Int64] = []
    keys.reserveCapacity(changes.insertions.count)
    var index = 0
    while index < changes.insertions.count {
      // Objects of one entity are adjacent: their keys are taken at once.
      let entity = changes.insertions[index].entity
      var (end, count) = (index, 0)
      while end < changes.insertions.count, changes.insertions[end].entity == entity {
        if changes.insertions[end].key <= 0 { count += 1 }
        end += 1
      }
      guard var free = count == 0 ? 0 : take(schema.entities[entity].root, count) else {
        throw StoreError(
          .invalidArgument, "There are too few keys for the new objects.",
          context: ["entity": schema.entities[entity].name])
      }
      for insertion in changes.insertions[index..<end] {
        if insertion.key > 0 {
          keys.append(insertion.key)
        } else {
          keys.append(free)
          free += 1
        }
      }
      index = end
    }
    return try changes.sealed(keys: keys, schema)
  }
}

extension ChangeSet {
  /// The same changes with rows of their own.
  fileprivate func withCopiedRows() -> ChangeSet {
    var copy = self
    for index in copy.insertions.indices { copy.insertions[index] = copy.insertions[index].copy() }
    for index in copy.updates.indices { copy.updates[index].row = copy.updates[index].row.copy() }
    return copy
  }
}
