import StoreSchema

extension ChangeSet {
  /// Changed links of one to-many relationship of one owner: pairs (on their primary side), one-way links, and the
  /// order of ordered relationships.
  public struct LinkChange: Sendable {
    /// Index of an entity that has the relationship, and the relationship's index there.
    public var entity: Int
    /// The index of the to-many relationship in the relationships of ``entity``.
    public var relationship: Int
    /// The key of the object that has the relationship, or `-(n + 1)` for the n-th insertion.
    public var owner: Int64
    /// The destinations that are linked now and were not before.
    public var added: ArraySlice<ObjectReference>
    /// The destinations that are linked no more.
    public var removed: ArraySlice<ObjectReference>
    /// All destinations in their new order; nil where the relationship is not ordered.
    public var order: ArraySlice<ObjectReference>?

    /// The changed links of one relationship of one object.
    public init(
      entity: Int, relationship: Int, owner: Int64, added: [ObjectReference], removed: [ObjectReference],
      order: [ObjectReference]? = nil
    ) {
      self.entity = entity
      self.relationship = relationship
      self.owner = owner
      self.added = added[...]
      self.removed = removed[...]
      self.order = order.map { $0[...] }
    }

    @usableFromInline init(_ entry: LinkChanges.Entry, _ references: ContiguousArray<ObjectReference>) {
      (entity, relationship, owner) = (Int(entry.entity), Int(entry.relationship), entry.owner)
      added = references[entry.addedRange]
      removed = references[entry.removedRange]
      order = entry.orderRange.map { references[$0] }
    }
  }

  /// The changed links of a save. The references of all of them are in one array, because a save may link a million
  /// objects.
  ///
  /// A change is appended as a whole, or is begun and then gets its references one by one: added ones first, then
  /// removed ones, then the order. Another order of calls stops the program, and so does a reference before the first
  /// ``begin(entity:relationship:owner:)``.
  public struct LinkChanges: Sendable {
    @usableFromInline struct Entry: Sendable {
      /// The first reference of the change. Added, removed and ordered ones follow one another.
      @usableFromInline var first: Int
      @usableFromInline let owner: Int64
      @usableFromInline let entity: Int32
      @usableFromInline let relationship: Int32
      @usableFromInline var added: UInt32 = 0
      @usableFromInline var removed: UInt32 = 0
      /// -1 where there is no order.
      @usableFromInline var ordered: Int32 = -1

      @inlinable init(first: Int, owner: Int64, entity: Int, relationship: Int) {
        (self.first, self.owner) = (first, owner)
        // An index that no entity has stays one.
        (self.entity, self.relationship) = (Int32(clamping: entity), Int32(clamping: relationship))
      }

      @inlinable var addedRange: Range<Int> { first..<first &+ Int(added) }
      @inlinable var removedRange: Range<Int> { first &+ Int(added)..<first &+ Int(added) &+ Int(removed) }
      @inlinable var orderRange: Range<Int>? {
        ordered < 0 ? nil : removedRange.upperBound..<removedRange.upperBound &+ Int(ordered)
      }
    }

    @usableFromInline var entries: ContiguousArray<Entry> = []
    @usableFromInline var references: ContiguousArray<ObjectReference> = []

    /// No changes.
    public init() {}

    /// The changes of a sequence, in its order.
    public init(_ changes: some Sequence<LinkChange>) { for change in changes { append(change) } }

    /// Appends a change.
    public mutating func append(_ change: LinkChange) {
      begin(entity: change.entity, relationship: change.relationship, owner: change.owner)
      for reference in change.added { add(reference) }
      for reference in change.removed { remove(reference) }
      if let order = change.order { self.order(order) }
    }

    /// Begins a change without references; see ``LinkChange`` for the meaning of the numbers.
    @inlinable public mutating func begin(entity: Int, relationship: Int, owner: Int64) {
      entries.append(Entry(first: references.count, owner: owner, entity: entity, relationship: relationship))
    }

    /// Adds a destination to the change that was begun last.
    @inlinable @inline(__always)
    public mutating func add(_ reference: ObjectReference) {
      let last = entries.count &- 1
      precondition(entries[last].removed == 0 && entries[last].ordered < 0)
      references.append(reference)
      entries[last].added += 1
    }

    /// Removes a destination, in the change that was begun last.
    @inlinable public mutating func remove(_ reference: ObjectReference) {
      precondition(entries[entries.count &- 1].ordered < 0)
      references.append(reference)
      entries[entries.count &- 1].removed += 1
    }

    /// Gives the change that was begun last the order of all its destinations.
    @inlinable public mutating func order(_ order: some Sequence<ObjectReference>) {
      precondition(entries[entries.count &- 1].ordered < 0)
      let first = references.count
      references.append(contentsOf: order)
      entries[entries.count &- 1].ordered = Int32(references.count - first)
    }

    /// The index of a change's entity; see ``LinkChange/entity``.
    @inlinable public func entity(at index: Int) -> Int { Int(entries[index].entity) }
    /// The index of a change's relationship; see ``LinkChange/relationship``.
    @inlinable public func relationship(at index: Int) -> Int { Int(entries[index].relationship) }
    /// The owner of a change; see ``LinkChange/owner``.
    @inlinable public func owner(at index: Int) -> Int64 { entries[index].owner }
    /// The added destinations of a change.
    @inlinable public func added(at index: Int) -> ArraySlice<ObjectReference> { references[entries[index].addedRange] }
    /// Whether a change adds destinations, removes some, or has an order. Makes no ``LinkChange``.
    @inlinable public func adds(at index: Int) -> Bool { entries[index].added > 0 }
    /// See ``adds(at:)``.
    @inlinable public func removes(at index: Int) -> Bool { entries[index].removed > 0 }
    /// See ``adds(at:)``.
    @inlinable public func orders(at index: Int) -> Bool { entries[index].ordered >= 0 }

    /// Calls `body` with every destination of every change. A destination that is in an order too comes twice.
    @inlinable public func forEachDestination<E: Error>(_ body: (ObjectReference) throws(E) -> Void) throws(E) {
      for index in references.indices { try body(references[index]) }
    }

    /// The number of references of all changes.
    public var referenceCount: Int { references.count }
  }
}

extension ChangeSet.LinkChanges: RandomAccessCollection, ExpressibleByArrayLiteral {
  public init(arrayLiteral changes: ChangeSet.LinkChange...) { self.init(changes) }

  @inlinable public var startIndex: Int { 0 }
  @inlinable public var endIndex: Int { entries.count }
  @inlinable public subscript(index: Int) -> ChangeSet.LinkChange {
    ChangeSet.LinkChange(entries[index], references)
  }
}
