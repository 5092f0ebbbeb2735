#if LMDB
  import Foundation
  import LMDBBackend
  import StoreProtocol
  import StoreSchema
  import StoreSupport
  import Testing

  /// Files on which LMDB would read outside of its map, end the process or never finish.
  @Suite struct LMDBHostileFileTests {
    /// A closed store whose rows, links and indexes have several leaves, with a large value and free pages.
    private static func world() throws -> LMDBWorld {
      let world = try LMDBWorld()
      let store = try world.open()
      for _ in 0..<30 { _ = try world.insert(store, 0..<12, linked: true) }
      _ = try world.insert(store, 300..<301)
      try store.close()
      return world
    }

    private static let damages: [(name: String, change: @Sendable (inout PagedFile) throws -> Void)] = [
      ("a page above itself", { $0.put($0.root("rows"), at: $0.nodes($0.root("rows"))[1], 6) }),
      ("a page in two places", { $0.put($0.child($0.nodes($0.root("rows"))[0]), at: $0.nodes($0.root("rows"))[1], 6) }),
      ("a page of another tree", { $0.put($0.leaves($0.root("links"))[0], at: $0.nodes($0.root("rows"))[1], 6) }),
      ("a tree that is another one", { $0.put($0.root("links"), at: $0.tree("rows") + 40, 8) }),
      ("a page behind the last one", { $0.put($0.lastPage + 1, at: $0.nodes($0.root("rows"))[1], 6) }),
      ("the greatest page", { $0.put(0xFFFF_FFFF_FFFF, at: $0.nodes($0.root("rows"))[1], 6) }),
      ("the first page of the file", { $0.put(0, at: $0.nodes($0.root("rows"))[1], 6) }),
      ("a root behind the last page", { $0.put($0.lastPage + 9, at: $0.tree("indexes") + 40, 8) }),
      ("a tree of another depth", { $0.put(1, at: $0.tree("rows") + 6, 2) }),
      ("a tree of another kind", { $0.put(4, at: $0.tree("rows") + 4, 2) }),
      (
        "a branch with one page",
        {
          // One node without a key, at the end.
          let (page, child) = ($0.root("rows") * PagedFile.pageSize, $0.child($0.nodes($0.root("rows"))[0]))
          for (position, number) in [(12, 18), (14, 4088), (16, 4088), (4088, child), (4094, 0)] {
            $0.put(number, at: page + position, 2)
          }
          $0.put(child >> 16, at: page + 4090, 4)
        }
      ),
      ("a leaf without entries", { $0.put(16, at: $0.leaves($0.root("rows"))[1] * PagedFile.pageSize + 12, 2) }),
      ("a leaf of keys only", { $0.put(0x22, at: $0.leaves($0.root("rows"))[1] * PagedFile.pageSize + 10, 2) }),
      (
        "a page that counts as changed",
        { $0.put(0x12, at: $0.leaves($0.root("rows"))[1] * PagedFile.pageSize + 10, 2) }
      ),
      (
        "more entries than a page holds",
        { $0.put(65534, at: $0.leaves($0.root("rows"))[1] * PagedFile.pageSize + 12, 2) }
      ),
      (
        "an entry outside of its page",
        { $0.put(65000, at: $0.leaves($0.root("rows"))[1] * PagedFile.pageSize + 16, 2) }
      ),
      ("an entry that is longer than its page", { $0.put(65000, at: $0.nodes($0.leaves($0.root("rows"))[1])[0], 2) }),
      ("a key that is longer than its page", { $0.put(65000, at: $0.nodes($0.leaves($0.root("rows"))[1])[0] + 6, 2) }),
      (
        "an entry that is too long to lie on a page",
        {
          let page = $0.leaves($0.root("rows"))[1] * PagedFile.pageSize
          for (position, number) in [
            (12, 18), (14, 100), (16, 100), (100, PagedFile.pageSize - 118), (102, 0), (106, 10),
          ] {
            $0.put(number, at: page + position, 2)
          }
        }
      ),
      (
        "entries that overlap",
        {
          $0.put(
            $0.number($0.nodes($0.leaves($0.root("rows"))[1])[1], 2) + 2,
            at: $0.nodes($0.leaves($0.root("rows"))[1])[1], 2)
        }
      ),
      (
        "an entry that is there twice",
        {
          let page = $0.leaves($0.root("rows"))[1] * PagedFile.pageSize
          $0.put($0.number(page + 16, 2), at: page + 18, 2)
        }
      ),
      ("an entry of a kind that no store has", { $0.put(4, at: $0.nodes($0.leaves($0.root("rows"))[1])[0] + 4, 2) }),
      ("a tree among the rows", { $0.put(2, at: $0.nodes($0.leaves($0.root("rows"))[1])[0] + 4, 2) }),
      ("a large value behind the last page", { try $0.put($0.lastPage + 1, at: $0.value($0.largeValue()), 8) }),
      (
        "a large value that reaches behind the last page",
        {
          $0.put(0xFFFF_FFF0, at: try $0.largeValue(), 4)
          $0.put(0xFFFF_FFFF, at: $0.number($0.value(try $0.largeValue()), 8) * PagedFile.pageSize + 12, 4)
        }
      ),
      (
        "a large value on pages in use",
        {
          let first = $0.number($0.value(try $0.largeValue()), 8) * PagedFile.pageSize
          $0.put($0.number(first + 12, 4) + 1, at: first + 12, 4)
        }
      ),
      ("more free pages than are listed", { $0.put(1 << 40, at: $0.value($0.nodes($0.freeRoot)[0]), 8) }),
      ("a free page behind the last one", { $0.put($0.lastPage + 1, at: $0.value($0.nodes($0.freeRoot)[0]) + 8, 8) }),
      ("a free page in use", { $0.put($0.root("rows"), at: $0.value($0.nodes($0.freeRoot)[0]) + 8, 8) }),
      ("free pages of no commit", { $0.put(0, at: $0.nodes($0.freeRoot)[0] + 8, 8) }),
      ("free pages of a later commit", { $0.put(1 << 40, at: $0.nodes($0.freeRoot)[0] + 8, 8) }),
      ("a free list with keys of another size", { $0.put(4, at: $0.nodes($0.freeRoot)[0] + 6, 2) }),
    ]

    @Test(arguments: damages.indices) func itIsRefusedWhenItIsOpened(number: Int) throws {
      let (name, change) = Self.damages[number]
      let world = try Self.world()
      var file = try PagedFile(world.url)
      let good = file.bytes
      try change(&file)
      #expect(file.bytes != good, "\(name) changes nothing")
      try file.write()
      for isReadOnly in [false, true] {
        let found = code { try world.open(readOnly: isReadOnly).close() }
        #expect(found == .corrupt, "\(name): \(String(describing: found))")
      }
      #expect(try Array(Data(contentsOf: world.url)) == file.bytes, "\(name): the file has changed")
      // Copying the readable content out of the file finishes.
      let salvage = Salvage(world.schema) { _ in }
      _ = code { try world.backend.salvage(at: world.url, into: salvage, options: StoreOptions()) }
    }

    @Test func theGoodFileIsOpened() throws {
      let world = try Self.world()
      let file = try PagedFile(world.url)
      for name in ["rows", "links", "indexes"] { #expect(file.leaves(file.root(name)).count > 1, "\(name)") }
      #expect(try world.values(try world.open()).count == 361)
    }

    // MARK: Entries

    private func findings(_ store: any Store) throws -> [StoreFinding] {
      var found: [StoreFinding] = []
      try Inspection(store).findings { found.append($0) }
      return found
    }

    @Test func anEntryWithoutItsChecksumIsFoundByEveryReader() throws {
      let world = try Self.world()
      var file = try PagedFile(world.url)
      let node = file.nodes(file.leaves(file.root("rows"))[1])[3]
      let key = Int64(file.key(node).dropFirst(2).reduce(0) { $0 << 8 | Int($1) })
      file.flip(file.value(node) + 40)
      try file.write()
      let store = try world.open()
      let view = try store.snapshot()
      #expect(code { _ = try view.row(of: 0, key: key) } == .corrupt)
      #expect(code { try view.scan(0..<1) { _ in } } == .corrupt)
      #expect(code { try view.rows(of: 0, keys: [key]) { _ in } } == .corrupt)
      #expect(try view.row(of: 0, key: key + 1) != nil)
      var changes = ChangeSet(time: 0)
      changes.deletions = [.init(ObjectReference(entity: 0, key: key), versionRead: 1)]
      #expect(code { _ = try LMDBWorld.commit(store, changes) } == .corrupt)
      #expect(try findings(store).map(\.kind) == [.integrity])
    }

    @Test func aCheckOfAGoodStoreFindsNothing() throws {
      let world = try Self.world()
      for isReadOnly in [false, true] {
        let store = try world.open(readOnly: isReadOnly)
        #expect(try findings(store) == [])
        try store.close()
      }
    }

    /// Only the check of all entries counts the entries.
    @Test func aCheckFindsANumberOfEntriesThatIsWrong() throws {
      let world = try Self.world()
      var file = try PagedFile(world.url)
      file.flip(file.tree("rows") + 32)
      try file.write()
      let store = try world.open()
      #expect(try world.values(store).count == 361)
      #expect(try findings(store).map(\.kind) == [.integrity])
    }

    /// Damages the last bytes of a row's key, so that the order of the keys mostly stays.
    @Test func anObjectThatADamagedKeyHidesIsNotMissing() throws {
      let world = try LMDBWorld()
      let store = try world.open()
      let keys = try world.insert(store, 0..<3)
      var changes = ChangeSet(time: 0)
      changes.insertions = [try world.row(key: 0x1_0000, 4), try world.row(key: 0x3_0000, 5)]
      _ = try LMDBWorld.commit(store, changes)
      try store.close()
      let good = try PagedFile(world.url)
      let nodes = good.nodes(good.leaves(good.root("rows"))[0])
      for (node, key) in [(nodes[3], Int64(0x1_0000)), (nodes[4], 0x3_0000), (nodes[2], keys[2])] {
        for byte in [16, 17] {
          for bits in [1, 2, 0x80] as [UInt8] {
            var file = good
            file.flip(node + byte, bits)
            try file.write()
            let store = try world.open()
            #expect(code { _ = try store.snapshot().row(of: 0, key: key) } == .corrupt, "\(key) \(byte) \(bits)")
            try store.close()
          }
        }
      }
    }

    /// A damaged key of a branch page leads a search to the leaf before or after the right one.
    @Test func anObjectThatADamagedBranchHidesIsNotMissing() throws {
      let world = try Self.world()
      let good = try PagedFile(world.url)
      let branch = good.nodes(good.root("rows"))
      for (index, node) in branch.enumerated().dropFirst() {
        let leaf = good.nodes(good.child(node))
        let before = good.nodes(good.child(branch[index - 1]))
        for (added, hidden) in [(1, leaf[0]), (-1, before[before.count - 1])] {
          var file = good
          let last = node + 8 + good.number(node + 6, 2) - 1
          file.put(Int(good.bytes[last]) + added, at: last, 1)
          if Int(good.bytes[last]) + added < 0 || Int(good.bytes[last]) + added > 255 { continue }
          try file.write()
          let store = try world.open()
          let key = Int64(good.key(hidden).dropFirst(2).reduce(0) { $0 << 8 | Int($1) })
          #expect(code { _ = try store.snapshot().row(of: 0, key: key) } == .corrupt, "\(index) \(added)")
          try store.close()
        }
      }
    }

    /// The key of the last row of the entity hierarchy is damaged, so that the row seems to belong to another
    /// hierarchy.
    @Test func aScanDoesNotEndAtADamagedKey() throws {
      let world = try Self.world()
      var file = try PagedFile(world.url)
      let last = try #require(file.leaves(file.root("rows")).last.flatMap { file.nodes($0).last })
      file.flip(last + 9)
      try file.write()
      let store = try world.open()
      #expect(code { try store.snapshot().scan(0..<1) { _ in } } == .corrupt)
      // The highest key is read backwards.
      #expect(code { _ = try store.allocateKeys(root: 0, count: 1) } == .corrupt)
    }

    /// The key of one object's links is damaged, so that they seem to belong to an object that does not exist.
    @Test func linksThatADamagedKeyHidesAreNotMissing() throws {
      let world = try Self.world()
      var file = try PagedFile(world.url)
      let next = try #require(world.entity.relationship(named: "next"))
      let first = file.nodes(file.leaves(file.root("links"))[0])[0]
      #expect(file.key(first)[2..<10].elementsEqual([0, 0, 0, 0, 0, 0, 0, 1]))
      file.flip(first + 8 + 9)
      try file.write()
      let store = try world.open()
      #expect(code { try store.snapshot().destinations(of: next, owners: [1]) { _, _ in } } == .corrupt)
      // A save that needs the order of the links is also refused.
      var changes = ChangeSet(time: 0)
      changes.insertions = [try world.row(previous: 1, 3)]
      #expect(code { _ = try LMDBWorld.commit(store, changes) } == .corrupt)
    }

    // MARK: Times

    @Test func openingAStoreLeavesItsTimesAlone() throws {
      let world = try Self.world()
      // Set as another version of this program may have set it. The time means nothing.
      let time = timespec(tv_sec: 1_700_000_000, tv_nsec: 123_456_789)
      let descriptor = open(world.url.path, O_RDWR)
      #expect(futimens(descriptor, [time, time]) == 0)
      close(descriptor)
      for isReadOnly in [false, true] {
        let store = try world.open(readOnly: isReadOnly)
        #expect(try world.values(store).count == 361)
        try store.close()
        let found = try #require(
          try FileManager.default.attributesOfItem(atPath: world.url.path)[.modificationDate] as? Date)
        #expect(abs(found.timeIntervalSince1970 - 1_700_000_000.123456789) < 1e-6)
      }
    }
  }

  extension PagedFile {
    /// The node whose value is on overflow pages.
    fileprivate func largeValue() throws -> Int {
      try #require(leaves(root("rows")).flatMap(nodes).first { number($0 + 4, 2) == 1 })
    }
  }
#endif
