import Foundation
import StoreProtocol
import StoreSchema

/// Processes that die at a call of a save or of closing: before it, after it, or in the middle of a write. What they
/// leave is the old state or the new one.
extension ConformanceSuite {
  static let deaths: [ConformanceCase] = [
    dying(
      "DUR-003", "whoever dies before or after any call of a save leaves the old state or the new", at: .saving,
      [.before, .after]),
    dying("DUR-004", "a write that was torn by a death leaves the old state or the new", at: .saving, [.torn]),
    dying(
      "DUR-009", "whoever dies before or after any call of closing leaves all that was saved", at: .closing,
      [.before, .after]),
    ConformanceCase(
      "SAV-026", "what a save that died has left beside the store is gone after the next opening",
      requires: [.wholeFile, .localFiles], level: .durable, profiles: Profile.plainOnly, disturbsFiles: true,
      roles: roles
    ) { c in
      let left = try c.dieAtEachCall(of: .saving, [.before, .after]) { others in
        c.expect(others.isEmpty, "the next opening leaves \(others)")
      }
      c.expect(left > 0, "no death left a file, so that nothing was to be removed")
    },
    soak("DUR-019", seconds: 5, .small), soak("DUR-019/hour", seconds: 3600, .large),
  ]

  private static func dying(_ id: String, _ title: String, at moment: Death.Moment, _ ways: [Death.Way])
    -> ConformanceCase
  {
    ConformanceCase(
      id, title, requires: [.persistent, .localFiles], level: .durable, profiles: Profile.plainOnly,
      disturbsFiles: true, roles: roles
    ) { c in
      try c.dieAtEachCall(of: moment, ways) { _ in }
    }
  }

  private static let roles: [String: @Sendable (RoleContext) throws -> Void] = [
    Death.Moment.saving.rawValue: { r in
      let s = try r.open(Fixtures.people())
      try FailingFiles.disturb(Death(seed: r.seed).fault) { try s.countOn() }
      r.say("done")
      kill(getpid(), SIGKILL)
    },
    Death.Moment.closing.rawValue: { r in
      let s = try r.open(Fixtures.people())
      try s.countOn()
      r.say("saved")
      try FailingFiles.disturb(Death(seed: r.seed).fault) { try s.close() }
      r.say("done")
    },
  ]

  /// A writer of many kinds of changes is killed at random moments, for so many seconds: what it has said is there.
  private static func soak(_ id: String, seconds: Double, _ size: Size) -> ConformanceCase {
    ConformanceCase(
      id, "insertions, changes and deletions of a writer that is killed again and again are all there",
      requires: .persistent, level: .durable, size: size, profiles: Profile.plainOnly,
      roles: [
        "write": { r in
          let s = try r.open(Fixtures.people())
          while true { r.say("\(try Soak.makeNext(s, seed: r.seed))") }
        }
      ]
    ) { c in
      let end = Date().addingTimeInterval(seconds)
      var (expected, cycles) = (Soak(seed: c.seed), 0)
      try c.open(Fixtures.people()).close()
      repeat {
        let child = try c.start("write", seed: c.seed)
        var acknowledged = expected.number
        let required = acknowledged + 1 + c.random.below(20)
        while acknowledged < required, let line = child.line() { acknowledged = Int(line) ?? acknowledged }
        usleep(UInt32(c.random.below(3000)))
        child.kill()
        while let line = child.line() { acknowledged = Int(line) ?? acknowledged }
        let s = try c.open(Fixtures.people())
        let found = try Soak.number(in: s)
        c.expect(
          found == acknowledged || found == acknowledged + 1,
          "cycle \(cycles): \(acknowledged) acknowledged, \(found) there")
        while expected.number < found { expected.advance() }
        c.equal(try Soak.people(in: s), expected.people, "cycle \(cycles), after \(found) transactions")
        try s.close()
        cycles += 1
      } while Date() < end
      c.expect(expected.number > cycles, "\(expected.number) transactions in \(cycles) cycles")
    }
  }
}

/// When and how a process dies.
private struct Death: CustomStringConvertible {
  enum Moment: String { case saving, closing }

  enum Way: UInt64, CaseIterable { case before, after, torn }

  let way: Way
  /// At which of the counted calls, from 1 on.
  let call: Int

  init(_ way: Way, at call: Int) { (self.way, self.call) = (way, call) }

  /// The arguments of a role.
  var seed: UInt64 { UInt64(call) * 4 + way.rawValue }

  init(seed: UInt64) { self.init(Way(rawValue: seed % 4) ?? .before, at: Int(seed / 4)) }

  var fault: FileFault {
    switch way {
    case .before: FileFault(.dieBefore, .changes, at: call)
    case .after: FileFault(.dieAfter, .changes, at: call)
    case .torn: FileFault(.dieTorn, .write, at: call)
    }
  }

  var description: String { "dead \(way) call \(call)" }
}

extension CaseContext {
  /// Lets a process die at each call of a save or of closing, one after the other, and looks at what it has left.
  /// `look` gets the files that are there after the next opening and are not the store's. Gives how often there were
  /// such before it.
  @discardableResult
  fileprivate func dieAtEachCall(
    of moment: Death.Moment, _ ways: [Death.Way], _ look: ([String]) throws -> Void
  ) throws -> Int {
    try CountedStore(self).session.close()
    var (saved, left) = (0, 0)
    for way in ways {
      for call in 1..<400 {
        let death = Death(way, at: call)
        let child = try start(moment.rawValue, seed: death.seed)
        var lines: [String] = []
        while let line = child.line() { lines.append(line) }
        let status = child.wait()
        let isDone = lines.last == "done"
        expect(isDone || status == -SIGKILL, "\(death): the process ended with \(status), and said \(lines)")
        if try !foreignFiles().isEmpty { left += 1 }
        let store = try CountedStore(leftBy: "\(death)", self)
        let possible = lines.isEmpty ? [saved, saved + 1] : [saved + 1]
        expect(possible.contains(store.saved), "\(death): \(store.saved) there, possible are \(possible)")
        saved = store.saved
        try look(try foreignFiles())
        try store.session.close()
        if isDone {
          // Closing writes the log of a database into it; other stores have nothing left to write then.
          let writes = moment == .saving || backend.capabilities.contains(.sqliteFile)
          expect(call > 1 || !writes, "no call was met (\(way))")
          break
        }
      }
    }
    return left
  }

  /// The files in the case's folder that are not the store's.
  private func foreignFiles() throws -> [String] { try files().filter { !harness.belongs($0, to: location) } }
}

/// A stream of transactions on a few people: the n-th is the same whoever makes it.
private struct Soak {
  private let seed: UInt64
  /// How many transactions have been made.
  private(set) var number = 0
  /// Ages by name.
  private(set) var people: [String: Int64] = [:]

  init(seed: UInt64) { self.seed = seed }

  mutating func advance() {
    number += 1
    for (name, age) in Self.changes(number, seed) { people[name] = age }
  }

  /// What a transaction does: to each of some names a new age, or nil to delete it.
  private static func changes(_ number: Int, _ seed: UInt64) -> [String: Int64?] {
    var random = SplitMix64(seed: seed &+ UInt64(number))
    var result: [String: Int64?] = [:]
    for _ in 0..<4 {
      let name = "p\(random.below(24))"
      result.updateValue(random.below(3) == 0 ? nil : Int64(random.below(1000)), forKey: name)
    }
    return result
  }

  /// Makes the next transaction in a store, and gives its number. Photos have the size of the age, up to twenty
  /// kilobytes.
  static func makeNext(_ s: Session, seed: UInt64) throws -> Int {
    let number = try number(in: s) + 1
    let tags = try s.objects("Tag")
    var known: [String: ObjectReference] = [:]
    for person in try s.objects("Person") {
      if case .string(let name) = try s.value(person, "name") { known[name] = person }
    }
    try s.commit { changes in
      for (name, age) in Self.changes(number, seed).sorted(by: { $0.key < $1.key }) {
        guard let age else {
          if let person = known[name] { try changes.delete(person) }
          continue
        }
        let values: [String: Cell] = ["age": .int(age), "photo": .data(Data(repeating: 7, count: Int(age) * 20))]
        if let person = known[name] {
          try changes.update(person, values)
        } else {
          try changes.insert("Person", values.merging(["name": .text(name)]) { $1 })
        }
      }
      if let tag = tags.first {
        try changes.update(tag, ["label": .text("\(number)")])
      } else {
        try changes.insert("Tag", ["label": .text("\(number)")])
      }
    }
    return number
  }

  /// How many transactions a store has.
  static func number(in s: Session) throws -> Int {
    guard case .string(let label)? = try s.values("Tag", "label").first else { return 0 }
    return Int(label) ?? 0
  }

  static func people(in s: Session) throws -> [String: Int64] {
    var result: [String: Int64] = [:]
    for person in try s.objects("Person") {
      guard case .string(let name) = try s.value(person, "name"), case .int(let age) = try s.value(person, "age"),
        case .data(let photo) = try s.value(person, "photo"), photo == Data(repeating: 7, count: Int(age) * 20)
      else { throw Failure("a person without a name or age, or with the photo of another age") }
      if result.updateValue(age, forKey: name) != nil { throw Failure("\(name) is there twice") }
    }
    return result
  }
}
