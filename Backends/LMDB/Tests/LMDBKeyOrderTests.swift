#if LMDB
  import CLMDB
  import Testing

  /// The keys have LMDB's default order, because other programs and older versions read the same file.
  @Suite struct LMDBKeyOrderTests {
    private func order(_ a: [UInt8], _ b: [UInt8]) -> Int {
      a.withUnsafeBytes { a in
        b.withUnsafeBytes { b in
          var (a, b) = (Self.value(a), Self.value(b))
          return Int(cd_lmdb_compare(&a, &b)).signum()
        }
      }
    }

    private static func value(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
      MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    @Test func bytesDecideAndThenTheLength() {
      var random = SystemRandomNumberGenerator()
      for _ in 0..<20_000 {
        // Few different bytes, so that most keys share a prefix.
        func key() -> [UInt8] {
          let count = Int.random(in: 0..<26, using: &random)
          return (0..<count).map { _ in [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &random) ?? 0 }
        }
        let a = key()
        var b = key()
        if Bool.random(using: &random), a.count > 0 {
          b = a
          b[Int.random(in: 0..<a.count, using: &random)] &+= UInt8.random(in: 0..<3, using: &random)
          b += key().prefix(2)
        }
        let expected = a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
        #expect(order(a, b) == expected, "\(a) \(b)")
      }
    }
  }
#endif
