/// Whether the objects that a block has read keep their rows, so that the rows agree with each other.
struct RowKeeping {
  /// Whether objects were read since the outermost block began. Faults keep the rows of such a read until the block
  /// ends, so that the results of a fetch agree with each other. Otherwise they fire with the newest row.
  private var haveRowsCome = false
  /// How many fetches are working on objects to which they have given rows.
  private(set) var fetches = 0

  /// Whether faults fire with their present rows, rather than with newer rows that others have read or saved.
  @inline(__always)
  var keepsRows: Bool { haveRowsCome || fetches > 0 }

  /// Notes that objects have got rows from a store, within a block or not.
  mutating func noteRows(isInBlock: Bool) { haveRowsCome = isInBlock }

  mutating func beginFetch() { fetches += 1 }

  mutating func endFetch() { fetches -= 1 }

  /// Notes the end of the outermost block.
  mutating func end() { haveRowsCome = false }
}
