import StoreProtocol
import StoreSchema
import StoreSupport

/// What a context does when one of its stores has moved to another place.
///
/// A store that moves counts the versions of its rows anew, so that versions do not tell whether somebody has saved to
/// the former place since an object was read there. What the rows hold does.
extension ContextCore {
  /// Looks stores up again, and reads all objects again when they are next used. An object that the next save changes,
  /// deletes or checks, and whose row is another one by now, has a conflict in that save.
  func forgetStores() {
    origins.forget()
    let checked = Set(changes.checks.map(ObjectIdentifier.init))
    let objects = registry.all
    for object in objects {
      let isOfSave = object.flags.hasChanges || checked.contains(ObjectIdentifier(object))
      let base = isOfSave && !object.flags.isInserted ? object.row : nil
      if let base, isGone(object) {
        // The save has to say so.
        object.row = base.copy(version: 0)
        continue
      }
      refresh(object, mergeChanges: true)
      if let base { keep(base, of: object) }
    }
  }

  /// Whether the row of an object is not there any more. An error is not judged: it comes again where the row is read.
  private func isGone(_ object: NSManagedObject) -> Bool {
    do { return try storedRow(of: object) == nil } catch { return false }
  }

  /// Lets an object have the row that its changes were made from, where the moved store has another one.
  private func keep(_ base: Row, of object: NSManagedObject) {
    object.prepareToRead()
    guard let row = object.row, row.entity == base.entity, !object.flags.contains(.inaccessible) else {
      return
    }
    let (entity, kinds) = (object.info.entity, object.info.entity.slots)
    let derived = Set(entity.attributes.filter { $0.derivation != nil }.map(\.slot))
    func isSame(_ slot: Int) -> Bool {
      if derived.contains(slot) || base.hasEqualSlot(slot, kinds[slot], row) { return true }
      if kinds[slot] != .externalData || base.isNull(slot) || row.isNull(slot) { return false }
      return ExternalDataFolder.isSame(base.data(slot), row.data(slot))
    }
    if kinds.indices.allSatisfy(isSame) { return }
    // No row of a store has this version. The names of large values are those of the place where they can be read.
    var kept = base.copy(version: 0)
    for slot in kinds.indices where kinds[slot] == .externalData {
      kept = kept.replacing(slot, by: row.value(slot, .externalData), kinds)
    }
    object.row = kept
  }
}
