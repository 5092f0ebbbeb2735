#if LMDB
  import Foundation
  import StoreProtocol

  /// One of the two pages at the beginning of a file, which commits write in turn: LMDB's own format, read before LMDB
  /// maps it.
  struct LMDBMeta: Equatable {
    let pageSize: Int
    /// The number of the commit that wrote it.
    let commitNumber: UInt64
    let lastPage: UInt64
    let free: LMDBTree
    let main: LMDBTree

    static let size = 152
    private static let magic: UInt32 = 0xBEEF_C0DE
    /// Keys of the list of free pages are numbers. The other bit says that the file has no folder of its own.
    private static let flags: Set<UInt16> = [0x4008, 0x0008]

    /// Nil where the bytes are no such page, or cannot be page `number` of the file.
    init?(_ page: UnsafeRawBufferPointer, number: Int) {
      guard page.count >= Self.size, page.u64(0) == UInt64(number), page.u16(10) == 8, page.u32(16) == Self.magic,
        page.u32(20) == 1, page.u64(24) == 0, Self.flags.contains(page.u16(44)), page.u16(92) == 0
      else { return nil }
      pageSize = Int(page.u32(40))
      free = LMDBTree(page, at: 40)
      main = LMDBTree(page, at: 88)
      lastPage = page.u64(136)
      commitNumber = page.u64(144)
      guard pageSize >= 512, pageSize <= 1 << 16, pageSize & (pageSize - 1) == 0, lastPage < 1 << 40,
        commitNumber < 1 << 62
      else { return nil }
    }

    var byteCount: Int64 { (Int64(lastPage) + 1) * Int64(pageSize) }

    /// Both pages, the one with the last commit first.
    ///
    /// Throws `notAStore` for a file that is not LMDB's, `newerFormat` for another version of LMDB's format, and
    /// `corrupt` where the two pages contradict each other or the file ends before the pages that they name. Reading
    /// such a file through a map would end the process.
    static func both(of file: LMDBFile) throws(StoreError) -> (last: LMDBMeta, former: LMDBMeta) {
      var bytes = [UInt8](repeating: 0, count: size)
      let first = try read(file, number: 0, at: 0, &bytes)
      let second = try read(file, number: 1, at: Int64(first.pageSize), &bytes)
      let (a, b) = (first.commitNumber, second.commitNumber)
      let isNew = a == 0 && b == 0
      guard second.pageSize == first.pageSize, isNew || (a & 1 == 0 && b & 1 == 1 && (a > b ? a - b : b - a) == 1)
      else {
        throw damaged("Its first two pages contradict each other", file)
      }
      let (last, former) = a < b ? (second, first) : (first, second)
      if try file.size() < last.byteCount { throw damaged("It is shorter than it says", file) }
      return (last, former)
    }

    /// The valid ones of both pages, the one with the last commit first, even if they contradict each other. For a
    /// damaged file.
    static func readable(of file: LMDBFile) -> [LMDBMeta] {
      var bytes = [UInt8](repeating: 0, count: size)
      // If the first page is broken, the second one is read at LMDB's default page size.
      let first = try? read(file, number: 0, at: 0, &bytes)
      let second = try? read(file, number: 1, at: Int64(first?.pageSize ?? 4096), &bytes)
      return [first, second].compactMap { $0 }.sorted { $0.commitNumber > $1.commitNumber }
    }

    /// The present bytes of the page that a commit replaces.
    static func bytes(of file: LMDBFile, _ commitNumber: UInt64, _ pageSize: Int) throws(StoreError) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: size)
      let result: Result<Bool, StoreError> = bytes.withUnsafeMutableBytes { buffer in
        Result { () throws(StoreError) in try file.read(buffer, at: position(commitNumber, pageSize)) }
      }
      return try result.get() ? bytes : []
    }

    /// Writes that page back, durably. False where it could not be.
    static func restore(_ bytes: [UInt8], of file: LMDBFile, _ commitNumber: UInt64, _ pageSize: Int) -> Bool {
      var rest = bytes[...]
      var position = position(commitNumber, pageSize)
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { pwrite(file.descriptor, $0.baseAddress, $0.count, off_t(position)) }
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { return false }
        rest = rest.dropFirst(count)
        position += Int64(count)
      }
      return !bytes.isEmpty && fsync(file.descriptor) == 0
    }

    private static func position(_ commitNumber: UInt64, _ pageSize: Int) -> Int64 {
      Int64(commitNumber & 1) * Int64(pageSize)
    }

    private static func read(
      _ file: LMDBFile, number: Int, at offset: Int64, _ bytes: inout [UInt8]
    ) throws(StoreError) -> LMDBMeta {
      let result: Result<LMDBMeta, StoreError> = bytes.withUnsafeMutableBytes { buffer in
        Result { () throws(StoreError) in
          guard try file.read(buffer, at: offset) else {
            throw number == 0 ? foreign(file) : damaged("It is cut off", file)
          }
          let page = UnsafeRawBufferPointer(buffer)
          if let meta = LMDBMeta(page, number: number) { return meta }
          if number == 1 || page.u32(16) == magic && page.u32(20) == 1 {
            throw damaged("Its first page is broken", file)
          }
          if page.u32(16) == magic && page.u32(20) < 1000 {
            throw StoreError(
              .newerFormat, "The file has another version of LMDB. It was not changed.",
              context: ["path": file.path])
          }
          throw foreign(file)
        }
      }
      return try result.get()
    }

    /// Throws `notAStore` where the file does not begin as LMDB's files do, before anybody waits for its locks.
    static func requireBeginning(of file: LMDBFile) throws(StoreError) {
      var beginning: UInt64 = 0
      let result: Result<Bool, StoreError> = withUnsafeMutableBytes(of: &beginning) { bytes in
        Result { () throws(StoreError) in try file.read(bytes, at: 16) }
      }
      if try !result.get() || UInt32(truncatingIfNeeded: beginning) != magic { throw foreign(file) }
    }

    private static func foreign(_ file: LMDBFile) -> StoreError {
      StoreError(
        .notAStore, "The file does not begin like a store of this type. Open it with its own type.",
        context: ["path": file.path])
    }

    static func damaged(_ what: String, _ file: LMDBFile) -> StoreError {
      StoreError(
        .corrupt, "The file was damaged: \(what). Work on a copy, or on a backup.", context: ["path": file.path])
    }
  }

  /// A tree of pages: its root, and its header fields.
  struct LMDBTree: Equatable {
    let flags: UInt16
    let depth: Int
    let branchPages: UInt64
    let leafPages: UInt64
    let overflowPages: UInt64
    let entries: UInt64
    /// Nil for an empty tree.
    let root: UInt64?

    static let size = 48

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
      flags = bytes.u16(offset + 4)
      depth = Int(bytes.u16(offset + 6))
      branchPages = bytes.u64(offset + 8)
      leafPages = bytes.u64(offset + 16)
      overflowPages = bytes.u64(offset + 24)
      entries = bytes.u64(offset + 32)
      let root = bytes.u64(offset + 40)
      self.root = root == .max ? nil : root
    }
  }

  extension UnsafeRawBufferPointer {
    func u16(_ offset: Int) -> UInt16 { loadUnaligned(fromByteOffset: offset, as: UInt16.self) }
    func u32(_ offset: Int) -> UInt32 { loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    func u64(_ offset: Int) -> UInt64 { loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
  }
#endif
