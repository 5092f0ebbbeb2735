import Foundation
import StoreSchema

/// An object of a save that another context or process has changed or deleted since it was read.
///
/// There are two kinds (https://developer.apple.com/documentation/coredata/nsmergeconflict):
///
/// - A conflict with the row cache, where another context of the coordinator has saved the object. It has a cached
///   snapshot and no persisted one.
/// - A conflict with the store, where the row cache does not have the change. It has a cached and a persisted snapshot.
///   A deleted object has such a conflict without a persisted snapshot.
///
/// Snapshots have all attributes and to-one relationships. A to-one relationship is an `NSManagedObjectID`; nil is
/// `NSNull`. Data that the store keeps outside the row is left out.
open class NSMergeConflict: NSObject {
  /// The properties of the conflict, even where a subclass overrides them.
  struct Content {
    let object: NSManagedObject
    let present, cached, stored: [String: Any]?
    let versionRead, storedVersion: Int
  }
  final let content: Content
  /// The row in the store; nil where a client has made the conflict, or where the object is gone.
  final let persisted: Row?

  /// The object of the context that cannot be saved as it is.
  open var sourceObject: NSManagedObject { content.object }
  /// The values in the context. In a conflict with the row cache, the values that the object was read with.
  open var objectSnapshot: [String: Any]? { content.present }
  /// The values in the row cache. In a conflict with the store, the values that the object was read with.
  open var cachedSnapshot: [String: Any]? { content.cached }
  /// The values in the store; nil in a conflict with the row cache, and where the object is gone.
  open var persistedSnapshot: [String: Any]? { content.stored }
  /// The version of the row that the object was read with.
  open var oldVersionNumber: Int { content.versionRead }
  /// The version in the store, 0 where the object is gone.
  open var newVersionNumber: Int { content.storedVersion }

  /// A conflict of an object; its ``objectSnapshot`` is taken now. Nil snapshots stand for values that are not known,
  /// or for an object that is gone.
  public init(
    source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
  ) {
    content = Content(
      object: srcObject, present: ConflictSnapshot.present(of: srcObject), cached: cachesnap, stored: persnap,
      versionRead: oldvers, storedVersion: newvers)
    persisted = nil
  }

  /// The conflict of a save. `persisted` is the row of `object` in its store, nil where it is gone. `isCached` says
  /// whether the row cache has it.
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

/// Objects that cannot be saved, because their values must be unique and are not.
open class NSConstraintConflict: NSObject {
  /// The properties of the conflict, even where a subclass overrides them.
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

  /// A conflict of objects over a constraint. The values are those of the first object.
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

  /// A conflict without objects.
  public override init() { content = Content() }
}
