import Foundation
import StoreProtocol
import StoreSchema

/// Damaged files. Each is opened in a process that may be lost.
extension ConformanceSuite {
  static let damage: [ConformanceCase] = [
    ConformanceCase("COR-001", "a file cut short is refused", requires: .localFiles, profiles: Profile.plainOnly) { c in
      try c.cut(every: 97)
    },
    ConformanceCase(
      "COR-001/all", "a file cut short anywhere is refused", requires: .localFiles, size: .medium,
      profiles: Profile.plainOnly
    ) { c in
      try c.cut(every: 1)
    },
    ConformanceCase(
      "COR-002", "a changed byte is found, or changes nothing", requires: [.localFiles, .checksums],
      profiles: Profile.plainOnly
    ) { c in
      try c.flip(count: 150, mayChange: false)
    },
    ConformanceCase(
      "COR-002/all", "any changed byte is found, or changes nothing", requires: [.localFiles, .checksums],
      size: .medium, profiles: Profile.plainOnly
    ) { c in
      try c.flip(count: nil, mayChange: false)
    },
    ConformanceCase(
      "COR-002/survives", "a changed byte makes nothing crash", requires: .localFiles, absent: .checksums,
      profiles: Profile.plainOnly
    ) { c in
      try c.flip(count: 150, mayChange: true)
    },
    ConformanceCase(
      "COR-002/many", "many changed bytes make nothing crash", requires: .localFiles, absent: .checksums, size: .medium,
      profiles: Profile.plainOnly
    ) {
      c in
      try c.flip(count: 3000, mayChange: true)
    },
    ConformanceCase("COR-003", "noise is no store", requires: .localFiles, profiles: Profile.plainOnly) { c in
      c.leavesDamage()
      for count in [1, 15, 16, 100, 4096, 70_000] {
        let noise = Data((0..<count).map { _ in UInt8(truncatingIfNeeded: c.random.next()) })
        try noise.write(to: c.url)
        try c.refuses(.notAStore, .wrongType, what: "\(count) bytes") { _ = try c.openRaw(c.url, Fixtures.people()) }
        c.expect(try c.fileBytes() == noise, "the file of \(count) bytes has changed")
      }
      try c.clear()
    },
    ConformanceCase("COR-013", "a sound store has nothing to find", profiles: [.plain, .reopen]) { c in
      let s = try c.open(Fixtures.shapes())
      try s.fillShapes()
      c.equal(ConsistencyCheck.problems(of: s.store), [])
    },
    ConformanceCase(
      "COR-016", "a damaged file is refused with another model too, and is damaged also for metadata",
      requires: .localFiles, profiles: Profile.plainOnly
    ) { c in
      let good = try c.sample()
      c.leavesDamage()
      let bad = good.prefix(good.count / 2)
      try bad.write(to: c.url)
      if c.capabilities.contains(.checksums) {
        c.refuses("metadata of half a file was read") { _ = try c.backend.metadata(at: c.url, options: StoreOptions()) }
      }
      c.refuses("half a file was opened with another model") { _ = try c.openRaw(c.url, Fixtures.people()) }
      c.expect(try c.fileBytes() == bad, "the file has changed")
    },
    ConformanceCase(
      "COR-003/pipe", "a pipe is no store, and nobody waits for it", requires: .localFiles, profiles: Profile.plainOnly
    ) { c in
      c.leavesDamage()
      c.expect(mkfifo(c.url.path, 0o600) == 0, "no pipe could be made")
      try c.refuses(.notAStore, .wrongType, .io) { _ = try c.openRaw(c.url, Fixtures.people()) }
    },
    ConformanceCase(
      "COR-006", "a file shorter than it says of itself is refused before it is mapped",
      requires: [.localFiles, .memoryMapped], profiles: Profile.plainOnly
    ) { c in
      let good = try c.sample()
      c.leavesDamage()
      for part in 1..<16 {
        let bad = good.prefix(good.count * part / 16)
        try bad.write(to: c.url)
        c.refuses("\(bad.count) of \(good.count) bytes were opened") {
          _ = try c.openRaw(c.url, Fixtures.shapes())
        }
      }
      try c.clear()
    },
    ConformanceCase(
      "COR-007", "a file that another program cuts while it is open ends in errors, not in the end of the process",
      requires: [.localFiles, .memoryMapped], profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit { for _ in 0..<2000 { try $0.insert("Person", ["name": "a name of some length"]) } }
      let view = try s.store.snapshot()
      c.leavesDamage()
      c.expect(truncate(c.url.path, 8192) == 0, "the file could not be cut")
      func note(_ what: String, _ body: () throws -> Void) throws {
        do { try body() } catch let error as StoreError {
          c.expect(!error.message.isEmpty, "\(what): an error without a sentence")
        }
      }
      try note("an old view") { try view.scan(try s.range("Person", exactly: false)) { _ in } }
      try note("a new view") { for person in o { _ = try s.row(person) } }
      try note("a commit") { try s.insert("Person") }
      c.refuses("the file was opened again") {
        try s.reopen()
        c.expect(try s.objects("Person") == o, "objects are missing without an error")
      }
    },
    xml(
      "SEC-001", "doctype", "<!DOCTYPE database [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><database>&e;</database>"),
    xml("SEC-001", "foreignDoctype", "<!DOCTYPE other SYSTEM \"http://127.0.0.1/x.dtd\"><other/>"),
    xml(
      "SEC-002", "laughs",
      "<!DOCTYPE database [<!ENTITY a \"aaaaaaaaaa\">"
        + (1...9).map { "<!ENTITY a\($0) \"\(String(repeating: "&a\($0 == 1 ? "" : "\($0 - 1)");", count: 10))\">" }
        .joined()
        + "]><database>&a9;</database>"),
    xml(
      "SEC-002", "quadratic",
      "<!DOCTYPE database [<!ENTITY a \"" + String(repeating: "a", count: 50_000) + "\">]><database>"
        + String(repeating: "&a;", count: 50_000) + "</database>"),
    xml("SEC-002", "parameter", "<!DOCTYPE database [<!ENTITY % p SYSTEM \"file:///etc/passwd\"> %p;]><database/>"),
    xml("SEC-003", "depth", String(repeating: "<a>", count: 200_000)),
    xml("SEC-003", "attributes", "<database " + (0..<200_000).map { "a\($0)=\"\" " }.joined() + "/>"),
    xml("SEC-003", "encoding", "<?xml version=\"1.0\" encoding=\"EBCDIC-CP-US\"?><database/>"),
    xml("SEC-004", "middle", "<?xml version=\"1.0\"?><database><databaseInfo><version>134481920</version>"),
    ConformanceCase(
      "SEC-005", "a list that holds itself ends", requires: .binaryPropertyListFile, profiles: Profile.plainOnly
    ) { c in
      c.leavesDamage()
      // An array whose one element is itself.
      let list =
        Data("bplist00".utf8) + Data([0xA1, 0, 8, 0, 0, 0, 0, 0, 0, 1, 1]) + Data(count: 7) + Data([1])
        + Data(count: 15) + Data([10])
      try list.write(to: c.url)
      c.refuses("a list that holds itself was opened") { _ = try c.openRaw(c.url, Fixtures.people()) }
      c.expect(try c.fileBytes() == list, "the file has changed")
    },
    ConformanceCase(
      "SEC-006", "a text that is a property list is no store", requires: .binaryPropertyListFile,
      profiles: Profile.plainOnly
    ) { c in
      c.leavesDamage()
      for text in ["hello", "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict/></plist>"] {
        try Data(text.utf8).write(to: c.url)
        try c.refuses(.notAStore, .wrongType) { _ = try c.openRaw(c.url, Fixtures.people()) }
      }
    },
    ConformanceCase("SEC-013", "text of a language is text", profiles: Profile.fetching) { c in
      let s = try c.open(Fixtures.people())
      let texts = [
        "'; DROP TABLE ZPERSON; --", "\" OR 1=1 --", "%", "_", "?1", ":a", "\\", "</string>", "&lt;", "${x}",
      ]
      let o = try s.commit {
        for text in texts { try $0.insert("Person", ["name": .text(text), "email": .text(text)]) }
      }
      for (text, object) in zip(texts, o) {
        c.equal(try s.fetch("Person", "name == %@", [.text(text)]), [object], text)
      }
      c.equal(try s.objects("Person"), o)
    },
    ConformanceCase(
      "SEC-014", "names of external data lead nowhere else", requires: .externalData, profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.allTypes())
      try s.insert("AllTypes")
      let secret = c.url.deletingLastPathComponent().appending(path: "secret")
      try Data("secret".utf8).write(to: secret)
      c.leaves("secret")
      c.allows(mode: 0o644)
      for name in ["../secret", "../../secret", "../../../secret", secret.path, "a\u{0}b", "", ".", "..", "a/b"] {
        c.refuses("the name “\(name)” was read") {
          _ = try s.store.externalData(Data([2]) + Data(name.utf8) + Data([0]))
        }
        s.store.externalDataStore?.discardExternalData([Data([2]) + Data(name.utf8) + Data([0])])
      }
      c.expect(FileManager.default.fileExists(atPath: secret.path), "the other file was removed")
    },
    ConformanceCase(
      "SEC-016", "a link in the way is not written through", requires: [.localFiles, .wholeFile],
      profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.people())
      let other = c.url.deletingLastPathComponent().appending(path: "other")
      let link = c.url.deletingLastPathComponent().appending(path: "hard")
      try FileManager.default.linkItem(at: c.url, to: link)
      try Data("mine".utf8).write(to: other)
      ["other", "hard"].forEach(c.leaves)
      c.allows(mode: 0o644)
      let before = try Data(contentsOf: link)
      try s.insert("Person")
      c.expect(try Data(contentsOf: link) == before, "what another name leads to has changed")
      c.equal(try Data(contentsOf: other), Data("mine".utf8))
    },
  ]

  /// A hostile file of XML.
  private static func xml(_ row: String, _ name: String, _ text: String, size: Size = .small) -> ConformanceCase {
    ConformanceCase(
      "\(row)/\(name)", "hostile XML (\(name)) is refused", requires: .xmlFile, size: size,
      profiles: Profile.plainOnly
    ) { c in
      c.leavesDamage()
      try Data(text.utf8).write(to: c.url)
      let start = Date()
      c.refuses("the file was opened") { _ = try c.openRaw(c.url, Fixtures.people()) }
      c.expect(Date().timeIntervalSince(start) < 5, "it took \(Date().timeIntervalSince(start)) s")
      c.expect(try c.fileBytes() == Data(text.utf8), "the file has changed")
      try c.clear()
    }
  }
}
