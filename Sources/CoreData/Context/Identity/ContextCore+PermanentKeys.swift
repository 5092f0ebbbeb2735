import Foundation
import StoreProtocol
import StoreSchema

/// Giving new objects their permanent keys before they are saved.
extension ContextCore {
  func obtainPermanentKeys(_ objects: [NSManagedObject]) throws {
    checkQueue()
    // A commit reserves the keys, and a view of this context must not block it.
    origins.dropViews()
    var seen: Set<ObjectIdentifier> = []
    let new = objects.filter { object in
      object.key < 0 && object.core === self && !object.flags.contains(.gone)
        && seen.insert(ObjectIdentifier(object)).inserted
    }
    new.forEach(findStore)
    for (index, objects) in Dictionary(grouping: new, by: \.storeIndex) {
      guard let origin = origin(index) else {
        throw CocoaError(
          .persistentStoreSave,
          userInfo: [NSLocalizedDescriptionKey: "The objects have no store; add one before requesting permanent IDs."])
      }
      for (object, key) in zip(objects, try origin.permanentKeys(for: objects, self)) {
        registry.becomePermanent(object, key: key, keepsTemporaryKey: true)
      }
    }
  }
}
