import CoreData
import Foundation
import StoreConformance
import StoreProtocol

/// What is left of a run.
struct RaceResult: Sendable {
  var records: [RaceRecord] = []
  /// What workers saw, and what the runner did.
  var problems: [String] = []
  var reads: [RaceRead] = []
  var contents: StoreContents?
}

/// Runs a program on a new store of a kind, with a thread for each worker.
final class RaceRun: @unchecked Sendable {
  private let harness: any StoreHarness
  private let program: RaceProgram
  private let lock = NSLock()
  private var result = RaceResult()

  init(_ harness: any StoreHarness, _ program: RaceProgram) { (self.harness, self.program) = (harness, program) }

  /// Runs it and reads the store afterwards. Throws where the store cannot be made or opened.
  func run() throws -> RaceResult {
    NSPersistentStoreCoordinator.register(harness.backend)
    let place = try harness.makeLocation()
    defer { try? harness.destroy(place) }
    let stacks = try RaceStacks(program, process: 0, harness, place.url)
    let meeting = LocalMeeting(program)
    RaceWorker(-1, .error, stacks.coordinators[0], meeting, note).run(
      program.setup + [.save(meeting: nil, pause: 0)])
    let peers = try Set(program.workers.map(\.process)).subtracting([0]).sorted().map {
      try RacePeer($0, program, harness.name, place.url, meeting, note)
    }
    for peer in peers { peer.start() }
    let own = program.workers.indices.filter { program.workers[$0].process == 0 }
    atOnce(own.count) { [self] index in
      let worker = program.workers[own[index]]
      RaceWorker(own[index], worker.policy, stacks.coordinators[worker.coordinator], meeting, note)
        .run(worker.operations)
    }
    for peer in peers { peer.wait() }
    try read(stacks, place.url)
    return result
  }

  private func note(_ event: RaceEvent) {
    lock.withLock {
      switch event {
      case .save(let record): result.records.append(record)
      case .problem(let text): result.problems.append(text)
      case .read(let read): result.reads.append(read)
      }
    }
  }

  /// Reads the store: through a new coordinator where it outlives the ones that wrote.
  private func read(_ stacks: RaceStacks, _ url: URL) throws {
    if !harness.backend.capabilities.contains(.persistent) {
      try readStore(of: stacks.coordinators[0])
      return stacks.close()
    }
    stacks.close()
    let reader = try RaceStacks.open(harness, url)
    try readStore(of: reader)
    for store in reader.persistentStores { try reader.remove(store) }
  }

  private func readStore(of coordinator: NSPersistentStoreCoordinator) throws {
    guard let store = coordinator.persistentStores.first else { throw RaceProblem("The coordinator has no store.") }
    do { result.contents = try StoreContents(store.requireEngine()) } catch {
      result.problems.append("the store cannot be read: \(error)")
    }
  }
}

/// The coordinators of one process.
final class RaceStacks {
  let coordinators: [NSPersistentStoreCoordinator]

  init(_ program: RaceProgram, process: Int, _ harness: any StoreHarness, _ url: URL) throws {
    let last = program.workers.filter { $0.process == process }.map(\.coordinator).max() ?? 0
    if last > 7 { throw RaceProblem("A program has at most eight coordinators in a process, not \(last + 1).") }
    coordinators = try (0...max(0, last)).map { _ in try Self.open(harness, url) }
  }

  static func open(_ harness: any StoreHarness, _ url: URL) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Models.races)
    try coordinator.addPersistentStore(ofType: harness.backend.storeType, configurationName: nil, at: url)
    return coordinator
  }

  func close() {
    for coordinator in coordinators {
      for store in coordinator.persistentStores { try? coordinator.remove(store) }
    }
  }
}
