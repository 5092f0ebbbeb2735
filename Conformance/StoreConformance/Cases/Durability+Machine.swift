import Foundation
import StoreProtocol
import StoreSchema

/// What a machine does to a program: clocks that jump, locales, copies of the process; and the calls that durability
/// rests on.
extension ConformanceSuite {
  static let machine: [ConformanceCase] = [
    ConformanceCase(
      "DUR-014", "a clock that is put back or forward loses nothing", requires: .persistent, level: .durable,
      profiles: Profile.plainOnly, disturbsFiles: true
    ) { c in
      let year = 365 * 86_400
      let s = try c.open(Fixtures.people())
      let object = try s.insert("Person", ["age": 0])
      var versions: [Int64] = [1]
      for (number, offset) in [100 * year, -year, 0, -40 * year].enumerated() {
        try FailingFiles.withClock(off: offset) {
          try s.update(object, ["age": .int(Int64(number + 1))])
          try s.insert("Tag", ["label": .text("\(number)")])
          if number % 2 == 1 { try s.reopen() }
        }
        c.equal(try s.value(object, "age"), .int(Int64(number + 1)))
        versions.append(try s.row(object)?.version ?? 0)
      }
      if c.capabilities.contains(.rowVersions) { c.equal(versions, [1, 2, 3, 4, 5]) }
      c.equal(try s.objects("Tag").count, 4)
    },
    ConformanceCase(
      "DUR-012", "what lies beside a store and is another store's is refused or ignored, and never applied",
      requires: [.persistent, .localFiles], level: .durable, profiles: Profile.plainOnly, sites: 2,
      roles: ["write": writeForEver]
    ) { c in
      let s = try c.open(Fixtures.people(), in: 1)
      for number in 0..<5 { try s.insert("Person", ["name": .text("\(number)")]) }
      let expected = Set(try s.values("Person", "name"))
      try s.close()
      // A killed process leaves beside its store what that needs.
      let child = try c.start("write")
      for _ in 0..<3 { c.expect(child.line() != nil, "the other store cannot be written") }
      child.kill()
      let (files, other) = (FileManager.default, c.url.lastPathComponent)
      for file in try c.files() where file.hasPrefix(other) && file != other {
        let strange = c.url(of: 1).path + file.dropFirst(other.utf8.count)
        if files.fileExists(atPath: strange) { try files.removeItem(atPath: strange) }
        try files.copyItem(
          atPath: c.url.deletingLastPathComponent().appending(path: file).path, toPath: strange)
        do {
          let again = try c.open(Fixtures.people(), in: 1)
          c.equal(Set(try again.values("Person", "name")), expected, file)
          try again.close()
        } catch let error as StoreError {
          c.expect(!error.message.isEmpty, "an error without a sentence")
          try files.removeItem(atPath: strange)
        }
      }
      c.equal(Set(try c.open(Fixtures.people(), in: 1).values("Person", "name")), expected)
      c.equal(try c.open(Fixtures.people()).objects("Tag").count % 3, 0, "the other store: a torn commit")
    },
    ConformanceCase(
      "DUR-012/journal", "the rollback journal of another SQLite store is refused, and never rolled back",
      requires: .sqliteFile, level: .durable, profiles: Profile.plainOnly, sites: 3, disturbsFiles: true,
      roles: [
        "die": { r in
          let s = try r.open(Fixtures.people(), rollingBack)
          try s.insert("Tag", ["label": "kept"])
          // The commit would be complete with the removal of its journal.
          try FailingFiles.disturb(FileFault(.dieBefore, .remove)) { _ = try s.insert("Tag", ["label": "lost"]) }
        }
      ]
    ) { c in
      _ = try c.start("die").wait()
      // Also beside a store that keeps a log: SQLite looks for a journal first.
      for (site, options) in [(1, rollingBack), (2, StoreOptions())] {
        let s = try c.open(Fixtures.people(), in: site, options)
        for number in 0..<5 { try s.insert("Person", ["name": .text("\(number)")]) }
        let expected = Set(try s.values("Person", "name"))
        try s.close()
        let strange = c.url(of: site).path + "-journal"
        try FileManager.default.copyItem(atPath: c.url.path + "-journal", toPath: strange)
        try c.refuses(.corrupt) { _ = try c.open(Fixtures.people(), in: site, options) }
        try FileManager.default.removeItem(atPath: strange)
        c.equal(Set(try c.open(Fixtures.people(), in: site).values("Person", "name")), expected)
      }
      c.equal(try c.open(Fixtures.people()).values("Tag", "label"), [.string("kept")], "the journal's own store")
    },
    ConformanceCase(
      "DUR-012/log", "the log of an SQLite store of another model is refused, also beside a store that keeps none",
      requires: .sqliteFile, level: .durable, profiles: Profile.plainOnly, sites: 3,
      roles: [
        "write": { r in
          let s = try r.open(Fixtures.names())
          let object = try s.insert("Order", ["where": "second"])
          // More than a log is to hold: the next commit begins another one, of few pages.
          try s.insert("Order", ["where": .text(String(repeating: "x", count: 8 << 20))])
          try s.update(object, ["where": "SECOND"])
          r.say("written")
          while true { withExtendedLifetime(s) { _ = sleep(60) } }
        }
      ]
    ) { c in
      // A store that is there has a log of few pages.
      let other = try c.open(Fixtures.names())
      try other.insert("Order", ["where": "first"])
      try other.close()
      let child = try c.start("write")
      c.expect(child.line() != nil, "the other store cannot be written")
      child.kill()
      for (site, options) in [(1, StoreOptions()), (2, rollingBack)] {
        let s = try c.open(Fixtures.people(), in: site, options)
        for number in 0..<5 { try s.insert("Person", ["name": .text("\(number)")]) }
        let expected = Set(try s.values("Person", "name"))
        try s.close()
        let bytes = try Data(contentsOf: c.url(of: site))
        let strange = c.url(of: site).path + "-wal"
        try FileManager.default.copyItem(atPath: c.url.path + "-wal", toPath: strange)
        try c.refuses(.corrupt) { _ = try c.open(Fixtures.people(), in: site, options) }
        try c.refuses(.corrupt) { try c.backend.replace(at: c.url(of: site), with: c.url, options: options) }
        c.equal(try Data(contentsOf: c.url(of: site)), bytes, "the store's file")
        try FileManager.default.removeItem(atPath: strange)
        c.equal(Set(try c.open(Fixtures.people(), in: site).values("Person", "name")), expected)
      }
      c.equal(try c.open(Fixtures.names()).values("Order", "where").count, 3, "the log's own store")
    },
    ConformanceCase(
      "DUR-012/making", "whoever dies at the last step of making or copying an SQLite store leaves none or all of it",
      requires: .sqliteFile, level: .durable, profiles: Profile.plainOnly, disturbsFiles: true,
      roles: [
        "make": { r in
          try FailingFiles.disturb(FileFault(.dieBefore, .remove, at: Int(r.seed))) {
            try r.open(Fixtures.people(), rollingBack).close()
          }
        },
        "copy": { r in
          let source = r.url.deletingLastPathComponent().appending(path: "source")
          try FailingFiles.disturb(FileFault(.dieBefore, .remove, at: Int(r.seed))) {
            try r.backend.replace(at: r.url, with: source, options: StoreOptions())
          }
        },
      ]
    ) { c in
      c.leavesDamage()
      let source = c.url.deletingLastPathComponent().appending(path: "source")
      let s = try Session(c.backend, source, Fixtures.people(), StoreOptions(), .plain)
      try s.insert("Tag", ["label": "copied"])
      try s.close()
      for role in ["make", "copy"] {
        // Each transaction ends with the removal of its journal.
        var deaths: UInt64 = 0
        while try c.start(role, seed: deaths + 1).wait() != 0 {
          deaths += 1
          guard deaths < 20 else { break }
          let again = try c.open(Fixtures.people(), rollingBack)
          c.equal(try again.objects("Tag"), [], "\(role): dead at removal \(deaths)")
          try again.insert("Tag", ["label": "new"])
          try again.close()
          try c.backend.destroy(at: c.url, options: StoreOptions())
          c.isReplaced()
        }
        c.expect(1..<20 ~= deaths, "\(role): dies \(deaths) times")
        c.equal(try c.open(Fixtures.people()).objects("Tag").count, role == "copy" ? 1 : 0, role)
        try c.backend.destroy(at: c.url, options: StoreOptions())
        c.isReplaced()
      }
    },
    ConformanceCase(
      "DUR-017", "what a commit of SQLite rests on: a log, and a sync of it before the commit returns",
      requires: [.sqliteFile, .powerLossDurability], level: .durable, profiles: Profile.plainOnly, disturbsFiles: true
    ) { c in
      let s = try c.open(Fixtures.people())
      try s.insert("Person")
      c.equal(
        Array(try c.fileBytes()[18..<20]), [2, 2], "the versions of reading and writing, which say that there is a log")
      let calls = try FailingFiles.calls([.write, .sync]) { try s.insert("Person") }
      c.expect(calls.contains { $0.call.contains("write") && $0.path.hasSuffix("-wal") }, "nothing is written to a log")
      c.expect(
        calls.last.map { $0.call.contains("sync") && $0.path.hasSuffix("-wal") } == true,
        "the last call is no sync of the log: \(calls.map(\.call))")
    },
    ConformanceCase(
      "DUR-018", "a map is only read through, and a commit ends with a sync", requires: [.memoryMapped, .localFiles],
      level: .durable, profiles: Profile.plainOnly, disturbsFiles: true
    ) { c in
      var maps: [(call: String, path: String)] = []
      var s: Session?
      maps = try FailingFiles.calls(.map) { s = try c.open(Fixtures.people()) }
      guard let s else { return }
      try s.insert("Person")
      let name = c.url.lastPathComponent
      c.expect(maps.contains { $0.path.hasSuffix("/\(name)") }, "the file is not mapped")
      c.expect(!maps.contains { $0.call == "map-to-write" && $0.path.hasSuffix("/\(name)") }, "written through the map")
      let synchronous = try FailingFiles.calls([.write, .sync]) { try s.insert("Person") }
      c.expect(synchronous.contains { $0.call.contains("sync") }, "no sync: \(synchronous.map(\.call))")
    },
    ConformanceCase(
      "CON-011", "a copy of the process does not use the store, and the process itself goes on",
      requires: [.persistent, .localFiles], level: .concurrent, profiles: Profile.plainOnly, disturbsFiles: true
    ) { c in
      let s = try CountedStore(c)
      try s.step()
      let said = FailingFiles.inFork {
        do {
          try s.session.insert("Tag")
          return "committed"
        } catch let error as StoreError {
          return error.outcome == .notSaved ? "refused" : "\(error)"
        } catch { return "\(error)" }
      }
      c.equal(said, "refused", "a commit in a copy of the process")
      let read = FailingFiles.inFork {
        do { return try "\(s.session.objects("Tag").count)" } catch {
          return error is StoreError ? "refused" : "\(error)"
        }
      }
      c.expect(read == "refused" || read == "1", "reading in a copy of the process: \(read ?? "it crashed")")
      for _ in 0..<3 { try s.step(FileFault(.nothing, [])) }
    },
    ConformanceCase(
      "CON-012", "reading the metadata of a store that is open takes no lock from it",
      requires: [.persistent, .localFiles], level: .concurrent, profiles: Profile.plainOnly,
      roles: [
        "visit": { r in
          // Who closes a store last may tidy up.
          let s = try r.open(Fixtures.people())
          r.say("\(try s.objects("Tag").count)")
          try s.close()
          r.say("closed")
        }
      ]
    ) { c in
      let s = try CountedStore(c)
      for number in 1...3 {
        try s.step()
        c.equal(try c.backend.metadata(at: c.url, options: StoreOptions()).identifier, s.session.store.identifier)
        let child = try c.start("visit")
        c.equal(child.line(), "\(number)")
        c.equal(child.line(), "closed")
        _ = child.wait()
      }
      try s.step()
    },
    ConformanceCase(
      "FET-055", "another locale makes no index wrong", requires: .persistent, profiles: Profile.plainOnly
    ) { c in
      let names = ["i", "I", "ı", "İ", "a", "Ä", "ä", "z", "Z", "ø", "ss", "ß", "10", "9", "é", "e\u{301}"]
      var results: [[[ObjectReference]]] = []
      let before = setlocale(LC_ALL, nil).map { String(cString: $0) } ?? "C"
      defer { setlocale(LC_ALL, before) }
      let s = try c.open(Fixtures.people())
      try s.commit { for name in names { try $0.insert("Person", ["name": .text(name), "email": .text(name)]) } }
      for locale in ["C", "C.UTF-8", "tr_TR.UTF-8", "de_DE.UTF-8", ""] {
        // Those that the machine has: the first always, others by what is installed.
        if setlocale(LC_ALL, locale) == nil { continue }
        try s.reopen()
        results.append([
          try s.fetch("Person", sort: ["name"]), try s.fetch("Person", "name ==[cd] 'i'", sort: ["-name"]),
          try s.fetch("Person", "email >= 'a'", sort: ["email"]), try s.fetch("Person", "name BEGINSWITH 'e'"),
        ])
        c.equal(try s.conflicts { try $0.insert("Person", ["email": "ß"]) }.count, 1, "unique values in “\(locale)”")
      }
      for result in results { c.equal(result, results[0]) }
    },
    ConformanceCase(
      "SEC-017", "in a folder that everybody may write a store's files are its owner's", requires: .localFiles,
      profiles: Profile.plainOnly
    ) { c in
      let folder = c.url.deletingLastPathComponent()
      let old = umask(0)
      defer { _ = umask(old) }
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
      let s = try c.open(Fixtures.allTypes())
      try s.insert("AllTypes", ["large": .data(Data(repeating: 1, count: 200_000))])
      try s.insert("AllTypes")
      for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
        c.equal(try c.mode(of: file) & 0o077, 0, "others may use \(file)")
      }
    },
    ConformanceCase(
      "SEC-020", "what is deleted is gone from the file where the pragma for it is set", requires: .sqliteFile,
      profiles: Profile.plainOnly
    ) { c in
      let secret = "a secret that nobody shall find \(c.seed)"
      var options = StoreOptions()
      options.pragmas = ["secure_delete": "ON"]
      let s = try c.open(Fixtures.people(), options)
      let object = try s.insert("Person", ["name": .text(secret)])
      try s.insert("Person", ["name": "stays"])
      try s.delete(object)
      try s.close()
      c.expect(try c.fileBytes().range(of: Data("stays".utf8)) != nil, "nothing is found at all")
      c.expect(try c.fileBytes().range(of: Data(secret.utf8)) == nil, "the file still has it")
    },
  ]

  private static var rollingBack: StoreOptions {
    var options = StoreOptions()
    options.pragmas = ["journal_mode": "DELETE"]
    return options
  }
}
