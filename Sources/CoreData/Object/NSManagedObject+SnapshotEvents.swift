import Foundation

extension NSManagedObject {
  /// Why ``NSManagedObject/awake(fromSnapshotEvents:)`` is called.
  public struct NSSnapshotEventType: OptionSet, Sendable {
    /// The kinds of events, one bit each.
    public let rawValue: UInt
    /// The kinds of events in Apple's bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// An insertion was undone, or an undone deletion was redone.
    public static let undoInsertion = NSSnapshotEventType(rawValue: 2)
    /// A deletion was undone, or an undone insertion was redone.
    public static let undoDeletion = NSSnapshotEventType(rawValue: 4)
    /// A change was undone or redone.
    public static let undoUpdate = NSSnapshotEventType(rawValue: 8)
    /// A ``NSManagedObjectContext/rollback()`` undid changes.
    public static let rollback = NSSnapshotEventType(rawValue: 16)
    /// The object had unsaved changes, and was refreshed or merged with changes of another context.
    public static let refresh = NSSnapshotEventType(rawValue: 32)
    /// A merge policy resolved a conflict of the object.
    public static let mergePolicy = NSSnapshotEventType(rawValue: 64)
  }
}

/// The name at top level.
public typealias NSSnapshotEventType = NSManagedObject.NSSnapshotEventType
