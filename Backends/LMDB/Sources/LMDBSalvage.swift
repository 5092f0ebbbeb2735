#if LMDB
  import Foundation
  import KeyValueEngine
  import StoreProtocol
  import StoreSupport

  /// Reads the entries of a damaged file page by page, without LMDB. Below an invalid page all entries are lost.
  final class LMDBSalvage {
    private let pages: LMDBPages
    private let entries: KeyValueSalvage
    private let salvage: Salvage
    /// Pages that were visited: damaged ones may form circles.
    private var seen: Set<UInt64> = []
    /// How many pages the values on pages of their own took: several values may name the same page.
    private var overflowPages: UInt64 = 0

    init(_ pages: LMDBPages, _ salvage: Salvage) throws(StoreError) {
      self.pages = pages
      self.salvage = salvage
      entries = try KeyValueSalvage(salvage, longestKey: LMDBPages.longestKey)
    }

    /// Throws `modelMismatch`, and errors that are not caused by damage.
    func run(storeType: String) throws(StoreError) {
      if let headerFields = try readable({ () throws(StoreError) in try pages.headerFields() }) {
        try entries.take(headerFields, storeType: storeType)
      }
      var trees: [KeySpace: LMDBTree] = [:]
      try walk(pages.meta.main, "list of trees") { (key, value) throws(StoreError) in
        guard case .tree(let tree?) = value else { return }
        for space in KeySpace.allCases where space.name.utf8.elementsEqual(key) { trees[space] = tree }
      }
      for space in [KeySpace.rows, .links] {
        guard let tree = trees[space] else {
          salvage.lose(StoreFinding(.integrity, "The \(space.name) of the store cannot be found."))
          continue
        }
        try walk(tree, space.name) { (key, value) throws(StoreError) in
          switch value {
          case .tree: throw pages.damaged
          case .here(let bytes): entries.take(space, key, bytes)
          case .elsewhere(let page, let count):
            overflowPages += UInt64(try pages.overflowPages(page, count: count).count)
            if overflowPages > pages.meta.lastPage { throw pages.damaged }
            let content = try pages.content(page, count: count)
            content.withUnsafeBytes { entries.take(space, key, $0) }
          }
        }
      }
      entries.finish()
    }

    private func walk(
      _ tree: LMDBTree, _ name: String, _ body: (UnsafeRawBufferPointer, LMDBPage.Value) throws(StoreError) -> Void
    ) throws(StoreError) {
      var pending = tree.root.map { [$0] } ?? []
      var found: UInt64 = 0
      while let number = pending.popLast() {
        guard seen.insert(number).inserted else {
          salvage.lose(StoreFinding(.integrity, "The page \(number) stands in more than one place."))
          continue
        }
        guard let page = try readable({ () throws(StoreError) in try pages.page(number) }) else { continue }
        for index in (0..<page.count).reversed() where !page.isLeaf { pending.append(page.child(index)) }
        for index in 0..<page.count where page.isLeaf {
          found += 1
          // An unreadable entry was reported, and is skipped.
          _ = try readable { () throws(StoreError) in try body(page.key(index), page.value(index)) }
        }
      }
      if found != tree.entries {
        salvage.lose(
          StoreFinding(.integrity, "Of the \(tree.entries) entries of the \(name) \(found) were found."))
      }
    }

    /// The result of `body`. Reports damage and returns nil.
    private func readable<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R? {
      do { return try body() } catch {
        guard Salvage.isDamage(error) else { throw error }
        salvage.lose(StoreFinding(.integrity, error.message))
        return nil
      }
    }
  }
#endif
