import StoreConformance
import StoreProtocol

/// Makes programs from a seed: duels, in which workers meet just before opposite saves, and free runs over few objects.
struct RaceGenerator {
  private var random: SplitMix64
  private let capabilities: Capabilities
  private var episode = 0
  private var number = 0
  private var token: Int64 = 0
  private var meeting = 0
  private var nextKind = 0
  /// How long a save takes, in microseconds: what one worker waits longer than the other is less.
  private var pace = 200

  init(seed: UInt64, _ capabilities: Capabilities) {
    random = SplitMix64(seed: seed)
    self.capabilities = capabilities
  }

  /// The next program. Every fourth is a free run.
  mutating func next() -> RaceProgram {
    defer { episode += 1 }
    return episode % 4 == 3 ? freeRun() : duels()
  }

  /// Learns from a run how long saves take.
  mutating func learn(from result: RaceResult) {
    let times = result.records.map { $0.end - $0.start }.sorted()
    if times.count > 8 { pace = max(10, Int(times[times.count / 4] / 1000)) }
  }

  private mutating func newNumber() -> Int {
    number += 1
    return number
  }

  private mutating func newToken() -> Int64 {
    token += 1
    return token
  }

  private mutating func chance(_ percent: Int) -> Bool { random.below(100) < percent }

  /// Workers in pairs; of each pair both have one coordinator, or one each where a store can be opened twice. The second of the last
  /// pair is in another process where several may write.
  private mutating func workers(_ count: Int) -> [RaceProgram.Worker] {
    let canOpenTwice = capabilities.contains(.multipleOpens)
    let hasPeers =
      !capabilities.isDisjoint(with: [.multiProcess, .detectsOtherWriters]) && capabilities.contains(.persistent)
    return (0..<count).map { index in
      var worker = RaceProgram.Worker()
      if canOpenTwice && episode % 2 == 1 && index % 2 == 1 { worker.coordinator = 1 }
      if hasPeers && episode % 4 == 2 && index == count - 1 { (worker.process, worker.coordinator) = (1, 0) }
      if chance(25) { worker.policy = RaceProgram.Policy.allCases[random.below(5)] }
      return worker
    }
  }

  // MARK: Duels

  private mutating func duels() -> RaceProgram {
    var program = RaceProgram(workers: workers(4))
    for duel in 0..<32 {
      let pair = duel % 2 * 2
      if duel % 16 > 13 { largeDuel(&program, pair) } else { duelOfLink(&program, pair) }
    }
    return program
  }

  /// One worker links two objects while the other deletes one of them.
  private mutating func duelOfLink(_ program: inout RaceProgram, _ pair: Int) {
    let kind = RaceKind.all[nextKind % RaceKind.all.count]
    nextKind += 1
    meeting += 1
    let (owner, member) = (RaceObject.owner(kind, newNumber()), RaceObject.member(kind, newNumber()))
    program.setup += [.insert(owner, newToken()), .insert(member, newToken())]
    if chance(50) {
      let former = RaceObject.owner(kind, newNumber())
      program.setup += [.insert(former, newToken()), .link(owner: former, member: member)]
    }
    // An owner that denies can be deleted only while nobody refers to it.
    if kind.rule != .deny && kind.shape != .oneToOne && chance(50) {
      let other = RaceObject.member(kind, newNumber())
      program.setup += [.insert(other, newToken()), .link(owner: owner, member: other)]
    }
    let victim = chance(80) ? owner : member
    let swap = random.below(2)
    let pauses = chance(30) ? [0, 0] : chance(50) ? [0, random.below(pace)] : [random.below(pace), 0]
    let (linker, deleter) = (pair + swap, pair + 1 - swap)
    program.workers[linker].operations += [
      chance(70) ? .link(owner: owner, member: member) : .adopt(owner: owner, member: member),
      .save(meeting: meeting, pause: pauses[0]),
    ]
    program.workers[deleter].operations += [.delete(victim), .save(meeting: meeting, pause: pauses[1])]
  }

  /// One worker replaces or deletes a large value that another one holds the row of.
  private mutating func largeDuel(_ program: inout RaceProgram, _ pair: Int) {
    let object = RaceObject.owner(RaceKind.all[0], newNumber())
    let (before, after) = (meeting + 1, meeting + 2)
    meeting += 2
    program.setup += [.insert(object, newToken()), .writeLarge(object, newToken())]
    program.workers[pair].operations += [.hold(object), .meet(before), .meet(after), .readLarge(object)]
    program.workers[pair + 1].operations += [
      chance(70) ? .writeLarge(object, newToken()) : .delete(object), .save(meeting: before, pause: 0), .meet(after),
    ]
  }

  // MARK: Free runs

  private mutating func freeRun() -> RaceProgram {
    var program = RaceProgram(workers: workers(4))
    var pool: [RaceKind: (owners: [RaceObject], members: [RaceObject])] = [:]
    let kinds = (0..<4).map { _ in RaceKind.all[random.below(RaceKind.all.count)] }
    for kind in Set(kinds).sorted(by: { $0.text < $1.text }) {
      let owners = (0..<3).map { _ in RaceObject.owner(kind, newNumber()) }
      let members = (0..<4).map { _ in RaceObject.member(kind, newNumber()) }
      pool[kind] = (owners, members)
      program.setup += (owners + members).map { .insert($0, newToken()) }
    }
    for index in program.workers.indices {
      for _ in 0..<40 {
        let kind = kinds[random.below(kinds.count)]
        guard var objects = pool[kind] else { continue }
        program.workers[index].operations.append(step(kind, &objects))
        pool[kind] = objects
        if chance(45) { program.workers[index].operations.append(.save(meeting: nil, pause: 0)) }
      }
      program.workers[index].operations.append(.save(meeting: nil, pause: 0))
    }
    return program
  }

  private mutating func step(
    _ kind: RaceKind, _ objects: inout (owners: [RaceObject], members: [RaceObject])
  ) -> RaceOperation {
    let owner = objects.owners[random.below(objects.owners.count)]
    let member = objects.members[random.below(objects.members.count)]
    switch random.below(100) {
    case 0..<8:
      let new = RaceObject.owner(kind, newNumber())
      objects.owners[random.below(objects.owners.count)] = new
      return .insert(new, newToken())
    case 8..<18:
      let new = RaceObject.member(kind, newNumber())
      objects.members[random.below(objects.members.count)] = new
      return .insert(new, newToken())
    case 18..<36: return .link(owner: owner, member: member)
    case 36..<46: return .adopt(owner: owner, member: member)
    case 46..<54: return .unlink(owner: owner, member: member)
    case 54..<62: return kind.isOrdered ? .reverse(owner) : .write(owner, newToken())
    case 62..<70: return .write(member, newToken())
    case 70..<74: return .writeLarge(member, newToken())
    case 74..<78: return .hold(member)
    case 78..<82: return .readLarge(member)
    case 82..<88: return .delete(owner)
    case 88..<92: return .delete(member)
    case 92..<96: return .refresh(keeping: chance(50))
    case 96..<98: return .reset
    default: return .save(meeting: nil, pause: 0)
    }
  }
}
