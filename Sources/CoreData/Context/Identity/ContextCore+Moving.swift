import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Handles a store of the context that has moved to another URL.
///
/// A store that moves counts the versions of its rows anew. So a version does not show whether somebody has saved to
/// the former URL since an object was read there. The values of the rows do.
extension ContextCore {
  /// Looks up the stores again, and makes all objects be read again at their next use. Where the next save changes,
  /// deletes or checks an object whose row is different now, the save reports a conflict.
  func forgetStores() {
    origins.forget()
    let checked = Set(changes.checks.map(ObjectIdentifier.init))
    let objects = registry.all
    for object in objects {
      let isOfSave = object.flags.hasChanges || checked.contains(ObjectIdentifier(object))
      // A child passes the row to its root, which has the conflict.
      let base = isOfSave && !object.flags.isInserted ? object.row : nil
      if let base, isGone(object) {
        // The save must report the conflict.
        object.row = base.copy(version: 0)
        continue
      }
      refresh(object, mergeChanges: true)
      if let base { keep(base, of: object) }
    }
    observed.touchAll()
  }

  /// Whether the row of an object is gone. An error counts as no: it occurs again where the row is read.
  private func isGone(_ object: NSManagedObject) -> Bool {
    do { return try storedRow(of: object) == nil } catch { return false }
  }

  /// Keeps the row that an object's changes are based on, where the object has a row with other values now. `slots` are
  /// those that are about to be changed. The row has no slot for the order of members. So where that is about to be
  /// changed, the versions are compared too.
  func keep(_ base: Row, of object: NSManagedObject, changing slots: [Int] = [], changesOrder: Bool = false) {
    object.prepareToRead()
    guard let row = object.row, row.entity == base.entity, !object.flags.contains(.inaccessible) else {
      return
    }
    let (entity, kinds) = (object.info.entity, object.info.entity.slots)
    let derived = Set(entity.attributes.filter { $0.derivation != nil }.map(\.slot))
    var changed = object.changedSlots()
    for slot in slots { changed.insert(slot) }
    func isSame(_ slot: Int) -> Bool {
      if derived.contains(slot) || base.hasEqualSlot(slot, kinds[slot], row) { return true }
      if base.isNull(slot) || row.isNull(slot) { return false }
      switch kinds[slot] {
      case .externalData: return ExternalDataFolder.isSame(base.data(slot), row.data(slot))
      case .reference: return family.present(base.int(slot)) == row.int(slot)
      case .transformable: return isSameObject(base.data(slot), row.data(slot), slot, object)
      default: return false
      }
    }
    let different = kinds.indices.filter { !isSame($0) }
    // A packed row has the negative version of the row that it was made of.
    let isOtherVersion = changesOrder && base.version != 0 && abs(base.version) != row.version
    if different.isEmpty && !isOtherVersion { return }
    // No row of a store has version 0.
    var kept = base.copy(version: 0)
    for slot in kinds.indices where kinds[slot] == .externalData {
      // The name of a large value that is not changed is taken from the new row: the file of the former one may be at
      // another URL, or removed.
      let isName = !base.isNull(slot) && base.data(slot).first == 2
      if !different.contains(slot) || isName && !changed.contains(slot) {
        kept = kept.replacing(slot, by: row.value(slot, .externalData), kinds)
      }
    }
    object.row = kept
  }

  /// Whether two encodings of a transformable value stand for equal objects. An encoder may write equal objects
  /// differently.
  private func isSameObject(_ a: Data, _ b: Data, _ slot: Int, _ object: NSManagedObject) -> Bool {
    guard let info = object.info.attributes.first(where: { $0.attribute.slot == slot }),
      let first = TransformableCoding.decode(a, info.description) as? NSObject,
      let second = TransformableCoding.decode(b, info.description)
    else { return false }
    return first.isEqual(second)
  }
}
