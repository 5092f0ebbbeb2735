import Foundation
import StoreSchema

/// Everything that one save changes in one store.
public struct ChangeSet: Sendable {
  public var author: String?
  public var contextName: String?
  /// When the save began, in seconds since 2001-01-01.
  public var time: Double
  /// New objects. A key of zero or less asks for one; the n-th insertion is referred to as `-(n + 1)` by the to-one
  /// words and links of this change set. A positive key is kept; from then on it and all below it count as handed out.
  public var insertions: [RowDraft] = []
  /// Objects that change. An object is in one of `updates` and `deletions` at most, and there once.
  public var updates: [Update] = []
  public var deletions: [Deletion] = []
  public var links: [LinkChange] = []
  /// Objects that must still have the version they were read with although they do not change.
  public var checks: [Deletion] = []
  /// Names of external data that the written rows no longer hold. The store removes it after the commit, once nobody
  /// needs it any more; see ``StoreOptions/externalDataGrace``.
  public var obsoleteExternalData: [Data] = []
  /// Whether this is one of several change sets that make a copy of a store: destinations of its links may come with
  /// later ones, so that they need not exist yet.
  public var isPartOfCopy = false
  /// New metadata to store with the changes, nil to leave it.
  public var metadata: StoreMetadata?

  public init(time: Double) { self.time = time }

  public var isEmpty: Bool {
    insertions.isEmpty && updates.isEmpty && deletions.isEmpty && links.isEmpty && checks.isEmpty && metadata == nil
  }

  /// A changed object.
  public struct Update: Sendable {
    /// The complete new state. Its version is one more than the version read.
    public var row: RowDraft
    public var changed: SlotSet

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
    public var reference: ObjectReference
    public var versionRead: Int64
    /// The state as it was read, for what history keeps of deleted objects.
    public var row: Row?

    public init(_ reference: ObjectReference, versionRead: Int64, row: Row? = nil) {
      self.reference = reference
      self.versionRead = versionRead
      self.row = row
    }
  }

  /// Changed links of one to-many relationship of one owner: pairs (on their primary side), one-way links, and the
  /// order of ordered relationships.
  public struct LinkChange: Sendable {
    /// Index of an entity that has the relationship, and the relationship's index there.
    public var entity: Int
    public var relationship: Int
    public var owner: Int64
    public var added: [ObjectReference]
    public var removed: [ObjectReference]
    /// All destinations in their new order; nil where the relationship is not ordered.
    public var order: [ObjectReference]?

    public init(
      entity: Int, relationship: Int, owner: Int64, added: [ObjectReference], removed: [ObjectReference],
      order: [ObjectReference]? = nil
    ) {
      self.entity = entity
      self.relationship = relationship
      self.owner = owner
      self.added = added
      self.removed = removed
      self.order = order
    }
  }
}

/// What became of a commit.
///
/// Besides versions and constraints, a store judges links, on the state after rows and links are written and before it
/// drops the links of deleted objects:
/// - No object may refer to a deleted one over a relationship of ``Entity/guardedMembers``; no deleted object may have
///   a link of ``Entity/guardedLinks`` to an object that stays. Else the conflict of the deleted object is `referrers`.
/// - The destination of each new link (a to-one slot of an insertion, a changed one of an update, an added link) must
///   exist. Else the conflict is a `version` conflict of the destination, with version 0 and no row.
public enum CommitResult: Sendable {
  case committed(Receipt)
  /// Nothing was changed, because of these.
  case conflicts([Conflict])
}

/// A successful commit.
public struct Receipt: Sendable {
  /// The key of each insertion, in the order of the change set.
  public var keys: [Int64]
  /// The store's commit number after it.
  public var commitNumber: UInt64
  /// Rows that the store changed on its own account, by triggers or derived attributes: read them again.
  public var touched: [ObjectReference]

  public init(keys: [Int64], commitNumber: UInt64, touched: [ObjectReference] = []) {
    self.keys = keys
    self.commitNumber = commitNumber
    self.touched = touched
  }
}

/// Why one object of a change set could not be saved.
public struct Conflict: Sendable {
  public enum Kind: Sendable {
    /// The stored version is not the version read. The stored row is nil where the object is gone.
    case version(persisted: Row?)
    /// Another object has the same values in these slots. Its stored row, or nil where it is in the change set too.
    case constraint(slots: [Int], other: ObjectReference, persisted: Row?)
    /// A deleted object is still referred to by these objects, over a to-many relationship of its entity, by index.
    ///
    /// Somebody else has linked them since the deletion's rules were followed. Whoever made the change set reads them,
    /// follows the rules again, and commits anew.
    case referrers(relationship: Int, [ObjectReference])
  }
  /// The object, as the change set refers to it: `-(n + 1)` for the n-th insertion, unless that brought its key. So do
  /// the references of ``Kind``.
  public var reference: ObjectReference
  /// The version that the change set was made from.
  public var versionRead: Int64
  public var kind: Kind

  public init(reference: ObjectReference, versionRead: Int64, kind: Kind) {
    self.reference = reference
    self.versionRead = versionRead
    self.kind = kind
  }
}
