#if LMDB
  import Foundation
  import KeyValueEngine
  import StoreProtocol

  /// One state of a file, read page by page without LMDB. Damage is found and does not end the process.
  final class LMDBPages {
    let file: LMDBFile
    let meta: LMDBMeta
    private let map: UnsafeRawBufferPointer?
    private let buffer: UnsafeMutableRawBufferPointer
    private let head: UnsafeMutableRawBufferPointer

    /// LMDB itself descends no deeper.
    static let longestPath = 32
    /// The default of LMDB's build.
    static let longestKey = 511

    /// `isMapped` reads pages through a map where the system gives one. This saves a system call for each page, but a
    /// failing disk, or another program that truncates the file, ends the process.
    init(_ file: LMDBFile, _ meta: LMDBMeta, isMapped: Bool = false) {
      (self.file, self.meta) = (file, meta)
      map = isMapped ? file.map(Int(meta.byteCount)) : nil
      buffer = .allocate(byteCount: meta.pageSize, alignment: 8)
      head = .allocate(byteCount: 16, alignment: 8)
    }

    deinit {
      if let map { file.unmap(map) }
      buffer.deallocate()
      head.deallocate()
    }

    var damaged: StoreError { LMDBMeta.damaged("A page of it is not what it must be", file) }

    /// A page of a tree, valid until the next one is read.
    func page(_ number: UInt64) throws(StoreError) -> LMDBPage {
      guard let page = LMDBPage(try bytes(number, buffer), number: number) else { throw damaged }
      return page
    }

    /// Reads the beginning of a page into `buffer`, as many bytes as it holds.
    private func bytes(
      _ number: UInt64, _ buffer: UnsafeMutableRawBufferPointer
    ) throws(StoreError) -> UnsafeRawBufferPointer {
      guard number >= 2, number <= meta.lastPage else { throw damaged }
      let start = Int64(number) * Int64(meta.pageSize)
      if let map {
        // Copied at once, which takes half the time: the nodes of a page are read in no order.
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: map[Int(start)..<Int(start) + buffer.count]))
      } else if try !file.read(buffer, at: start) {
        throw damaged
      }
      return UnsafeRawBufferPointer(buffer)
    }

    /// The pages of a value of `count` bytes on pages of its own; `number` is the first one. There may be more pages
    /// than the value needs, because it may have been longer before. They may reach behind the last page. Throws
    /// `corrupt` where they do not hold `count` bytes.
    func overflowPages(_ number: UInt64, count: Int) throws(StoreError) -> Range<UInt64> {
      let head = try bytes(number, self.head)
      let pages = UInt64(head.u32(12))
      guard head.u64(0) == number, head.u16(10) == 4, pages >= UInt64((count + 15) / meta.pageSize + 1)
      else { throw damaged }
      return number..<number + pages
    }

    // MARK: Looking one thing up

    /// The tree with a name, nil where there is none.
    func tree(named name: String) throws(StoreError) -> LMDBTree? {
      try name.utf8.withContiguousStorageIfAvailable { name in
        Result { () throws(StoreError) in
          guard let (page, index) = try find(UnsafeRawBufferPointer(name), in: meta.main) else { return LMDBTree?.none }
          guard case .tree(let tree?) = page.value(index) else { return nil }
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
      case .elsewhere(let number, let count): return try content(number, count: count)
      }
    }

    /// A value on pages of its own.
    func content(_ number: UInt64, count: Int) throws(StoreError) -> Data {
      _ = try overflowPages(number, count: count)
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
      for _ in 0..<Self.longestPath {
        let page = try page(number)
        if page.isLeaf {
          let index = (0..<page.count).first { !keyPrecedes(page.key($0), key) }
          guard let index, !keyPrecedes(key, page.key(index)) else { return nil }
          return (page, index)
        }
        // The first key of an inner page counts as less than all others.
        let next = (1..<max(1, page.count)).last { !keyPrecedes(key, page.key($0)) } ?? 0
        guard next < page.count else { throw damaged }
        number = page.child(next)
      }
      throw damaged
    }
  }

  extension LMDBPages {
    /// The header fields of the store in this state. Throws `notAStore` where there is no such store.
    func headerFields() throws(StoreError) -> KeyValueHeader {
      guard let tree = try tree(named: KeySpace.facts.name) else {
        throw StoreError(
          .notAStore, "The file is an LMDB database of another program. It was not changed. Choose another URL.",
          context: ["path": file.path])
      }
      return KeyValueHeader { (key) throws(StoreError) in try self.value(key, in: tree) }
    }

    /// A key among the names of the trees: the number of the commit that wrote the state, in eight bytes.
    static let commitKey = "commit"

    /// Nil where there is none.
    func commitNumber() throws(StoreError) -> UInt64? {
      let found = try Self.commitKey.utf8.withContiguousStorageIfAvailable { name in
        Result { () throws(StoreError) in try value(UnsafeRawBufferPointer(name), in: meta.main) }
      }?.get()
      guard let data = found ?? nil, data.count == 8 else { return nil }
      return data.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Opens the last state of a file that is a store, and gives it to `body` while nobody writes.
    ///
    /// Throws the errors of ``LMDBMeta/both(of:)``, and `corrupt` where a damaged page would hide the last commit.
    static func last<R>(
      of file: LMDBFile, until deadline: Date, _ body: (LMDBPages, KeyValueHeader) throws(StoreError) -> R
    ) throws(StoreError) -> R {
      try LMDBMeta.requireBeginning(of: file)
      try file.share(until: deadline)
      defer { file.unshare() }
      let (pages, headerFields) = try last(of: file)
      return try body(pages, headerFields)
    }

    /// The same for a caller that keeps writers away.
    static func last(of file: LMDBFile) throws(StoreError) -> (LMDBPages, KeyValueHeader) {
      let (last, former) = try LMDBMeta.both(of: file)
      let pages = LMDBPages(file, last)
      let headerFields = try pages.headerFields()
      try headerFields.checkFormat()
      if try pages.commitNumber() != last.commitNumber { throw LMDBMeta.damaged("Its last commit is missing", file) }
      let before = LMDBPages(file, former)
      if former.commitNumber > 0, let number = try? before.commitNumber(), number > former.commitNumber {
        throw LMDBMeta.damaged("Its last commit is hidden", file)
      }
      return (pages, headerFields)
    }
  }
#endif
