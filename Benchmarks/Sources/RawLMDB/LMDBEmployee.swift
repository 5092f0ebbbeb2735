#if LMDB
  import CLMDBRaw
  import Foundation

  /// Employees as a program of its own would pack them: numbers at fixed places, then the bytes of blob, name and
  /// email.
  extension RawEmployee {
    private static let head = 56

    @inline(__always)
    convenience init(_ bytes: UnsafeRawPointer, key: Int64) {
      let (nameCount, emailCount) = (
        Int(bytes.loadUnaligned(fromByteOffset: 44, as: UInt16.self)),
        Int(bytes.loadUnaligned(fromByteOffset: 46, as: UInt16.self))
      )
      let blobCount = Int(bytes.loadUnaligned(fromByteOffset: 48, as: UInt32.self))
      let name = bytes + Self.head + blobCount
      self.init(
        key: key, version: bytes.loadUnaligned(fromByteOffset: 52, as: Int32.self),
        name: String(decoding: UnsafeRawBufferPointer(start: name, count: nameCount), as: UTF8.self),
        email: String(decoding: UnsafeRawBufferPointer(start: name + nameCount, count: emailCount), as: UTF8.self),
        age: bytes.loadUnaligned(fromByteOffset: 40, as: Int16.self),
        active: bytes.load(fromByteOffset: 42, as: UInt8.self) != 0, salary: bytes.loadUnaligned(as: Double.self),
        hireDate: Date(timeIntervalSinceReferenceDate: bytes.loadUnaligned(fromByteOffset: 8, as: Double.self)),
        uuid: UUID(uuid: bytes.loadUnaligned(fromByteOffset: 24, as: uuid_t.self)),
        blob: Data(bytes: bytes + Self.head, count: blobCount),
        department: bytes.loadUnaligned(fromByteOffset: 16, as: Int64.self))
    }

    /// Writes it through a cursor, right into the page.
    @inline(__always)
    func put(_ cursor: OpaquePointer, _ flags: Int32) -> Int32 {
      var (name, email) = (name, email)
      return name.withUTF8 { name in
        email.withUTF8 { email in
          var value = MDB_val(mv_size: Self.head + blob.count + name.count + email.count, mv_data: nil)
          let result = withNumber(key) { mdb_cursor_put(cursor, $0, &value, UInt32(flags | MDB_RESERVE)) }
          guard result == MDB_SUCCESS, let target = value.mv_data else { return result }
          target.storeBytes(of: salary, as: Double.self)
          target.storeBytes(of: hireDate.timeIntervalSinceReferenceDate, toByteOffset: 8, as: Double.self)
          target.storeBytes(of: department, toByteOffset: 16, as: Int64.self)
          target.storeBytes(of: uuid.uuid, toByteOffset: 24, as: uuid_t.self)
          target.storeBytes(of: age, toByteOffset: 40, as: Int16.self)
          target.storeBytes(of: active ? 1 : 0, toByteOffset: 42, as: UInt8.self)
          target.storeBytes(of: UInt16(name.count), toByteOffset: 44, as: UInt16.self)
          target.storeBytes(of: UInt16(email.count), toByteOffset: 46, as: UInt16.self)
          target.storeBytes(of: UInt32(blob.count), toByteOffset: 48, as: UInt32.self)
          target.storeBytes(of: version, toByteOffset: 52, as: Int32.self)
          var place = target + Self.head
          func append(_ bytes: UnsafeRawBufferPointer) {
            if let start = bytes.baseAddress { place.copyMemory(from: start, byteCount: bytes.count) }
            place += bytes.count
          }
          blob.withUnsafeBytes { append($0) }
          append(UnsafeRawBufferPointer(name))
          append(UnsafeRawBufferPointer(email))
          return result
        }
      }
    }
  }
#endif
