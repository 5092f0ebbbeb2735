import Foundation
import Synchronization
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
    killedReaders("CON-008", cycles: 45, .small), killedReaders("CON-008/many", cycles: 1000, .large),
    killedReaders("CON-008/log", cycles: 25, text: 4000, .small),
    ConformanceCase(
      "CON-008/views", "the file does not grow without bound where one view begins before the other ends",
      requires: [.persistent, .localFiles, .concurrentReads], level: .concurrent, profiles: Profile.plainOnly,
      races: true
    ) { c in
      let s = try c.open(Fixtures.people())
      let text = String(repeating: "x", count: 4000)
      let people = try s.commit { for _ in 0..<200 { try $0.insert("Person", ["name": .text(text)]) } }
      let isDone = Atomic(false)
      try c.inParallel(3) { thread in
        if thread == 0 {
          defer { isDone.store(true, ordering: .releasing) }
          for number in 1...80 {
            try s.commit { for person in people { try $0.update(person, ["age": .int(Int64(number))]) } }
          }
          return
        }
        var views: [any StoreSnapshot] = []
        while !isDone.load(ordering: .acquiring) {
          let view = try s.store.snapshot()
          try view.scan(try s.range("Tag", exactly: false)) { _ in }
          views.append(view)
          if views.count > 2 { views.removeFirst() }
          usleep(3000)
        }
      }
      let folder = c.url.deletingLastPathComponent()
      let size = try c.files().reduce(0) { sum, file in
        sum + (try FileManager.default.attributesOfItem(atPath: folder.appending(path: file).path)[.size] as? Int ?? 0)
      }
      c.expect(size < 40 << 20, "the files have \(size) bytes")
    },
    ConformanceCase(
      "CON-010", "a lock file that somebody deletes while it is in use costs no data",
      requires: [.memoryMapped, .multipleOpens], level: .concurrent, profiles: Profile.plainOnly,
      roles: ["write": writeForEver]
    ) { c in
      let s = try c.open(Fixtures.people())
      try s.commit { for number in 0..<200 { try $0.insert("Person", ["name": .text("\(number)")]) } }
      var view: (any StoreSnapshot)? = try s.store.snapshot()
      var children = [try c.start("write")]
      var acknowledged = [children[0].line().flatMap(Int.init) ?? 0, 0]
      let locks = try c.files().filter { $0.contains("lock") }
      c.expect(!locks.isEmpty, "there is no lock file")
      for file in locks {
        try FileManager.default.removeItem(at: c.url.deletingLastPathComponent().appending(path: file))
      }
      children.append(try c.start("write"))
      defer { for child in children { child.kill() } }
      for _ in 0..<30 {
        for (index, child) in children.enumerated() {
          acknowledged[index] = child.line().flatMap(Int.init) ?? acknowledged[index]
        }
        do {
          var names: Set<String> = []
          try view?.scan(try s.range("Person", exactly: false)) { names.insert("\($0.value(0, .string))") }
          c.equal(names.count, 200, "what an open view reads")
        } catch let error as StoreError { c.expect(!error.message.isEmpty, "an error without a sentence") }
      }
      for (index, child) in children.enumerated() {
        child.kill()
        while let line = child.line() { acknowledged[index] = Int(line) ?? acknowledged[index] }
      }
      // As the error says: open the store again.
      view = nil
      try s.close()
      let again = try c.openRaw(c.url, s.schema)
      var tags = 0
      try again.snapshot().scan(try s.range("Tag", exactly: false)) { _ in tags += 1 }
      let least = acknowledged.reduce(0, +) * 3
      c.expect((least...least + 6).contains(tags), "\(acknowledged) commits acknowledged, \(tags) tags there")
      try again.close()
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
      profiles: Profile.plainOnly, sites: 2
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

  /// More readers than a store may have room for, all killed in the middle of their reading.
  private static func killedReaders(_ id: String, cycles: Int, text: Int = 0, _ size: Size) -> ConformanceCase {
    ConformanceCase(
      id, "readers that are killed hold nothing up, and the file does not grow without bound",
      requires: [.persistent, .localFiles], level: .concurrent, size: size, profiles: Profile.plainOnly,
      roles: [
        "read": { r in
          let s = try r.open(Fixtures.people())
          let views = try (0..<3).map { _ in try s.store.snapshot() }
          for view in views { try view.scan(try s.range("Person", exactly: false)) { _ in } }
          r.say("\(views.count)")
          while true { sleep(60) }
        }
      ]
    ) { c in
      let s = try c.open(Fixtures.people())
      var people = try s.commit { for number in 0..<200 { try $0.insert("Person", ["age": .int(Int64(number))]) } }
      let folder = c.url.deletingLastPathComponent()
      func size() throws -> Int {
        try c.files().reduce(0) { sum, file in
          sum
            + (try FileManager.default.attributesOfItem(atPath: folder.appending(path: file).path)[.size] as? Int ?? 0)
        }
      }
      var early = 0
      let name = Cell.text(String(repeating: "x", count: text))
      for cycle in 0..<cycles {
        let child = try c.start("read")
        c.expect(child.line() != nil, "cycle \(cycle): a reader cannot begin")
        for _ in 0..<3 {
          try s.commit { for person in people { try $0.update(person, ["age": .int(Int64(cycle)), "name": name]) } }
        }
        child.kill()
        if cycle == cycles / 3 { early = try size() }
      }
      try s.commit { for person in people { try $0.update(person, ["age": 7]) } }
      people = try s.objects("Person")
      c.equal(Set(try s.values("Person", "age")), [.int(7)])
      let end = try size()
      // What grows with every reader would be three times as much. A log may first take some megabytes.
      let some = 6 << 20 + 10 * people.count * text
      c.expect(end <= max(early * 2, some), "the files have grown from \(early) to \(end) bytes")
    }
  }
}
