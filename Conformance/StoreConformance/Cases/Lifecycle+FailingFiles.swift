import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Opening, copying, replacing and removing stores where files fail or the process dies in between.
extension ConformanceSuite {
  static let filesThatFail: [ConformanceCase] = [
    ConformanceCase(
      "LIF-019", "a file that may only be read is opened so, or refused, and nothing is made beside it",
      requires: [.persistent, .localFiles], profiles: Profile.plainOnly, disturbsFiles: true
    ) { c in
      let s = try c.open(Fixtures.people())
      try s.insert("Person", ["name": "a"])
      try s.close()
      let (files, bytes) = (try c.files(), try c.fileBytes())
      try FailingFiles.disturb(.every(.error(EACCES), .writing)) {
        do {
          let store = try c.openRaw(c.url, s.schema)
          c.expect(store.isReadOnly, "a store that cannot be written does not say so")
          try store.close()
        } catch let error as StoreError { c.equal(error.code, .readOnly, "\(error)") }
      }
      c.equal(try c.files(), files)
      c.expect(try c.fileBytes() == bytes, "the file has changed")
      let nowhere = c.url.deletingLastPathComponent().appending(path: "new")
      try FailingFiles.disturb(.every(.error(EACCES), .writing)) {
        try c.refuses(.readOnly, what: "making a store") { _ = try c.openRaw(nowhere, s.schema) }
      }
      c.equal(try c.files(), files)
    },
    ConformanceCase(
      "LIF-020", "on a disk that cannot be written a store shows all that was acknowledged, or says that it cannot",
      requires: [.readOnlyOpen, .localFiles], profiles: Profile.plainOnly, disturbsFiles: true,
      roles: [
        "write": { r in
          let s = try r.open(Fixtures.people())
          for number in 0..<20 { try s.insert("Person", ["age": .int(Int64(number))]) }
          kill(getpid(), SIGKILL)
        }
      ]
    ) { c in
      try c.open(Fixtures.people()).close()
      _ = try c.start("write").wait()
      let files = try c.files()
      var options = StoreOptions()
      options.isReadOnly = true
      try FailingFiles.disturb(.every(.error(EROFS), .writing)) {
        do {
          let s = try Session(c.backend, c.url, Fixtures.people(), options, .plain)
          c.equal(try s.objects("Person").count, 20)
          try s.close()
        } catch let error as StoreError { c.expect([.readOnly, .io].contains(error.code), "\(error)") }
      }
      c.equal(try c.files(), files)
      let s = try c.open(Fixtures.people())
      c.equal(try s.objects("Person").count, 20, "where it can be written again")
    },
    ConformanceCase(
      "DEL-018", "a deletion that dies at any call leaves no row without its file",
      requires: [.persistent, .externalData, .localFiles], level: .durable, profiles: Profile.plainOnly,
      disturbsFiles: true,
      roles: [
        "delete": { r in
          let s = try r.open(Fixtures.allTypes(), .withoutGrace)
          guard let object = try s.objects("AllTypes").first else { return }
          try FailingFiles.disturb(FileFault(.dieBefore, .changes, at: Int(r.seed))) { try s.deleteWithData(object) }
          r.say("done")
        }
      ]
    ) { c in
      var isDone = false
      for at in 1..<60 where !isDone {
        let s = try c.open(Fixtures.allTypes(), .withoutGrace)
        try s.insert("AllTypes", ["large": .data(Data(repeating: 3, count: 200_000))])
        try s.close()
        let child = try c.start("delete", seed: UInt64(at))
        isDone = child.line() == "done"
        _ = child.wait()
        try s.reopen()
        for object in try s.objects("AllTypes") {
          c.expect(try s.value(object, "large") == .data(Data(repeating: 3, count: 200_000)), "killed at \(at)")
          try s.deleteWithData(object)
        }
        try s.close()
      }
      c.expect(isDone, "the deletion never ends")
      // An opening removes files that no row names once they are an hour old.
      let past = Date(timeIntervalSinceNow: -7200)
      for path in try c.pathsOfExternalData() {
        try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: path)
      }
      let s = try c.open(Fixtures.allTypes(), .withoutGrace)
      c.equal(try s.objects("AllTypes").count, 0)
      c.waits("files of deleted rows are still there") { (try? c.pathsOfExternalData()) == [] }
    },
    dying("DUR-010/replace", "a store that is being replaced is the old one or the new one") { r, source in
      try r.backend.replace(at: r.url, with: source, options: StoreOptions())
    } afterwards: { c, source in
      try c.backend.replace(at: c.url, with: source, options: StoreOptions())
    },
    dying("DUR-010/destroy", "a store that is being removed is whole, or another one can be made in its place") {
      r, _ in
      try r.backend.destroy(at: r.url, options: StoreOptions())
    } afterwards: { c, _ in
      try c.backend.destroy(at: c.url, options: StoreOptions())
      try CopiedStore.make(c.backend, c.url, "new")
    },
    dying(
      "DUR-010/replace-log",
      "a store that a killed process left and that is being replaced is the old one or the new one",
      isLeftByKilled: true
    ) { r, source in
      try r.backend.replace(at: r.url, with: source, options: StoreOptions())
    } afterwards: { c, source in
      try c.backend.replace(at: c.url, with: source, options: StoreOptions())
    },
    dying(
      "DUR-010/destroy-log", "a store that a killed process left and that is being removed is whole, or gone",
      isLeftByKilled: true
    ) { r, _ in
      try r.backend.destroy(at: r.url, options: StoreOptions())
    } afterwards: { c, _ in
      try c.backend.destroy(at: c.url, options: StoreOptions())
      try CopiedStore.make(c.backend, c.url, "new")
    },
    dying("S2S-007/killed", "a copy that was not finished is not there") { r, source in
      let from = try r.backend.open(at: source, schema: try CopiedStore.schema(), options: StoreOptions())
      try r.backend.make(at: r.url, copying: from, options: StoreOptions(), replaces: true)
      try from.close()
    } afterwards: { c, source in
      let from = try c.openRaw(source, CopiedStore.schema())
      try c.backend.make(at: c.url, copying: from, options: StoreOptions(), replaces: true)
      try from.close()
    },
    ConformanceCase(
      "S2S-007", "a copy that fails leaves the source, and nothing else", requires: [.persistent, .localFiles],
      level: .durable, profiles: Profile.plainOnly, disturbsFiles: true
    ) { c in
      c.leavesDamage()
      try CopiedStore.make(c.backend, c.url, "new")
      let target = c.url.deletingLastPathComponent().appending(path: "copy")
      let before = try c.files()
      for at in sequence(first: 1, next: { $0 < 30 ? $0 + 1 : $0 * 8 / 7 }).prefix(70) {
        let source = try c.openRaw(c.url, CopiedStore.schema())
        let fault = FileFault(at % 2 == 0 ? .error(ENOSPC) : .error(EIO), .changes, at: at)
        let (result, _, hits) = FailingFiles.disturb(fault) {
          Result { try c.backend.make(at: target, copying: source, options: StoreOptions()) }
        }
        c.equal(try CopiedStore.state(of: source), "new", "the source, after a failure at \(at)")
        try source.close()
        var isMade = true
        do { try result.get() } catch let error as StoreError {
          isMade = FileManager.default.fileExists(atPath: target.path)
          c.expect(!isMade || error.outcome == .outcomeUnknown, "there is a copy though: \(error)")
        }
        if isMade {
          let copy = try c.openRaw(target, CopiedStore.schema())
          c.equal(try CopiedStore.state(of: copy), "new", "the copy, after a failure at \(at)")
          try copy.close()
          try c.backend.destroy(at: target, options: StoreOptions())
        }
        let left = try c.files().filter { !before.contains($0) }
        // Where it is the removal of the draft that fails the copy is there, and the draft too.
        let drafts = isMade && hits > 0 ? left.filter { $0.hasPrefix(".copy.") } : []
        c.expect(left == drafts, "after a failure at \(at) there are \(left)")
        for file in left {
          try FileManager.default.removeItem(at: c.url.deletingLastPathComponent().appending(path: file))
        }
        if hits == 0 { break }
      }
    },
    ConformanceCase(
      "CON-019", "where a file system has no locks nothing is written without them",
      requires: [.persistent, .localFiles], level: .concurrent, profiles: Profile.plainOnly, disturbsFiles: true
    ) { c in
      let s = try CountedStore(c)
      for number in [ENOLCK, EOPNOTSUPP] {
        let fault = FileFault.every(.error(number), .lock)
        let (error, hits) = try s.step(fault)
        c.expect(error != nil || hits == 0, "a commit without a lock")
        if let error { c.expect(error.code != .corrupt && error.code != .notAStore, "\(error)") }
      }
      try s.step()
    },
  ]

  /// A case in which a process dies at each call by which it changes files, one run a call. Before each run an old
  /// store is at the case's location, and beside it a new one, which nothing changes. With `isLeftByKilled` the old
  /// one's last commit was made by a process that was killed then, so that it may be in a log.
  private static func dying(
    _ id: String, _ title: String, isLeftByKilled: Bool = false,
    _ work: @escaping @Sendable (RoleContext, _ source: URL) throws -> Void,
    afterwards: @escaping @Sendable (CaseContext, _ source: URL) throws -> Void
  ) -> ConformanceCase {
    ConformanceCase(
      id, title, requirements: ["DUR-010"], requires: [.persistent, .localFiles], level: .durable,
      profiles: Profile.plainOnly, disturbsFiles: true,
      roles: [
        "die": { r in
          let source = r.url.deletingLastPathComponent().appending(path: "source")
          try FailingFiles.disturb(FileFault(.dieBefore, .changes, at: Int(r.seed))) { try work(r, source) }
          r.say("done")
        },
        "leave": { r in
          try CopiedStore.finish(r.open(CopiedStore.schema()), "old")
          kill(getpid(), SIGKILL)
        },
      ]
    ) { c in
      c.leavesDamage()
      let source = c.url.deletingLastPathComponent().appending(path: "source")
      try CopiedStore.make(c.backend, source, "new")
      var isDone = false
      for at in sequence(first: 1, next: { $0 < 12 ? $0 + 1 : $0 * 8 / 7 }).prefix(40) where !isDone {
        try c.backend.destroy(at: c.url, options: StoreOptions())
        if isLeftByKilled {
          try CopiedStore.begin(c.backend, c.url, "old").close()
          _ = try c.start("leave").wait()
        } else {
          try CopiedStore.make(c.backend, c.url, "old")
        }
        let child = try c.start("die", seed: UInt64(at))
        isDone = child.line() == "done"
        _ = child.wait()
        let target = try c.openRaw(c.url, CopiedStore.schema())
        let state = try CopiedStore.state(of: target)
        c.expect(["old", "new", ""].contains(state), "killed at \(at): \(state)")
        c.expect(state != "" || id.contains("destroy"), "killed at \(at): the store is empty")
        try target.close()
        let from = try c.openRaw(source, CopiedStore.schema())
        c.equal(try CopiedStore.state(of: from), "new", "the source, killed at \(at)")
        try from.close()
        try afterwards(c, source)
        let again = try c.openRaw(c.url, CopiedStore.schema())
        c.equal(try CopiedStore.state(of: again), "new", "once more, after \(at)")
        try again.close()
      }
      c.expect(isDone, "it never ends")
    }
  }
}

extension Session {
  /// Deletes an object, and the file that its large data is in.
  func deleteWithData(_ object: ObjectReference) throws {
    guard let attribute = schema.entities[object.entity].attribute(named: "large"), let row = try row(object) else {
      throw Failure("the object is gone")
    }
    try commit {
      try $0.delete(object)
      if case .data(let name) = row.value(attribute.slot, .externalData), name.first == 2 {
        $0.set.obsoleteExternalData.append(name)
      }
    }
  }
}

/// A store with some rows and large data, all of which say one word.
private enum CopiedStore {
  static func schema() throws -> Schema { try Fixtures.allTypes() }

  static func make(_ backend: any StoreBackend, _ url: URL, _ word: String) throws {
    let s = try begin(backend, url, word)
    try finish(s, word)
    try s.close()
  }

  /// Makes the store with all rows but the last.
  static func begin(_ backend: any StoreBackend, _ url: URL, _ word: String) throws -> Session {
    let s = try Session(backend, url, schema(), StoreOptions(), .plain)
    try s.commit { for _ in 0..<20 { try $0.insert("AllTypes", ["string": .text(word)]) } }
    return s
  }

  /// Inserts the last row, which has the large data.
  static func finish(_ s: Session, _ word: String) throws {
    try s.insert("AllTypes", ["string": .text(word), "large": .data(large(word))])
  }

  /// The word, empty where there are no rows; or what is wrong.
  static func state(of store: any Store) throws -> String {
    let entity = try schema().entities[0]
    guard let string = entity.attribute(named: "string"), let large = entity.attribute(named: "large") else {
      return "no attributes"
    }
    var (words, data): ([String], [Data]) = ([], [])
    try store.snapshot().scan(entity.subtree) { row in
      if case .string(let word) = row.value(string.slot, .string) { words.append(word) }
      if case .data(let bytes) = row.value(large.slot, .externalData) { data.append(bytes) }
    }
    guard let word = words.first else { return "" }
    if words != Array(repeating: word, count: 21) { return "\(words.count) rows of \(Set(words).sorted())" }
    let found = try data.map { $0.first == 2 ? try store.externalData($0) : Data($0.dropFirst()) }
    return found == [self.large(word)] ? word : "\(word), but the large data is another"
  }

  private static func large(_ word: String) -> Data { Data(repeating: Array(word.utf8)[0], count: 150_000) }
}
