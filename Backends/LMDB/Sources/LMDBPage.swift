#if LMDB
  import Foundation

  /// A page of a tree. Nothing in it points outside of it.
  struct LMDBPage {
    let bytes: UnsafeRawBufferPointer
    let isLeaf: Bool
    /// The number of nodes. A node of a leaf is an entry; a node of another page leads to a page below.
    let count: Int
    /// Whether all values of a leaf are on the page itself.
    let hasPlainValues: Bool
    /// The offset of the first node. The nodes reach to the end of the page.
    private let upper: Int

    private static let head = 16

    /// Nil where the bytes are no page of a tree with this number.
    init?(_ bytes: UnsafeRawBufferPointer, number: UInt64) {
      let flags = bytes.u16(10)
      let (lower, upper) = (Int(bytes.u16(12)), Int(bytes.u16(14)))
      guard bytes.u64(0) == number, flags == 1 || flags == 2, lower >= Self.head, lower <= upper, upper <= bytes.count,
        lower & 1 == 0
      else { return nil }
      self.bytes = bytes
      isLeaf = flags == 2
      count = (lower - Self.head) / 2
      self.upper = upper
      var kinds: UInt16 = 0
      for position in stride(from: Self.head, to: lower, by: 2) {
        guard let kind = Self.kind(bytes, node: Int(bytes.u16(position)), upper, isLeaf: flags == 2) else { return nil }
        kinds |= kind
      }
      hasPlainValues = flags == 2 && kinds == 0
    }

    private func offset(_ index: Int) -> Int { Int(bytes.u16(Self.head + index * 2)) }

    /// The kind of a node's value, zero for none. Nil for a node that points outside of the page.
    private static func kind(
      _ bytes: UnsafeRawBufferPointer, node start: Int, _ upper: Int, isLeaf: Bool
    ) -> UInt16? {
      guard start >= upper, start & 1 == 0, start + 8 <= bytes.count else { return nil }
      let data = start + 8 + Int(bytes.u16(start + 6))
      guard data <= bytes.count else { return nil }
      if !isLeaf { return 0 }
      let kind = bytes.u16(start + 4)
      let count = Int(bytes.u16(start)) | Int(bytes.u16(start + 2)) << 16
      switch kind {
      case 0, 2: return data + count <= bytes.count ? kind : nil
      case 1: return data + 8 <= bytes.count ? kind : nil
      default: return nil
      }
    }

    /// How many bytes a node takes on the page.
    private func size(node start: Int) -> Int {
      let key = Int(bytes.u16(start + 6))
      if !isLeaf { return 8 + key }
      if bytes.u16(start + 4) == 1 { return 8 + key + 8 }
      return 8 + key + (Int(bytes.u16(start)) | Int(bytes.u16(start + 2)) << 16)
    }

    /// How many words ``isPacked(_:)`` needs for a page of `pageSize` bytes.
    static func words(pageSize: Int) -> Int { pageSize / 128 + 1 }

    /// Whether the nodes lie side by side, without gaps or overlaps, and none is longer than LMDB makes them. LMDB
    /// relies on both when it moves nodes. `ends` is memory of ``words(pageSize:)`` words, one bit for two bytes.
    func isPacked(_ ends: UnsafeMutableBufferPointer<UInt64>) -> Bool {
      func turn(_ position: Int) { ends[position >> 7] ^= 1 << (UInt64(position) >> 1 & 63) }
      ends.update(repeating: 0)
      turn(upper)
      let longest = (bytes.count - Self.head) / 2 & -2 - 2
      var total = 0
      for index in 0..<count {
        let start = offset(index)
        let size = size(node: start)
        let end = start + size + size & 1
        if size > longest || end > bytes.count { return false }
        total += end - start
        turn(start)
        turn(end)
      }
      // A bit that is both a beginning and an end is flipped twice. Then the lengths of the nodes add up to their room.
      turn(bytes.count)
      return total == bytes.count - upper && ends.allSatisfy { $0 == 0 }
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
      /// The record of a named tree, nil for a value that is too short or too long.
      case tree(LMDBTree?)
      /// A value on pages of its own.
      case elsewhere(page: UInt64, count: Int)
    }

    func value(_ index: Int) -> Value {
      let start = offset(index)
      let count = Int(bytes.u16(start)) | Int(bytes.u16(start + 2)) << 16
      let data = start + 8 + Int(bytes.u16(start + 6))
      switch bytes.u16(start + 4) {
      case 1: return .elsewhere(page: bytes.u64(data), count: count)
      case 2: return .tree(count == LMDBTree.size ? LMDBTree(bytes, at: data) : nil)
      default: return .here(UnsafeRawBufferPointer(rebasing: bytes[data..<(data + count)]))
      }
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
