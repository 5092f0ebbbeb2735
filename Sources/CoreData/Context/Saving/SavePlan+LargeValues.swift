import Foundation
import StoreProtocol
import StoreSchema

/// Large values. Some are kept outside of the store's file. While one store alone is saved to, the objects do not have
/// theirs beside those of the rows.
extension SavePlan.Part {
  /// The object's row, large values of its external slots kept outside.
  func pack(_ object: NSManagedObject, version: Int64, _ core: ContextCore) throws -> RowDraft {
    for slot in object.info.externalSlots where !object.overlay.isEmpty {
      guard case .data(let bytes)? = object.changed(slot), bytes.first == 1 else { continue }
      let name: Data?
      do { name = try externalDataStore?.keepExternalData(bytes.dropFirst()) } catch { throw CoreDataError.make(error) }
      guard let name else { continue }
      keptExternalData.append((name, object, slot, bytes))
      object.setOverlay(.data(name), slot)
    }
    let row = try core.pack(object, version: version)
    if row.byteCount > RowBuilder.mostKept { large.append((object, row)) }
    return row
  }

  /// Notes the external data that a changed or, with nil for `changed`, deleted object had.
  func noteObsoleteData(of object: NSManagedObject, _ changed: SlotSet?) {
    if object.info.externalSlots.isEmpty { return }
    guard let row = object.row else { return }
    for slot in object.info.externalSlots where changed?.contains(slot) ?? true && !row.isNull(slot) {
      let bytes = row.data(slot)
      if bytes.first == 2 {
        changes.obsoleteExternalData.append(bytes)
        ownersOfObsoleteData.append(object)
      }
    }
  }

  /// Lets the objects forget their large values, which the rows have, so that they are in memory once while the store
  /// writes. No code of a client's may run until the save has ended, or until
  /// ``SavePlan/takeBack(from:keepsExternalData:)`` has given them back: not where there are other parts, and not for a
  /// client's store, which reads the objects.
  func lendLargeValues() {
    if origin.readsObjectsOfSaves { return }
    for (object, row) in large {
      var slots: [Int] = []
      object.overlay.forEach(object.slotCount) { slot, value in
        switch value {
        case .data(let bytes) where bytes.count > RowBuilder.mostKept: slots.append(slot)
        case .string(let text) where text.utf8.count > RowBuilder.mostKept: slots.append(slot)
        default: break
        }
      }
      for slot in slots {
        lentValues.append((object, slot, row))
        object.setOverlay(.null, slot)
      }
    }
  }
}

extension SavePlan {
  /// Gives the objects of the parts that are not committed their values back, and the stores the external data, unless
  /// these may have been committed after all.
  func takeBack(from first: Int = 0, keepsExternalData: Bool = false) {
    for part in parts.dropFirst(first) {
      for object in part.inserted { object.ordinal = -1 }
      for (object, slot, row) in part.lentValues {
        object.setOverlay(row.value(slot, object.info.entity.slots[slot]), slot)
      }
      if keepsExternalData { continue }
      part.externalDataStore?.discardExternalData(part.keptExternalData.map(\.name))
      for kept in part.keptExternalData { kept.object.setOverlay(.data(kept.inline), kept.slot) }
      part.keptExternalData = []
    }
  }
}
