/// Objects recently reached over to-one relationships, kept alive so that a walk does not make them again and again.
/// Unchanged objects are held by the client alone (feature 15.10). So these are released at the end of the block or
/// event, and outside of blocks before a fetch.
struct RecentObjects {
  var isEmpty: Bool { objects.isEmpty }

  private var objects: ContiguousArray<NSManagedObject> = []
  private var next = 0

  /// With their rows about as many as fit into a processor's cache.
  private static let limit = 2048

  mutating func keep(_ object: NSManagedObject) {
    if objects.count < Self.limit {
      objects.append(object)
    } else {
      objects[next] = object
      next = (next + 1) % Self.limit
    }
  }
}
