import Foundation
import StoreProtocol
import StoreSchema

/// Giving new objects their permanent keys before they are saved.
extension ContextCore {
  func obtainPermanentKeys(_ objects: [NSManagedObject]) throws {
    checkQueue()
    // Keys are counted by a commit, and no view of one's own must stand in its way.
    sharedReads.dropAll()
    var seen: Set<ObjectIdentifier> = []
    let new = objects.filter { $0.key < 0 && $0.core === self && seen.insert(ObjectIdentifier($0)).inserted }
    new.forEach(findStore)
    for (index, objects) in Dictionary(grouping: new, by: \.storeIndex) {
      guard let store = store(index) else {
        throw CocoaError(
          .persistentStoreSave,
          userInfo: [NSLocalizedDescriptionKey: "No store takes the objects; add one before asking for permanent IDs."])
      }
      if let custom = store.custom {
        let deleted = changed.filter { $0.flags.isSuperset(of: [.deleted, .stored]) && $0.storeIndex == index }
        let entities = Dictionary(deleted.map { ($0.key, $0.info.entity) }, uniquingKeysWith: { first, _ in first })
        try makePermanent(objects, custom.keys(for: objects, deleted: entities, store))
      } else {
        for (root, members) in Dictionary(grouping: objects, by: \.info.root) {
          try makePermanent(members, keys(members.count, root, store))
        }
      }
    }
  }

  private func makePermanent(_ objects: [NSManagedObject], _ keys: [Int64]) {
    for (object, key) in zip(objects, keys) { registry.becomePermanent(object, key: key, keepsTemporaryKey: true) }
  }

  private func keys(_ count: Int, _ root: Int, _ store: NSPersistentStore) throws -> [Int64] {
    do { return Array(try store.allocateKeys(root: root, count: count)) } catch {
      throw CoreDataError.make(error)
    }
  }
}
