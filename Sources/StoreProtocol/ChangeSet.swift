import Foundation
import StoreSchema

/// Everything that one save changes in one store.
public struct ChangeSet: Sendable {
  /// The author of the save, for persistent history; nil for none.
  public var author: String?
  /// The name of the context that saves, for persistent history; nil for none.
  public var contextName: String?
  /// When the save began, in seconds since 2001-01-01.
  public var time: Double
  /// New objects. An object with a key of zero or less gets a key from the store. To-one slots and links of this change
  /// set refer to the n-th insertion as `-(n + 1)`. A positive key is kept. Afterwards the store hands out neither this
  /// key nor a lower one.
  public var insertions: [RowDraft] = []
  /// Objects that change. An object is listed at most once in `updates` and `deletions` together.
  public var updates: [Update] = []
  /// The objects that are deleted.
  public var deletions: [Deletion] = []
  /// The changed links of to-many relationships.
  public var links = LinkChanges()
  /// Objects that do not change, and must still have the version that was read.
  public var checks: [Deletion] = []
  /// Names of external data that the written rows no longer hold. The store removes it after the commit, once nobody
  /// needs it any more; see ``StoreOptions/externalDataGrace``.
  public var obsoleteExternalData: [Data] = []
  /// Whether this is one of several change sets that make a copy of a store. Destinations of its links need not exist
  /// yet: later change sets may insert them.
  public var isPartOfCopy = false
  /// New metadata to store with the changes, nil to leave it.
  public var metadata: StoreMetadata?

  /// A change set without changes. `time` is in seconds since 2001-01-01T00:00:00Z.
  public init(time: Double) { self.time = time }

  /// Whether there is nothing to commit, metadata included.
  public var isEmpty: Bool {
    insertions.isEmpty && updates.isEmpty && deletions.isEmpty && links.isEmpty && checks.isEmpty && metadata == nil
  }

  /// A changed object.
  public struct Update: Sendable {
    /// The complete new state. Its version is one more than the version read.
    public var row: RowDraft
    /// The slots whose values differ from the version read.
    public var changed: SlotSet

    /// The new state of an object, with the slots that have changed.
    public init(row: RowDraft, changed: SlotSet) {
      self.row = row
      self.changed = changed
    }

    /// The version that the store must still have.
    @inlinable public var versionRead: Int64 { row.version &- 1 }
  }

  /// A deleted or checked object with the version that the store must still have.
  ///
  /// The store also removes the link pairs of a deleted object.
  public struct Deletion: Sendable {
    /// The object.
    public var reference: ObjectReference
    /// The version that the store must still have.
    public var versionRead: Int64
    /// The state as it was read, for what history keeps of deleted objects.
    public var row: Row?

    /// An object to delete or to check, with the version that was read.
    public init(_ reference: ObjectReference, versionRead: Int64, row: Row? = nil) {
      self.reference = reference
      self.versionRead = versionRead
      self.row = row
    }
  }
}

/// The result of a commit.
///
/// Besides versions and constraints, a store checks links. It checks them after rows and links are written, and before
/// the links of deleted objects are removed:
/// - No object may refer to a deleted one over a relationship of `Entity.guardedMembers`; no deleted object may have
///   a link of `Entity.guardedLinks` to an object that stays. Else the conflict of the deleted object is `referrers`.
/// - The destination of each new link (a to-one slot of an insertion, a changed one of an update, an added link) must
///   exist. Else the conflict is a `version` conflict of the destination, with version 0 and no row.
public enum CommitResult: Sendable {
  /// Everything was written.
  case committed(Receipt)
  /// Nothing was changed, because of these conflicts.
  case conflicts([Conflict])
}

/// A successful commit.
public struct Receipt: Sendable {
  /// The key of each insertion, in the order of the change set.
  public var keys: [Int64]
  /// The store's commit number after it.
  public var commitNumber: UInt64
  /// Rows that the store itself has changed, by triggers or derived attributes. Read them again.
  public var touched: [ObjectReference]

  /// A receipt with the keys of the insertions and the store's commit number.
  public init(keys: [Int64], commitNumber: UInt64, touched: [ObjectReference] = []) {
    self.keys = keys
    self.commitNumber = commitNumber
    self.touched = touched
  }
}

/// Why one object of a change set could not be saved.
public struct Conflict: Sendable {
  /// Why an object could not be saved.
  public enum Kind: Sendable {
    /// The stored version is not the version read. `persisted` is the stored row, nil where the object is gone.
    case version(persisted: Row?)
    /// Another object has the same values in these slots. `persisted` is its stored row, nil where the change set gives
    /// the other object these values.
    case constraint(slots: [Int], other: ObjectReference, persisted: Row?)
    /// These objects still refer to a deleted object. `relationship` is the index of the to-many relationship in the
    /// entity of the deleted object.
    ///
    /// Another save has linked them since the delete rules were applied. The caller reads them, applies the delete
    /// rules again, and commits anew.
    case referrers(relationship: Int, [ObjectReference])
  }
  /// The object, as the change set refers to it: `-(n + 1)` for the n-th insertion, unless it brought its own key. The
  /// references of ``Kind`` have the same form.
  public var reference: ObjectReference
  /// The version that the change set was made from.
  public var versionRead: Int64
  /// Why it cannot be saved.
  public var kind: Kind

  /// A conflict of an object.
  public init(reference: ObjectReference, versionRead: Int64, kind: Kind) {
    self.reference = reference
    self.versionRead = versionRead
    self.kind = kind
  }
}
