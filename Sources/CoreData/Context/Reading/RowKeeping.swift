/// Whether the objects that a block has read keep their rows, so that the rows agree with each other.
struct RowKeeping {
  /// Whether objects have got rows within the outermost block. Faults keep them until the block ends, so that the
  /// results of a fetch agree with each other. Otherwise they fire with the newest row.
  private var haveRowsCome = false
  /// How many fetches are working on objects to which they have given rows.
  private(set) var fetches = 0
  /// The objects of a child context that have got rows of its parent within the outermost block or fetch. Other faults
  /// ask the parent when they fire: no save would notice that their rows are out of date. These are addresses. If one
  /// is used again, the new object was made within the same block, so its row is from there, too.
  private var current: Set<ObjectIdentifier> = []
  /// How many objects are remembered at most. In a block that reads more, faults ask the parent again.
  private static let most = 1 << 20

  /// Whether faults fire with their present rows, rather than with newer rows that others have read or saved.
  @inline(__always)
  var keepsRows: Bool { haveRowsCome || fetches > 0 }

  /// The same for a fault of a child context.
  func keepsRowOfParent(_ object: NSManagedObject) -> Bool { current.contains(ObjectIdentifier(object)) }

  /// Notes that objects have got rows from a store, within a block or not.
  mutating func noteRows(isInBlock: Bool) { haveRowsCome = isInBlock }

  /// The same for rows of the parent. Outside of blocks and fetches they are not kept.
  mutating func noteRowsOfParent(_ objects: [NSManagedObject], isInBlock: Bool) {
    if isInBlock { haveRowsCome = true } else if fetches == 0 { return }
    if current.count + objects.count > Self.most { current = [] }
    current.formUnion(objects.lazy.map(ObjectIdentifier.init))
  }

  mutating func beginFetch() { fetches += 1 }

  mutating func endFetch() {
    fetches -= 1
    forgetRows()
  }

  /// Notes the end of the outermost block. It may be in a fetch of a context that is used outside of blocks.
  mutating func end() {
    haveRowsCome = false
    forgetRows()
  }

  private mutating func forgetRows() { if !haveRowsCome && fetches == 0 && !current.isEmpty { current = [] } }
}
