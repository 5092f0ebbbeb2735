import Foundation
import StoreProtocol
import StoreSchema

extension SavePlan.Part {
  /// The objects of the part, for a store that a client implements.
  func objects(_ core: ContextCore) -> CustomSave {
    func own(_ objects: some Sequence<NSManagedObject>) -> [NSManagedObject] {
      objects.filter { $0.storeIndex == storeIndex }
    }
    // Includes objects whose only change is in a to-many relationship, which no row stores.
    return CustomSave(
      inserted: Array(inserted), updated: own(core.changed.filter(\.flags.isUpdated)), deleted: Array(deleted),
      locked: own(core.changes.checks.filter { !$0.flags.hasChanges }), context: core.context)
  }

  /// The objects of the part, by their references in the change set.
  var objectsByReference: [ObjectReference: NSManagedObject] {
    var objects: [ObjectReference: NSManagedObject] = [:]
    for object in inserted { objects[SavePlan.reference(object)] = object }
    for object in updated + deleted { objects[object.reference] = object }
    return objects
  }

  /// Gives the objects the rows that were written.
  func publish(_ receipt: Receipt, in core: ContextCore) {
    reserveKeys(in: core)
    var keys: ContiguousArray<ContextFamily.NewKey> = []
    let isInFamily = core.family.hasChildContexts
    for (object, draft) in zip(inserted, changes.insertions) {
      let row = draft.sealedRow
      object.row = row
      object.ordinal = -1
      if object.key < 0 {
        if isInFamily { keys.append(.init(temporary: object.key, permanent: row.key, store: storeIndex)) }
        core.registry.becomePermanent(object, key: row.key, keepsTemporaryKey: false)
      } else {
        core.registry.forgetTemporaryKey(object)
      }
    }
    core.note(keys)
    // The new row moves to its object, and the old one into the change set, which is released after the save.
    var index = 0
    updated.forEachUncounted { object in
      if var row = object.row.take() {
        changes.updates[index].row.exchange(&row)
        object.row = row
      } else {
        object.row = changes.updates[index].row.sealedRow
      }
      index += 1
    }
    if !isInFamily { return }
    let written = [inserted, updated].lazy.joined().compactMap { object in
      object.row.map { ContextFamily.KnownRow($0, root: object.info.root) }
    }
    core.family.noteKnown(written, store: storeIndex)
  }

  /// Makes room for the new objects under their permanent keys, so that the registry does not grow step by step.
  private func reserveKeys(in core: ContextCore) {
    var next = inserted.startIndex
    while next < inserted.endIndex {
      // Objects of one entity are mostly adjacent.
      let (first, info) = (next, inserted[next].entityInfo)
      while next < inserted.endIndex && inserted[next].entityInfo.toOpaque() == info.toOpaque() { next += 1 }
      let root = info._withUnsafeGuaranteedRef { $0.root }
      core.registry.reserve(next - first, store: storeIndex, root: root)
    }
  }

  /// Makes faults of the objects whose rows the store itself has changed, so that they are read again. Returns them.
  func refreshTouched(_ receipt: Receipt, in core: ContextCore) -> [NSManagedObject] {
    receipt.touched.compactMap { touched in
      guard let object = core.registry.object(touched, store: UInt16(store.index)), !object.flags.hasChanges else {
        return nil
      }
      if object.flags.contains(.fault) {
        object.forgetRow()
      } else {
        object.willTurnIntoFault()
        object.setFault(true)
        object.forgetRow()
        object.didTurnIntoFault()
      }
      return object
    }
  }
}
