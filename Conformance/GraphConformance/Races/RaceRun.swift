import CoreData
import Foundation
import StoreConformance
import StoreProtocol

/// The results of a run.
struct RaceResult: Sendable {
  var records: [RaceRecord] = []
  var reads: [RaceRead] = []
  var actions: [RaceAction] = []
  /// Errors of the runner and of its processes.
  var problems: [String] = []
  /// The contents of the stores. Nil if a store cannot be read; `unreadable` then has the reason.
  var contents: [StoreContents]?
  var unreadable: String?
  /// The contents of the copies, by URL.
  var copies: [URL: StoreContents] = [:]
}

/// Runs a program on new stores of one type, with one thread for each worker.
final class RaceRun: @unchecked Sendable {
  private let harness: any StoreHarness
  private let program: RaceProgram
  private let lock = NSLock()
  private var result = RaceResult()

  init(_ harness: any StoreHarness, _ program: RaceProgram) { (self.harness, self.program) = (harness, program) }

  /// Runs the program, and reads the stores afterwards. Throws if the stores cannot be created.
  func run() throws -> RaceResult {
    let locations = try (0..<program.stores).map { _ in try harness.makeLocation() }
    defer { for location in locations { try? harness.destroy(location) } }
    let stage = try RaceStage(program, process: 0, harness, locations.map(\.url))
    defer { stage.clean() }
    let meeting = LocalMeeting(program)
    RaceWorker(
      -1, RaceProgram.Worker(operations: program.setup + [.save(meeting: nil, pause: 0)]), stage, meeting, note
    )
    .run()
    try stage.prepare(program)
    let peers = try Set(program.workers.map(\.process)).subtracting([0]).sorted().map {
      try RacePeer($0, program, harness.name, stage.urls, meeting, note)
    }
    for peer in peers { peer.start() }
    let own = program.workers.indices.filter { program.workers[$0].process == 0 }
    atOnce(own.count) { [self] index in
      RaceWorker(own[index], program.workers[own[index]], stage, meeting, note).run()
    }
    for peer in peers { peer.wait() }
    do { try read(stage) } catch { result.unreadable = Graph.text(of: error) }
    return result
  }

  private func note(_ event: RaceEvent) {
    lock.withLock {
      switch event {
      case .save(let record): result.records.append(record)
      case .problem(let text): result.problems.append(text)
      case .read(let read): result.reads.append(read)
      case .action(let action): result.actions.append(action)
      }
    }
  }

  /// Reads the stores. Persistent stores are read through a new coordinator.
  private func read(_ stage: RaceStage) throws {
    if !harness.backend.capabilities.contains(.persistent) {
      result.contents = try stage.coordinators[0].persistentStores.map { try StoreContents($0.requireEngine()) }
      return stage.close()
    }
    stage.close()
    for url in result.actions.compactMap(\.url) { result.copies[url] = try contents(url) }
    let isDestroyed = result.actions.contains { $0.kind == .destroy && $0.error == nil }
    result.contents = try stage.urls.enumerated().compactMap { index, url in
      // Opening the removed store would create a new one.
      if index == 0 && isDestroyed && !FileManager.default.fileExists(atPath: url.path) { return nil }
      return try contents(url)
    }
  }

  private func contents(_ url: URL) throws -> StoreContents {
    let coordinator = RaceStage.coordinator()
    let store = try RaceStage.add(harness, url, to: coordinator)
    defer { try? coordinator.remove(store) }
    return try StoreContents(store.requireEngine())
  }
}
