#if LMDB
  import Foundation
  import KeyValueEngine
  import StoreProtocol

  /// One state of a file, read page by page without a map: what is not as it must be is found, and ends nothing.
  final class LMDBPages {
    let file: LMDBFile
    let meta: LMDBMeta
    private var buffers: [UnsafeMutableRawBufferPointer] = []

    /// LMDB itself goes no deeper.
    static let longestPath = 32
    /// As LMDB is built by everybody.
    static let longestKey = 511

    init(_ file: LMDBFile, _ meta: LMDBMeta) {
      (self.file, self.meta) = (file, meta)
    }

    deinit { for buffer in buffers { buffer.deallocate() } }

    var damaged: StoreError { LMDBMeta.damaged("A page of it is not what it must be", file) }

    /// A page of a tree, valid until another one is read into the same of the buffers.
    func page(_ number: UInt64, buffer: Int) throws(StoreError) -> LMDBPage {
      guard let page = LMDBPage(try bytes(number, buffer: buffer), number: number) else { throw damaged }
      return page
    }

    private func bytes(_ number: UInt64, buffer: Int) throws(StoreError) -> UnsafeRawBufferPointer {
      while buffers.count <= buffer { buffers.append(.allocate(byteCount: meta.pageSize, alignment: 8)) }
      guard number >= 2, number <= meta.lastPage,
        try file.read(buffers[buffer], at: Int64(number) * Int64(meta.pageSize))
      else { throw damaged }
      return UnsafeRawBufferPointer(buffers[buffer])
    }

    /// How many pages a value on pages of its own takes, with their head.
    func overflowPages(_ count: Int) -> UInt64 { UInt64((count + 15) / meta.pageSize + 1) }

    /// The beginning of a value on pages of its own, as long as it is looked at.
    func overflow(_ number: UInt64, count: Int) throws(StoreError) -> UnsafeRawBufferPointer {
      let bytes = try bytes(number, buffer: Self.longestPath)
      let pages = overflowPages(count)
      guard bytes.u64(0) == number, bytes.u16(10) == 4, UInt64(bytes.u32(12)) >= pages,
        number + pages - 1 <= meta.lastPage
      else { throw damaged }
      return UnsafeRawBufferPointer(rebasing: bytes[16..<min(bytes.count, 16 + count)])
    }

    // MARK: Looking one thing up

    /// The tree with a name, nil where there is none.
    func tree(named name: String) throws(StoreError) -> LMDBTree? {
      try name.utf8.withContiguousStorageIfAvailable { name in
        Result { () throws(StoreError) in
          guard let (page, index) = try find(UnsafeRawBufferPointer(name), in: meta.main) else { return LMDBTree?.none }
          guard case .tree(let tree) = page.value(index) else { return nil }
          return tree
        }
      }?.get() ?? nil
    }

    /// The value of a key, nil where there is none.
    func value(_ key: UnsafeRawBufferPointer, in tree: LMDBTree) throws(StoreError) -> Data? {
      guard let (page, index) = try find(key, in: tree) else { return nil }
      switch page.value(index) {
      case .here(let bytes): return Data(bytes)
      case .tree: throw damaged
      case .elsewhere(let number, let count):
        _ = try overflow(number, count: count)
        return try content(number, count: count)
      }
    }

    /// A value on pages of its own, which were looked at.
    func content(_ number: UInt64, count: Int) throws(StoreError) -> Data {
      var data = Data(count: count)
      let start = Int64(number) * Int64(meta.pageSize) + 16
      let isRead: Result<Bool, StoreError> = data.withUnsafeMutableBytes { buffer in
        Result { () throws(StoreError) in try file.read(buffer, at: start) }
      }
      guard try isRead.get() else { throw damaged }
      return data
    }

    private func find(
      _ key: UnsafeRawBufferPointer, in tree: LMDBTree
    ) throws(StoreError) -> (page: LMDBPage, index: Int)? {
      guard var number = tree.root else { return nil }
      for depth in 0..<Self.longestPath {
        let page = try page(number, buffer: depth)
        if page.isLeaf {
          let index = (0..<page.count).first { !keyPrecedes(page.key($0), key) }
          guard let index, !keyPrecedes(key, page.key(index)) else { return nil }
          return (page, index)
        }
        // The first key of such a page counts as less than all.
        let next = (1..<max(1, page.count)).last { !keyPrecedes(key, page.key($0)) } ?? 0
        guard next < page.count else { throw damaged }
        number = page.child(next)
      }
      throw damaged
    }
  }

  extension LMDBPages {
    /// What the store in this state says of itself. Throws `notAStore` where there is no such store.
    func facts() throws(StoreError) -> KeyValueFacts {
      guard let tree = try tree(named: KeySpace.facts.name) else {
        throw StoreError(
          .notAStore, "The file is a database of LMDB, but no store of this kind; it was left as it is.",
          context: ["path": file.path])
      }
      return KeyValueFacts { (key) throws(StoreError) in try self.value(key, in: tree) }
    }

    /// Among the names of the trees: the number of the commit that wrote the state, in eight bytes.
    static let commitKey = "commit"

    /// Nil where there is none.
    func commitNumber() throws(StoreError) -> UInt64? {
      let found = try Self.commitKey.utf8.withContiguousStorageIfAvailable { name in
        Result { () throws(StoreError) in try value(UnsafeRawBufferPointer(name), in: meta.main) }
      }?.get()
      guard let data = found ?? nil, data.count == 8 else { return nil }
      return data.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Opens the last state of a file, where it is one of a store; gives it to `body` while nobody writes.
    ///
    /// Throws what ``LMDBMeta/both(of:)`` throws, and `corrupt` where a damaged page would hide the last commit.
    static func last<R>(
      of file: LMDBFile, until deadline: Date, _ body: (LMDBPages, KeyValueFacts) throws(StoreError) -> R
    ) throws(StoreError) -> R {
      try LMDBMeta.requireBeginning(of: file)
      try file.share(until: deadline)
      defer { file.unshare() }
      let (pages, facts) = try last(of: file)
      return try body(pages, facts)
    }

    /// The same, for whoever sees to it that nobody writes.
    static func last(of file: LMDBFile) throws(StoreError) -> (LMDBPages, KeyValueFacts) {
      let (last, former) = try LMDBMeta.both(of: file)
      let pages = LMDBPages(file, last)
      let facts = try pages.facts()
      try facts.checkFormat()
      if try pages.commitNumber() != last.commitNumber { throw LMDBMeta.damaged("Its last commit is missing", file) }
      let before = LMDBPages(file, former)
      if former.commitNumber > 0, let number = try? before.commitNumber(), number > former.commitNumber {
        throw LMDBMeta.damaged("Its last commit is hidden", file)
      }
      return (pages, facts)
    }
  }
#endif
