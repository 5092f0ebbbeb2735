import StoreConformance
import StoreProtocol

/// Makes programs from a seed: duels, in which workers meet just before conflicting saves, and free runs over few
/// objects.
struct RaceGenerator {
  private var random: SplitMix64
  private let capabilities: Capabilities
  private var episode = 0
  private var number = 0
  private var token: Int64 = 0
  private var meeting = 0
  private var nextKind = 0
  /// The duration of a save in microseconds. The difference between the pauses of two workers is smaller than this.
  private var pace = 200

  private let kinds: [RaceKind]

  /// Makes programs for stores with these capabilities, and for these kinds of relationships.
  init(seed: UInt64, _ capabilities: Capabilities, kinds: [RaceKind] = RaceKind.all) {
    random = SplitMix64(seed: seed)
    self.kinds = kinds.isEmpty ? RaceKind.all : kinds
    self.capabilities = capabilities
  }

  /// The next program. Of eight programs, five are duels, two of them with two stores; two are free runs; and one
  /// performs actions on a whole store.
  mutating func next() -> RaceProgram {
    defer { episode += 1 }
    switch episode % 8 {
    case 3: return freeRun(stores: 1)
    case 4, 6: return duels(stores: 2)
    case 5: return freeRun(stores: 2)
    case 7 where capabilities.contains(.persistent): return runWithAction()
    default: return duels(stores: 1)
    }
  }

  /// Measures how long saves take in a run.
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

  /// Workers in pairs. Both workers of a pair use one coordinator, or one each if a store can be opened twice. If
  /// several processes may write, the second worker of the last pair is in another process.
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

  private mutating func duels(stores: Int) -> RaceProgram {
    var program = RaceProgram(stores: stores, workers: workers(4))
    for duel in 0..<48 {
      let pair = duel % 2 * 2
      if duel % 16 > 13 {
        largeDuel(&program, pair)
      } else if chance(50) {
        duelOfLinks(&program, chance(50) ? [pair, pair + 1] : [pair + 1, pair])
      } else {
        let deleter = random.below(4)
        duelOfLinks(&program, (0..<4).filter { $0 != deleter } + [deleter])
      }
    }
    return program
  }

  /// Workers link objects to an owner while the last worker deletes the owner or one of the objects.
  private mutating func duelOfLinks(_ program: inout RaceProgram, _ workers: [Int]) {
    let kind = kinds[nextKind % kinds.count]
    nextKind += 1
    meeting += 1
    let store = random.below(program.stores)
    let owner = RaceObject.owner(kind, newNumber(), store: store)
    program.setup.append(.insert(owner, newToken()))
    // An owner with the rule deny can be deleted only while no object refers to it.
    if kind.rule != .deny && kind.shape != .oneToOne && chance(50) {
      let other = RaceObject.member(kind, newNumber(), store: store)
      program.setup += [.insert(other, newToken()), .link(owner: owner, member: other)]
    }
    var victim = owner
    let pauses = chance(30) ? [0, 0] : chance(50) ? [0, random.below(pace)] : [random.below(pace), 0]
    for worker in workers.dropLast() {
      let member = RaceObject.member(kind, newNumber(), store: store)
      program.setup.append(.insert(member, newToken()))
      if chance(40) {
        let former = RaceObject.owner(kind, newNumber(), store: store)
        program.setup += [.insert(former, newToken()), .link(owner: former, member: member)]
      }
      if chance(15) { victim = member }
      if program.stores == 2 && chance(60) {
        // The save of the link changes both stores or neither.
        let other = RaceObject.owner(kind, newNumber(), store: 1 - store)
        program.setup.append(.insert(other, newToken()))
        program.workers[worker].operations.append(.write(other, newToken()))
      }
      program.workers[worker].operations += [
        chance(70) ? .link(owner: owner, member: member) : .adopt(owner: owner, member: member),
        .save(meeting: meeting, pause: pauses[0]),
      ]
    }
    if let deleter = workers.last {
      program.workers[deleter].operations += [.delete(victim), .save(meeting: meeting, pause: pauses[1])]
    }
  }

  /// One worker replaces or deletes a large value while another one holds its row.
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

  private mutating func freeRun(stores: Int) -> RaceProgram {
    var program = RaceProgram(stores: stores, workers: workers(4))
    var pool: [RaceKind: (owners: [RaceObject], members: [RaceObject])] = [:]
    let kinds = (0..<4).map { _ in self.kinds[random.below(self.kinds.count)] }
    for kind in Set(kinds).sorted(by: { $0.text < $1.text }) {
      let store = random.below(stores)
      let owners = (0..<3).map { _ in RaceObject.owner(kind, newNumber(), store: store) }
      let members = (0..<4).map { _ in RaceObject.member(kind, newNumber(), store: store) }
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

  /// A free run in which the last worker acts on the whole store: copies it several times, or moves, replaces or
  /// removes it once.
  private mutating func runWithAction() -> RaceProgram {
    var program = freeRun(stores: 1)
    let kind = RaceAction.Kind.allCases[episode / 8 % 4]
    for index in program.workers.indices {
      program.workers[index].process = 0
      // After a store is moved, only the contexts of its coordinator use the new location.
      if kind == .migrate { program.workers[index].coordinator = 0 }
    }
    for _ in 0..<(kind == .copy ? 3 : 1) {
      let last = program.workers.count - 1
      let count = program.workers[last].operations.count
      program.workers[last].operations.insert(.act(kind), at: count / 4 + random.below(count / 2))
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
      let new = RaceObject.owner(kind, newNumber(), store: owner.store)
      objects.owners[random.below(objects.owners.count)] = new
      return .insert(new, newToken())
    case 8..<18:
      let new = RaceObject.member(kind, newNumber(), store: member.store)
      objects.members[random.below(objects.members.count)] = new
      return .insert(new, newToken())
    case 18..<36: return .link(owner: owner, member: member)
    case 36..<46: return .adopt(owner: owner, member: member)
    case 46..<54: return .unlink(owner: owner, member: member)
    case 54..<62: return kind.isOrdered ? .reverse(owner) : .write(owner, newToken())
    case 62..<70: return .write(member, newToken())
    case 70..<76: return .writeLarge(member, newToken())
    case 76..<79: return .hold(member)
    case 79..<82: return .readLarge(member)
    case 82..<88: return .delete(owner)
    case 88..<92: return .delete(member)
    case 92..<96: return .refresh(keeping: chance(50))
    case 96..<98: return .reset
    default: return .save(meeting: nil, pause: 0)
    }
  }
}
