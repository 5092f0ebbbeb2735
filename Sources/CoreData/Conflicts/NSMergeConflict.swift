import Foundation
import StoreSchema

/// An object that another context or process has changed or deleted since it was read.
///
/// Snapshots have all attributes and to-one relationships, the latter as `NSManagedObjectID`, and nil as `NSNull`. Only data that the
/// store keeps outside the row is not in them.
open class NSMergeConflict: NSObject {
  public let sourceObject: NSManagedObject
  /// The values of the object in its context.
  public let objectSnapshot: [String: Any]?
  /// The values that the object was read with.
  public let cachedSnapshot: [String: Any]?
  /// The values in the store, nil where the object is gone.
  public let persistedSnapshot: [String: Any]?
  public let oldVersionNumber: Int
  /// The version in the store, 0 where the object is gone.
  public let newVersionNumber: Int
  /// The row of the persisted snapshot, where a save has made the conflict.
  let persisted: Row?

  public convenience init(
    source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
  ) {
    self.init(srcObject, newvers, oldvers, cachesnap, persnap, persisted: nil)
  }

  /// The conflict of a save: the row of `object` in its store, nil where it is gone.
  convenience init(_ object: NSManagedObject, versionRead: Int64, persisted: Row?) {
    self.init(
      object, Int(clamping: persisted?.version ?? 0), Int(clamping: versionRead),
      object.row.map { ConflictSnapshot.row($0, of: object) }, persisted.map { ConflictSnapshot.row($0, of: object) },
      persisted: persisted)
  }

  private init(
    _ object: NSManagedObject, _ newVersion: Int, _ oldVersion: Int, _ cached: [String: Any]?,
    _ stored: [String: Any]?, persisted: Row?
  ) {
    sourceObject = object
    (newVersionNumber, oldVersionNumber) = (newVersion, oldVersion)
    objectSnapshot = ConflictSnapshot.present(of: object)
    (cachedSnapshot, persistedSnapshot) = (cached, stored)
    self.persisted = persisted
  }
}

/// Objects that cannot be saved because a uniqueness constraint forbids it.
open class NSConstraintConflict: NSObject {
  public let constraint: [String]
  public let constraintValues: [String: Any]
  /// The stored object with the same values, nil where only unsaved objects collide.
  public let databaseObject: NSManagedObject?
  public let databaseSnapshot: [String: Any]?
  public let conflictingObjects: [NSManagedObject]
  public let conflictingSnapshots: [[AnyHashable: Any]]

  public init(
    constraint contraint: [String], database databaseObject: NSManagedObject?,
    databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [NSManagedObject],
    conflictingSnapshots: [Any]
  ) {
    constraint = contraint
    self.databaseObject = databaseObject
    self.databaseSnapshot = databaseSnapshot as? [String: Any]
    self.conflictingObjects = conflictingObjects
    self.conflictingSnapshots = conflictingSnapshots.compactMap { $0 as? [AnyHashable: Any] }
    constraintValues = conflictingObjects.first?.dictionaryWithValues(forKeys: contraint) ?? [:]
  }
}
