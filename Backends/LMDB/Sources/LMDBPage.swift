#if LMDB
  import Foundation

  /// A page of a tree that was looked at: nothing in it leads out of it.
  struct LMDBPage {
    let bytes: UnsafeRawBufferPointer
    let isLeaf: Bool
    let count: Int

    private static let head = 16

    /// Nil for what is no page of a tree with this number.
    init?(_ bytes: UnsafeRawBufferPointer, number: UInt64) {
      let flags = bytes.u16(10)
      let (lower, upper) = (Int(bytes.u16(12)), Int(bytes.u16(14)))
      guard bytes.u64(0) == number, flags == 1 || flags == 2, lower >= Self.head, lower <= upper, upper <= bytes.count,
        lower & 1 == 0
      else { return nil }
      self.bytes = bytes
      isLeaf = flags == 2
      count = (lower - Self.head) / 2
      for index in 0..<count where !isSound(index, upper) { return nil }
    }

    private func offset(_ index: Int) -> Int { Int(bytes.u16(Self.head + index * 2)) }

    private func isSound(_ index: Int, _ upper: Int) -> Bool {
      let start = offset(index)
      guard start >= upper, start & 1 == 0, start + 8 <= bytes.count else { return false }
      let data = start + 8 + Int(bytes.u16(start + 6))
      guard data <= bytes.count else { return false }
      if !isLeaf { return true }
      switch bytes.u16(start + 4) {
      case 0, 2: return data + Int(bytes.u16(start)) + Int(bytes.u16(start + 2)) << 16 <= bytes.count
      case 1: return data + 8 <= bytes.count
      default: return false
      }
    }

    func key(_ index: Int) -> UnsafeRawBufferPointer {
      let start = offset(index)
      return UnsafeRawBufferPointer(rebasing: bytes[(start + 8)..<(start + 8 + Int(bytes.u16(start + 6)))])
    }

    /// The page below, of a page that is no leaf.
    func child(_ index: Int) -> UInt64 {
      let start = offset(index)
      return UInt64(bytes.u32(start)) | UInt64(bytes.u16(start + 4)) << 32
    }

    enum Value {
      case here(UnsafeRawBufferPointer)
      /// Of a tree with a name.
      case tree(LMDBTree)
      /// On pages of its own.
      case elsewhere(page: UInt64, count: Int)
    }

    func value(_ index: Int) -> Value {
      let start = offset(index)
      let count = Int(bytes.u16(start)) | Int(bytes.u16(start + 2)) << 16
      let data = start + 8 + Int(bytes.u16(start + 6))
      if bytes.u16(start + 4) == 1 { return .elsewhere(page: bytes.u64(data), count: count) }
      if bytes.u16(start + 4) == 2 && count == LMDBTree.size { return .tree(LMDBTree(bytes, at: data)) }
      return .here(UnsafeRawBufferPointer(rebasing: bytes[data..<(data + count)]))
    }
  }

  /// LMDB's order of keys: byte by byte, a shorter one first.
  func keyPrecedes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    let common = min(a.count, b.count)
    if common > 0, let x = a.baseAddress, let y = b.baseAddress {
      let order = memcmp(x, y, common)
      if order != 0 { return order < 0 }
    }
    return a.count < b.count
  }
#endif
