import Foundation
import StoreProtocol
import StoreSchema
import Synchronization

extension ConformanceSuite {
  static let concurrency: [ConformanceCase] = [
    ConformanceCase(
      "CON-001", "what many write at once is all there", level: .concurrent, profiles: Profile.oneOpening, races: true
    ) { c in
      let s = try c.open(Fixtures.people())
      try c.inParallel(4) { thread in
        for number in 0..<15 { try s.insert("Person", ["age": .int(Int64(thread * 100 + number))]) }
      }
      let expected = (0..<4).flatMap { thread in (0..<15).map { Int64(thread * 100 + $0) } }
      c.equal(Set(try s.values("Person", "age")), Set(expected.map(Value.int)))
      c.equal(try s.objects("Person").count, 60)
    },
    ConformanceCase("CON-003", "a snapshot stays as it is", level: .concurrent, profiles: Profile.plainOnly) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit {
        let team = try $0.insert("Team", ["title": "old"])
        try $0.insert("Person", ["name": "old", "team": .to(team)])
      }
      let view = try s.store.snapshot()
      let number = view.commitNumber
      guard c.capabilities.contains(.concurrentReads) else {
        let row = try view.row(of: o[1].entity, key: o[1].key)
        c.expect(row != nil, "the row is not in the snapshot")
        return
      }
      try s.commit {
        try $0.update(o[1], ["name": "new", "team": nil])
        try $0.insert("Person")
      }
      guard let row = try view.row(of: o[1].entity, key: o[1].key) else { try c.fail("the row is gone") }
      c.equal(try s.value(row, "name"), "old")
      var members: [Int64] = []
      try view.destinations(of: s.relationship("members", of: o[0]), owners: [o[0].key]) { members.append($1.key) }
      c.equal(members, [o[1].key])
      var people = 0
      try view.scan(try s.range("Person", exactly: false)) { _ in people += 1 }
      c.equal(people, 1)
      c.expect(try s.store.snapshot().commitNumber > number, "the newer snapshot has no greater number")
    },
    ConformanceCase(
      "CON-003/sum", "readers see whole commits", requires: .concurrentReads, level: .concurrent,
      profiles: Profile.plainOnly, races: true
    ) {
      c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit { for _ in 0..<2 { try $0.insert("Person", ["age": 50]) } }
      try c.inParallel(3) { thread in
        for _ in 0..<15 {
          if thread == 0 { try s.transfer(3, o[0], o[1]) }
          c.equal(try s.values("Person", "age", in: s.store.snapshot()), 100)
        }
      }
    },
    longReader("CON-004", commits: 20, seconds: 0, .small),
    longReader("CON-004/minute", commits: 10_000, seconds: 60, .medium),
    ConformanceCase(
      "CON-013", "a store opened twice is one store", requirements: ["CTX-009"],
      requires: [.persistent, .multipleOpens], level: .concurrent, profiles: Profile.plainOnly
    ) {
      c in
      let a = try c.open(Fixtures.people())
      let b = try c.open(a.schema)
      c.equal(a.store.identifier, b.store.identifier)
      let first = try a.insert("Person", ["name": "a"])
      c.equal(try b.values("Person", "name"), [.string("a")])
      let second = try b.insert("Person", ["name": "b"])
      c.equal(try a.objects("Person"), [first, second])
      try a.update(second, ["name": "c"])
      c.equal(try b.value(second, "name"), "c")
      try b.delete(first)
      c.equal(try a.objects("Person"), [second])
    },
    ConformanceCase(
      "CON-013/link", "a store opened by a link to it is the same store", requires: [.localFiles, .multipleOpens],
      level: .concurrent, profiles: Profile.plainOnly
    ) {
      c in
      let a = try c.open(Fixtures.people())
      let link = c.url.deletingLastPathComponent().appending(path: "link")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: c.url)
      c.leaves("link")
      let b = try c.openRaw(link, a.schema)
      c.equal(b.identifier, a.store.identifier)
      try a.insert("Person")
      var seen = 0
      try b.snapshot().scan(try a.range("Person", exactly: false)) { _ in seen += 1 }
      c.equal(seen, 1)
      try b.close()
    },
    ConformanceCase(
      "CON-006", "a killed writer leaves no lock", requires: [.persistent, .localFiles], level: .concurrent,
      profiles: Profile.plainOnly, roles: ["write": writeForEver]
    ) { c in
      let s = try c.open(Fixtures.people())
      try s.insert("Person")
      for _ in 0..<3 {
        let child = try c.start("write")
        for _ in 0..<3 { _ = child.line() }
        child.kill()
        let start = Date()
        try s.insert("Tag", ["label": "after"])
        let seconds = Date().timeIntervalSince(start)
        c.expect(seconds < 2, "the next commit took \(seconds) s")
      }
      c.equal(try s.fetch("Tag", "label == 'after'").count, 3)
    },
    ConformanceCase(
      "CON-009", "what another process writes is seen and not lost", requirements: ["CTX-010"], requires: .persistent,
      level: .concurrent, profiles: Profile.plainOnly,
      roles: [
        "add": { r in
          let s = try r.open(Fixtures.people())
          r.say("\(try s.insert("Person", ["name": "theirs"]).key)")
          try s.close()
        }
      ]
    ) { c in
      let s = try c.open(Fixtures.people())
      try s.insert("Person", ["name": "mine"])
      let child = try c.start("add")
      c.expect(child.line() != nil, "the other process could not save")
      c.equal(child.wait(), 0, "exit status")
      try s.insert("Person", ["name": "mine"])
      c.equal(try s.values("Person", "name"), [.string("mine"), .string("theirs"), .string("mine")])
    },
  ]

  /// Inserts three tags in each commit, and says so, until it is killed.
  static let writeForEver: @Sendable (RoleContext) throws -> Void = { r in
    let s = try r.open(Fixtures.people())
    var number = Int64(0)
    while true {
      number += 1
      try s.commit { for _ in 0..<3 { try $0.insert("Tag", ["label": .text("\(number)")]) } }
      r.say("\(number)")
    }
  }

  /// A view that is held over many commits, and for so long. What the medium keeps for it is used again
  /// afterwards: further commits make the files hardly larger.
  private static func longReader(_ id: String, commits: Int, seconds: Double, _ size: Size) -> ConformanceCase {
    ConformanceCase(
      id, "a reader does not make writers wait", requires: .concurrentReads, level: .concurrent, size: size,
      profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.people())
      let tag = try s.insert("Tag", ["label": "0"])
      func write(_ count: Int) throws {
        for number in 1...count { try s.update(tag, ["label": .text("\(number)")]) }
      }
      let start = Date()
      do {
        let view = try s.store.snapshot()
        try write(commits)
        let needed = Date().timeIntervalSince(start)
        c.expect(needed < 20 + Double(commits) / 50, "\(commits) commits took \(needed) s")
        while Date().timeIntervalSince(start) < seconds { try s.update(tag, ["label": "meanwhile"]) }
        guard let row = try view.row(of: tag.entity, key: tag.key) else { try c.fail("the row is gone from the view") }
        c.equal(try s.value(row, "label"), "0")
      }
      guard c.capabilities.contains(.localFiles) else { return }
      let round = max(20, commits / 10)
      try write(2 * round)
      let before = try c.sizeOfFiles()
      try write(3 * round)
      let after = try c.sizeOfFiles()
      c.expect(after < before + before / 4 + (1 << 20), "the files grow without a reader: from \(before) to \(after)")
    }
  }

  /// Threads that read, write, open and close for so long, standing still now and then: none waits for ever.
  private static func stress(_ id: String, seconds: Double, _ size: Size) -> ConformanceCase {
    ConformanceCase(
      id, "threads that stand still at random never block each other for good", level: .concurrent, size: size,
      profiles: Profile.plainOnly, races: true
    ) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit { for _ in 0..<4 { try $0.insert("Person", ["age": 0]) } }
      let end = Date().addingTimeInterval(seconds)
      let counts = Mutex(Array(repeating: 0, count: 6))
      try c.inParallel(6) { thread in
        var random = SplitMix64(seed: c.seed &+ UInt64(thread))
        while Date() < end {
          if random.below(20) == 0 { usleep(UInt32(random.below(3000))) } else { sched_yield() }
          switch thread {
          case 0...2:
            let object = o[random.below(4)]
            _ = try s.conflicts { try $0.update(object, ["age": .int(Int64(random.below(1000)))]) }
          case 3, 4: c.equal(try s.objects("Person").count, 4)
          default:
            guard c.capabilities.contains(.multipleOpens) else { return }
            let other = try Session(c.backend, c.url, s.schema, StoreOptions(), .plain)
            c.equal(try other.objects("Person").count, 4)
            try other.close()
          }
          counts.withLock { $0[thread] += 1 }
        }
      }
      let done = counts.withLock { $0 }
      for thread in 0..<5 { c.expect(done[thread] > Int(seconds), "thread \(thread) did \(done[thread]) rounds") }
    }
  }

  static let durability: [ConformanceCase] = [
    stress("CON-018", seconds: 600, .large), stress("CON-018/short", seconds: 20, .medium),
    killed("DUR-001", cycles: 3, .small), killed("DUR-002", cycles: 60, .medium),
    ConformanceCase(
      "DUR-001/process", "what one process saves another reads", requires: .persistent, level: .durable,
      profiles: Profile.plainOnly,
      roles: [
        "read": { r in
          let s = try r.open(Fixtures.people())
          for value in try s.values("Person", "name") { r.say(value.brief) }
          for person in try s.objects("Person") { for tag in try s.links(person, "tags") { r.say("tag \(tag.key)") } }
          r.say("email \(try s.conflicts { try $0.insert("Person", ["email": "e"]) }.count)")
          try s.close()
        }
      ]
    ) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit {
        let person = try $0.insert("Person", ["name": "é\u{0}x", "email": "e"])
        try $0.tag(person, add: [$0.insert("Tag")])
      }
      let child = try c.start("read")
      var lines: [String] = []
      while let line = child.line() { lines.append(line) }
      c.equal(lines, [Value.string("é\u{0}x").brief, "tag \(o[1].key)", "email 1"])
      c.equal(child.wait(), 0, "exit status")
    },
    ConformanceCase(
      "DUR-013", "the main file of a closed store is all of it", requires: [.persistent, .localFiles], level: .durable,
      profiles: Profile.plainOnly, sites: 2
    ) {
      c in
      let s = try c.open(Fixtures.people())
      for _ in 0..<3 { try s.insert("Person") }
      let expected = try s.objects("Person")
      try s.close()
      try FileManager.default.copyItem(at: c.url(0), to: c.url(1))
      let copy = try c.open(Fixtures.people(), in: 1)
      c.equal(try copy.objects("Person"), expected)
      c.equal(try copy.objects("Person").count, 3)
    },
    ConformanceCase(
      "DUR-007", "a store that was never closed opens again", requires: .persistent, level: .durable,
      profiles: Profile.plainOnly, roles: ["write": writeForEver]
    ) {
      c in
      try c.open(Fixtures.people()).close()
      for _ in 0..<10 {
        let child = try c.start("write")
        _ = child.line()
        child.kill()
        let s = try c.open(Fixtures.people())
        c.equal(try s.objects("Tag").count % 3, 0, "a torn commit")
        try s.close()
      }
    },
    ConformanceCase(
      "DUR-008", "a process killed while it makes the store leaves none or a whole one",
      requires: [.persistent, .localFiles], level: .durable, profiles: Profile.plainOnly, roles: ["write": writeForEver]
    ) {
      c in
      for cycle in 0..<4 {
        let child = try c.start("write")
        usleep(UInt32(c.random.below(30) * 1000))
        child.kill()
        let s = try c.open(Fixtures.people())
        c.equal(try s.objects("Tag").count % 3, 0, "cycle \(cycle)")
        try s.close()
        try c.backend.destroy(at: c.url, options: StoreOptions())
        c.isReplaced()
        for left in try c.files() { c.expect(false, "the file \(left) is left") }
      }
      let s = try c.open(Fixtures.people())
      try s.insert("Person")
    },
  ]

  /// Kills a writer again and again: what it has said is there, and nothing by halves.
  private static func killed(_ id: String, cycles: Int, _ size: Size) -> ConformanceCase {
    ConformanceCase(
      id, "a killed writer's acknowledged commits are there, and whole", requires: .persistent, level: .durable,
      size: size,
      profiles: Profile.plainOnly, roles: ["write": writeForEver]
    ) { c in
      try c.open(Fixtures.people()).close()
      for cycle in 0..<cycles {
        let s = try c.open(Fixtures.people())
        try s.commit { for tag in try s.objects("Tag") { try $0.delete(tag) } }
        try s.close()
        let child = try c.start("write")
        var acknowledged = Int64(0)
        let required = Int64(1 + c.random.below(8))
        while acknowledged < required, let line = child.line() { acknowledged = Int64(line) ?? acknowledged }
        usleep(UInt32(c.random.below(3000)))
        child.kill()
        while let line = child.line() { acknowledged = Int64(line) ?? acknowledged }
        try s.reopen()
        let labels = try s.values("Tag", "label")
        let counts = Dictionary(grouping: labels, by: { $0 }).mapValues(\.count)
        c.expect(counts.values.allSatisfy { $0 == 3 }, "cycle \(cycle): a torn commit: \(counts)")
        let last = Int64(counts.count)
        c.expect(
          last == acknowledged || last == acknowledged + 1,
          "cycle \(cycle): \(acknowledged) acknowledged, \(last) there")
        try s.close()
      }
    }
  }
}
