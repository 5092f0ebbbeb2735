/// Where a key's search begins in the open-addressing tables of rows and objects.
///
/// Stores hand out keys one after another, so eight neighbours share a stretch of memory and a walk over objects
/// touches few cache lines. The stretches themselves are scattered: one long run of taken places would make every
/// removal walk it. The highest bits of the product say where, because they spread consecutive numbers evenly
/// (Fibonacci hashing).
enum KeyPlace {
  @inline(__always)
  static func home(_ key: Int64, mask: Int) -> Int {
    let bits = UInt64(bitPattern: key)
    let stretch = ((bits &>> 3) &* 0x9E37_79B9_7F4A_7C15) &>> UInt64(truncatingIfNeeded: mask.leadingZeroBitCount)
    return Int(truncatingIfNeeded: stretch & ~7 | bits & 7)
  }
}
