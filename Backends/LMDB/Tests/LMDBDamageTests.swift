#if LMDB
  import Foundation
  import LMDBBackend
  import StoreProtocol
  import StoreSchema
  import StoreSupport
  import Testing

  @Suite struct LMDBDamageTests {
    /// A closed store with a few linked objects, a large value, and free pages.
    private func world() throws -> LMDBWorld {
      let world = try LMDBWorld()
      let store = try world.open()
      let keys = try world.insert(store, 0..<12, linked: true)
      var changes = ChangeSet(time: 0)
      changes.deletions = [.init(ObjectReference(entity: 0, key: keys[5]), versionRead: 1)]
      let builder = RowBuilder()
      builder.begin(slots: world.entity.slots.count)
      let slot = try #require(world.entity.attribute(named: "abinaryData")?.slot)
      builder.set(slot, .data(Data((0..<9000).map { UInt8(truncatingIfNeeded: $0 * 7) })))
      changes.insertions = [builder.finishDraft(key: 0, entity: 0, version: 1)]
      _ = try LMDBWorld.commit(store, changes)
      _ = try world.insert(store, 20..<22)
      try store.close()
      return world
    }

    @Test func everyChangedByteIsFoundOrChangesNothing() throws {
      let world = try world()
      let bytes = try Data(contentsOf: world.url)
      // The bytes of the pages' headers, and a sample of the others.
      let step = ProcessInfo.processInfo.environment["OPENCOREDATA_LONG"] == "1" ? 1 : 13
      let positions = bytes.indices.filter {
        $0 < 152 || $0 % 4096 < 64 || ($0 % step == 0 && (bytes[$0] != 0 || $0 % 61 == 0))
      }
      let changes = positions.flatMap { position in
        (position < 8192 ? [1, 2, 0x80] : [1] as [UInt8]).map { (position, [bytes[position] ^ $0]) }
      }
      #expect(try found(of: changes, in: world, bytes) > positions.count / 4)
    }

    /// Sets counts, page numbers and sizes to zero that are never zero.
    @Test func everyNumberSetToZeroIsFoundOrChangesNothing() throws {
      let world = try world()
      let bytes = try Data(contentsOf: world.url)
      let positions = stride(from: 0, to: bytes.count - 7, by: 2).filter { position in
        let word = bytes[position..<(position + 8)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return (1..<64).contains(word)
      }
      #expect(try found(of: positions.map { ($0, Array(repeating: 0, count: 8)) }, in: world, bytes) > 0)
    }

    /// Returns the number of changes to a closed store's file that are detected. The others must not alter any value
    /// read.
    private func found(of changes: [(position: Int, new: [UInt8])], in world: LMDBWorld, _ bytes: Data) throws -> Int {
      let good = try world.open()
      let expected = try world.everything(good)
      let metadata = good.metadata
      try good.close()
      let descriptor = open(world.url.path, O_RDWR)
      defer { close(descriptor) }
      var found = 0
      for (position, new) in changes {
        #expect(pwrite(descriptor, new, new.count, off_t(position)) == new.count)
        do {
          let store = try world.open()
          defer { try? store.close() }
          #expect(try world.everything(store) == expected, "byte \(position)")
          #expect(store.metadata == metadata, "byte \(position)")
        } catch {
          found += 1
          #expect(error is StoreError, "byte \(position): \(error)")
        }
        let old = Array(bytes[position..<(position + new.count)])
        #expect(pwrite(descriptor, old, old.count, off_t(position)) == old.count)
      }
      #expect(try world.everything(try world.open()) == expected)
      return found
    }

    @Test func aCutOffFileIsRefused() throws {
      let world = try world()
      let bytes = try Data(contentsOf: world.url)
      for size in [0, 1, 15, 100, 4095, 4096, 4200, 8191, 8192, 20_000, bytes.count - 4096, bytes.count - 1] {
        let cut = bytes.prefix(size)
        try cut.write(to: world.url)
        for isReadOnly in [false, true] {
          let code = code { _ = try world.open(readOnly: isReadOnly) }
          #expect(code == (size < 152 ? .notAStore : .corrupt), "\(size) bytes: \(String(describing: code))")
        }
        #expect(code { _ = try world.backend.metadata(at: world.url, options: StoreOptions()) } != nil)
        #expect(try Data(contentsOf: world.url) == cut)
      }
    }

    @Test func aFileThatIsCutOffWhileItIsOpenIsNotRead() throws {
      let world = try world()
      let store = try world.open()
      _ = try world.values(store)
      let bytes = try Data(contentsOf: world.url)
      #expect(truncate(world.url.path, 8192) == 0)
      #expect(code { _ = try store.snapshot() } == .corrupt)
      #expect(code { _ = try world.insert(store, 0..<1) } == .corrupt)
      let handle = try FileHandle(forWritingTo: world.url)
      handle.write(bytes)
      try handle.close()
      #expect(try world.values(store).count == 14)
    }

    @Test func aFileThatWasTakenAwayIsNotWritten() throws {
      let world = try world()
      let store = try world.open()
      try FileManager.default.removeItem(at: world.lockURL)
      #expect(code { _ = try store.snapshot() } == .io)
      #expect(code { _ = try world.insert(store, 0..<1) } == .io)
      try store.close()
      let again = try world.open()
      _ = try world.insert(again, 0..<1)
      try FileManager.default.moveItem(at: world.url, to: world.url.appendingPathExtension("old"))
      #expect(code { _ = try world.insert(again, 0..<1) } == .io)
      #expect(try world.values(again).count == 15)
    }

    @Test func foreignFilesAreLeftAsTheyAre() throws {
      let world = try LMDBWorld()
      for content in [
        Data(), Data("SQLite format 3".utf8), Data(count: 70_000), Data((0..<10_000).map { UInt8($0 & 255) }),
      ] {
        try content.write(to: world.url)
        #expect(code { _ = try world.open() } == .notAStore)
        #expect(code { _ = try world.open(readOnly: true) } == .notAStore)
        #expect(code { try world.backend.destroy(at: world.url, options: StoreOptions()) } == .notAStore)
        #expect(try Data(contentsOf: world.url) == content)
      }
      try FileManager.default.removeItem(at: world.url)
      try FileManager.default.createDirectory(at: world.url, withIntermediateDirectories: false)
      #expect(code { _ = try world.open() } == .notAStore)
      #expect(code { _ = try world.open(readOnly: true) } == .notAStore)
    }

    @Test func anotherDatabaseOfLMDBIsLeftAsItIs() throws {
      let world = try LMDBWorld()
      try OtherDatabase.make(at: world.url, tree: "facts", key: "format", value: "something else")
      let before = try Data(contentsOf: world.url)
      #expect(code { _ = try world.open() } == .corrupt)
      #expect(try Data(contentsOf: world.url) == before)
      try FileManager.default.removeItem(at: world.url)
      try OtherDatabase.make(at: world.url, tree: "people", key: "a", value: "b")
      #expect(code { _ = try world.open() } == .notAStore)
      #expect(code { _ = try world.backend.metadata(at: world.url, options: StoreOptions()) } == .notAStore)
    }
  }
#endif
