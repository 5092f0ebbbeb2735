/// SHA-256 (FIPS 180-4) of a message in pieces.
public struct SHA256 {
  private var state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]
  private var words = [UInt32](repeating: 0, count: 64)
  /// The beginning of an incomplete block.
  private var rest: [UInt8] = []
  private var count: UInt64 = 0

  /// The digest of an empty message, to which pieces are added.
  public init() {}

  /// Appends bytes to the message.
  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    count &+= UInt64(bytes.count)
    var bytes = bytes[...]
    if !rest.isEmpty {
      let part = bytes.prefix(64 - rest.count)
      rest += part
      bytes = bytes.dropFirst(part.count)
      if rest.count < 64 { return }
      let block = rest
      rest.removeAll(keepingCapacity: true)
      block.withUnsafeBytes { compress($0) }
    }
    while bytes.count >= 64 {
      compress(UnsafeRawBufferPointer(rebasing: bytes.prefix(64)))
      bytes = bytes.dropFirst(64)
    }
    rest += bytes
  }

  /// The 32 bytes of the digest.
  public mutating func finish() -> [UInt8] {
    var padding: [UInt8] = [0x80]
    padding += [UInt8](repeating: 0, count: Int((119 &- count % 64) % 64))
    let length = (count &* 8).bigEndian
    withUnsafeBytes(of: length) { padding += $0 }
    padding.withUnsafeBytes { update($0) }
    return state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
  }

  private mutating func compress(_ block: UnsafeRawBufferPointer) {
    words.withUnsafeMutableBufferPointer { w in
      for i in 0..<16 { w[i] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: i * 4, as: UInt32.self)) }
      for i in 16..<64 {
        let s0 = Self.rotate(w[i - 15], 7) ^ Self.rotate(w[i - 15], 18) ^ (w[i - 15] >> 3)
        let s1 = Self.rotate(w[i - 2], 17) ^ Self.rotate(w[i - 2], 19) ^ (w[i - 2] >> 10)
        w[i] = w[i - 16] &+ s0 &+ w[i - 7] &+ s1
      }
      var (a, b, c, d) = (state[0], state[1], state[2], state[3])
      var (e, f, g, h) = (state[4], state[5], state[6], state[7])
      for i in 0..<64 {
        let s1 = Self.rotate(e, 6) ^ Self.rotate(e, 11) ^ Self.rotate(e, 25)
        let s0 = Self.rotate(a, 2) ^ Self.rotate(a, 13) ^ Self.rotate(a, 22)
        let t1 = h &+ s1 &+ ((e & f) ^ (~e & g)) &+ Self.constants[i] &+ w[i]
        let t2 = s0 &+ ((a & b) ^ (a & c) ^ (b & c))
        (h, g, f, e, d, c, b, a) = (g, f, e, d &+ t1, c, b, a, t1 &+ t2)
      }
      for (i, word) in [a, b, c, d, e, f, g, h].enumerated() { state[i] &+= word }
    }
  }

  @inline(__always) private static func rotate(_ x: UInt32, _ n: UInt32) -> UInt32 { (x &>> n) | (x &<< (32 &- n)) }

  /// The high halves of the first 64 constants of SHA-512.
  private static let constants: [UInt32] = SHA2.constants.prefix(64).map { UInt32(truncatingIfNeeded: $0 >> 32) }
}
