import AtomicEngine
import Dispatch
import Foundation
import StoreProtocol
import StoreSupport
import Synchronization
import Testing

@Suite struct AtomicFileTests {
  /// A temporary folder for one file.
  private struct Location {
    let folder: URL
    var path: String { folder.appending(path: "store").path }

    init() throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "atomic-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    func content() throws -> String { String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self) }
  }

  private func write(_ text: String, to file: AtomicFile) throws -> AtomicFile.Generation {
    try file.replace(file.generation(), timeout: 1) { (writer) throws(StoreError) in try writer.write(text) }
  }

  /// File systems reuse the inode of a removed file, and many store times only in milliseconds. In this test all
  /// contents therefore have the same size and modification time.
  @Test(arguments: [false, true]) func aLaterContentIsNeverTakenForOneThatIsKnown(isRead: Bool) throws {
    let location = try Location()
    defer { location.remove() }
    let (mine, others) = (try AtomicFile(location.path), try AtomicFile(location.path))
    func age() throws {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: location.path)
    }
    var kept: AtomicFile.Generation? = try write("a", to: mine)
    try age()
    if isRead { kept = try mine.read()?.generation }
    let known = try mine.generation()
    for number in 0..<50 {
      _ = try write("\(number % 10)", to: others)
      try age()
      #expect(try others.generation() != known, "after \(number)")
    }
    withExtendedLifetime(kept) {}
  }

  @Test func aFileIsMadeAndReplaced() throws {
    let location = try Location()
    defer { location.remove() }
    let file = try AtomicFile(location.path)
    #expect(try file.read() == nil)
    let first = try write("one", to: file)
    #expect(try file.read()?.generation == first)
    let long = String(repeating: "two ", count: 300_000)
    let second = try write(long, to: file)
    #expect(first != second)
    #expect(try file.read()?.data == Data(long.utf8))
    #expect(try location.names() == ["store"])
  }

  @Test func aNewFileIsForItsOwnerAlone() throws {
    let location = try Location()
    defer { location.remove() }
    _ = try write("one", to: AtomicFile(location.path))
    let mode = try FileManager.default.attributesOfItem(atPath: location.path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test func modeAndLinksStay() throws {
    let location = try Location()
    defer { location.remove() }
    try Data("old".utf8).write(to: URL(filePath: location.path))
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: location.path)
    let link = location.folder.appending(path: "link").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "store")
    _ = try write("new", to: AtomicFile(link))
    #expect(try location.content() == "new")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "store")
    let mode = try FileManager.default.attributesOfItem(atPath: location.path)[.posixPermissions] as? Int
    #expect(mode == 0o640)
  }

  @Test func aSecondWriterIsFound() throws {
    let location = try Location()
    defer { location.remove() }
    let (mine, theirs) = (try AtomicFile(location.path), try AtomicFile(location.path))
    let read = try write("one", to: mine)
    _ = try write("theirs", to: theirs)
    let error = #expect(throws: StoreError.self) {
      try mine.replace(read, timeout: 1) { (writer) throws(StoreError) in try writer.write("mine") }
    }
    #expect(error?.outcome == .notSaved)
    #expect(try location.content() == "theirs")
    #expect(try location.names() == ["store"])
  }

  @Test func aFailureLeavesTheOldFileAndNoOther() throws {
    let location = try Location()
    defer { location.remove() }
    let file = try AtomicFile(location.path)
    let generation = try write("one", to: file)
    let error = #expect(throws: StoreError.self) {
      try file.replace(generation, timeout: 1) { (writer) throws(StoreError) in
        try writer.write("half")
        throw StoreError(.full, "No room.")
      }
    }
    #expect(error?.code == .full)
    #expect(try location.content() == "one")
    #expect(try location.names() == ["store"])
  }

  @Test func whatAKilledWriterLeftIsSweptAndWhatAnotherWritesIsNot() throws {
    let location = try Location()
    defer { location.remove() }
    let file = try AtomicFile(location.path)
    try Data().write(to: location.folder.appending(path: ".store.left.replacing"))
    try Data().write(to: location.folder.appending(path: ".other.left.replacing"))
    _ = try file.replace(nil, timeout: 1) { (writer) throws(StoreError) in
      try writer.write("one")
      file.sweep()
    }
    #expect(try location.content() == "one")
    #expect(try location.names() == [".other.left.replacing", "store"])
  }

  @Test func whoeverSweepsTakesNothingThatIsJustBegun() throws {
    let location = try Location()
    defer { location.remove() }
    let isDone = Atomic(false)
    let swept = DispatchGroup()
    for _ in 0..<2 {
      DispatchQueue.global().async(group: swept) { [path = location.path] in
        guard let other = try? AtomicFile(path) else { return }
        while !isDone.load(ordering: .relaxed) { other.sweep() }
      }
    }
    defer {
      isDone.store(true, ordering: .relaxed)
      swept.wait()
    }
    let file = try AtomicFile(location.path)
    for number in 0..<100 { _ = try write("\(number)", to: file) }
    #expect(try location.content() == "99")
  }

  @Test func whatIsNoFileIsRefused() throws {
    let location = try Location()
    defer { location.remove() }
    try FileManager.default.createDirectory(atPath: location.path, withIntermediateDirectories: false)
    let error = #expect(throws: StoreError.self) { try AtomicFile(location.path).read() }
    #expect(error?.code == .notAStore)
    #expect(throws: StoreError.self) { try AtomicFile(location.folder.path + "/none/store") }
  }

  /// Devices, pipes and sockets are never removed or replaced. The test creates its own device; only root may do that.
  @Test(arguments: [S_IFIFO, S_IFSOCK, S_IFCHR]) func onlyARegularFileIsRemovedOrReplaced(_ kind: mode_t) throws {
    let location = try Location()
    defer { location.remove() }
    guard mknod(location.path, kind | 0o600, kind == S_IFCHR ? dev_t(1 << 8 | 3) : 0) == 0 else { return }
    func isThere() -> Bool {
      var status = stat()
      return lstat(location.path, &status) == 0 && status.st_mode & S_IFMT == kind
    }
    let file = try AtomicFile(location.path)
    let works: [() throws -> Void] = [{ try file.remove(timeout: 1) }, { _ = try write("new", to: file) }]
    for work in works {
      let error = #expect(throws: StoreError.self) { try work() }
      #expect(error?.code == .notAStore && error?.outcome == .notSaved)
      #expect(isThere())
    }
    let left = location.folder.appending(path: ".store.\(UUID().uuidString).replacing").path
    #expect(mknod(left, S_IFIFO | 0o600, 0) == 0)
    file.sweep()
    #expect(FileStatus(left) != nil)
  }
}
