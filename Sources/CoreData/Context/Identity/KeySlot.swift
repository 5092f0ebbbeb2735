/// The slot where the search for a key begins in the open-addressing tables of rows and objects.
///
/// Stores hand out consecutive keys. Eight adjacent keys share eight adjacent slots, so a walk over objects touches few
/// cache lines. These groups of slots are scattered, because one long run of used slots would make every removal walk
/// over it. The highest bits of the product select the group: they spread consecutive numbers evenly (Fibonacci
/// hashing).
enum KeySlot {
  @inline(__always)
  static func home(_ key: Int64, mask: Int) -> Int {
    let bits = UInt64(bitPattern: key)
    let keyRange = ((bits &>> 3) &* 0x9E37_79B9_7F4A_7C15) &>> UInt64(truncatingIfNeeded: mask.leadingZeroBitCount)
    return Int(truncatingIfNeeded: keyRange & ~7 | bits & 7)
  }
}
