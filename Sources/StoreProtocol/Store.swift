import Foundation
import StoreQuery
import StoreSchema

/// One opened store.
///
/// All calls may come from any thread. Reads go through snapshots; at most one commit runs at a time, and commits do
/// not wait for snapshots where ``Capabilities/concurrentReads`` is declared.
public protocol Store: AnyObject, Sendable {
  /// The model that the store was opened with.
  var schema: Schema { get }
  /// The store's UUID in upper-case text.
  var identifier: String { get }
  /// The capabilities of the store. They never change.
  var capabilities: Capabilities { get }
  /// Whether every commit throws `readOnly`.
  var isReadOnly: Bool { get }
  /// The metadata as last read or committed.
  var metadata: StoreMetadata { get }

  /// Whether the store has tables of persistent history, which a copy leaves behind.
  var hasHistory: Bool { get }

  /// A consistent view of the last commit. Later commits do not show in it.
  ///
  /// The caller releases it soon: a snapshot may hold a connection and keep old versions alive. Throws `closed` after
  /// ``close()``, `busy` when no reader became free in time.
  func snapshot() throws(StoreError) -> any StoreSnapshot

  /// Applies all of `changes` or none of it, durably.
  ///
  /// The store assigns keys to new objects without one, by a `CommitDraft`, and checks the version of every update
  /// and deletion. Conflicts are a result, not an error; then nothing has been changed.
  func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult

  /// The conflicts that ``commit(_:)`` would report now; none where it would commit. Changes nothing.
  ///
  /// A save over several stores calls this on all of them before the first one commits. Throws the errors of a commit,
  /// for example `readOnly`. The drafts of `changes` stay as they are: make the `CommitDraft` with `isRehearsal`.
  func rehearse(_ changes: ChangeSet) throws(StoreError) -> [Conflict]

  /// Reserves `count` keys for objects of the hierarchy of the root entity `root`, durably: they are never handed out
  /// again. With 0 it reserves none and writes nothing; the range begins at the key that the next call would reserve
  /// first.
  func allocateKeys(root: Int, count: Int) throws(StoreError) -> Range<Int64>

  /// The bytes that a slot of kind `externalData` names, without its leading byte 2.
  ///
  /// Throws `missingExternalData` where they are gone.
  func externalData(_ name: Data) throws(StoreError) -> Data

  /// The store as an optional capability, which is a protocol of any module, for example
  /// `(any ExternalDataStore).self`. Nil where it lacks the capability.
  ///
  /// A store has the protocols that its type conforms to; implement this only to pass the request to another value. The
  /// checking wrapper passes each request on, and throws `closed` in a forked copy of the process that opened the
  /// store. A wrapper of your own does the same. Ask once for a piece of work, not for each row.
  func capability<Capability>(_ type: Capability.Type) throws(StoreError) -> Capability?

  /// Ends all use of the store. Safe to call twice.
  func close() throws(StoreError)
}

/// A store that keeps large values outside its rows: an optional capability, declared as ``Capabilities/externalData``.
public protocol ExternalDataStore: AnyObject, Sendable {
  /// Keeps large binary data outside the rows, durably. Returns its name for the slot, which begins with the byte 2.
  ///
  /// Returns nil where the data is better kept in the row. The data belongs to no row until a commit writes its name. A
  /// caller whose commit fails removes it with ``discardExternalData(_:)``.
  func keepExternalData(_ data: Data) throws(StoreError) -> Data?

  /// Removes at once data that no row has ever named, because its commit was not made.
  func discardExternalData(_ names: [Data])

  /// Keeps obsolete data (``ChangeSet/obsoleteExternalData``) readable beyond its grace time
  /// (``StoreOptions/externalDataGrace``), until it is released as often as it was held. Call it before the commit.
  func holdExternalData(_ names: [Data])

  /// Ends holds. Returns the names of data that a snapshot from before its commit can still read: those stay held.
  func releaseExternalData(_ names: [Data]) -> [Data]
}

/// A consistent view of a store. Used by one caller at a time; it may move between threads.
public protocol StoreSnapshot: AnyObject, Sendable {
  /// This snapshot if it evaluates fetch plans itself, nil otherwise. Do not implement it: see below.
  var fetching: (any FetchingSnapshot)? { get }

  /// Counts the commits of the opened store: greater in a newer view.
  var commitNumber: UInt64 { get }

  /// Calls `body` with the row of each key that exists in the hierarchy of `entity`, in any order.
  func rows(of entity: Int, keys: [Int64], _ body: (consuming Row) -> Void) throws(StoreError)

  /// The row of one key in the hierarchy of `entity`, nil where there is none.
  func row(of entity: Int, key: Int64) throws(StoreError) -> Row?

  /// Calls `body` with the rows of the hierarchy of `entity` whose keys are in a short key range, in any order, and
  /// returns true. Returns false, without a call, where that costs much more than reading one row.
  func rows(
    of entity: Int, between keys: ClosedRange<Int64>, _ body: (consuming Row) -> Void
  ) throws(StoreError) -> Bool

  /// Calls `body` with every row whose entity is in `entities`, which belong to one hierarchy, in key order.
  func scan(_ entities: Range<Int>, _ body: (consuming Row) -> Void) throws(StoreError)

  /// Calls `body` with the key of an owner and a destination's row for each link of a to-many relationship that leaves
  /// one of `owners`. All links of an owner are adjacent, in the order of an ordered relationship, otherwise in key
  /// order.
  func destinations(
    of relationship: Relationship, owners: [Int64], _ body: (Int64, consuming Row) -> Void
  ) throws(StoreError)

  /// Calls `body` with the bytes of each value that may be a name of data outside the rows, in any order. `body` may
  /// get other values too. Ends soon after `body` has returned false. `schema` is the store's.
  func externalDataNames(_ schema: Schema, _ body: (Data) -> Bool) throws(StoreError)
}

/// A snapshot that evaluates fetch plans itself. With ``Capabilities/pushDown`` it evaluates most plans, otherwise only
/// plans that an index serves.
public protocol FetchingSnapshot: StoreSnapshot {
  /// Prepares a plan: translates what the store runs of it and says what is left over. It reads no rows.
  ///
  /// What the store runs of a predicate or a sort has to mean the same as in the evaluator of `StoreQuery`.
  func prepare(_ plan: FetchPlan) -> any PreparedFetch

  /// Prepares a table of values, which has to have the same values and the same order of rows as ``TableExecution``
  /// makes. Nil for one that the caller has to make of rows. `TableExecution` makes groups, because its hashing is
  /// faster than the sorting of most stores.
  func prepare(_ plan: TablePlan) -> (any PreparedTable)?

  /// An estimate of the number of rows that a plan selects, at next to no cost; nil where there is none. It may be
  /// called during a fetch. Callers only reserve memory by it.
  func estimatedCount(_ plan: FetchPlan) -> Int?
}

extension FetchingSnapshot {
  public var fetching: (any FetchingSnapshot)? { self }
  public func estimatedCount(_ plan: FetchPlan) -> Int? { nil }
  public func prepare(_ plan: TablePlan) -> (any PreparedTable)? { nil }
}

extension StoreSnapshot {
  public var fetching: (any FetchingSnapshot)? { nil }

  public func externalDataNames(_ schema: Schema, _ body: (Data) -> Bool) throws(StoreError) {
    var goesOn = true
    for entity in schema.entities where goesOn && !entity.isAbstract {
      let slots = entity.externalNameSlots
      if slots.isEmpty { continue }
      try scan(entity.index..<entity.index + 1) { row in
        for slot in slots where goesOn && row.mayHoldExternalName(slot) { goesOn = body(row.data(slot)) }
      }
    }
  }

  public func rows(
    of entity: Int, between keys: ClosedRange<Int64>, _ body: (consuming Row) -> Void
  ) throws(StoreError) -> Bool { false }

  public func row(of entity: Int, key: Int64) throws(StoreError) -> Row? {
    var found: Row?
    try rows(of: entity, keys: [key]) { found = $0 }
    return found
  }
}

extension Entity {
  /// The slots that may name data outside the row. A value that was written under another model may be a name, whatever
  /// the present model says.
  public var externalNameSlots: [Int] {
    slots.indices.filter { [.externalData, .data, .transformable].contains(slots[$0]) }
  }
}

extension Row {
  /// Whether the bytes of a slot may be the name of data outside the row.
  public func mayHoldExternalName(_ slot: Int) -> Bool {
    !isNull(slot) && withBytes(slot) { $0.first == 2 && $0.count < 64 }
  }
}

extension Store {
  public var hasHistory: Bool { false }
  /// Reports no conflicts: the commit reports them.
  public func rehearse(_ changes: ChangeSet) throws(StoreError) -> [Conflict] {
    if isReadOnly { throw StoreError(.readOnly, "The store was opened read-only. Open it for writing to change it.") }
    return []
  }
  public func capability<Capability>(_ type: Capability.Type) throws(StoreError) -> Capability? { self as? Capability }

  /// Keeps large data outside the rows by ``ExternalDataStore/keepExternalData(_:)``; nil where the store keeps it in
  /// the row. Throws also if the store cannot report the capability.
  public func keepExternally(_ data: Data) throws(StoreError) -> Data? {
    try capability((any ExternalDataStore).self)?.keepExternalData(data)
  }

  /// The store as an ``ExternalDataStore``; nil where it keeps all data in rows. Nil, too, in a forked copy of the
  /// process that opened the store, whose commits fail.
  public var externalDataStore: (any ExternalDataStore)? { (try? capability((any ExternalDataStore).self)) ?? nil }
}
