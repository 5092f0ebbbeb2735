/// Whether the objects that a block has read keep the rows that they have, so that they are of one moment.
struct SharedReads {
  /// Whether objects were read since the outermost block began. Faults keep the rows that such a read gave them until
  /// it ends, so that the results of a fetch agree with each other. Else they fire with the newest row.
  private var haveRowsCome = false
  /// How many fetches are at work on objects to which they have given rows.
  private(set) var fetches = 0

  /// Whether faults fire with the rows that they have at hand, rather than with newer ones that others have read or
  /// saved.
  @inline(__always)
  var keepsRows: Bool { haveRowsCome || fetches > 0 }

  /// Objects have got rows from a store, within a block or not.
  mutating func noteRows(isInBlock: Bool) { haveRowsCome = isInBlock }

  mutating func beginFetch() { fetches += 1 }

  mutating func endFetch() { fetches -= 1 }

  /// The outermost block has ended.
  mutating func end() { haveRowsCome = false }
}
