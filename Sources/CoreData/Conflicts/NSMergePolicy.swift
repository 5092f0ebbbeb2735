import Foundation

/// How a merge policy resolves conflicts. The table of ``NSMergePolicy`` has the details.
public enum NSMergePolicyType: UInt, Sendable {
  /// No conflict is resolved: the save throws 133020 or 133021.
  case errorMergePolicyType = 0
  /// The store's value of a property counts where both sides have changed it.
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  /// The context's value of a property counts where both sides have changed it.
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  /// All values of the context count, also those that it has not changed.
  case overwriteMergePolicyType = 3
  /// All values of the store count: the context's changes of the object are discarded.
  case rollbackMergePolicyType = 4
}

/// How a save of a context treats conflicts: objects that were changed or deleted elsewhere since they were read, and
/// values that break a uniqueness constraint.
///
/// An object of the save whose row has a newer version becomes:
///
/// | policy | attributes, to-one relationships | deleted here |
/// | --- | --- | --- |
/// | `error` | the save fails, nothing changes | the save fails |
/// | `mergeByPropertyStoreTrump` | the store's where it changed, else this context's | comes back as stored |
/// | `mergeByPropertyObjectTrump` | this context's where it changed, else the store's | stays deleted |
/// | `overwrite` | all as they are in this context | stays deleted |
/// | `rollback` | as stored | comes back as stored |
///
/// To-many relationships and deleted objects:
///
/// - Members that were added or removed here are added or removed after the save too. With `rollback` this holds only
///   where the row of the member stores the link.
/// - The order that was set here stays where the object's values stay.
/// - An object whose row is gone stays gone under every policy. The objects that it was linked to have no link to it.
/// - An object that comes back brings back the objects that its deletion deleted by the cascade rule. Members that were
///   deleted by themselves come back too.
///
/// Where a new object has the unique values of another one, one of the two remains: the stored one, or the older one of
/// two new objects.
///
/// - Members of the to-many relationships of the dropped object go over to the remaining one. Links without an inverse
///   are lost, and with `mergeByPropertyStoreTrump` one-to-one links.
/// - With `mergeByPropertyObjectTrump` and `overwrite` the remaining object takes the other's attributes, nil included,
///   and its to-one destinations. With `overwrite` it also takes destinations that are nil.
/// - A stored object that was given the unique values of another stored object gets its own values back with
///   `mergeByPropertyStoreTrump` and `rollback`. With the others the save throws `NSManagedObjectConstraintMergeError`,
///   as no policy deletes a stored object.
///
/// Apple's documentation says nothing of deleted objects, links and unique values: decision 033.
///
/// After a policy has resolved the conflicts of an attempt, the save is tried again. A save over several stores looks
/// for conflicts in all of them before it writes to the first one. What others save in between may still leave it
/// incomplete (134040).
open class NSMergePolicy: NSObject, @unchecked Sendable {
  private let type: NSMergePolicyType
  /// How the policy resolves conflicts.
  open var mergeType: NSMergePolicyType { type }

  /// A policy of a type. A subclass passes the type that is nearest to its behaviour.
  public init(merge ty: NSMergePolicyType) { type = ty }

  /// One policy of each type, even where a subclass overrides the class properties.
  enum Shared {
    static let error = NSMergePolicy(merge: .errorMergePolicyType)
    static let storeTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    static let objectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
    static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)
  }
  /// The policy that resolves no conflict. The default of contexts.
  open class var error: NSMergePolicy { Shared.error }
  /// The policy of the type ``NSMergePolicyType/mergeByPropertyStoreTrumpMergePolicyType``.
  open class var mergeByPropertyStoreTrump: NSMergePolicy { Shared.storeTrump }
  /// The policy of the type ``NSMergePolicyType/mergeByPropertyObjectTrumpMergePolicyType``.
  open class var mergeByPropertyObjectTrump: NSMergePolicy { Shared.objectTrump }
  /// The policy of the type ``NSMergePolicyType/overwriteMergePolicyType``.
  open class var overwrite: NSMergePolicy { Shared.overwrite }
  /// The policy of the type ``NSMergePolicyType/rollbackMergePolicyType``.
  open class var rollback: NSMergePolicy { Shared.rollback }

  /// Called by a save with its `NSMergeConflict`s. Resolves them by ``resolve(optimisticLockingConflicts:)``.
  ///
  /// A subclass calls `super`, before or after its own changes of the objects.
  ///
  /// - Throws: Any error that is thrown ends the save. Conflicts that remain end it with 133020. Values that were
  ///   merged into objects before the error stay in them.
  open func resolve(mergeConflicts list: [Any]) throws {
    try resolve(optimisticLockingConflicts: list.compactMap { $0 as? NSMergeConflict })
  }

  /// Merges the values of the stores into the objects, by the type of the policy.
  ///
  /// - Throws: 133020 for the type `error`, else the error of the store. Values that were merged before it stay.
  open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    if list.isEmpty { return }
    if type == .errorMergePolicyType { throw CoreDataError.conflicts(list) }
    try ObjectMerge.merge(list, type)
  }

  /// Leaves one object with the unique values of each conflict, by the type of the policy. Conflicts that a subclass
  /// has resolved before are skipped.
  ///
  /// - Throws: 133021 for the type `error`, and where only a deletion of a stored object would resolve a conflict; else
  ///   the error of the store. Objects that were changed before it stay so.
  open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    if list.isEmpty { return }
    if type == .errorMergePolicyType { throw CoreDataError.conflicts(list) }
    var rolledBack: [NSManagedObject] = []
    for conflict in list { rolledBack += try ConstraintMerge(conflict, type).run() }
    try ObjectMerge.rollBack(rolledBack)
  }
}

// The same policies by their C names. They are variables, as on Apple's platforms, but setting one changes no context.
/// ``NSMergePolicy/error`` by its C name.
public nonisolated(unsafe) var NSErrorMergePolicy: AnyObject = NSMergePolicy.Shared.error
/// ``NSMergePolicy/mergeByPropertyStoreTrump`` by its C name.
public nonisolated(unsafe) var NSMergeByPropertyStoreTrumpMergePolicy: AnyObject = NSMergePolicy.Shared.storeTrump
/// ``NSMergePolicy/mergeByPropertyObjectTrump`` by its C name.
public nonisolated(unsafe) var NSMergeByPropertyObjectTrumpMergePolicy: AnyObject = NSMergePolicy.Shared.objectTrump
/// ``NSMergePolicy/overwrite`` by its C name.
public nonisolated(unsafe) var NSOverwriteMergePolicy: AnyObject = NSMergePolicy.Shared.overwrite
/// ``NSMergePolicy/rollback`` by its C name.
public nonisolated(unsafe) var NSRollbackMergePolicy: AnyObject = NSMergePolicy.Shared.rollback
