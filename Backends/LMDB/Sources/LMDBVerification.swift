#if LMDB
  import Foundation
  import KeyValueEngine
  import StoreProtocol

  /// Looks at every page of one state of a file, before LMDB, which believes what it reads, goes through a map of it.
  ///
  /// Found are pages that lead astray, keys that are not where they are looked for, entries that are missing, and those
  /// whose key does not fit; contents on pages of their own are left to the checksums, which are looked at when they
  /// are read. Takes one pass over all pages but those.
  final class LMDBVerification {
    private let pages: LMDBPages
    /// One bit a page: what is in use, and so must not be free.
    private var used: [UInt64]

    init(_ pages: LMDBPages) {
      self.pages = pages
      used = Array(repeating: 0, count: Int(pages.meta.lastPage / 64) + 1)
    }

    /// Throws `corrupt`.
    func run() throws(StoreError) {
      var trees: [(KeySpace, LMDBTree)] = []
      try walk(pages.meta.main, isNumbered: false) { (key, value) throws(StoreError) in
        if LMDBPages.commitKey.utf8.elementsEqual(key), case .here = value { return }
        let space = KeySpace.allCases.first { $0.name.utf8.elementsEqual(key) }
        guard let space, case .tree(let tree) = value, tree.flags == 0 else { throw pages.damaged }
        trees.append((space, tree))
      }
      guard trees.count == KeySpace.allCases.count else { throw pages.damaged }
      for (space, tree) in trees {
        try walk(tree, isNumbered: false) { (key, value) throws(StoreError) in
          switch value {
          case .tree: throw pages.damaged
          case .here(let bytes):
            guard KeyValueEntry.isPlausible(space, key, bytes, count: bytes.count) else { throw pages.damaged }
          case .elsewhere(let number, let count):
            let start = try pages.overflow(number, count: count)
            guard KeyValueEntry.isPlausible(space, key, start, count: count) else { throw pages.damaged }
          }
        }
      }
      try checkFreePages()
    }

    /// Pages that are free must be in nobody's use: they are written next.
    private func checkFreePages() throws(StoreError) {
      var free: [UInt64] = []
      try walk(pages.meta.free, isNumbered: true) { (key, value) throws(StoreError) in
        guard key.count == 8 else { throw pages.damaged }
        var list: Data
        switch value {
        case .tree: throw pages.damaged
        case .here(let bytes): list = Data(bytes)
        case .elsewhere(let number, let count):
          _ = try pages.overflow(number, count: count)
          list = try pages.content(number, count: count)
        }
        let numbers: [UInt64] = list.withUnsafeBytes { bytes in
          stride(from: 0, to: bytes.count - 7, by: 8).map { bytes.u64($0) }
        }
        // The first one says how many there are; they come from the last page to the first.
        guard let count = numbers.first, count < UInt64(numbers.count) else { throw pages.damaged }
        let listed = numbers.dropFirst().prefix(Int(count))
        guard zip(listed, listed.dropFirst()).allSatisfy({ $0 > $1 }) else { throw pages.damaged }
        free += listed
      }
      for page in free { try use(page) }
    }

    /// Marks a page. Throws where it is somebody else's already.
    private func use(_ page: UInt64) throws(StoreError) {
      guard page >= 2, page <= pages.meta.lastPage else { throw pages.damaged }
      let (word, bit) = (Int(page >> 6), UInt64(1) << (page & 63))
      if used[word] & bit != 0 { throw pages.damaged }
      used[word] |= bit
    }

    /// A page of a tree that is still to be looked at, and the keys between which its own must be.
    private struct Branch {
      let page: UInt64
      let depth: Int
      let low: [UInt8]?
      let high: [UInt8]?
    }

    private func walk(
      _ tree: LMDBTree, isNumbered: Bool, _ body: (UnsafeRawBufferPointer, LMDBPage.Value) throws(StoreError) -> Void
    ) throws(StoreError) {
      var (leaves, branches, overflows, entries) = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
      var pending: [Branch] = tree.root.map { [Branch(page: $0, depth: 1, low: nil, high: nil)] } ?? []
      guard tree.depth <= LMDBPages.longestPath, pending.isEmpty == (tree.depth == 0) else { throw pages.damaged }
      while let next = pending.popLast() {
        try use(next.page)
        let page = try pages.page(next.page, buffer: 0)
        guard page.count > 0, page.isLeaf == (next.depth == tree.depth) else { throw pages.damaged }
        try checkOrder(page, next, isNumbered)
        if !page.isLeaf {
          if page.count < 2 && !isNumbered { throw pages.damaged }
          branches += 1
          for index in (0..<page.count).reversed() {
            pending.append(
              Branch(
                page: page.child(index), depth: next.depth + 1, low: index == 0 ? next.low : Array(page.key(index)),
                high: index + 1 < page.count ? Array(page.key(index + 1)) : next.high))
          }
          continue
        }
        leaves += 1
        entries += UInt64(page.count)
        for index in 0..<page.count {
          let value = page.value(index)
          if case .elsewhere(let number, let count) = value {
            _ = try pages.overflow(number, count: count)
            for part in number..<number + pages.overflowPages(count) { try use(part) }
            overflows += pages.overflowPages(count)
          }
          try body(page.key(index), value)
        }
      }
      guard leaves == tree.leafPages, branches == tree.branchPages, overflows == tree.overflowPages,
        entries == tree.entries
      else { throw pages.damaged }
    }

    private func checkOrder(_ page: LMDBPage, _ branch: Branch, _ isNumbered: Bool) throws(StoreError) {
      func precedes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        isNumbered && a.count == 8 && b.count == 8 ? a.u64(0) < b.u64(0) : keyPrecedes(a, b)
      }
      // The first key of a page that is no leaf counts as less than all.
      let first = page.isLeaf ? 0 : 1
      for index in first..<max(first, page.count) {
        let key = page.key(index)
        if isNumbered && key.count != 8 { throw pages.damaged }
        if index > first, !precedes(page.key(index - 1), key) { throw pages.damaged }
      }
      if first < page.count, let low = branch.low,
        low.withUnsafeBytes({ precedes(page.key(first), $0) })
      {
        throw pages.damaged
      }
      if first < page.count, let high = branch.high,
        !high.withUnsafeBytes({ precedes(page.key(page.count - 1), $0) })
      {
        throw pages.damaged
      }
    }
  }
#endif
