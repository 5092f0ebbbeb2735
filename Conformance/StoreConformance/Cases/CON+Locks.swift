import Foundation
import StoreProtocol
import StoreSchema

/// Locks, and the ways around them that other programs and other names of a file are.
extension ConformanceSuite {
  static let locks: [ConformanceCase] = [
    ConformanceCase(
      "CON-007", "who waits for a writer that stands still is told so in time, and the writer goes on",
      requirements: ["CON-005", "SAV-041"], requires: [.persistent, .localFiles], level: .concurrent,
      profiles: Profile.plainOnly, roles: ["write": writeForEver]
    ) { c in
      var options = StoreOptions()
      options.timeout = 0.3
      let s = try c.open(Fixtures.people(), options)
      let child = try c.start("write")
      defer { child.kill() }
      var acknowledged = child.line().flatMap(Int.init) ?? 0
      var (saved, refused) = (0, 0)
      let end = Date().addingTimeInterval(20)
      while refused < 2, Date() < end {
        acknowledged = child.line().flatMap(Int.init) ?? acknowledged
        usleep(UInt32(c.random.below(4000)))
        child.stop()
        let start = Date()
        do {
          try s.insert("Person")
          saved += 1
        } catch let error as StoreError {
          c.equal(error.code, .busy)
          c.expect(error.outcome == .notSaved, "whether it was saved is not known")
          refused += 1
        }
        let seconds = Date().timeIntervalSince(start)
        c.expect(seconds < 5, "the answer took \(seconds) s")
        child.resume()
      }
      // A whole file is locked for so short a time that it may not be met.
      c.expect(
        refused > 0 || c.capabilities.contains(.wholeFile), "the writer never held the lock where it stood still")
      acknowledged = child.line().flatMap(Int.init) ?? acknowledged
      child.kill()
      while let line = child.line() { acknowledged = Int(line) ?? acknowledged }
      try s.insert("Person")
      c.equal(try s.objects("Person").count, saved + 1)
      let tags = try s.objects("Tag").count
      c.expect(
        tags == acknowledged * 3 || tags == acknowledged * 3 + 3, "\(acknowledged) acknowledged, \(tags) tags there")
    },
    ConformanceCase(
      "CON-014", "a store opened by its other name loses nothing", requires: [.localFiles, .multipleOpens],
      level: .concurrent, profiles: Profile.plainOnly
    ) { c in
      let a = try c.open(Fixtures.people())
      try a.insert("Person", ["name": "a"])
      let other = c.url.deletingLastPathComponent().appending(path: "other")
      try FileManager.default.linkItem(at: c.url, to: other)
      c.allows(mode: 0o644)
      var isOpen = false
      do {
        let b = try c.openRaw(other, a.schema)
        isOpen = true
        var seen = 0
        try b.snapshot().scan(try a.range("Person", exactly: false)) { _ in seen += 1 }
        c.equal(seen, 1, "by the other name")
        try b.close()
      } catch let error as StoreError {
        c.expect(!error.message.isEmpty, "an error without a sentence")
      }
      try a.insert("Person", ["name": "b"])
      try a.close()
      for file in try c.files() where file.hasPrefix("other") || file.hasPrefix(".other") { c.leaves(file) }
      c.equal(
        try c.open(Fixtures.people()).values("Person", "name"), [.string("a"), .string("b")],
        isOpen ? "opened" : "refused")
    },
    ConformanceCase(
      "LIF-015", "a link that leads nowhere is refused, or its target is made", requires: .localFiles,
      profiles: Profile.plainOnly, places: 2
    ) { c in
      let target = c.url(of: 1)
      try FileManager.default.createSymbolicLink(at: c.url, withDestinationURL: target)
      c.leavesDamage()
      do {
        let s = try c.open(Fixtures.people())
        try s.insert("Person")
        try s.close()
        let type = try FileManager.default.attributesOfItem(atPath: c.url.path)[.type] as? FileAttributeType
        c.expect(type == .typeSymbolicLink, "the link has become a file")
        c.expect(FileManager.default.fileExists(atPath: target.path), "the target was not made")
      } catch let error as StoreError {
        c.expect(!error.message.isEmpty, "an error without a sentence")
        c.expect(!FileManager.default.fileExists(atPath: target.path), "refused, and made all the same")
      }
    },
    ConformanceCase(
      "SEC-015", "a folder of external data that is a link is not written through",
      requires: [.externalData, .localFiles],
      profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.allTypes())
      try s.close()
      let folder = c.url.deletingLastPathComponent()
      let outside = FileManager.default.temporaryDirectory.appending(path: "conformance-outside-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: outside) }
      for end in ["SUPPORT", "EXTERNAL_DATA"] {
        let link = folder.appending(path: ".\(c.url.lastPathComponent)_\(end)")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: outside)
      }
      c.leavesDamage()
      let data = Data(repeating: 7, count: 300_000)
      do {
        let again = try c.open(Fixtures.allTypes())
        let object = try again.insert("AllTypes", ["large": .data(data)])
        c.expect(try again.value(object, "large") == .data(data), "the data is not read back")
      } catch let error as StoreError {
        c.expect(!error.message.isEmpty, "an error without a sentence")
      }
      c.equal(try FileManager.default.subpathsOfDirectory(atPath: outside.path), [], "written outside")
    },
  ]
}
