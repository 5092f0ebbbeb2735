import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema

extension ConformanceSuite {
  static let lifecycle: [ConformanceCase] = [
    ConformanceCase("LIF-001", "a new store is empty and says what it is", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.people())
      for entity in s.schema.entities { c.equal(try s.objects(entity.name), [], entity.name) }
      let metadata = s.store.metadata
      c.expect(UUID(uuidString: metadata.identifier) != nil, "the identifier is \(metadata.identifier)")
      c.equal(metadata.identifier, metadata.identifier.uppercased(), "upper case")
      c.equal(metadata.identifier, s.store.identifier)
      c.equal(metadata.storeType, c.backend.storeType)
      c.equal(metadata.versionHashes, s.schema.versionHashes)
      c.expect(!s.store.isReadOnly, "a new store says that it cannot be written")
    },
    ConformanceCase("LIF-002", "opening again changes nothing", requires: .persistent, profiles: Profile.plainOnly) {
      c in
      let s = try c.open(Fixtures.people())
      try s.insert("Person", ["name": "a"])
      let identifier = s.store.identifier
      try s.close()
      let before = try c.fileBytes()
      try s.reopen()
      c.equal(s.store.identifier, identifier)
      c.equal(try s.values("Person", "name"), [.string("a")])
      try s.close()
      c.expect(try c.fileBytes() == before, "the file has other bytes")
    },
    identifiers("LIF-003", of: 20, .small), identifiers("LIF-003/thousand", of: 1000, .medium),
    ConformanceCase(
      "LIF-004", "metadata is read without opening, and without a trace", requires: [.persistent, .localFiles],
      profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.people())
      try s.insert("Person")
      try s.close()
      let (files, bytes) = (try c.files(), try c.fileBytes())
      let metadata = try c.backend.metadata(at: c.url, options: StoreOptions())
      c.equal(metadata.identifier, s.store.identifier)
      c.equal(metadata.storeType, c.backend.storeType)
      c.equal(metadata.versionHashes, s.schema.versionHashes)
      c.equal(try c.files(), files)
      c.expect(try c.fileBytes() == bytes, "the file has other bytes")
    },
    ConformanceCase("LIF-004/nothing", "there is no metadata where there is no store", profiles: Profile.plainOnly) {
      c in
      try c.refuses(.notFound) { _ = try c.backend.metadata(at: c.url, options: StoreOptions()) }
      if c.location.folder != nil { c.equal(try c.files(), []) }
    },
    ConformanceCase(
      "LIF-005", "metadata is set without opening, but not what the store is", requires: .persistent,
      profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.people())
      let person = try s.insert("Person", ["name": "a"])
      try s.close()
      var metadata = try c.backend.metadata(at: c.url, options: StoreOptions())
      metadata.additional["custom"] = .string("set")
      try c.backend.setMetadata(metadata, at: c.url, options: StoreOptions())
      try s.reopen()
      c.equal(s.store.metadata.additional["custom"], .string("set"))
      c.equal(try s.value(person, "name"), "a")
      try s.close()
      metadata.additional["custom"] = .string("lost")
      metadata.identifier = UUID().uuidString
      try c.refuses(.invalidArgument) { try c.backend.setMetadata(metadata, at: c.url, options: StoreOptions()) }
      try s.reopen()
      c.equal(s.store.metadata.additional["custom"], .string("set"))
    },
    ConformanceCase(
      "LIF-007", "metadata is committed, with its types", requires: .persistent, profiles: [.plain, .reopen]
    ) {
      c in
      let s = try c.open(Fixtures.people())
      let custom: [String: PropertyList] = [
        "text": .string("a\u{0301}é"), "number": .integer(-5), "real": .real(0.5), "date": .date(12),
        "data": .data(Data([0, 255])), "yes": .bool(true),
        "list": .array([.integer(1), .dictionary(["k": .string("v")])]),
      ]
      try s.commit {
        var metadata = s.store.metadata
        metadata.additional.merge(custom) { $1 }
        $0.set.metadata = metadata
        try $0.insert("Person", ["name": "a"])
      }
      try s.reopen()
      for (key, value) in custom { c.equal(s.store.metadata.additional[key], value, key) }
      c.equal(try s.objects("Person").count, 1)
    },
    ConformanceCase(
      "LIF-007/fraction", "a time in metadata keeps its fraction", requires: .persistent, profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.people())
      try s.commit {
        var metadata = s.store.metadata
        metadata.additional["time"] = .date(700_000_000.125)
        metadata.additional["times"] = .array([.date(1), .dictionary(["k": .date(-0.5)])])
        $0.set.metadata = metadata
      }
      try s.reopen()
      c.equal(s.store.metadata.additional["time"], .date(700_000_000.125))
      c.equal(s.store.metadata.additional["times"], .array([.date(1), .dictionary(["k": .date(-0.5)])]))
    },
    ConformanceCase(
      "LIF-009", "metadata of a commit with conflicts is not kept", profiles: Profile.oneOpening
    ) { c in
      let s = try c.open(Fixtures.people())
      let person = try s.insert("Person", ["email": "a"])
      let found = try s.conflicts {
        var metadata = s.store.metadata
        metadata.additional["custom"] = .integer(1)
        $0.set.metadata = metadata
        try $0.delete(person, version: 77)
      }
      c.equal(found.count, 1)
      c.equal(s.store.metadata.additional["custom"], nil)
      c.expect(try s.exists(person), "the object is gone")
    },
    ConformanceCase(
      "LIF-010", "another model is refused with both sides' hashes", requires: .persistent, profiles: Profile.plainOnly
    ) {
      c in
      let s = try c.open(Fixtures.people())
      try s.insert("Person")
      try s.close()
      let bytes = try c.fileBytes()
      let other = try Fixtures.otherPeople()
      let error = try c.refuses(.modelMismatch) { _ = try c.openRaw(c.url, other) }
      c.equal(error?.modelHashes?.store, s.schema.versionHashes)
      c.equal(error?.modelHashes?.model, other.versionHashes)
      c.expect(try c.fileBytes() == bytes, "the file has other bytes")
    },
    foreign("xml", Data("<?xml version=\"1.0\"?>\n<note>no store</note>\n".utf8), absent: .xmlFile),
    foreign("text", Data("hello".utf8)),
    foreign(
      "bplist", Data("bplist00".utf8) + Data([0x51, 0x61, 8, 0, 0, 0, 0, 0, 0, 1, 1]) + Data(count: 20), absent: []),
    foreign("sqlite", Data("SQLite format 3\u{0}".utf8) + Data(count: 4080), absent: .sqliteFile),
    ConformanceCase("LIF-012/directory", "a folder is no store", requires: .localFiles, profiles: Profile.plainOnly) {
      c in
      try FileManager.default.createDirectory(
        at: c.url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      c.leavesDamage()
      try c.refuses(.notAStore, .invalidArgument, .io, .wrongType) { _ = try c.openRaw(c.url, Fixtures.people()) }
      c.equal(try FileManager.default.contentsOfDirectory(atPath: c.url.path), [])
    },
    ConformanceCase(
      "LIF-012/parent", "a missing folder is not made", requires: .localFiles, profiles: Profile.plainOnly
    ) { c in
      let url = c.url.deletingLastPathComponent().appending(path: "none/store")
      try c.refuses(.notFound) { _ = try c.openRaw(url, Fixtures.people()) }
      c.equal(try c.files(), [])
    },
    ConformanceCase("LIF-012/scheme", "a URL of no file is refused", requires: .localFiles, profiles: Profile.plainOnly)
    { c in
      guard let url = URL(string: "http://example.com/store") else { throw HarnessProblem("no URL") }
      try c.refuses(.invalidArgument, .notFound) { _ = try c.openRaw(url, Fixtures.people()) }
    },
    ConformanceCase(
      "LIF-026", "a store in memory is empty again, and another one", absent: .persistent, profiles: Profile.plainOnly
    ) {
      c in
      let s = try c.open(Fixtures.people())
      try s.insert("Person")
      let first = s.store.identifier
      try s.reopen()
      c.equal(try s.objects("Person"), [])
      c.expect(s.store.identifier != first, "the identifier is the same")
    },
    openings("LIF-033", 30, .small), openings("LIF-033/many", 10_000, .medium),
    ConformanceCase("LIF-021", "a closed store says so", profiles: Profile.plainOnly) { c in
      let s = try c.open(Fixtures.people())
      try s.close()
      try s.close()
      try c.refuses(.closed, what: "a snapshot") { _ = try s.store.snapshot() }
      try c.refuses(.closed, what: "a commit") { _ = try s.store.commit(ChangeSet(time: 0)) }
    },
  ]

  /// A file of another kind is refused, and stays as it is.
  private static func foreign(_ name: String, _ bytes: Data, absent: Capabilities = []) -> ConformanceCase {
    ConformanceCase(
      "LIF-011/\(name)", "a file of another kind (\(name)) is refused", requirements: ["COR-003"],
      requires: [.persistent, .localFiles], absent: absent, profiles: Profile.plainOnly
    ) { c in
      c.leavesDamage()
      try bytes.write(to: c.url)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: c.url.path)
      try c.refuses(.notAStore, .wrongType, what: "open") { _ = try c.openRaw(c.url, Fixtures.people()) }
      try c.refuses(.notAStore, .wrongType, what: "metadata") {
        _ = try c.backend.metadata(at: c.url, options: StoreOptions())
      }
      c.expect(try c.fileBytes() == bytes, "the file has other bytes")
      c.equal(try c.files(), [c.url.lastPathComponent])
    }
  }

  private static func identifiers(_ id: String, of count: Int, _ size: Size) -> ConformanceCase {
    ConformanceCase(id, "every store has an identifier of its own", size: size, profiles: Profile.plainOnly) { c in
      var found: Set<String> = []
      for number in 0..<count {
        let url = c.url.deletingLastPathComponent().appending(path: "store\(number)")
        let store = try c.openRaw(url, Fixtures.people())
        let characters = Array(store.identifier)
        c.expect(characters.count == 36 && characters[14] == "4", "no UUID of version 4: \(store.identifier)")
        found.insert(store.identifier)
        try store.close()
        try c.backend.destroy(at: url, options: StoreOptions())
      }
      c.equal(found.count, count)
    }
  }

  private static func openings(_ id: String, _ count: Int, _ size: Size) -> ConformanceCase {
    ConformanceCase(
      id, "opening and closing leaves nothing behind", requires: .persistent, size: size, profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.people())
      try s.insert("Person")
      try s.close()
      let size = try c.fileBytes().count
      for _ in 0..<count {
        try s.reopen()
        c.equal(try s.objects("Person").count, 1)
        try s.close()
      }
      c.equal(try c.fileBytes().count, size)
      try s.close()
    }
  }
}

extension CaseContext {
  /// The bytes of the store's main file.
  func fileBytes() throws -> Data { try Data(contentsOf: url) }

  /// How many bytes all files in the case's folder have.
  func sizeOfFiles() throws -> Int {
    guard let folder = location.folder else { throw HarnessProblem("the store has no folder") }
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path).reduce(0) { sum, name in
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: name).path)
      return attributes[.type] as? FileAttributeType == .typeRegular ? sum + (attributes[.size] as? Int ?? 0) : sum
    }
  }

  /// The names of all files in the case's folder, sorted.
  func files() throws -> [String] {
    guard let folder = location.folder else { throw HarnessProblem("the store has no folder") }
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }
}
