import Foundation
import StoreProtocol
import StoreSchema

/// Saves on a disk that fails.
extension ConformanceSuite {
  static let savesThatFail: [ConformanceCase] = [
    failing("SAV-018", "a save in which any call fails is made or not, as its error says, and can be made again") { c in
      let s = try CountedStore(c, dataSize: 40_000)
      for effect in [FileFault.Effect.error(EIO), .late(EIO)] {
        let errors = try s.sweep(effect, .changes)
        c.expect(!errors.isEmpty, "no failure of a call was an error")
      }
    },
    failing("SAV-018/first", "the first save of a store in which any call fails is made or not, as its error says") {
      c in
      for at in 1..<400 {
        let fault = FileFault(.error(EIO), .changes, at: at)
        let (result, _, hits) = FailingFiles.disturb(fault) { Result { try insertAlone(c) } }
        var possible = [1]
        do { try result.get() } catch let error as StoreError {
          possible = error.outcome == .notSaved ? [0] : [0, 1]
          c.expect(hits > 0, "an error though nothing has happened: \(error)")
          c.expect(error.code != .corrupt && error.code != .notAStore, "a failed call is no damage: \(error)")
        }
        let s = try c.open(Fixtures.people())
        let found = try s.objects("Tag").count
        c.expect(possible.contains(found), "at \(at): \(found) there, possible are \(possible)")
        try s.insert("Tag")
        try s.close()
        try c.backend.destroy(at: c.url, options: StoreOptions())
        c.isReplaced()
        if hits == 0 { break }
      }
    },
    failing("SAV-018/delete", "a save that deletes and grows in which any call fails is made or not, as its error says")
    {
      c in
      let s = try c.open(Fixtures.people())
      var saved = try s.commit { for number in 0..<40 { try $0.insert("Person", ["name": .text("0 \(number)")]) } }
      for at in 1..<400 {
        let before = Set(try s.objects("Person"))
        c.equal(before, Set(saved), "before the failure at \(at)")
        let fault = FileFault(at % 2 == 0 ? .error(EIO) : .late(EIO), .changes, at: (at + 1) / 2)
        let (result, _, hits) = FailingFiles.disturb(fault) { Result { try replaceAll(s, saved, at) } }
        do {
          saved = try result.get()
        } catch let error as StoreError {
          c.expect(hits > 0, "an error though nothing has happened: \(error)")
          let found = try s.objects("Person")
          if Set(found) != before {
            c.equal(error.outcome, .outcomeUnknown, "at \(at): another state than before: \(error)")
            c.expect(found.count == 40 && before.isDisjoint(with: found), "at \(at): a mixture of both states")
          }
          saved = found
        }
        if hits == 0 && at > 2 { break }
      }
      try s.reopen()
      c.equal(Set(try s.objects("Person")), Set(saved), "opened again")
    },
    failing("SAV-019", "a full disk costs nothing, and the same commit is made once there is room") { c in
      let s = try CountedStore(c)
      let errors = try s.sweep(.error(ENOSPC), [.create, .write, .sync, .make, .rename, .truncate])
      c.expect(errors.contains { $0.code == .full }, "no error says that the disk is full: \(errors.map(\.code))")
      for room in [0, 100, 4096, 10_000] { try s.step(.every(.full(room: room), .changes)) }
    },
    failing("SAV-020", "calls that are interrupted or do half are no harm") { c in
      let s = try CountedStore(c)
      for number in [EINTR, EAGAIN] {
        try s.sweep(.error(number), .changes)
        try s.step(FileFault(.error(number), [.write, .sync, .truncate], count: 3))
      }
      try s.sweep(.short, [.write, .read])
      try s.step(.every(.short, [.write, .read]))
    },
    failing("SAV-021", "whatever the system refuses is an error, and nothing stays open") { c in
      let s = try CountedStore(c)
      try s.step(FileFault(.nothing, []))
      let before = try descriptors()
      for number in [EACCES, EROFS, EMFILE, ENFILE, EDQUOT, EFBIG] {
        try s.sweep(.error(number), .changes)
        c.equal(try descriptors(), before, "open files after errno \(number)")
      }
    },
    failing("SAV-021/open", "a store that the system does not let be opened is an error, and opens afterwards") { c in
      try CountedStore(c).session.close()
      let before = try descriptors()
      for number in [EACCES, EMFILE, ENFILE, EIO] {
        for at in 1..<400 {
          let fault = FileFault(.error(number), [.open, .make, .lock, .map], at: at)
          let (result, _, hits) = FailingFiles.disturb(fault) { Result { try c.openRaw(c.url, Fixtures.people()) } }
          do { try result.get().close() } catch let error as StoreError {
            c.expect(hits > 0 && !error.message.isEmpty, "errno \(number) at \(at): \(error)")
            c.expect(
              ![.corrupt, .notAStore, .notFound].contains(error.code), "errno \(number) at \(at) is told as \(error)")
          }
          c.equal(try descriptors(), before, "open files after errno \(number) at \(at)")
          if hits == 0 { break }
        }
      }
      let s = try c.open(Fixtures.people())
      c.equal(try s.values("Person", "age"), [.int(0)])
    },
    failing("SAV-022", "what cannot be read is an error of reading, and never nothing", requirements: ["COR-015"]) {
      c in
      let s = try c.open(Fixtures.people())
      try s.commit {
        for number in 0..<2000 { try $0.insert("Person", ["name": .text("a person of number \(number)")]) }
      }
      try s.close()
      let bytes = try c.fileBytes()
      var met = 0
      for at in sequence(first: 1, next: { $0 < 40 ? $0 + 1 : $0 * 5 / 4 }).prefix(80) {
        let fault = FileFault(.error(EIO), [.read, .map], at: at)
        let (result, _, hits) = FailingFiles.disturb(fault) { Result { try names(c) } }
        do {
          c.equal(try result.get().count, 2000, "names, with a failure at \(at)")
        } catch let error as StoreError {
          c.expect(hits > 0, "an error though nothing has happened: \(error)")
          c.equal(error.code, .io, "at \(at): \(error)")
        }
        if hits == 0 { break }
        met += 1
      }
      c.expect(met > 0, "no reading was met")
      c.expect(try c.fileBytes() == bytes, "the file has changed")
      let (halves, _, _) = FailingFiles.disturb(.every(.short, .read)) { Result { try names(c) } }
      do { c.equal(try halves.get().count, 2000, "names, with all reading by halves") } catch let error as StoreError {
        c.equal(error.code, .io, "all reading by halves: \(error)")
      }
    },
    failing("SAV-023", "after a sync that failed a commit writes and syncs anew") { c in
      let s = try CountedStore(c)
      try s.step()
      var repeated = 0
      for at in 1..<100 {
        let (error, hits) = try s.step(FileFault(.error(EIO), .sync, at: at))
        if hits == 0 { break }
        guard let error, error.outcome == .notSaved else { continue }
        c.equal(error.code, .io)
        repeated += 1
        c.expect(
          s.repeated.contains { $0.contains("write") }, "once more, after a failed sync at \(at), nothing is written")
        c.expect(
          s.repeated.contains { $0.contains("sync") }, "once more, after a failed sync at \(at), nothing is synced")
      }
      c.expect(repeated > 0, "no failed sync was told of as such")
    },
    ConformanceCase(
      "SAV-024", "a commit that failed does not come back after the next one and a crash",
      requires: [.persistent, .localFiles], level: .durable, profiles: Profile.plainOnly,
      disturbsFiles: true, roles: ["fail": failAndGoOn]
    ) { c in
      let s = try CountedStore(c)
      try s.step()
      try s.session.close()
      var met = true
      for at in 1..<60 where met {
        let child = try c.start("fail", seed: UInt64(at))
        var lines: [String] = []
        while let line = child.line() { lines.append(line) }
        let status = child.wait()
        met = lines.contains("met")
        guard let last = lines.last.flatMap(Int.init) else {
          c.expect(false, "the process at \(at) ended with \(status), and said \(lines)")
          continue
        }
        let left = try CountedStore(leftBy: "after a failure at \(at)", c)
        c.equal(left.saved, last, "after a failure at \(at): \(lines)")
        try left.session.close()
      }
    },
    ConformanceCase(
      "SAV-027", "new files are made under names that nobody can foresee, and through no link",
      requires: [.wholeFile, .localFiles], profiles: Profile.plainOnly, disturbsFiles: true
    ) { c in
      let s = try CountedStore(c)
      var names: [String] = []
      for _ in 0..<3 {
        let made = try FailingFiles.calls(.create) { try s.step() }
        c.expect(!made.isEmpty, "a commit makes no new file")
        for (call, path) in made {
          c.equal(call, "create-exclusive-nofollow", path)
          names.append(path)
        }
      }
      c.equal(Set(names).count, names.count, "the same name twice")
      try s.step(FileFault(.error(EEXIST), .create))
      try s.step(FileFault(.error(ELOOP), .create))
    },
    ConformanceCase(
      "SAV-028", "new files are made in the store's own folder, or not at all", requires: [.wholeFile, .localFiles],
      profiles: Profile.plainOnly, disturbsFiles: true
    ) { c in
      let s = try CountedStore(c)
      let folder = c.url.deletingLastPathComponent().resolvingSymlinksInPath()
      let temporary = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
      // Descriptors of folders are names of their own: what is not beside the store would have a path.
      FailingFiles.watch(temporary)
      let made = try FailingFiles.calls(.create) { try s.step() }
      FailingFiles.watch(folder.path)
      for (_, path) in made where path.hasPrefix("/") {
        c.equal(URL(filePath: path).deletingLastPathComponent().path, folder.path, path)
      }
      let (error, _) = try s.step(FileFault(.error(EXDEV), .rename))
      c.expect(error != nil, "a file of another disk has taken the store's place")
      let (refused, _) = try s.step(FileFault(.error(EACCES), .create))
      c.equal(refused?.code, .readOnly, "in a folder that cannot be written")
    },
    failing("SAV-030", "a change that is larger than the disk is refused, and its space comes back") { c in
      let s = try CountedStore(c, dataSize: 1 << 20)
      try s.step()
      try s.step()
      for room in [300_000, 700_000] {
        let (error, _) = try s.step(.every(.full(room: room), .changes))
        c.equal(error?.code, .full, "\(room) bytes free: \(error.map { "\($0)" } ?? "committed")")
      }
      try s.session.close()
      let size = try c.sizeOfFiles()
      // The data, its predecessor, and what a log holds of both.
      c.expect(size < 8 << 20, "\(size) bytes are in use for 1 MB")
    },
    ConformanceCase(
      "SAV-031", "data outside is there whenever a row leads to it", requirements: ["SAV-018"],
      requires: [.persistent, .externalData, .localFiles],
      profiles: Profile.plainOnly, disturbsFiles: true
    ) { c in
      let s = try c.open(Fixtures.allTypes())
      func data(_ number: Int) -> Data { Data(repeating: UInt8(number & 255), count: 200_000) }
      let object = try s.insert("AllTypes", ["number": 0, "large": .data(data(0))])
      var saved = 0
      for effect in [FileFault.Effect.error(EIO), .late(EIO), .error(ENOSPC)] {
        for at in 1..<200 {
          let fault = FileFault(effect, .changes, at: at)
          let (result, _, hits) = FailingFiles.disturb(fault) {
            Result { try s.update(object, ["number": .int(Int64(saved + 1)), "large": .data(data(saved + 1))]) }
          }
          var possible = [saved + 1]
          do { try result.get() } catch let error as StoreError {
            possible = error.outcome == .notSaved ? [saved] : [saved, saved + 1]
          }
          guard case .int(let number) = try s.value(object, "number") else { try c.fail("the number is gone") }
          c.expect(possible.contains(Int(number)), "\(effect) at \(at): \(number), possible are \(possible)")
          c.expect(
            try s.value(object, "large") == .data(data(Int(number))), "\(effect) at \(at): the data is not the row's")
          saved = Int(number)
          if hits == 0 { break }
        }
      }
    },
    failing("SAV-042", "a store whose folder is taken away makes no new one", requirements: ["LIF-030"]) { c in
      let s = try CountedStore(c)
      try s.step()
      let folder = c.url.deletingLastPathComponent()
      let away = folder.appendingPathExtension("away")
      try FileManager.default.moveItem(at: folder, to: away)
      var isSaved = false
      do {
        try s.session.insert("Tag")
        isSaved = true
      } catch let error as StoreError { c.expect(!error.message.isEmpty, "an error without a sentence") }
      c.expect(!FileManager.default.fileExists(atPath: folder.path), "the folder has been made anew")
      try FileManager.default.moveItem(at: away, to: folder)
      try s.session.reopen()
      c.equal(try s.session.objects("Tag").count, isSaved ? 2 : 1, isSaved ? "committed" : "refused")
      c.leavesDamage()
    },
    failing("CAP-006", "a place that can no longer be written is an error, until it can be again") { c in
      let s = try CountedStore(c)
      try s.step()
      for _ in 0..<2 {
        let (error, _) = try s.step(.every(.error(EROFS), .writing))
        c.equal(error?.code, .readOnly, "\(error.map { "\($0)" } ?? "committed")")
      }
      try s.step()
    },
  ]

  /// A case of failing files at one location.
  private static func failing(
    _ id: String, _ title: String, requirements: [String] = [], body: @escaping @Sendable (CaseContext) throws -> Void
  ) -> ConformanceCase {
    ConformanceCase(
      id, title, requirements: requirements, requires: [.persistent, .localFiles], level: .durable,
      profiles: Profile.plainOnly, disturbsFiles: true, body: body)
  }

  /// Makes the store, with one object.
  private static func insertAlone(_ c: CaseContext) throws {
    let s = try Session(c.backend, c.url, Fixtures.people(), StoreOptions(), .plain)
    let result = Result { try s.insert("Tag") }
    // Closing may fail as well; whether the save was made is the save's to say.
    try? s.close()
    _ = try result.get()
  }

  /// Deletes objects and inserts as many others, with more text each time.
  private static func replaceAll(
    _ s: Session, _ old: [ObjectReference], _ number: Int
  ) throws -> [ObjectReference] {
    try s.commit {
      for object in old { try $0.delete(object) }
      let text = String(repeating: "x", count: 100 * number)
      for site in 0..<40 { try $0.insert("Person", ["name": .text("\(number) \(site) \(text)")]) }
    }
  }

  /// Commits with a failure at the call of the seed's number, says whether it was met, builds on what is then there,
  /// says what that is, and dies.
  private static let failAndGoOn: @Sendable (RoleContext) throws -> Void = { r in
    let s = try r.open(Fixtures.people())
    guard let person = try s.objects("Person").first else { return }
    func count() throws -> Int {
      guard case .int(let age) = try s.value(person, "age") else { throw Failure("the age is no number") }
      return Int(age)
    }
    func step(_ number: Int) throws {
      try s.commit {
        try $0.insert("Tag", ["label": .text("\(number)")])
        try $0.update(person, ["age": .int(Int64(number))])
      }
    }
    let before = try count()
    let (result, _, hits) = FailingFiles.disturb(FileFault(.error(EIO), .changes, at: Int(r.seed))) {
      Result { try step(before + 1) }
    }
    if hits > 0 { r.say("met") }
    if case .failure(let error) = result { r.say("\(error)") }
    let seen = try count()
    try step(seen + 1)
    r.say("\(seen + 1)")
    kill(getpid(), SIGKILL)
  }

  /// The descriptors that this process has.
  private static func descriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
  }

  private static func names(_ c: CaseContext) throws -> [Value] {
    let s = try Session(c.backend, c.url, Fixtures.people(), StoreOptions(), .plain)
    let names = Result {
      try s.read { view in
        var names: [Value] = []
        try view.scan(try s.range("Person", exactly: true)) { names.append($0.value(0, .string)) }
        return names
      }
    }
    try s.close()
    return try names.get()
  }
}
