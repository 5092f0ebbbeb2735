/// The checksum of an entry, over its key and its value: eight bytes at a time, in four lanes.
///
/// Each step maps different words to different states, and different states to different states. So the checksum finds
/// every change within eight adjacent bytes, and all but one in 2^64 of the other changes. It protects from damage, not
/// from intent.
struct EntryChecksum {
  private var state: UInt64

  private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

  static func of(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> UInt64 {
    var sum = EntryChecksum(key.count, value.count)
    sum.addWords(key, from: 0)
    sum.add(value)
    return sum.finished
  }

  /// A short checksum of the key alone.
  static func of(_ key: UnsafeRawBufferPointer) -> UInt32 {
    var sum = EntryChecksum(key.count, 0)
    sum.addWords(key, from: 0)
    return UInt32(truncatingIfNeeded: sum.finished &>> 32)
  }

  private init(_ keyCount: Int, _ valueCount: Int) {
    state = Self.factor ^ UInt64(truncatingIfNeeded: keyCount) &<< 32 ^ UInt64(truncatingIfNeeded: valueCount)
  }

  private var finished: UInt64 {
    var last = Self.step(state, 0x7263_6F64_6174_6100)
    last ^= last &>> 29
    return last &* Self.factor
  }

  @inline(__always)
  private static func step(_ state: UInt64, _ word: UInt64) -> UInt64 {
    let mixed = (state ^ word) &* factor
    return mixed &<< 31 | mixed &>> 33
  }

  private mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var offset = 0
    if bytes.count >= 64 {
      var (a, b, c, d) = (state, state ^ 1, state ^ 2, state ^ 3)
      while offset &+ 32 <= bytes.count {
        a = Self.step(a, Self.word(bytes, offset))
        b = Self.step(b, Self.word(bytes, offset &+ 8))
        c = Self.step(c, Self.word(bytes, offset &+ 16))
        d = Self.step(d, Self.word(bytes, offset &+ 24))
        offset &+= 32
      }
      // Each lane goes in as a word, so that a change of one lane alone is always found.
      state = Self.step(Self.step(Self.step(Self.step(state, a), b), c), d)
    }
    addWords(bytes, from: offset)
  }

  private mutating func addWords(_ bytes: UnsafeRawBufferPointer, from start: Int) {
    var offset = start
    while offset &+ 8 <= bytes.count {
      state = Self.step(state, Self.word(bytes, offset))
      offset &+= 8
    }
    if offset == bytes.count { return }
    if bytes.count >= 8 {
      // The remaining bytes, without the bytes before them.
      let before = UInt64(truncatingIfNeeded: offset &+ 8 &- bytes.count)
      state = Self.step(state, Self.word(bytes, bytes.count &- 8) &>> (before &* 8))
      return
    }
    var last: UInt64 = 0
    var position: UInt64 = 0
    while offset < bytes.count {
      last |= UInt64(bytes[offset]) &<< position
      position &+= 8
      offset &+= 1
    }
    state = Self.step(state, last)
  }

  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
