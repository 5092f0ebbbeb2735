/// A link to write or remove, of a known table. Not nested in a generic type, where sorting would take ten times as
/// long.
struct KeyValueLink {
  let owner: Int64
  let destination: Int64

  /// Sorts by owner; the links of each owner keep their order.
  ///
  /// This is a counting sort over the digits of the owners, from the last digit to the first. A comparison sort of half
  /// a million links takes ten times as long.
  static func sortByOwner(_ links: inout [KeyValueLink]) {
    var (highest, isSorted) = (UInt64(0), true)
    var last: UInt64 = 0
    for link in links {
      let owner = UInt64(bitPattern: link.owner)
      highest = max(highest, owner)
      if owner < last { isSorted = false }
      last = owner
    }
    if isSorted { return }
    var other = links
    var shift: UInt64 = 0
    while shift < 64 && highest &>> shift != 0 {
      links.withUnsafeBufferPointer { source in other.withUnsafeMutableBufferPointer { sort(source, into: $0, shift) } }
      swap(&links, &other)
      shift += digit
    }
  }

  private static let digit: UInt64 = 11

  /// Sorts by one digit, and keeps the order of links with equal digits.
  private static func sort(
    _ source: UnsafeBufferPointer<KeyValueLink>, into target: UnsafeMutableBufferPointer<KeyValueLink>, _ shift: UInt64
  ) {
    let mask: UInt64 = 1 &<< digit &- 1
    withUnsafeTemporaryAllocation(of: Int.self, capacity: Int(mask) + 1) { positions in
      positions.initialize(repeating: 0)
      for link in source { positions[Int(UInt64(bitPattern: link.owner) &>> shift & mask)] &+= 1 }
      var next = 0
      for index in positions.indices {
        let count = positions[index]
        positions[index] = next
        next &+= count
      }
      for link in source {
        let index = Int(UInt64(bitPattern: link.owner) &>> shift & mask)
        target[positions[index]] = link
        positions[index] &+= 1
      }
    }
  }
}
