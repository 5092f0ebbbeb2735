#if LMDB
  import Foundation
  import KeyValueEngine
  import StoreProtocol

  /// Checks one state of a file without LMDB, because LMDB trusts the pages that it reads.
  ///
  /// Both checks visit each used page once, and no page twice. They take one bit of memory for each page, and no
  /// recursion.
  final class LMDBVerification {
    private let pages: LMDBPages
    /// One bit for each page: the used pages, and the free pages once they have been checked.
    private var used: [UInt64]
    private let nodeStarts: UnsafeMutableBufferPointer<UInt64>
    private var checksEntries = false

    init(_ pages: LMDBPages) {
      self.pages = pages
      used = Array(repeating: 0, count: Int(pages.meta.lastPage / 64) + 1)
      nodeStarts = .allocate(capacity: LMDBPage.words(pageSize: pages.meta.pageSize))
    }

    deinit { nodeStarts.deallocate() }

    /// Checks what LMDB relies on when it reads and writes the file. Throws `corrupt`.
    ///
    /// - Each page of a tree has its own number, a known kind, and nodes that fill its end without overlapping.
    /// - Each page has one use: it is in one tree, in one value, or free. All pages lie before the end of the file.
    /// - All leaves of a tree are at the depth that the tree states.
    /// - A value on pages of its own fits into them.
    /// - The list of free pages is in order.
    ///
    /// Not checked are keys, values and checksums. Where the check passes, LMDB reads nothing outside of its map, does
    /// not end the process, and does not loop.
    func checkStructure() throws(StoreError) {
      for (_, tree) in try trees() { try walk(tree, .entries) { (_, _) throws(StoreError) in } }
      try checkFreePages()
    }

    /// Checks all that ``checkStructure()`` does, and also the order of the keys, the numbers of entries and pages that
    /// each tree states, and the checksum of each entry. Throws `corrupt`.
    func run() throws(StoreError) {
      checksEntries = true
      for (_, tree) in try trees() {
        try walk(tree, .entries) { (key, value) throws(StoreError) in
          switch value {
          case .tree: throw pages.damaged
          case .here(let bytes): try KeyValueEntry.check(key, bytes)
          case .elsewhere(let number, let count):
            let content = try pages.content(number, count: count)
            let result: Result<Void, StoreError> = content.withUnsafeBytes { bytes in
              Result { () throws(StoreError) in try KeyValueEntry.check(key, bytes) }
            }
            try result.get()
          }
        }
      }
      try checkFreePages()
    }

    /// The trees of the store. Throws for other trees, and for trees without a known name.
    private func trees() throws(StoreError) -> [(KeySpace, LMDBTree)] {
      var trees: [(KeySpace, LMDBTree)] = []
      try walk(pages.meta.main, .names) { (key, value) throws(StoreError) in
        if LMDBPages.commitKey.utf8.elementsEqual(key), case .here = value { return }
        let space = KeySpace.allCases.first { $0.name.utf8.elementsEqual(key) }
        guard let space, case .tree(let tree?) = value, tree.flags == 0 else { throw pages.damaged }
        trees.append((space, tree))
      }
      guard trees.count == KeySpace.allCases.count else { throw pages.damaged }
      return trees
    }

    /// LMDB writes on free pages next. Its list of them has one entry for each commit that freed some.
    private func checkFreePages() throws(StoreError) {
      var free: [UInt64] = []
      try walk(pages.meta.free, .freePages) { (key, value) throws(StoreError) in
        guard (1...pages.meta.commitNumber).contains(key.u64(0)) else { throw pages.damaged }
        let list: Data
        switch value {
        case .tree: throw pages.damaged
        case .here(let bytes): list = Data(bytes)
        case .elsewhere(let number, let count): list = try pages.content(number, count: count)
        }
        let numbers: [UInt64] = list.withUnsafeBytes { bytes in
          stride(from: 0, to: bytes.count - 7, by: 8).map { bytes.u64($0) }
        }
        // The first number is the count; the pages follow in descending order.
        guard let count = numbers.first, count < UInt64(numbers.count) else { throw pages.damaged }
        let listed = numbers.dropFirst().prefix(Int(count))
        guard zip(listed, listed.dropFirst()).allSatisfy({ $0 > $1 }) else { throw pages.damaged }
        free += listed
      }
      for page in free { try use(page) }
    }

    /// Marks a page as used. Throws where it is used already.
    private func use(_ page: UInt64) throws(StoreError) {
      guard page >= 2, page <= pages.meta.lastPage else { throw pages.damaged }
      let (word, bit) = (Int(page >> 6), UInt64(1) << (page & 63))
      if used[word] & bit != 0 { throw pages.damaged }
      used[word] |= bit
    }

    // MARK: Trees

    private enum Content {
      /// LMDB's own tree, which lists the other trees by name.
      case names
      case entries
      /// The list of free pages, whose keys are numbers of commits.
      case freePages
    }

    /// A page of a tree that is yet to be checked, and the bounds of its keys.
    private struct Branch {
      let page: UInt64
      let depth: Int
      var low: [UInt8]?
      var high: [UInt8]?
    }

    /// Checks the pages of a tree. Calls `body` with each entry. Without a check of the entries it may leave out
    /// entries of the store.
    private func walk(
      _ tree: LMDBTree, _ content: Content,
      _ body: (UnsafeRawBufferPointer, LMDBPage.Value) throws(StoreError) -> Void
    ) throws(StoreError) {
      let checksOrder = checksEntries || content == .freePages
      var (leaves, branches, overflows, entries) = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
      var pending: [Branch] = []
      guard tree.depth < LMDBPages.longestPath, (tree.root == nil) == (tree.depth == 0) else { throw pages.damaged }
      if let root = tree.root {
        try use(root)
        pending.append(Branch(page: root, depth: 1))
      }
      while let next = pending.popLast() {
        let page = try pages.page(next.page)
        guard page.count > 0, page.isLeaf == (next.depth == tree.depth), page.isPacked(nodeStarts) else {
          throw pages.damaged
        }
        if checksOrder { try checkOrder(page, next, isNumbered: content == .freePages) }
        if !page.isLeaf {
          // LMDB itself leaves single nodes only in the list of free pages, and ends the process where there are
          // others.
          if page.count < 2 && content != .freePages { throw pages.damaged }
          branches += 1
          for index in (0..<page.count).reversed() {
            var branch = Branch(page: page.child(index), depth: next.depth + 1)
            // Marked here, so that no more pages are pending than exist.
            try use(branch.page)
            if checksOrder {
              branch.low = index == 0 ? next.low : Array(page.key(index))
              branch.high = index + 1 < page.count ? Array(page.key(index + 1)) : next.high
            }
            pending.append(branch)
          }
          continue
        }
        leaves += 1
        entries += UInt64(page.count)
        if !checksEntries && content == .entries && page.hasPlainValues { continue }
        for index in 0..<page.count {
          let value = page.value(index)
          if case .elsewhere(let number, let count) = value {
            let parts = try pages.overflowPages(number, count: count)
            for part in parts { try use(part) }
            overflows += UInt64(parts.count)
          }
          if content != .names, case .tree = value { throw pages.damaged }
          try body(page.key(index), value)
        }
      }
      // LMDB does not rely on these.
      let isCounted =
        leaves == tree.leafPages && branches == tree.branchPages && overflows == tree.overflowPages
        && entries == tree.entries
      if checksEntries && !isCounted { throw pages.damaged }
    }

    private func checkOrder(_ page: LMDBPage, _ branch: Branch, isNumbered: Bool) throws(StoreError) {
      func precedes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        isNumbered ? a.u64(0) < b.u64(0) : keyPrecedes(a, b)
      }
      // The first key of an inner page counts as less than all others.
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
