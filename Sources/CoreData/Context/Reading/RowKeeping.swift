/// Whether the objects that a block has read keep their rows, so that the rows agree with each other.
struct RowKeeping {
  /// Whether objects were read since the outermost block began. Faults keep the rows of such a read until the block
  /// ends, so that the results of a fetch agree with each other. Otherwise they fire with the newest row.
  private var haveRowsCome = false
  /// How many fetches are working on objects to which they have given rows.
  private(set) var fetches = 0
  /// The objects of a child context that have got rows of its parent since the outermost block began. Other faults ask
  /// the parent when they fire: no save would notice that their rows are out of date.
  private var current: Set<ObjectIdentifier> = []

  /// Whether faults fire with their present rows, rather than with newer rows that others have read or saved.
  @inline(__always)
  var keepsRows: Bool { haveRowsCome || fetches > 0 }

  /// The same for a fault of a child context.
  func keepsRowOfParent(_ object: NSManagedObject) -> Bool { keepsRows && current.contains(ObjectIdentifier(object)) }

  /// Notes that objects have got rows from a store, within a block or not.
  mutating func noteRows(isInBlock: Bool) { haveRowsCome = isInBlock }

  /// The same for rows of the parent.
  mutating func noteRowsOfParent(_ objects: [NSManagedObject], isInBlock: Bool) {
    if !isInBlock && fetches == 0 { current = [] }
    noteRows(isInBlock: isInBlock)
    current.formUnion(objects.lazy.map(ObjectIdentifier.init))
  }

  mutating func beginFetch() { fetches += 1 }

  mutating func endFetch() {
    fetches -= 1
    if !haveRowsCome && fetches == 0 && !current.isEmpty { current = [] }
  }

  /// Notes the end of the outermost block.
  mutating func end() {
    haveRowsCome = false
    if !current.isEmpty { current = [] }
  }
}
