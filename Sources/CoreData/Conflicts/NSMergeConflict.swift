import Foundation
import StoreSchema

/// An object that another context or process has changed or deleted since it was read.
///
/// A change that the row cache of the object's store knows, as it knows those of the coordinator's other contexts, is a
/// conflict with that cache: "the merge conflict has a source object and a cached snapshot but no persisted snapshot".
/// One that it does not know is a conflict of the cache with the store: "has a cached snapshot and a persisted
/// snapshot. The source object is also provided as a convenience"
/// (https://developer.apple.com/documentation/coredata/nsmergeconflict). A deleted row is in no cache: who deleted it
/// is not told apart.
///
/// Snapshots have all attributes and to-one relationships, the latter as `NSManagedObjectID`, and nil as `NSNull`. Only
/// data that the store keeps outside the row is not in them.
open class NSMergeConflict: NSObject {
  /// What the conflict is, whatever a subclass says of it.
  struct Content {
    let object: NSManagedObject
    let present, cached, stored: [String: Any]?
    let versionRead, storedVersion: Int
  }
  final let content: Content
  /// The row in the store, where a save has made the conflict and the object is not gone.
  final let persisted: Row?

  /// The object of the context that cannot be saved as it is.
  open var sourceObject: NSManagedObject { content.object }
  /// The values that the object was read with in a conflict with the row cache; in one with the store, those it has in
  /// its context.
  open var objectSnapshot: [String: Any]? { content.present }
  /// The values in the row cache: in a conflict with the store, those that the object was read with.
  open var cachedSnapshot: [String: Any]? { content.cached }
  /// The values in the store; nil in a conflict with the row cache, and where the object is gone.
  open var persistedSnapshot: [String: Any]? { content.stored }
  /// The version of the row that the object was read with.
  open var oldVersionNumber: Int { content.versionRead }
  /// The version in the store, 0 where the object is gone.
  open var newVersionNumber: Int { content.storedVersion }

  /// A conflict of an object; its ``objectSnapshot`` is taken now. Nil snapshots stand for what is not known or gone.
  public init(
    source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
  ) {
    content = Content(
      object: srcObject, present: ConflictSnapshot.present(of: srcObject), cached: cachesnap, stored: persnap,
      versionRead: oldvers, storedVersion: newvers)
    persisted = nil
  }

  /// The conflict of a save: the row of `object` in its store, nil where it is gone, and whether the row cache has it.
  init(_ object: NSManagedObject, versionRead: Int64, persisted: Row?, isCached: Bool) {
    let read = object.row.map { ConflictSnapshot.row($0, of: object) }
    let stored = persisted.map { ConflictSnapshot.row($0, of: object) }
    content = Content(
      object: object, present: isCached ? read : ConflictSnapshot.present(of: object),
      cached: isCached ? stored : read, stored: isCached ? nil : stored,
      versionRead: Int(clamping: versionRead), storedVersion: Int(clamping: persisted?.version ?? 0))
    self.persisted = persisted
  }
}

/// Objects that cannot be saved because a uniqueness constraint forbids it.
open class NSConstraintConflict: NSObject {
  /// What the conflict is, whatever a subclass says of it.
  struct Content {
    var constraint: [String] = []
    var values: [String: Any] = [:]
    var stored: NSManagedObject?
    var storedSnapshot: [String: Any]?
    var objects: [NSManagedObject] = []
    var snapshots: [[AnyHashable: Any]] = []
  }
  final let content: Content

  /// The names of the properties whose values must be unique together.
  open var constraint: [String] { content.constraint }
  /// The values that collide, by property name.
  open var constraintValues: [String: Any] { content.values }
  /// The stored object with the same values, nil where only unsaved objects collide.
  open var databaseObject: NSManagedObject? { content.stored }
  /// The stored values of ``databaseObject``; nil where there is none.
  open var databaseSnapshot: [String: Any]? { content.storedSnapshot }
  /// The unsaved objects with the values.
  open var conflictingObjects: [NSManagedObject] { content.objects }
  /// The values of ``conflictingObjects``, in their order.
  open var conflictingSnapshots: [[AnyHashable: Any]] { content.snapshots }

  /// A conflict of objects about a constraint. The values are those of the first object.
  public init(
    constraint contraint: [String], database databaseObject: NSManagedObject?,
    databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [NSManagedObject],
    conflictingSnapshots: [Any]
  ) {
    content = Content(
      constraint: contraint, values: conflictingObjects.first?.dictionaryWithValues(forKeys: contraint) ?? [:],
      stored: databaseObject, storedSnapshot: databaseSnapshot as? [String: Any], objects: conflictingObjects,
      snapshots: conflictingSnapshots.compactMap { $0 as? [AnyHashable: Any] })
  }

  /// A conflict of no objects about nothing.
  public override init() { content = Content() }
}
