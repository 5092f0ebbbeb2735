import Foundation
import StoreProtocol
import StoreSchema

/// Keys and commits.
extension RowOrigin {
  /// Whether the store itself assigns the keys of new objects, before they are saved.
  var namesObjects: Bool { store.custom != nil }

  /// Permanent keys for new objects, in their order.
  func permanentKeys(for objects: [NSManagedObject], _ core: ContextCore) throws -> [Int64] {
    if let custom = store.custom {
      // A new object with a permanent ID also keeps its name in the store until the save that deletes it.
      let deleted = core.changed.filter { $0.flags.isDeleted && $0.storeIndex == index && $0.key > 0 }
      let entities = Dictionary(deleted.map { ($0.key, $0.info.entity) }, uniquingKeysWith: { first, _ in first })
      return try custom.keys(for: objects, deleted: entities, store)
    }
    var keys: [Int: Range<Int64>] = [:]
    for (root, members) in Dictionary(grouping: objects, by: \.info.root) {
      do { keys[root] = try store.allocateKeys(root: root, count: members.count) } catch {
        throw CoreDataError.make(error)
      }
    }
    return objects.compactMap { keys[$0.info.root]?.popFirst() }
  }

  /// Whether the store may read the saved objects during the commit. Then they must have all their values.
  var readsObjectsOfSaves: Bool { store.custom != nil }
}
