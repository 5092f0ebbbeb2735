import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Files and folders that have the names of a store's, and are not its own.
extension ConformanceSuite {
  static let foreignFiles: [ConformanceCase] = [
    ConformanceCase(
      "LIF-012/removing", "nothing but a regular file is removed or replaced, forced or not",
      requires: [.persistent, .localFiles], profiles: Profile.plainOnly
    ) { c in
      c.leavesDamage()
      let source = c.url.deletingLastPathComponent().appending(path: "source")
      try c.openRaw(source, Fixtures.people()).close()
      for kind in ForeignThing.allCases {
        guard try kind.make(at: c.url) else { continue }
        for isForced in [false, true] {
          var options = StoreOptions()
          (options.forceDestroy, options.timeout) = (isForced, 0.2)
          try c.label("\(kind), \(isForced ? "forced" : "not forced")") {
            try c.refuses(what: "removing") { try c.backend.destroy(at: c.url, options: options) }
            kind.expect(at: c.url, c)
            try c.refuses(what: "replacing") { try c.backend.replace(at: c.url, with: source, options: options) }
            kind.expect(at: c.url, c)
          }
        }
        try kind.remove(at: c.url)
      }
      try c.openRaw(c.url, Fixtures.people()).close()
      try c.backend.destroy(at: source, options: StoreOptions())
    },
    ConformanceCase(
      "LIF-012/beside", "what is no file of the store's stays, though it has the name of one",
      requires: [.persistent, .localFiles], profiles: Profile.plainOnly
    ) { c in
      c.leavesDamage()
      for suffix in ["-wal", "-shm", "-journal", "-lock"] {
        for kind in [ForeignThing.pipe, .folder, .linkToPipe] {
          try c.openRaw(c.url, Fixtures.people()).close()
          let beside = URL(fileURLWithPath: c.url.path + suffix)
          try? FileManager.default.removeItem(at: beside)
          guard try kind.make(at: beside) else { continue }
          for isForced in [false, true] {
            var options = StoreOptions()
            (options.forceDestroy, options.timeout) = (isForced, 0.2)
            _ = try? c.backend.destroy(at: c.url, options: options)
            c.label("\(kind) at \(suffix), \(isForced ? "forced" : "not forced")") {
              kind.expect(at: beside, c)
            }
          }
          try kind.remove(at: beside)
          try c.backend.destroy(at: c.url, options: StoreOptions())
        }
      }
    },
    openReplaced("removed", "which is removed and made again") { c, _ in
      try c.backend.destroy(at: c.url, options: StoreOptions())
      try c.openRaw(c.url, Fixtures.people()).close()
    },
    openReplaced("replaced", "which is replaced by a store") { c, source in
      try c.backend.replace(at: c.url, with: source, options: StoreOptions())
    },
    openReplaced("replaced-copy", "which is replaced by a former copy of it", isCopy: true) { c, source in
      try c.backend.replace(at: c.url, with: source, options: StoreOptions())
    },
    openReplaced("moved", "over which another file is moved") { c, source in
      guard rename(source.path, c.url.path) == 0 else { throw HarnessProblem("the file cannot be moved") }
      // Its lock file goes with the file whose readers are in it.
      try? FileManager.default.removeItem(atPath: source.path + "-lock")
    },
    openReplaced("moved-copy", "over which a former copy of it is moved", isCopy: true) { c, source in
      guard rename(source.path, c.url.path) == 0 else { throw HarnessProblem("the file cannot be moved") }
      try? FileManager.default.removeItem(atPath: source.path + "-lock")
    },
    sideFolder("SEC-015/outer", "a side folder that is a link"),
    sideFolder("SEC-015/inner", "a folder in the side folder that is a link"),
  ]

  /// A case in which another store takes the place of one that is open. With `isCopy` that is a former copy of the same
  /// store.
  private static func openReplaced(
    _ id: String, _ title: String, isCopy: Bool = false,
    _ replace: @escaping @Sendable (CaseContext, _ source: URL) throws -> Void
  ) -> ConformanceCase {
    ConformanceCase(
      "LIF-025/open-\(id)", "an open store \(title) saves nothing, and the other store stays as it is",
      requires: [.persistent, .localFiles], profiles: Profile.plainOnly
    ) { c in
      c.leavesDamage()
      let source = c.url.deletingLastPathComponent().appending(path: "source")
      let s = try c.open(Fixtures.people())
      for number in 0..<3 { try s.insert("Person", ["name": .text("old\(number)")]) }
      let old = try s.objects("Person")
      if isCopy {
        try c.backend.replace(at: source, with: c.url, options: StoreOptions())
        try s.insert("Person", ["name": "later"])
      } else {
        let other = try Session(c.backend, source, s.schema, StoreOptions(), .plain)
        try other.insert("Person", ["name": "new"])
        try other.close()
      }
      do { try replace(c, source) } catch let error as StoreError where error.code == .busy {
        // A store may want to be closed first. Then it goes on as if nothing had been.
        try s.insert("Person", ["name": "later"])
        c.equal(try s.objects("Person").count, isCopy ? 5 : 4)
        try s.close()
        try replace(c, source)
        return
      }
      func content() throws -> [String] {
        let found = try Session(c.backend, c.url, s.schema, StoreOptions(), .plain)
        defer { try? found.close() }
        return try found.values("Person", "name").map { "\($0)" }.sorted()
      }
      func refusal(_ what: String, _ body: () throws -> Void) throws {
        do { try body() } catch let error as StoreError {
          c.expect(error.outcome == .notSaved, "\(what): \(error)")
          c.expect(!error.message.isEmpty, "\(what) threw an error without a sentence")
          return
        }
        // A whole-file store may have read the copy, which is the same store; what it saves is then there.
        c.expect(id == "moved-copy" && c.capabilities.contains(.wholeFile), "\(what) did not throw")
      }
      try refusal("an insertion") { try s.insert("Person", ["name": "lost"]) }
      try refusal("a change") { try s.update(old[0], ["name": "lost"]) }
      try s.close()
      let names = try content()
      c.equal(try content(), names, "once more")
      if id != "moved-copy" || !c.capabilities.contains(.wholeFile) {
        let expected = isCopy ? 3 : id == "removed" ? 0 : 1
        c.equal(names.count, expected, "\(names)")
        c.expect(!names.contains { $0.contains("lost") }, "\(names)")
      }
      try? c.backend.destroy(at: source, options: StoreOptions())
      let files = try c.files().filter { !$0.hasSuffix("-lock") }
      c.equal(files, [c.url.lastPathComponent], "what is left")
    }
  }

  /// A case in which the innermost or outermost folder of large data is a link to a folder of somebody else.
  private static func sideFolder(_ id: String, _ title: String) -> ConformanceCase {
    ConformanceCase(
      id, title + " leads nobody to remove what is there", requires: [.persistent, .externalData, .localFiles],
      profiles: Profile.plainOnly
    ) { c in
      c.leavesDamage()
      let s = try c.open(Fixtures.allTypes())
      let object = try s.insert("AllTypes", ["large": .data(Data(repeating: 1, count: 300_000))])
      try s.close()
      let files = FileManager.default
      let folder = c.url.deletingLastPathComponent()
      let names = try c.files().filter { $0.hasPrefix(".") && !$0.contains("/") }
      guard var side = names.first.map({ folder.appending(path: $0) }) else {
        c.expect(true, "the store keeps large data in its file")
        return
      }
      let inner = try files.contentsOfDirectory(atPath: side.path).first { UUID(uuidString: $0) == nil }
      if id.hasSuffix("inner") {
        guard let inner else {
          c.expect(true, "there is one folder only")
          return
        }
        side = side.appending(path: inner)
      }
      let elsewhere = folder.deletingLastPathComponent().appending(path: "elsewhere-\(UUID().uuidString)")
      defer { try? files.removeItem(at: elsewhere) }
      try files.moveItem(at: side, to: elsewhere)
      try files.createSymbolicLink(at: side, withDestinationURL: elsewhere)
      let theirs = try files.subpathsOfDirectory(atPath: elsewhere.path).sorted()
      func check(_ what: String) throws {
        c.equal(try files.subpathsOfDirectory(atPath: elsewhere.path).sorted(), theirs, "after \(what)")
        let type = try files.attributesOfItem(atPath: side.path)[.type] as? FileAttributeType
        c.expect(type == .typeSymbolicLink, "the link is gone after \(what)")
      }
      try s.reopen()
      try s.deleteWithData(object)
      try s.close()
      try check("a deletion")
      for isForced in [false, true] {
        var options = StoreOptions()
        options.forceDestroy = isForced
        try c.refuses(.notAStore, what: "removing the store") { try c.backend.destroy(at: c.url, options: options) }
        try check("the removal of the store")
      }
      try s.reopen()
      try s.close()
      try files.removeItem(at: side)
      try c.backend.destroy(at: c.url, options: StoreOptions())
    }
  }
}

/// What may be at a store's URL and is none.
private enum ForeignThing: CaseIterable {
  case device, pipe, socket, folder, linkToDevice, linkToPipe

  private static func target(_ url: URL) -> URL { URL(fileURLWithPath: url.path + ".target") }

  /// Makes it. False where this process may not.
  func make(at url: URL) throws -> Bool {
    switch self {
    case .device: return Self.makeDevice(url)
    case .pipe: return mkfifo(url.path, 0o600) == 0
    case .socket: return mknod(url.path, S_IFSOCK | 0o600, 0) == 0
    case .folder:
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      try Data("mine".utf8).write(to: url.appending(path: "file"))
      return true
    case .linkToDevice, .linkToPipe:
      let target = Self.target(url)
      try? FileManager.default.removeItem(at: target)
      guard self == .linkToDevice ? Self.makeDevice(target) : mkfifo(target.path, 0o600) == 0 else { return false }
      try FileManager.default.createSymbolicLink(at: url, withDestinationURL: target)
      return true
    }
  }

  /// Records a problem unless it is still there.
  func expect(at url: URL, _ c: CaseContext) {
    c.equal(Self.kind(url), expectedKind, "what is at the path")
    switch self {
    case .folder:
      c.expect(FileManager.default.fileExists(atPath: url.appending(path: "file").path), "the file in it is gone")
    case .linkToDevice: c.equal(Self.kind(Self.target(url)), S_IFCHR, "what the link leads to")
    case .linkToPipe: c.equal(Self.kind(Self.target(url)), S_IFIFO, "what the link leads to")
    default: break
    }
  }

  /// Removes it with what belongs to it.
  func remove(at url: URL) throws {
    try FileManager.default.removeItem(at: url)
    try? FileManager.default.removeItem(at: Self.target(url))
  }

  private var expectedKind: mode_t {
    switch self {
    case .device: S_IFCHR
    case .pipe: S_IFIFO
    case .socket: S_IFSOCK
    case .folder: S_IFDIR
    case .linkToDevice, .linkToPipe: S_IFLNK
    }
  }

  /// The kind of what is at a path, nil for nothing. Links are not followed.
  private static func kind(_ url: URL) -> mode_t? {
    var status = stat()
    return lstat(url.path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  /// The same device as /dev/null, under a name of its own. Only root may make one.
  private static func makeDevice(_ url: URL) -> Bool { mknod(url.path, S_IFCHR | 0o600, dev_t(1 << 8 | 3)) == 0 }
}
