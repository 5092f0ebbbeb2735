import Foundation
import StoreConformance
import StoreProtocol
import Testing

@testable import GraphConformance

/// The command `races`: its programs, its judge, and short runs.
@Suite struct RaceTests {
  // MARK: Programs

  @Test func aProgramIsReadAsItWasWritten() throws {
    var generator = RaceGenerator(seed: 3, [.persistent, .multipleOpens, .multiProcess])
    for _ in 0..<16 {
      let program = generator.next()
      let again = try RaceProgram(text: program.text)
      #expect(again.text == program.text)
      #expect(again.size == program.size)
    }
  }

  @Test func whatIsNoProgramIsAnErrorThatNamesTheLine() {
    for line in ["insert nothing 1", "worker 1", "save meeting x pause 1", "link toOne-deny.owner1", "fly"] {
      #expect(throws: RaceProblem.self, "\(line)") { try RaceProgram(text: "setup\n\(line)\n") }
    }
  }

  @Test func aSeedMakesTheSameProgramsAndAnotherOneOthers() {
    var (first, second) = (RaceGenerator(seed: 7, .persistent), RaceGenerator(seed: 7, .persistent))
    var other = RaceGenerator(seed: 8, .persistent)
    let text = first.next().text
    #expect(second.next().text == text)
    #expect(other.next().text != text)
  }

  @Test func duelsAreOfAllKindsAndActionsAreAllKinds() {
    var generator = RaceGenerator(seed: 1, .persistent)
    var (kinds, actions) = (Set<RaceKind>(), Set<RaceAction.Kind>())
    for _ in 0..<32 {
      let program = generator.next()
      kinds.formUnion(program.workers.flatMap(\.operations).flatMap(\.objects).map(\.kind))
      actions.formUnion(program.actions)
    }
    #expect(kinds == Set(RaceKind.all))
    #expect(actions == Set(RaceAction.Kind.allCases))
  }

  // MARK: Runs

  /// On every store the judge explains a run in which the workers run one after another.
  @Test(arguments: TestedStore.allCases) func whatRunsAloneIsExplained(_ store: TestedStore) throws {
    for kind in RaceKind.all {
      let (owner, member) = (RaceObject.owner(kind, 1), RaceObject.member(kind, 2))
      let (kept, large) = (RaceObject.owner(kind, 3), RaceObject.member(kind, 4))
      let program = RaceProgram(
        setup: [.insert(owner, 1), .insert(member, 2), .insert(kept, 3), .insert(large, 4), .writeLarge(large, 5)],
        workers: [
          RaceProgram.Worker(operations: [
            .link(owner: owner, member: member), .save(meeting: nil, pause: 0), .hold(large), .readLarge(large),
            .adopt(owner: kept, member: large), .write(kept, 6), .save(meeting: nil, pause: 0), .delete(owner),
            .save(meeting: nil, pause: 0), .delete(large), .save(meeting: nil, pause: 0),
          ])
        ])
      let result = try RaceRun(store, program).run()
      #expect(RaceJudge.faults(of: result).map(\.text) == [], "\(kind.text)")
      #expect(result.records.contains { $0.outcome != .saved } == (kind.rule == .deny), "\(kind.text)")
      #expect(result.reads.map(\.token) == [5])
    }
  }

  /// A delete rule does not affect an object that the same save has unlinked.
  @Test func whatIsUnlinkedBeforeItsOwnerIsDeletedIsExplained() throws {
    for kind in RaceKind.all {
      let (owner, member) = (RaceObject.owner(kind, 1), RaceObject.member(kind, 2))
      let program = RaceProgram(
        setup: [.insert(owner, 1), .insert(member, 2)],
        workers: [
          RaceProgram.Worker(operations: [
            .link(owner: owner, member: member), .save(meeting: nil, pause: 0), .unlink(owner: owner, member: member),
            .delete(owner), .save(meeting: nil, pause: 0),
          ])
        ])
      let result = try RaceRun(TestedStore.memory, program).run()
      #expect(RaceJudge.faults(of: result).map(\.text) == [], "\(kind.text)")
      #expect(result.records.allSatisfy { $0.outcome == .saved }, "\(kind.text)")
    }
  }

  @Test(arguments: TestedStore.allCases) func aShortWalkOverlaps(_ store: TestedStore) throws {
    var generator = RaceGenerator(seed: 11, store.backend.capabilities)
    var overlaps = RaceOverlaps()
    for _ in 0..<3 { overlaps.add(try RaceRun(store, generator.next().inOneProcess).run()) }
    #expect(overlaps.total > 0)
    #expect(overlaps.saves > 100)
    #expect(overlaps.text.contains("toOne-cascade"))
    #expect(!overlaps.missing(least: 1_000_000, RaceKind.all).isEmpty)
  }

  // MARK: The judge

  /// The result of a run in which one member is linked to an owner, a value is written and another owner is deleted.
  private func plainResult(_ kind: RaceKind) throws -> RaceResult {
    let (owner, member, gone) = (RaceObject.owner(kind, 1), RaceObject.member(kind, 2), RaceObject.owner(kind, 3))
    let program = RaceProgram(
      setup: [.insert(owner, 1), .insert(member, 2), .insert(gone, 3)],
      workers: [
        RaceProgram.Worker(operations: [
          .link(owner: owner, member: member), .write(member, 4), .save(meeting: nil, pause: 0), .delete(gone),
          .save(meeting: nil, pause: 0),
        ])
      ])
    let result = try RaceRun(TestedStore.memory, program).run()
    #expect(RaceJudge.faults(of: result).map(\.text) == [])
    return result
  }

  private func kinds(_ result: RaceResult) -> Set<RaceFault.Kind> { Set(RaceJudge.faults(of: result).map(\.kind)) }

  @Test func theJudgeNoticesWhatNoSaveExplains() throws {
    let result = try plainResult(RaceKind(.toOne, .nullify))
    let link = try #require(result.records.firstIndex { !$0.links.isEmpty })
    let deletion = try #require(result.records.firstIndex { !$0.deletions.isEmpty })
    // The result is changed so that a committed save is recorded as failed.
    var changed = result
    (changed.records[link].outcome, changed.records[link].code) = (.notSaved, 133020)
    #expect(kinds(changed) == [.owner, .value])
    changed = result
    (changed.records[deletion].outcome, changed.records[deletion].code) = (.notSaved, 133020)
    #expect(kinds(changed) == [.lost])
    changed = result
    changed.records[deletion].deleted = changed.records[link].writes.map(\.object)
    #expect(kinds(changed).contains(.deletedIsThere))
    changed = result
    (changed.records[link].outcome, changed.records[link].code) = (.notSaved, 134030)
    #expect(kinds(changed).contains(.error))
    changed = result
    changed.records.removeFirst()
    #expect(kinds(changed).contains(.notAcknowledged))
    // A save of unknown outcome explains both values.
    changed = result
    changed.records[link].outcome = .unknown
    #expect(kinds(changed) == [])
    changed = result
    changed.unreadable = "damaged"
    #expect(kinds(changed) == [.unreadable])
  }

  /// The link and the deletion of its owner were both acknowledged; the member exists without an owner.
  @Test(
    arguments: [RaceKind(.toOne, .deny), RaceKind(.toOne, .cascade), RaceKind(.manyToMany, .deny)],
    [RaceFault.Kind.deny, .cascade])
  func theJudgeNoticesBrokenRules(_ kind: RaceKind, _ fault: RaceFault.Kind) throws {
    let (owner, member) = (RaceObject.owner(kind, 1), RaceObject.member(kind, 2))
    let program = RaceProgram(
      setup: [.insert(owner, 1), .insert(member, 2)],
      workers: [RaceProgram.Worker(operations: [.delete(owner), .save(meeting: nil, pause: 0)])])
    var result = try RaceRun(TestedStore.memory, program).run()
    let names = Dictionary(
      result.records.flatMap { $0.insertions + $0.known }.map { ($0.name, $0.id) },
      uniquingKeysWith: { first, _ in first })
    var record = RaceRecord(worker: 1, policy: .error)
    let time = try #require(result.records.last?.start)
    (record.start, record.end) = (time, time + 1)
    if kind.isPairs {
      record.pairs = [RaceRecord.Pair(owner: owner.text, member: member.text, isLinked: true)]
    } else {
      record.writes = [
        RaceRecord.Write(object: try #require(names[member.text]), key: "owner", value: names[owner.text])
      ]
    }
    result.records.append(record)
    let expected: RaceFault.Kind = kind.rule == .deny ? .deny : .cascade
    #expect(kinds(result).contains(fault) == (fault == expected))
  }

  @Test func theJudgeNoticesSavesToAStoreThatWasReplaced() throws {
    var result = try plainResult(RaceKind(.toOne, .nullify))
    let first = try #require(result.records.first)
    result.actions = [RaceAction(kind: .replace, worker: 0, start: first.end, end: first.end)]
    #expect(kinds(result).contains(.replaced))
    result.actions[0].error = "in use"
    #expect(kinds(result) == [.action])
    result.actions[0].isBusy = true
    #expect(kinds(result) == [])
  }

  /// A save that drops a link is explained by the deletion of the owner. A copy that was made during that save does not
  /// contain the deletion.
  @Test func theJudgeNoticesLinksThatAreGivenUpForNothing() throws {
    var result = try plainResult(RaceKind(.toOne, .nullify))
    let link = try #require(result.records.firstIndex { !$0.links.isEmpty })
    let deletion = try #require(result.records.firstIndex { !$0.deletions.isEmpty })
    let name = result.records[deletion].deletions[0]
    let gone = try #require(result.records.flatMap(\.insertions).first { $0.name == name }?.id)
    for index in result.records[link].writes.indices where result.records[link].writes[index].key == "owner" {
      result.records[link].writes[index].dropped = gone
    }
    let url = URL(filePath: "/copy")
    let end = result.records[deletion].start - 1
    result.records[link].end = end
    var copy = RaceAction(kind: .copy, worker: 0, start: end, end: end)
    copy.url = url
    (result.actions, result.copies) = ([copy], [url: try #require(result.contents?.first)])
    // The copy has the contents of the end of the run, so it lacks the deleted owner.
    #expect(kinds(result) == [.lost])
    (result.actions, result.copies) = ([], [:])
    #expect(kinds(result) == [])
    result.records.remove(at: deletion)
    #expect(kinds(result) == [.lost, .owner])
  }

  @Test func theJudgeNoticesLargeValuesThatAreNotRead() throws {
    var result = try plainResult(RaceKind(.toOne, .nullify))
    let member = RaceObject.member(RaceKind(.toOne, .nullify), 2).text
    let id = try #require(result.records.flatMap { $0.insertions }.first { $0.name == member }?.id)
    result.records[0].writes.append(RaceRecord.Write(object: id, key: "large", value: "9", isDefinite: false))
    result.reads = [RaceRead(object: member, token: 9, loaded: .max)]
    #expect(kinds(result) == [])
    result.records[0].writes[result.records[0].writes.count - 1].isDefinite = true
    result.reads = [RaceRead(object: member, token: nil, loaded: .max)]
    #expect(kinds(result).contains(.large))
    result.reads = [RaceRead(object: member, token: -1, loaded: 0)]
    #expect(kinds(result).contains(.large))
  }

  // MARK: Shrinking

  @Test func aFailingProgramIsMadeShort() throws {
    // A fault that every run has: an object that is inserted twice gets two IDs under one name.
    let kind = RaceKind(.toOne, .nullify)
    let twice = RaceObject.owner(kind, 1)
    var program = RaceProgram(setup: [.insert(twice, 1)])
    for worker in 0..<3 {
      var operations = (0..<10).flatMap { index -> [RaceOperation] in
        [.insert(.member(kind, 100 * worker + index + 10), Int64(100 * worker + index)), .save(meeting: nil, pause: 0)]
      }
      if worker == 1 { operations.insert(.insert(twice, 2), at: 6) }
      program.workers.append(RaceProgram.Worker(operations: operations))
    }
    let faults = RaceJudge.faults(of: try RaceRun(TestedStore.memory, program).run())
    #expect(faults.first?.kind == .notAcknowledged)
    let short = RaceShrinker(TestedStore.memory, seconds: 60).shrink(program, faults)
    #expect(short.program.size <= 4)
    #expect(short.faults.contains { $0.kind == .notAcknowledged })
    let again = try RaceProgram(text: short.program.text)
    #expect(!RaceJudge.faults(of: try RaceRun(TestedStore.memory, again).run()).isEmpty)
  }
}

extension RaceProgram {
  /// Without other processes, because only the program `store-conformance` can start them.
  fileprivate var inOneProcess: RaceProgram {
    var program = self
    for worker in workers.indices { program.workers[worker].process = 0 }
    return program
  }
}
