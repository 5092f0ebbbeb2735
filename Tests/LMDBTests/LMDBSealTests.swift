#if LMDB
  import Foundation
  import LMDBBackend
  import StoreProtocol
  import StoreSchema
  import Testing

  /// A file that nobody has touched since this program wrote it is not looked at page by page; any other one is.
  @Suite struct LMDBSealTests {
    /// A closed store in whose trees' own descriptions a count is wrong: only the look at all pages finds that.
    private func world() throws -> LMDBWorld {
      let world = try LMDBWorld()
      let store = try world.open()
      _ = try world.insert(store, 0..<30, linked: true)
      try store.close()
      return world
    }

    private func time(_ url: URL) throws -> timespec {
      var status = stat()
      #expect(stat(url.path, &status) == 0)
      #if canImport(Darwin)
        return status.st_mtimespec
      #else
        return status.st_mtim
      #endif
    }

    private func setTime(_ url: URL, _ time: timespec) {
      let descriptor = open(url.path, O_RDWR)
      #expect(futimens(descriptor, [time, time]) == 0)
      close(descriptor)
    }

    /// Turns a bit of the number of leaves in every description of the tree of rows.
    private func damage(_ url: URL) throws {
      var bytes = try Data(contentsOf: url)
      var from = bytes.startIndex
      var count = 0
      while let name = bytes.range(of: Data("rows".utf8), in: from..<bytes.endIndex) {
        from = name.upperBound
        if from + 48 > bytes.endIndex { break }
        bytes[from + 16] ^= 0x10
        count += 1
      }
      #expect(count > 0)
      let handle = try FileHandle(forWritingTo: url)
      handle.write(bytes)
      try handle.close()
    }

    @Test func onlyASealedFileIsOpenedWithoutALook() throws {
      let world = try world()
      let sealed = try time(world.url)
      try damage(world.url)
      let touched = try time(world.url)
      #expect(touched.tv_nsec != sealed.tv_nsec)
      #expect(code { _ = try world.open() } == .corrupt)
      #expect(code { _ = try world.open(readOnly: true) } == .corrupt)
      // Whoever sets the time back takes the seal for true.
      setTime(world.url, sealed)
      #expect(code { _ = try world.open(readOnly: true) } == nil)
      #expect(code { _ = try world.open() } == nil)
      // Another second, and another file.
      setTime(world.url, timespec(tv_sec: sealed.tv_sec - 1, tv_nsec: sealed.tv_nsec))
      #expect(code { _ = try world.open() } == .corrupt)
      let copy = world.url.appendingPathExtension("copy")
      try FileManager.default.copyItem(at: world.url, to: copy)
      try FileManager.default.removeItem(at: world.url)
      try FileManager.default.moveItem(at: copy, to: world.url)
      setTime(world.url, sealed)
      #expect(code { _ = try world.open() } == .corrupt)
    }

    @Test func aFileStaysSealed() throws {
      let world = try world()
      let sealed = try time(world.url)
      try world.open(readOnly: true).close()
      try world.open().close()
      #expect(try time(world.url).tv_nsec == sealed.tv_nsec)
      // A save seals anew, so that no clean close is needed.
      let store = try world.open()
      _ = try world.insert(store, 0..<3)
      let after = try time(world.url)
      #expect(after.tv_nsec != sealed.tv_nsec)
      try store.close()
      #expect(try time(world.url).tv_nsec == after.tv_nsec)
      try damage(world.url)
      setTime(world.url, after)
      #expect(code { _ = try world.open() } == nil)
    }

    /// Whether the file counts as whole where nobody looks.
    private func isSealed(_ world: LMDBWorld) throws -> Bool {
      let (bytes, time) = (try Data(contentsOf: world.url), try time(world.url))
      try damage(world.url)
      setTime(world.url, time)
      let isOpened = code { try world.open(readOnly: true).close() } == nil
      let handle = try FileHandle(forWritingTo: world.url)
      handle.write(bytes)
      try handle.close()
      setTime(world.url, time)
      return isOpened
    }

    @Test func savesThatFollowEachOtherQuicklyAreSealedALittleLater() throws {
      let world = try world()
      let store = try world.open()
      for number in 0..<20 { _ = try world.insert(store, number..<number + 1) }
      #expect(try !isSealed(world))
      let end = Date(timeIntervalSinceNow: 30)
      while Date() < end, try !isSealed(world) { usleep(100_000) }
      #expect(try isSealed(world))
      // Closing does not wait.
      for number in 0..<20 { _ = try world.insert(store, number..<number + 1) }
      try store.close()
      #expect(try isSealed(world))
    }

    @Test func whatSomebodyElseWroteIsNotSealed() throws {
      let world = try world()
      let store = try world.open()
      try damage(world.url)
      // The save goes on what is there; whoever opens the file next looks at it.
      _ = try? world.insert(store, 0..<1)
      try store.close()
      #expect(code { _ = try world.open() } == .corrupt)
    }

    @Test func aLookSealsAFileThatIsWhole() throws {
      let world = try world()
      let copy = world.url.appendingPathExtension("copy")
      try FileManager.default.copyItem(at: world.url, to: copy)
      try FileManager.default.removeItem(at: world.url)
      try FileManager.default.moveItem(at: copy, to: world.url)
      let before = try time(world.url)
      try world.open(readOnly: true).close()
      #expect(try time(world.url).tv_nsec == before.tv_nsec)
      try world.open().close()
      let sealed = try time(world.url)
      #expect(sealed.tv_nsec != before.tv_nsec && sealed.tv_sec == before.tv_sec)
      try damage(world.url)
      setTime(world.url, sealed)
      #expect(code { _ = try world.open() } == nil)
    }
  }
#endif
