import StoreProtocol
import StoreSchema
import StoreSupport

/// Properties of a change set that a commit needs before it writes. Found in one pass, because the rows do not fit into
/// the cache.
struct ChangeExtent {
  /// How many bytes will be written, roughly: rows with their indexes and links.
  private(set) var bytes: Int
  /// Whether an update changes a watched slot of its entity.
  private(set) var isWatched = false

  init(_ changes: ChangeSet, _ shape: KeyValueShape) {
    bytes = changes.deletions.count * 64
    for row in changes.insertions { bytes += row.byteCount + 512 }
    // Rows of one entity are adjacent.
    var (entity, slots) = (-1, SlotSet())
    for index in changes.updates.indices {
      let row = changes.updates[index].row
      bytes += row.byteCount + 512
      if row.entity != entity { (entity, slots) = (row.entity, shape.watchedSlots[row.entity]) }
      isWatched = isWatched || changes.updates[index].changed.intersects(slots)
    }
    for link in changes.links { bytes += (link.added.count + link.removed.count + (link.order?.count ?? 0)) * 128 }
  }
}
