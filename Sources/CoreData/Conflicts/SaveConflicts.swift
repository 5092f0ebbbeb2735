import Foundation
import StoreProtocol
import StoreSchema

/// The conflicts that prevented one store's part of a save.
struct SaveConflicts {
  private(set) var versions: [NSMergeConflict] = []
  private(set) var constraints: [NSConstraintConflict] = []
  /// Conflicts about deletions. Delete rules resolve them, not a merge policy.
  private(set) var referrers: [Referrers] = []
  /// Identify the conflicts. They are equal to those of an earlier attempt where nothing was resolved, or where
  /// everything was undone again.
  private(set) var marks: Set<Mark> = []

  struct Mark: Hashable {
    let object: ObjectIdentifier
    /// The version that was read and the stored one; or the slots and the other object of a constraint.
    let (versionRead, stored): (Int64, Int64)
    let slots: [Int]
    let other: ObjectReference?
  }

  /// `objects` are the objects of the part, by their references in the change set. All of them have the values from
  /// before the save.
  init(
    _ conflicts: [Conflict], _ part: SavePlan.Part, _ objects: [ObjectReference: NSManagedObject], _ core: ContextCore
  ) {
    for conflict in conflicts {
      // The destination of a new link may be an object that the part does not hold.
      let object = objects[conflict.reference] ?? core.object(conflict.reference, store: part.storeIndex)
      guard let object else { continue }
      add(conflict, object, objects)
    }
  }

  /// The conflicts of a child context, whose parent no longer has these objects.
  init(gone objects: [NSManagedObject]) {
    for object in objects {
      let version = abs(object.row?.version ?? 0)
      marks.insert(Mark(object: ObjectIdentifier(object), versionRead: version, stored: 0, slots: [], other: nil))
      versions.append(NSMergeConflict(object, versionRead: version, persisted: nil, isCached: false))
    }
  }

  private mutating func add(
    _ conflict: Conflict, _ object: NSManagedObject, _ objects: [ObjectReference: NSManagedObject]
  ) {
    switch conflict.kind {
    case .referrers(let index, let others):
      guard let info = object.info.relationships.first(where: { $0.relationship.index == index }) else { return }
      referrers.append(Referrers(deleted: object, info: info, objects: others))
    case .version(let persisted):
      marks.insert(
        Mark(
          object: ObjectIdentifier(object), versionRead: conflict.versionRead, stored: persisted?.version ?? 0,
          slots: [],
          other: nil))
      let cached = object.core?.origin(object.storeIndex)?.cache.row(object.info.root, object.key)
      versions.append(
        NSMergeConflict(
          object, versionRead: conflict.versionRead, persisted: persisted,
          isCached: persisted != nil && cached?.version == persisted?.version))
    case .constraint(let slots, let other, let persisted):
      marks.insert(
        Mark(
          object: ObjectIdentifier(object), versionRead: conflict.versionRead, stored: persisted?.version ?? 0,
          slots: slots, other: other))
      let names = slots.compactMap { slot in
        object.info.entity.attributes.first { $0.slot == slot }?.name
          ?? object.info.entity.relationships.first { $0.slot == slot }?.name
      }
      let unsaved = objects[other].map { [object, $0] } ?? [object]
      let stored = persisted.flatMap { _ in object.core?.object(other, store: object.storeIndex) }
      constraints.append(
        NSConstraintConflict(
          constraint: names, database: stored,
          databaseSnapshot: persisted.flatMap { row in stored.map { ConflictSnapshot.row(row, of: $0) } },
          conflicting: unsaved, conflictingSnapshots: unsaved.map { $0.dictionaryWithValues(forKeys: names) }))
    }
  }

  /// The conflicts for a merge policy.
  var forPolicy: [NSObject] { versions + constraints }

  /// The error of the save where no policy resolves the conflicts.
  var error: CocoaError { CoreDataError.conflicts(forPolicy) }
}

extension ContextCore {
  /// The context's policy. A policy of another type than `NSMergePolicy` counts as `error`, which resolves nothing.
  private var mergePolicy: NSMergePolicy { context?.mergePolicy as? NSMergePolicy ?? NSMergePolicy.Shared.error }

  /// Whether conflicts are passed to a policy at all.
  var resolvesConflicts: Bool {
    let policy = mergePolicy
    return type(of: policy) != NSMergePolicy.self || policy.mergeType != .errorMergePolicyType
  }

  /// Resolves the conflicts of an attempt, by delete rules and by the policy, before another attempt is made. `met` are
  /// the marks of the earlier attempts: a save that comes back to one of them would never end.
  func resolve(
    _ conflicts: SaveConflicts, _ propagations: Int, _ met: inout Set<Set<SaveConflicts.Mark>>
  ) throws {
    if conflicts.referrers.isEmpty && conflicts.forPolicy.isEmpty {
      throw CoreDataError.make(
        StoreError(
          .invalidArgument,
          "The store has reported conflicts of objects that are not in the save, which is a mistake of the store. Nothing was saved."
        ))
    }
    if !conflicts.referrers.isEmpty { try propagateDeletes(to: conflicts.referrers, attempt: propagations) }
    if !conflicts.forPolicy.isEmpty, !met.insert(conflicts.marks).inserted { throw conflicts.error }
    let policy = mergePolicy
    activity.isMerging = true
    defer { activity.isMerging = false }
    if !conflicts.versions.isEmpty { try policy.resolve(mergeConflicts: conflicts.versions) }
    if !conflicts.constraints.isEmpty { try policy.resolve(constraintConflicts: conflicts.constraints) }
    try throwReadError()
    processPendingChanges()
    reconcilePartners()
    try validateAll()
    // Validation reads faults.
    try throwReadError()
  }
}
