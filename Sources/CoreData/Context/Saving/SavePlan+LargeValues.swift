import Foundation
import StoreProtocol
import StoreSchema

/// Large values. Some are kept outside of the store's file. While a save with a single store commits, large values are
/// only in the rows, not in the objects too.
extension SavePlan.Part {
  /// The object's row. Large values of its external slots are kept outside of the file.
  func pack(_ object: NSManagedObject, version: Int64, _ core: ContextCore) throws -> RowDraft {
    for slot in object.info.externalSlots where !object.overlay.isEmpty {
      guard case .data(let bytes)? = object.changed(slot), bytes.first == 1 else { continue }
      let name: Data?
      do { name = try externalDataStore()?.keepExternalData(bytes.dropFirst()) } catch {
        throw CoreDataError.make(error)
      }
      guard let name else { continue }
      keptExternalData.append((name, object, slot, bytes))
      object.setOverlay(.data(name), slot)
    }
    let row = try core.pack(object, version: version)
    if row.byteCount > RowBuilder.mostKept { large.append((object, row)) }
    return row
  }

  /// Notes the external data of a changed object that becomes obsolete; of a deleted object, with nil for `changed`.
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

  /// Removes the large values from the objects, because the rows have them. So they are in memory once while the store
  /// writes.
  ///
  /// No code of the client may run until the save has ended, or until ``SavePlan/takeBack(from:keepsExternalData:)``
  /// has restored the values. So this must not be called with several parts, and does nothing for a client's store,
  /// which reads the objects.
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
  /// Restores the values of the objects of the parts that are not committed. Discards the external data of these parts
  /// at their stores, unless `keepsExternalData` says that the parts may have been committed after all.
  func takeBack(from first: Int = 0, keepsExternalData: Bool = false) {
    for part in parts.dropFirst(first) {
      for object in part.inserted { object.ordinal = -1 }
      for (object, slot, row) in part.lentValues {
        object.setOverlay(row.value(slot, object.info.entity.slots[slot]), slot)
      }
      if keepsExternalData { continue }
      (try? part.externalDataStore())?.discardExternalData(part.keptExternalData.map(\.name))
      for kept in part.keptExternalData { kept.object.setOverlay(.data(kept.inline), kept.slot) }
      part.keptExternalData = []
    }
  }
}
