import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// How another program changes the file of a store.
enum ForeignChange: Sendable {
  /// By statements.
  case sql([String])
  /// By replacing each text by another in a file of XML, which then has no checksum, as Apple's have none.
  case xml([(old: String, new: String)])
  /// By other bytes at an offset of a file of some format. The file's checksum, if any, is removed.
  case bytes([UInt8], at: Int, Capabilities)
  /// By other bytes in place of the last of several texts in a file of SQLite.
  case lastText(String, String)
  /// By a text as long in place of each other one in a file of some format, which then has no checksum of all where
  /// it had one.
  case text(String, String, Capabilities)

  static func sql(_ statements: String...) -> ForeignChange { .sql(statements) }
  static func xml(_ old: String, _ new: String) -> ForeignChange { .xml([(old, new)]) }

  var format: Capabilities {
    switch self {
    case .sql: .sqliteFile
    case .xml: .xmlFile
    case .bytes(_, _, let format): format
    case .lastText: .sqliteFile
    case .text(_, _, let format): format
    }
  }

  func apply(to c: CaseContext) throws {
    switch self {
    case .sql(let statements): try c.harness.execute(statements, at: c.url)
    case .bytes(let new, let site, _):
      var bytes = try c.fileBytes()
      bytes.replaceSubrange(site..<site + new.count, with: new)
      Self.removeChecksum(of: &bytes)
      try bytes.write(to: c.url)
    case .text(let old, let new, _):
      var bytes = try c.fileBytes()
      guard old.utf8.count == new.utf8.count, bytes.range(of: Data(old.utf8)) != nil else {
        throw HarnessProblem("the file has no \(old), or \(new) is not as long")
      }
      while let site = bytes.range(of: Data(old.utf8)) { bytes.replaceSubrange(site, with: Data(new.utf8)) }
      Self.removeChecksum(of: &bytes)
      try bytes.write(to: c.url)
    case .lastText(let old, let new):
      var bytes = try c.fileBytes()
      guard let first = bytes.range(of: Data(old.utf8)),
        let last = bytes.range(of: Data(old.utf8), options: .backwards),
        first != last
      else { throw HarnessProblem("the file does not have \(old) twice") }
      bytes.replaceSubrange(last, with: Data(new.utf8))
      try bytes.write(to: c.url)
    case .xml(let edits):
      guard var text = String(data: try c.fileBytes(), encoding: .utf8) else { throw HarnessProblem("no text") }
      if let key = text.range(of: "<key>OpenCoreDataChecksum</key>"),
        let end = text.range(of: "</string>", range: key.upperBound..<text.endIndex)
      {
        text.removeSubrange(key.lowerBound..<end.upperBound)
      }
      for (old, new) in edits {
        guard text.contains(old) else { throw HarnessProblem("the file has no \(old)") }
        text = text.replacing(old, with: new)
      }
      // U+E000 stands for a byte that is no UTF-8.
      var bytes = Data()
      for byte in text.replacing("\u{E000}", with: "\u{1}").utf8 { bytes.append(byte == 1 ? 0xFF : byte) }
      try bytes.write(to: c.url)
    }
  }

  private static func removeChecksum(of bytes: inout Data) {
    if let key = bytes.range(of: Data("crc64-of-all-other-bytes".utf8)) { bytes[key.lowerBound] = UInt8(ascii: "_") }
  }
}

/// Judgements of stores that were changed so.
extension ConformanceSuite {
  /// Damage within rows: the store opens or not; what is wrong is found; nothing ends the process; other rows can be
  /// read.
  static func found(_ id: String, _ what: String, _ change: ForeignChange) -> ConformanceCase {
    ConformanceCase(id, "\(what) is found", requires: change.format, profiles: Profile.plainOnly) { c in
      let o = try c.damagedPeople(change)
      let s: Session
      do { s = try c.open(Fixtures.people()) } catch let error as StoreError {
        c.expect(!error.message.isEmpty, "an error without a sentence")
        return
      }
      c.expect(!c.findings(of: s.store).isEmpty, "nothing is found")
      for person in o[1...2] { _ = try c.tolerated { try s.row(person) } }
      _ = try c.tolerated { try s.links(o[0], "members") }
      c.expect(try s.exists(o[0]), "a sound row of another table cannot be read")
    }
  }

  /// Damage that holds a value nobody else may see: errors and findings do not repeat it.
  static func discreet(_ id: String, _ change: ForeignChange) -> ConformanceCase {
    ConformanceCase(
      id, "errors tell where a wrong value is, and not the value", requires: change.format, profiles: Profile.plainOnly
    ) { c in
      let o = try c.damagedPeople(change)
      var texts: [String] = []
      func note<R>(_ body: () throws -> R) throws {
        do { _ = try body() } catch let error as StoreError { texts.append("\(error)") }
      }
      do {
        let s = try c.open(Fixtures.people())
        for person in o { try note { try s.row(person) } }
        try note { try s.links(o[0], "members") }
        try note { try s.fetch("Person", "age > 3", sort: ["born"]) }
        try note { try s.conflicts { try $0.update(o[1], ["name": "x"]) } }
        texts += c.findings(of: s.store)
      } catch let error as StoreError { texts.append("\(error)") }
      c.expect(!texts.isEmpty, "nothing is said")
      for text in texts { c.expect(!text.contains("hunter2"), text) }
    }
  }

  /// A counter of keys that is not what it should be: an insertion is refused, or gets a key that no row has.
  static func counter(_ name: String, _ change: ForeignChange) -> ConformanceCase {
    ConformanceCase(
      "IDN-019/\(name)",
      "a wrong counter of keys (\(name)) overwrites nothing", requires: change.format,
      profiles: Profile.plainOnly
    ) { c in
      let o = try c.damagedPeople(change)
      let s: Session
      do { s = try c.open(Fixtures.people()) } catch let error as StoreError {
        c.expect(!error.message.isEmpty, "an error without a sentence")
        return
      }
      let people = try s.objects("Person")
      if let new = try c.tolerated({ try s.insert("Person", ["name": "new"]) }) {
        c.expect(!o.contains(new) && new.key > 0, "the new object has the key \(new.key)")
        c.equal(try s.value(new, "name"), "new")
      }
      for person in people { c.expect(try s.value(person, "name") != .string("new"), "an object was overwritten") }
    }
  }

  /// A file that is no store any more.
  static func refused(_ id: String, _ what: String, _ change: ForeignChange) -> ConformanceCase {
    ConformanceCase(id, "\(what) is refused", requires: change.format, profiles: Profile.plainOnly) { c in
      try c.damagedPeople(change)
      let before = try c.fileBytes()
      try c.refuses(.notAStore, .wrongType, .corrupt, .modelMismatch) { _ = try c.openRaw(c.url, Fixtures.people()) }
      c.expect(try c.fileBytes() == before, "the file has changed")
    }
  }

  /// A file of a version that nobody here knows.
  static func newer(_ id: String, _ what: String, _ change: ForeignChange) -> ConformanceCase {
    ConformanceCase(id, "\(what) is refused as such", requires: change.format, profiles: Profile.plainOnly) { c in
      try c.damagedPeople(change)
      let (files, before) = (try c.files(), try c.fileBytes())
      try c.refuses(.newerFormat) { _ = try c.openRaw(c.url, Fixtures.people()) }
      try c.refuses(.newerFormat) { _ = try c.backend.metadata(at: c.url, options: StoreOptions()) }
      c.equal(try c.files(), files)
      c.expect(try c.fileBytes() == before, "the file has changed")
    }
  }

  /// A schema with what no model makes: refused, or read without running it, and never written.
  static func hostile(_ id: String, _ what: String, _ change: ForeignChange) -> ConformanceCase {
    ConformanceCase(id, "\(what) is neither run nor written to", requires: change.format, profiles: Profile.plainOnly) {
      c in
      try c.damagedPeople(change)
      let start = Date()
      defer { c.expect(Date().timeIntervalSince(start) < 20, "it took \(Date().timeIntervalSince(start)) s") }
      let before = try c.fileBytes()
      let s: Session
      do { s = try c.open(Fixtures.people()) } catch let error as StoreError {
        c.expect(!error.message.isEmpty, "an error without a sentence")
        c.expect(try c.fileBytes() == before, "the file has changed")
        return
      }
      let people = try s.objects("Person").count
      c.refuses("a row was written") { try s.insert("Tag", ["label": "new"]) }
      c.equal(try s.objects("Person").count, people, "the people")
      _ = try c.tolerated { try s.objects("Tag") }
    }
  }
}

extension CaseContext {
  /// Makes a store of one team, two people in it and a tag of theirs, and changes its file.
  @discardableResult
  fileprivate func damagedPeople(_ change: ForeignChange) throws -> [ObjectReference] {
    let s = try open(Fixtures.people())
    let o = try s.commit {
      let team = try $0.insert("Team", ["title": "t"])
      for name in ["a", "b"] {
        try $0.insert(
          "Person",
          [
            "name": .text(name), "email": .text("\(name)@example.org"), "age": 30, "born": .date(1),
            "photo": .data(Data([1, 2])), "team": .to(team),
          ])
      }
      try $0.insert("Tag", ["label": "x"])
    }
    try s.commit { for person in o[1...2] { try $0.connect(person, "tags", o[3], "people") } }
    try s.close()
    try change.apply(to: self)
    leavesDamage()
    return o
  }

  /// What is wrong with an open store, by all that looks at it.
  fileprivate func findings(of store: any Store) -> [String] {
    var found = ConsistencyCheck.problems(of: store)
    do {
      let inspection = try Inspection(store)
      for entity in store.schema.entities where !entity.isAbstract {
        try inspection.objects(of: entity.index) { object in
          for case .invalid(let text) in object.values { found.append(text) }
          for targets in object.relationships {
            switch targets {
            case .invalid(let text): found.append(text)
            case .objects(let objects): found += objects.compactMap(\.defect)
            }
          }
        }
      }
      try inspection.findings { found.append($0.text) }
    } catch { found.append("\(error)") }
    return found
  }

  /// What `body` gives, nil where the store refuses it.
  fileprivate func tolerated<R>(_ body: () throws -> R?) throws -> R? {
    do { return try body() } catch let error as StoreError {
      expect(!error.message.isEmpty, "an error without a sentence")
      return nil
    }
  }
}
