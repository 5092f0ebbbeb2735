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
  /// All values of the store count: the context's changes of the object are given up.
  case rollbackMergePolicyType = 4
}

/// How a context's save treats conflicts: objects that were changed or deleted elsewhere since they were read, and
/// values that a uniqueness constraint forbids.
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
/// Members of to-many relationships that were added or removed here are so after the save too; with `rollback` only
/// where the link is in the row of the member, which decides. The order that was set here stays where the object's
/// values do. An object whose row is gone stays gone, under every policy: what it was linked to has already let go of
/// it. An object that comes back brings back what its deletion took along by the cascade rule, and cannot tell them
/// from members that were deleted by themselves.
///
/// Where a new object has the unique values of another one, one of the two remains, the stored or else the older one.
/// Members of the to-many relationships of the object that is dropped go over to it; links without an inverse, and with
/// `mergeByPropertyStoreTrump` one-to-one ones, are lost. With `mergeByPropertyObjectTrump` and `overwrite` it takes
/// the other one's attributes, nil included, and its to-one destinations, with `overwrite` nil included. A stored
/// object that was given the unique values of another stored one gets its own back with `mergeByPropertyStoreTrump` and
/// `rollback`; with the others the save fails with `NSManagedObjectConstraintMergeError`, as no policy deletes a stored
/// object. Apple's documentation does not say what becomes of deleted objects, links and unique values: decision 033.
///
/// After a policy has dealt with the conflicts of an attempt, the save is tried again. A save over several stores
/// asks all of them for conflicts before it writes to the first one; what others save in between may still leave it
/// half done (134040).
open class NSMergePolicy: NSObject, @unchecked Sendable {
  private let type: NSMergePolicyType
  /// How the policy resolves conflicts.
  open var mergeType: NSMergePolicyType { type }

  /// A subclass begins with the type that is the nearest to what it does.
  public init(merge ty: NSMergePolicyType) { type = ty }

  /// One policy of each type, whatever a subclass says.
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

  /// Called by a save with `NSMergeConflict` instances; resolves them by ``resolve(optimisticLockingConflicts:)``.
  ///
  /// A subclass calls `super`, before or after changes of its own to the objects. An error ends the save with that
  /// error. Conflicts that the save meets again, because nobody has resolved them, end it too, with
  /// `NSManagedObjectMergeError`. What was merged into objects by then stays in them.
  open func resolve(mergeConflicts list: [Any]) throws {
    try resolve(optimisticLockingConflicts: list.compactMap { $0 as? NSMergeConflict })
  }

  /// Brings the objects up to what their stores have, as the type says.
  open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    if list.isEmpty { return }
    if type == .errorMergePolicyType { throw CoreDataError.conflicts(list) }
    try ObjectMerge.merge(list, type)
  }

  /// Leaves one object with the unique values of each conflict, as the type says. Conflicts that do not hold any more,
  /// because a subclass has changed or deleted objects, are passed over.
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
