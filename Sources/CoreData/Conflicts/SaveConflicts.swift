import Foundation
import StoreProtocol
import StoreSchema

/// The conflicts that kept one store's part of a save from being written.
struct SaveConflicts {
  private(set) var versions: [NSMergeConflict] = []
  private(set) var constraints: [NSConstraintConflict] = []
  /// Those about deletions, which are no matter of a merge policy.
  private(set) var referrers: [Referrers] = []
  /// Equal to those of an earlier attempt where nothing was resolved, or everything undone again.
  private(set) var marks: Set<Mark> = []

  struct Mark: Hashable {
    let object: ObjectIdentifier
    /// The version read and the one that is stored; or the slots and the other object of a constraint.
    let (versionRead, stored): (Int64, Int64)
    let slots: [Int]
    let other: ObjectReference?
  }

  /// `objects` are those of the part, as its change set refers to them. All of them have the values that they had before
  /// the save.
  init(
    _ conflicts: [Conflict], _ part: SavePlan.Part, _ objects: [ObjectReference: NSManagedObject], _ core: ContextCore
  ) {
    for conflict in conflicts {
      // The destination of a new link may be an object that nobody holds.
      let object = objects[conflict.reference] ?? core.object(conflict.reference, store: part.storeIndex)
      guard let object else { continue }
      add(conflict, object, objects)
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

  /// The conflicts that a merge policy deals with.
  var forPolicy: [NSObject] { versions + constraints }

  /// What the save throws where nobody resolves them.
  var error: CocoaError { CoreDataError.conflicts(forPolicy) }
}

extension ContextCore {
  /// As the context's policy says; a policy of another type than `NSMergePolicy` resolves nothing.
  private var mergePolicy: NSMergePolicy { context?.mergePolicy as? NSMergePolicy ?? NSMergePolicy.Shared.error }

  /// Whether conflicts go to a policy at all.
  var resolvesConflicts: Bool {
    let policy = mergePolicy
    return type(of: policy) != NSMergePolicy.self || policy.mergeType != .errorMergePolicyType
  }

  /// Deals with the conflicts of an attempt, by delete rules and by the policy, so that another one can be made. `met`
  /// are the marks of the attempts before: a save that comes back to one of them would go on for ever.
  func resolve(
    _ conflicts: SaveConflicts, _ propagations: Int, _ met: inout Set<Set<SaveConflicts.Mark>>
  ) throws {
    if conflicts.referrers.isEmpty && conflicts.forPolicy.isEmpty {
      throw CoreDataError.make(
        StoreError(
          .invalidArgument, "The store reports conflicts that are about no object of the save; nothing was saved."))
    }
    if !conflicts.referrers.isEmpty { try propagateDeletes(to: conflicts.referrers, attempt: propagations) }
    if !conflicts.forPolicy.isEmpty, !met.insert(conflicts.marks).inserted { throw conflicts.error }
    let policy = mergePolicy
    if !conflicts.versions.isEmpty { try policy.resolve(mergeConflicts: conflicts.versions) }
    if !conflicts.constraints.isEmpty { try policy.resolve(constraintConflicts: conflicts.constraints) }
    try throwReadError()
    processPendingChanges()
    settlePartners()
    try validateAll()
    // Validation reads faults.
    try throwReadError()
  }
}
