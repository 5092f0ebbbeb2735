import Foundation
import StoreProtocol
import StoreSchema
import Synchronization

extension ConformanceSuite {
  static let versions: [ConformanceCase] = [
    ConformanceCase(
      "LCK-001", "a change of what another has changed is a conflict that shows the other's row",
      profiles: Profile.oneOpening
    ) {
      c in
      let s = try c.open(Fixtures.people())
      let object = try s.insert("Person", ["name": "old"])
      guard let read = try s.row(object) else { try c.fail("there is no row") }
      c.equal(read.version, 1)
      try s.update(object, ["name": "first"])
      let found = try s.conflicts { try $0.update(object, ["name": "second"], from: read) }
      c.equal(found.map(\.reference), [object])
      c.equal(found.first?.versionRead, 1)
      guard case .version(let row?)? = found.first?.kind else { try c.fail("the conflict has no stored row") }
      c.equal(row.version, 2)
      c.equal(try s.value(row, "name"), "first")
      c.equal(try s.value(object, "name"), "first")
      c.equal(try s.row(object)?.version, 2)
    },
    ConformanceCase("LCK-002", "a change of another attribute is a conflict too", profiles: Profile.oneOpening) { c in
      let s = try c.open(Fixtures.people())
      let object = try s.insert("Person", ["name": "a"])
      let read = try s.row(object)
      try s.update(object, ["name": "b"])
      c.equal(try s.conflicts { try $0.update(object, ["age": 1], from: read) }.count, 1)
      c.equal(try s.value(object, "age"), nil)
    },
    ConformanceCase("LCK-007", "a change of what another has deleted is a conflict", profiles: Profile.oneOpening) {
      c in
      let s = try c.open(Fixtures.people())
      let object = try s.insert("Person", ["name": "a"])
      let read = try s.row(object)
      try s.delete(object)
      let found = try s.conflicts { try $0.update(object, ["name": "b"], from: read) }
      c.equal(found.map(\.reference), [object])
      guard case .version(nil)? = found.first?.kind else { try c.fail("the conflict says that it is there") }
      c.equal(try s.objects("Person"), [])
    },
    ConformanceCase("LCK-008", "a deletion of what another has changed is a conflict", profiles: Profile.oneOpening) {
      c in
      let s = try c.open(Fixtures.people())
      let object = try s.insert("Person", ["name": "a"])
      try s.update(object, ["name": "b"])
      let found = try s.conflicts { try $0.delete(object, version: 1) }
      c.equal(found.map(\.reference), [object])
      c.equal(try s.value(object, "name"), "b")
    },
    ConformanceCase("LCK-009", "a deletion of what another has deleted is a conflict", profiles: Profile.oneOpening) {
      c in
      let s = try c.open(Fixtures.people())
      let object = try s.insert("Person")
      try s.delete(object)
      c.equal(try s.conflicts { try $0.delete(object, version: 1) }.count, 1)
    },
    ConformanceCase("LCK-012", "an object that is only checked must be as it was read", profiles: Profile.oneOpening) {
      c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit { for _ in 0..<2 { try $0.insert("Person", ["age": 1]) } }
      try s.commit {
        $0.check(o[0], version: 1)
        try $0.update(o[1], ["age": 2])
      }
      try s.update(o[0], ["age": 5])
      let found = try s.conflicts {
        $0.check(o[0], version: 1)
        try $0.update(o[1], ["age": 3])
      }
      c.equal(found.map(\.reference), [o[0]])
      c.equal(try s.value(o[1], "age"), 2)
      c.equal(try s.row(o[0])?.version, 2)
    },
    ConformanceCase("LCK-013", "every conflict is told", profiles: Profile.oneOpening) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit { for _ in 0..<1000 { try $0.insert("Person", ["age": 0]) } }
      let stale = [3, 50, 51, 999]
      try s.commit { for site in stale { try $0.update(o[site], ["age": 1]) } }
      let found = try s.conflicts {
        for (site, object) in o.enumerated() {
          if site == 51 {
            try $0.delete(object, version: 1)
          } else {
            try $0.update(object, ["age": 2], from: s.first(object))
          }
        }
      }
      c.equal(Set(found.map(\.reference)), Set(stale.map { o[$0] }))
      c.equal(found.count, 4)
      c.equal(try s.values("Person", "age").filter { $0 == .int(2) }.count, 0)
    },
    ConformanceCase("LCK-014", "what was read again can be saved", profiles: Profile.oneOpening) { c in
      let s = try c.open(Fixtures.people())
      let object = try s.insert("Person", ["age": 0])
      let read = try s.row(object)
      try s.update(object, ["age": 1])
      c.equal(try s.conflicts { try $0.update(object, ["age": 2], from: read) }.count, 1)
      try s.update(object, ["age": 2])
      c.equal(try s.value(object, "age"), 2)
      c.equal(try s.row(object)?.version, 3)
    },
    ConformanceCase("LCK-017", "changed and changed back is changed", profiles: Profile.oneOpening) { c in
      let s = try c.open(Fixtures.people())
      let object = try s.insert("Person", ["age": 0])
      let read = try s.row(object)
      try s.update(object, ["age": 1])
      try s.update(object, ["age": 0])
      c.equal(try s.conflicts { try $0.update(object, ["age": 7], from: read) }.count, 1)
    },
    ConformanceCase("LCK-022", "checks keep two rows together", profiles: Profile.oneOpening) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit { for _ in 0..<2 { try $0.insert("Person", ["age": 1]) } }
      let read = try o.map { try s.row($0) }
      try s.commit {
        try $0.update(o[0], ["age": 0], from: read[0])
        $0.check(o[1], version: 1)
      }
      let found = try s.conflicts {
        try $0.update(o[1], ["age": 0], from: read[1])
        $0.check(o[0], version: 1)
      }
      c.equal(found.map(\.reference), [o[0]])
      c.equal(try s.values("Person", "age"), [.int(0), .int(1)])
    },
    ConformanceCase(
      "LCK-016", "a version at the end of the numbers is refused or counted, and nothing traps",
      profiles: Profile.oneOpening
    ) { c in
      let s = try c.open(Fixtures.people())
      let object = try s.insert("Person", ["age": 0])
      for version in [Int64.max, .min, 0, -1] {
        c.equal(
          try s.conflicts { try $0.delete(object, version: version) }.map(\.reference), [object], "version \(version)")
      }
      c.equal(try s.value(object, "age"), 0)
    },
    increments("LCK-018", requirements: ["CON-002"], by: 8, each: 15, .small),
    increments("LCK-018/all", by: 50, each: 1000, .large),
    ConformanceCase(
      "LCK-019", "transfers keep the sum at every moment", level: .concurrent, profiles: Profile.oneOpening, races: true
    ) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit { for _ in 0..<4 { try $0.insert("Person", ["age": 100]) } }
      let seed = c.seed
      try c.inParallel(8) { thread in
        var random = SplitMix64(seed: seed &+ UInt64(thread))
        for _ in 0..<12 {
          let (from, to) = (random.below(4), random.below(4))
          if from != to { try s.transfer(Int64(random.below(9)), o[from], o[to]) }
          let sum = try s.values("Person", "age", in: s.store.snapshot())
          c.equal(sum, 400, "a snapshot's sum")
        }
      }
      c.equal(try s.values("Person", "age", in: s.store.snapshot()), 400)
    },
    ConformanceCase(
      "LCK-020", "a file that another has changed is not overwritten", requires: [.persistent, .multipleOpens],
      level: .concurrent, profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.people())
      let object = try s.insert("Person", ["name": "old"])
      let other = try c.open(s.schema)
      let read = try s.row(object)
      try other.update(object, ["name": "theirs"])
      try other.insert("Tag", ["label": "theirs"])
      let found = try s.conflicts { try $0.update(object, ["name": "mine"], from: read) }
      c.equal(found.map(\.reference), [object])
      try s.insert("Tag", ["label": "mine"])
      for session in [s, other] {
        c.equal(try session.value(object, "name"), "theirs")
        c.equal(try session.values("Tag", "label"), [.string("theirs"), .string("mine")])
      }
    },
  ]

  private static func increments(
    _ id: String, requirements: [String] = [], by count: Int, each times: Int, _ size: Size
  ) -> ConformanceCase {
    ConformanceCase(
      id, "increments by many are all there", requirements: requirements, level: .concurrent, size: size,
      profiles: Profile.oneOpening, races: true
    ) { c in
      let s = try c.open(Fixtures.people())
      let object = try s.insert("Team", ["title": "0"])
      try c.inParallel(count) { thread in
        var random = SplitMix64(seed: UInt64(thread))
        for _ in 0..<times { try s.increment(object, &random) }
      }
      c.equal(try s.value(object, "title"), .text("\(count * times)"))
      c.equal(try s.row(object)?.version, Int64(count * times + 1))
    }
  }
}

extension Session {
  /// A row like the stored one in its first version.
  fileprivate func first(_ object: ObjectReference) throws -> Row { try current(object).copy(version: 1) }

  /// Adds one to a number that is a title, as often as others are first. Waits longer after each time, so that many
  /// get on.
  func increment(_ object: ObjectReference, _ random: inout SplitMix64) throws {
    var wait = 0
    while true {
      let row = try current(object)
      guard case .string(let title) = try value(row, "title"), let number = Int(title) else {
        throw Failure("the number is gone")
      }
      if try conflicts({ try $0.update(object, ["title": .text("\(number + 1)")], from: row) }).isEmpty { return }
      wait = min(wait * 2 + 50, 20_000)
      usleep(UInt32(random.below(wait)))
    }
  }

  /// Moves an amount from one age to another, as often as others are first.
  func transfer(_ amount: Int64, _ from: ObjectReference, _ to: ObjectReference) throws {
    while true {
      let rows = try (current(from), current(to))
      guard case .int(let a) = try value(rows.0, "age"), case .int(let b) = try value(rows.1, "age") else {
        throw Failure("an age is gone")
      }
      let found = try conflicts {
        try $0.update(from, ["age": .int(a - amount)], from: rows.0)
        try $0.update(to, ["age": .int(b + amount)], from: rows.1)
      }
      if found.isEmpty { return }
    }
  }

  /// The sum of an attribute in one view.
  func values(_ name: String, _ property: String, in view: any StoreSnapshot) throws -> Int64 {
    var rows: [Row] = []
    try view.scan(try range(name, exactly: false)) { rows.append($0) }
    return try rows.reduce(0) { sum, row in
      if case .int(let number) = try value(row, property) { return sum + number }
      return sum
    }
  }
}

extension CaseContext {
  /// Runs `body` on so many threads at once, however few processors there are, and throws the first error after all
  /// have ended.
  func inParallel(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let failures = Mutex<[any Error]>([])
    let running = DispatchGroup()
    for number in 0..<count {
      running.enter()
      Thread.detachNewThread {
        do { try body(number) } catch { failures.withLock { $0.append(error) } }
        running.leave()
      }
    }
    running.wait()
    if let first = failures.withLock({ $0.first }) { throw first }
  }
}
