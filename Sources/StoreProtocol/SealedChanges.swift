import Foundation
import StoreSchema

extension ChangeSet {
  /// The changes with the key of every new object: `keys[n]` is the key of the n-th insertion, as in a ``Receipt``.
  ///
  /// A store that was given this change set may have sealed its rows, or copies of them. Throws `invalidArgument` where
  /// they were sealed with other keys.
  public func sealed(keys: [Int64], _ schema: Schema) throws(StoreError) -> SealedChanges {
    guard keys.count == insertions.count else { throw Self.otherKeys }
    if keys.isEmpty {
      // Without new objects nothing refers to one.
      for index in updates.indices { updates[index].row.sealAsIs() }
      return SealedChanges(self, keys: keys)
    }
    // Rows of one entity are adjacent: what all of them need is looked up once.
    var (entity, slots) = (-1, [Int]())
    func seal(_ draft: RowDraft, _ key: Int64, _ version: Int64) throws(StoreError) {
      if draft.entity != entity {
        entity = draft.entity
        slots = schema.entities[entity].referenceSlots
      }
      if !draft.seal(key: key, version: version, referenceSlots: slots, keys: keys) { throw Self.otherKeys }
    }
    for index in insertions.indices {
      if !insertions[index].isSealed {
        try seal(insertions[index], keys[index], 1)
      } else if insertions[index].key != keys[index] {
        throw Self.otherKeys
      }
    }
    for index in updates.indices where !updates[index].row.isSealed {
      try seal(updates[index].row, updates[index].row.key, updates[index].row.version)
    }
    return SealedChanges(self, keys: keys)
  }

  /// The same after a commit. Where the receipt contradicts the keys that the store has written, it throws with the
  /// outcome unknown, because the commit was made.
  public func sealed(by receipt: Receipt, _ schema: Schema) throws(StoreError) -> SealedChanges {
    do { return try sealed(keys: receipt.keys, schema) } catch {
      var error = error
      error.outcome = .outcomeUnknown
      throw error
    }
  }

  private static var otherKeys: StoreError {
    StoreError(
      .invalidArgument,
      "The rows of a change set get their keys once; make a new change set from the objects and commit that.")
  }
}

/// A change set in which every object has its key and every reference leads to one.
public struct SealedChanges: Sendable {
  @usableFromInline let changes: ChangeSet
  /// The key of each insertion, in the order of the change set.
  public let keys: [Int64]

  fileprivate init(_ changes: ChangeSet, keys: [Int64]) { (self.changes, self.keys) = (changes, keys) }

  /// The rows of new objects.
  @inlinable public var insertions: SealedRows { SealedRows(changes.insertions) }
  /// The changed objects with their new rows.
  @inlinable public var updates: Updates { Updates(changes.updates) }
  /// See ``ChangeSet/deletions``.
  @inlinable public var deletions: [ChangeSet.Deletion] { changes.deletions }
  /// See ``ChangeSet/checks``.
  @inlinable public var checks: [ChangeSet.Deletion] { changes.checks }
  /// Their owners and members may be new objects: see ``permanentKey(_:)``.
  @inlinable public var links: ChangeSet.LinkChanges { changes.links }
  /// New metadata to store with the changes, nil to leave it.
  public var metadata: StoreMetadata? { changes.metadata }
  /// See ``ChangeSet/author``.
  public var author: String? { changes.author }
  /// See ``ChangeSet/contextName``.
  public var contextName: String? { changes.contextName }
  /// When the save began, in seconds since 2001-01-01.
  public var time: Double { changes.time }
  /// See ``ChangeSet/isPartOfCopy``.
  public var isPartOfCopy: Bool { changes.isPartOfCopy }
  /// See ``ChangeSet/obsoleteExternalData``.
  public var obsoleteExternalData: [Data] { changes.obsoleteExternalData }
  /// Whether no object is new, changed or deleted.
  public var hasNoRows: Bool { changes.insertions.isEmpty && changes.updates.isEmpty && changes.deletions.isEmpty }

  /// Whether the change set gives an object its values in slots: the object is new, or one of the slots changes.
  public func gives(_ slots: [Int], to object: ObjectReference) -> Bool {
    changes.insertions.contains { $0.reference == object }
      || changes.updates.contains { update in
        update.row.reference == object && slots.contains(where: update.changed.contains)
      }
  }

  /// The key of an object of ``links``: the key of the n-th insertion for `-(n + 1)`, any other number as it is.
  @inlinable @inline(__always)
  public func permanentKey(_ key: Int64) -> Int64 {
    if key >= 0 { return key }
    let number = Int(~key)
    return number < keys.count ? keys[number] : key
  }

  /// The conflicts with the references of the change set: a new object that needed a key is `-(n + 1)` again. A commit
  /// that is not made assigns no keys.
  public func unsealed(_ conflicts: [Conflict]) -> [Conflict] {
    var numbers: [ObjectReference: Int64] = [:]
    for (index, draft) in changes.insertions.enumerated() where draft.gotKey {
      numbers[draft.reference] = -Int64(index) - 1
    }
    if numbers.isEmpty { return conflicts }
    func unsealed(_ reference: ObjectReference) -> ObjectReference {
      numbers[reference].map { ObjectReference(entity: reference.entity, key: $0) } ?? reference
    }
    return conflicts.map { conflict in
      var conflict = conflict
      conflict.reference = unsealed(conflict.reference)
      switch conflict.kind {
      case .version: break
      case .constraint(let slots, let other, let persisted):
        conflict.kind = .constraint(slots: slots, other: unsealed(other), persisted: persisted)
      case .referrers(let relationship, let objects):
        conflict.kind = .referrers(relationship: relationship, objects.map(unsealed))
      }
      return conflict
    }
  }

  /// A changed object.
  public struct Update: Sendable {
    /// The complete new state.
    public let row: Row
    /// The slots whose values differ from the version read.
    public let changed: SlotSet
    /// The version that the store must still have.
    @inlinable public var versionRead: Int64 { row.version &- 1 }

    @inlinable init(_ update: ChangeSet.Update) { (row, changed) = (update.row.sealedRow, update.changed) }
  }

  /// The changed objects, in the order of the change set.
  public struct Updates: RandomAccessCollection, Sendable {
    @usableFromInline let updates: [ChangeSet.Update]

    @inlinable init(_ updates: [ChangeSet.Update]) { self.updates = updates }

    @inlinable public var startIndex: Int { 0 }
    @inlinable public var endIndex: Int { updates.count }
    @inlinable public subscript(index: Int) -> Update { Update(updates[index]) }
    /// The new row of a changed object alone.
    @inlinable public func row(at index: Int) -> Row { updates[index].row.sealedRow }
  }
}
