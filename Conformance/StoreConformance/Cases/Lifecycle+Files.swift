import Foundation
import StoreProtocol
import StoreSchema

/// The life of stores that are files.
extension ConformanceSuite {
  static let lifecycleOfFiles: [ConformanceCase] = [
    named("spaces", "a b  c"), named("marks", "a?b#c%00;d&e=f"), named("uri", "file:x?mode=memory"),
    named("script", "日本"), named("composed", "\u{E9}"), named("decomposed", "e\u{301}"),
    named("long", String(repeating: "n", count: 200)),
    ConformanceCase("LIF-014", "a link to a store stays a link", requires: .localFiles, profiles: [.plain, .reopen]) {
      c in
      let target = c.url.deletingLastPathComponent().appending(path: "target")
      try FileManager.default.createSymbolicLink(at: c.url, withDestinationURL: target)
      try Data().write(to: target)
      try FileManager.default.removeItem(at: target)
      let made = try c.openRaw(target, Fixtures.people())
      try made.close()
      c.leavesDamage()
      c.leaves("target")
      let s = try c.open(Fixtures.people())
      try s.insert("Person", ["name": "a"])
      try s.close()
      let type = try FileManager.default.attributesOfItem(atPath: c.url.path)[.type] as? FileAttributeType
      c.expect(type == .typeSymbolicLink, "the link has become a file")
      let direct = try c.openRaw(target, Fixtures.people())
      c.equal(direct.identifier, s.store.identifier)
      var count = 0
      try direct.snapshot().scan(try s.range("Person", exactly: true)) { _ in count += 1 }
      c.equal(count, 1)
      try direct.close()
    },
    ConformanceCase(
      "LIF-016", "files are their owner's alone, at every moment", requires: .localFiles, profiles: Profile.plainOnly
    ) {
      c in
      let old = umask(0o022)
      defer { _ = umask(old) }
      let s = try c.open(Fixtures.people())
      for number in 0..<3 {
        try s.insert("Person", ["age": .int(Int64(number))])
        for file in try c.files() {
          c.equal(try c.mode(of: file) & 0o077, 0, "others may use \(file)")
        }
      }
    },
    ConformanceCase("LIF-017", "a replaced file keeps its mode", requires: .wholeFile, profiles: [.plain, .reopen]) {
      c in
      let s = try c.open(Fixtures.people())
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: c.url.path)
      c.allows(mode: 0o640)
      try s.insert("Person")
      c.equal(try c.mode(of: c.url.lastPathComponent), 0o640)
    },
    ConformanceCase(
      "LIF-018", "a store opened read-only is read and not written", requires: .readOnlyOpen,
      profiles: Profile.plainOnly
    ) {
      c in
      let s = try c.open(Fixtures.people())
      let person = try s.insert("Person", ["name": "a"])
      try s.close()
      let (files, bytes) = (try c.files(), try c.fileBytes())
      var options = StoreOptions()
      options.isReadOnly = true
      let reading = try c.open(s.schema, options)
      c.expect(reading.store.isReadOnly, "the store does not say that it is read-only")
      c.equal(try reading.value(person, "name"), "a")
      try c.refuses(.readOnly, what: "a commit") { try reading.update(person, ["name": "b"]) }
      try c.refuses(.readOnly, what: "taking keys") {
        _ = try reading.store.allocateKeys(root: person.entity, count: 1)
      }
      try reading.close()
      c.equal(try c.files(), files)
      c.expect(try c.fileBytes() == bytes, "the file has other bytes")
    },
    ConformanceCase(
      "LIF-018/nothing", "there is nothing to open read-only", requires: .readOnlyOpen, profiles: Profile.plainOnly
    ) { c in
      var options = StoreOptions()
      options.isReadOnly = true
      try c.refuses(.notFound) { _ = try c.openRaw(c.url, Fixtures.people(), options) }
      c.equal(try c.files(), [])
    },
    ConformanceCase(
      "LIF-024", "a destroyed store leaves nothing, and others in the folder stay", requires: .localFiles,
      profiles: Profile.plainOnly
    ) {
      c in
      let s = try c.open(Fixtures.allTypes())
      try s.insert("AllTypes", ["large": .data(Data(repeating: 1, count: 300_000))])
      try s.close()
      let name = c.url.lastPathComponent
      let neighbours = ["a-\(name)", "\(name).old", "\(name)2"]
      for neighbour in neighbours {
        try Data("mine".utf8).write(to: c.url.deletingLastPathComponent().appending(path: neighbour))
      }
      c.leavesDamage()
      neighbours.forEach(c.leaves)
      c.allows(mode: 0o644)
      try c.backend.destroy(at: c.url, options: StoreOptions())
      c.equal(try c.files(), neighbours.sorted())
      try c.backend.destroy(at: c.url, options: StoreOptions())
    },
    ConformanceCase(
      "LIF-025", "a replaced store is the other one", requirements: ["IDN-021"], requires: [.persistent, .localFiles],
      profiles: Profile.plainOnly, sites: 2
    ) {
      c in
      let source = try c.open(Fixtures.allTypes(), in: 0)
      let data = Data(repeating: 7, count: 300_000)
      let object = try source.insert("AllTypes", ["string": "a", "large": .data(data)])
      try source.close()
      let target = try c.open(Fixtures.allTypes(), in: 1)
      for _ in 0..<3 { try target.insert("AllTypes", ["string": "b"]) }
      try target.close()
      c.isReplaced()
      try c.backend.replace(at: c.url(1), with: c.url(0), options: StoreOptions())
      try target.reopen()
      c.equal(target.store.identifier, source.store.identifier)
      c.equal(try target.values("AllTypes", "string"), [.string("a")])
      c.expect(try target.value(object, "large") == .data(data), "the large data is another")
      try source.reopen()
      c.equal(try source.objects("AllTypes"), [object])
    },
    ConformanceCase(
      "LIF-030", "a store whose file is gone says so, and makes no new one", requires: .localFiles,
      profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.people())
      try s.insert("Person")
      try FileManager.default.removeItem(at: c.url)
      c.leavesDamage()
      c.refuses("a commit made a new file in place of the lost one") { try s.insert("Person") }
      // What the store has read it may still give.
      do { c.equal(try s.objects("Person").count, 1, "objects of a store whose file is gone") } catch {
        c.expect(error is StoreError, "a fetch threw \(error), which is no error of a store")
      }
      c.equal(try c.filesButCompanions(), [])
    },
    ConformanceCase(
      "LIF-031", "a store whose file was moved does not split", requires: .localFiles, profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.people())
      try s.insert("Person")
      let moved = c.url.deletingLastPathComponent().appending(path: "moved")
      try FileManager.default.moveItem(at: c.url, to: moved)
      c.leavesDamage()
      c.leaves("moved")
      let before = try Data(contentsOf: moved)
      c.refuses("a commit went through though the file is elsewhere") { try s.insert("Person") }
      c.expect(try Data(contentsOf: moved) == before, "the moved file has changed")
      c.equal(try c.filesButCompanions(), ["moved"])
    },
  ]

  /// A store whose file has an odd name.
  private static func named(_ id: String, _ name: String) -> ConformanceCase {
    ConformanceCase(
      "LIF-013/\(id)", "a store may be called “\(name.prefix(20))”", requires: .localFiles, profiles: Profile.plainOnly
    ) {
      c in
      let url = c.url.deletingLastPathComponent().appendingPathComponent(name)
      let store = try c.openRaw(url, Fixtures.people())
      try store.close()
      let names = try c.files().map { Array($0.utf8) }
      c.expect(names.contains(Array(name.utf8)), "there is no file of that name but \(names.count) others")
      let again = try c.openRaw(url, Fixtures.people())
      c.equal(again.identifier, store.identifier)
      try again.close()
      try c.backend.destroy(at: url, options: StoreOptions())
      c.equal(try c.files(), [])
    }
  }
}

extension CaseContext {
  /// The URL of one of the case's locations.
  func url(_ site: Int) -> URL { sites[site].location.url }

  /// The names of the files in the case's folder, without those that are named after the store, such as its lock file.
  func filesButCompanions() throws -> [String] {
    try files().filter { !$0.hasPrefix(url.lastPathComponent + "-") }
  }

  /// The mode bits of a file in the case's folder.
  func mode(of file: String) throws -> Int {
    let path = url.deletingLastPathComponent().appending(path: file).path
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
    return mode?.intValue ?? 0
  }

}
