#if LMDB
  import CLMDB

  /// The order that LMDB gives keys by itself, byte by byte and a shorter one first, found eight bytes at a time: each search compares
  /// a dozen keys.
  enum LMDBKeyOrder {
    static let compare: @convention(c) (UnsafePointer<MDB_val>?, UnsafePointer<MDB_val>?) -> Int32 = { a, b in
      guard let a, let b else { return 0 }
      return order(LMDBCursors.bytes(a.pointee), LMDBCursors.bytes(b.pointee))
    }

    @inline(__always)
    static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int32 {
      let common = min(a.count, b.count)
      var place = 0
      while place &+ 8 <= common {
        let (x, y) = (word(a, place), word(b, place))
        if x != y { return x < y ? -1 : 1 }
        place &+= 8
      }
      if place < common {
        if common >= 8 {
          // What lies before the rest is equal, so that it may be compared again.
          let (x, y) = (word(a, common &- 8), word(b, common &- 8))
          if x != y { return x < y ? -1 : 1 }
        } else {
          while place < common {
            if a[place] != b[place] { return a[place] < b[place] ? -1 : 1 }
            place &+= 1
          }
        }
      }
      return a.count == b.count ? 0 : a.count < b.count ? -1 : 1
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt64 {
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }
  }
#endif
