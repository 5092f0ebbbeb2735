#if LMDB
  import Dispatch
  import Foundation
  import LMDBBackend
  import PropertyLists
  import StoreProtocol
  import StoreSchema
  import Synchronization
  import TestSupport
  import Testing

  @Suite struct LMDBStoreTests {
    @Test func everyValueComesBackAsItWentIn() throws {
      let world = try LMDBWorld()
      let store = try world.open()
      let keys = try world.insert(store, 0..<24)
      #expect(keys == Array(1...24))
      let written = try world.values(store)
      try store.close()
      let again = try world.open()
      let read = try world.values(again)
      #expect(read.count == 24 && read == written)
      for (number, row) in read.enumerated() where number != 7 {
        for (attribute, value) in zip(world.entity.attributes, row.dropFirst(2)) {
          let expected = EveryType.value(attribute.type, number)
          switch (expected, value) {
          case (.bool(let x), .bool(let y)): #expect(x == y)
          default: #expect(expected == value, "\(attribute.name) \(number)")
          }
        }
      }
    }

    @Test func orderKeysAndMetadataComeBack() throws {
      let world = try LMDBWorld()
      let store = try world.open()
      let keys = try world.insert(store, 0..<4, linked: true)
      let next = try #require(world.entity.relationship(named: "next"))
      var changes = ChangeSet(time: 0)
      let order = [keys[2], keys[1], keys[3]]
      changes.links = [
        .init(
          entity: 0, relationship: next.index, owner: keys[0], added: [], removed: [],
          order: order.map { ObjectReference(entity: 0, key: $0) })
      ]
      var metadata = store.metadata
      metadata.additional["mine"] = .string("é")
      changes.metadata = metadata
      _ = try LMDBWorld.commit(store, changes)
      _ = try store.allocateKeys(root: 0, count: 10)
      try store.close()
      let again = try world.open()
      var found: [Int64] = []
      try again.snapshot().destinations(of: next, owners: [keys[0]]) { found.append($1.key) }
      #expect(found == order)
      #expect(try again.allocateKeys(root: 0, count: 1).lowerBound == 15)
      #expect(again.metadata == metadata)
      #expect(try world.backend.metadata(at: world.url, options: StoreOptions()) == metadata)
    }

    /// The draft of a store that a killed program left is removed when a store is created or opened for writing next. A
    /// draft that is still being written stays, and opening a store read-only removes nothing.
    @Test(arguments: [false, true]) func draftsOfKilledProgramsGo(_ isMade: Bool) throws {
      let world = try LMDBWorld()
      if isMade { try world.open().close() }
      let folder = world.url.deletingLastPathComponent()
      let (left, held) = (".store.lmdb.making-\(UUID())", ".store.lmdb.making-\(UUID())")
      for name in [left, held] {
        let files = folder.appending(path: name).appending(path: "files")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        try Data("half".utf8).write(to: files.appending(path: "store"))
      }
      let descriptor = Foundation.open(folder.appending(path: held).path, O_RDONLY | O_DIRECTORY)
      #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      defer { close(descriptor) }
      if isMade {
        var options = StoreOptions()
        options.isReadOnly = true
        try world.backend.open(at: world.url, schema: world.schema, options: options).close()
        #expect(FileManager.default.fileExists(atPath: folder.appending(path: left).path))
      }
      try world.open().close()
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(Set(names) == [held, "store.lmdb", "store.lmdb-lock"])
    }

    @Test func readingLeavesNoTrace() throws {
      let world = try LMDBWorld()
      _ = try world.insert(try world.open(), 0..<3)
      try FileManager.default.removeItem(at: world.lockURL)
      let before = try Data(contentsOf: world.url)
      let date = try FileManager.default.attributesOfItem(atPath: world.url.path)[.modificationDate] as? Date
      _ = try world.backend.metadata(at: world.url, options: StoreOptions())
      let store = try world.open(readOnly: true)
      #expect(try world.values(store).count == 3)
      #expect(code { _ = try world.insert(store, 0..<1) } == .readOnly)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: world.url.deletingLastPathComponent().path) == [
          "store.lmdb"
        ])
      #expect(try Data(contentsOf: world.url) == before)
      #expect(try FileManager.default.attributesOfItem(atPath: world.url.path)[.modificationDate] as? Date == date)
    }

    @Test func twoStoresOnOneFileAreOne() throws {
      let world = try LMDBWorld()
      let first = try world.open()
      let link = world.url.deletingLastPathComponent().appending(path: "link")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: world.url)
      let second = try world.backend.open(at: link, schema: world.schema, options: StoreOptions())
      let reader = try world.open(readOnly: true)
      _ = try world.insert(first, 0..<2)
      _ = try world.insert(second, 0..<2)
      #expect(try world.values(first).count == 4)
      #expect(try world.values(second).count == 4)
      #expect(try world.values(reader).count == 4)
      let view = try second.snapshot()
      try first.close()
      try second.close()
      var count = 0
      try view.scan(0..<1) { _ in count += 1 }
      #expect(count == 4)
    }

    @Test func theMapGrowsByItself() throws {
      let world = try LMDBWorld(.init(initialMapSize: 1 << 20))
      let store = try world.open()
      var changes = ChangeSet(time: 0)
      let slot = try #require(world.entity.attribute(named: "abinaryData")?.slot)
      for round in 0..<3 {
        changes.insertions = []
        for number in 0..<20 {
          let builder = RowBuilder()
          builder.begin(slots: world.entity.slots.count)
          builder.set(slot, .data(Data(repeating: UInt8(number), count: 300_000 * (round + 1))))
          changes.insertions.append(builder.finishDraft(key: 0, entity: 0, version: 1))
        }
        _ = try LMDBWorld.commit(store, changes)
      }
      #expect(try world.values(store).count == 60)
      let size = try FileManager.default.attributesOfItem(atPath: world.url.path)[.size] as? Int ?? 0
      #expect(size > 36_000_000)
      // A commit that waits for a view still in use ends with an error.
      let small = try LMDBWorld(.init(initialMapSize: 1 << 20))
      let pinned = try small.open(timeout: 0.2)
      let view = try pinned.snapshot()
      #expect(code { for _ in 0..<40 { _ = try small.insert(pinned, 0..<400) } } == .full)
      #expect(try view.row(of: 0, key: 1) == nil)
    }

    @Test func whoWaitsTooLongGetsAnError() throws {
      let world = try LMDBWorld()
      _ = try world.open()
      let store = try world.open(timeout: 0.05)
      let descriptor = Foundation.open(world.url.path, O_RDONLY | O_CLOEXEC)
      #expect(flock(descriptor, LOCK_EX) == 0)
      #expect(code { _ = try world.insert(store, 0..<1) } == .busy)
      close(descriptor)
      // Does not use the store with the short timeout: a process that another test starts may hold the descriptor
      // briefly.
      _ = try world.insert(world.open(), 0..<1)
    }

    @Test func readersAndWritersDoNotMix() async throws {
      let world = try LMDBWorld()
      let store = try world.open()
      _ = try world.insert(store, 0..<10)
      await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<4 {
          group.addTask {
            (0..<50).allSatisfy { _ in
              var count = 0
              try? store.snapshot().scan(0..<1) { _ in count += 1 }
              return count > 0 && count % 10 == 0
            }
          }
        }
        for _ in 0..<20 { _ = try? world.insert(store, 0..<10) }
        for await isWhole in group { #expect(isWhole) }
      }
      #expect(try world.values(store).count == 210)
    }

    /// The file grows between the read of its size and that of its header. There are more threads than processors, so
    /// that some are suspended between the two.
    @Test func aFileThatGrowsIsNotTooShort() throws {
      let world = try LMDBWorld()
      let store = try world.open()
      _ = try world.insert(store, 0..<10)
      let problems = Mutex<[String]>([])
      let isDone = Mutex(false)
      let running = DispatchGroup()
      for _ in 0..<12 {
        running.enter()
        Thread.detachNewThread {
          do { while !isDone.withLock({ $0 }) { _ = try store.snapshot() } } catch {
            problems.withLock { $0.append("\(error)") }
          }
          running.leave()
        }
      }
      for _ in 0..<200 { _ = try world.insert(store, 0..<100) }
      isDone.withLock { $0 = true }
      running.wait()
      #expect(problems.withLock { $0 } == [])
    }

    @Test func destroyAndReplace() throws {
      let (world, other) = (try LMDBWorld(), try LMDBWorld())
      let store = try world.open()
      _ = try world.insert(store, 0..<5)
      let former = try other.open()
      #expect(code { try world.backend.replace(at: other.url, with: world.url, options: StoreOptions()) } == .busy)
      #expect(code { try world.backend.destroy(at: world.url, options: StoreOptions()) } == .busy)
      try former.close()
      try world.backend.replace(at: other.url, with: world.url, options: StoreOptions())
      let copy = try other.open()
      #expect(copy.identifier == store.identifier)
      #expect(try world.values(copy) == world.values(store))
      _ = try world.insert(copy, 0..<1)
      #expect(try world.values(store).count == 5)
      try copy.close()
      try world.backend.destroy(at: other.url, options: StoreOptions())
      try world.backend.destroy(at: other.url, options: StoreOptions())
      #expect(try FileManager.default.contentsOfDirectory(atPath: other.url.deletingLastPathComponent().path) == [])
    }
  }
#endif
