import Foundation
import StoreConformance
import Synchronization

/// Runs cases in processes of their own, several at a time: a crash or a hang costs one case.
struct CasePool {
  /// One case to be run.
  struct Job: Sendable {
    let conformanceCase: ConformanceCase
    let harness: String
    let profile: Profile
    let seed: UInt64
  }

  let jobs: Int
  /// How long one small case may take, in seconds; larger ones may take ten and a hundred times as long.
  let timeout: Double

  private static let part = 120

  /// The results of the jobs, in any order. `progress` is called with each.
  func run(_ all: [Job], _ progress: @escaping @Sendable (CaseResult) -> Void) -> [CaseResult] {
    var groups: [String: [Job]] = [:]
    for job in all { groups["\(job.harness) \(job.profile.rawValue)", default: []].append(job) }
    let parts = groups.sorted { $0.key < $1.key }.flatMap { group in
      stride(from: 0, to: group.value.count, by: Self.part).map {
        Array(group.value[$0..<min($0 + Self.part, group.value.count)])
      }
    }
    let results = Mutex<[CaseResult]>([])
    let next = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: max(1, jobs)) { _ in
      while true {
        let index = next.add(1, ordering: .relaxed).oldValue
        guard index < parts.count else { return }
        run(part: parts[index]) { result in
          results.withLock { $0.append(result) }
          progress(result)
        }
      }
    }
    return results.withLock { $0 }
  }

  /// Runs jobs of one store and profile, one worker after another until all have a result.
  private func run(part: [Job], _ done: (CaseResult) -> Void) {
    var rest = part[...]
    while let first = rest.first {
      let finished = runWorker(rest, first, done)
      rest = rest.dropFirst(finished)
    }
  }

  /// Runs jobs until the worker ends; gives how many have a result, at least one.
  private func runWorker(_ jobs: ArraySlice<Job>, _ first: Job, _ done: (CaseResult) -> Void) -> Int {
    let ids = jobs.map { $0.conformanceCase.id.text + "\n" }.joined()
    let worker: ChildProcess
    do {
      worker = try ChildProcess(
        ["worker", "--backend", first.harness, "--profile", first.profile.rawValue, "--seed", "\(first.seed)"],
        input: ids)
    } catch {
      done(result(first, .harnessError("no worker could be started: \(error)"), 0))
      return 1
    }
    var finished = 0
    for job in jobs {
      let start = Date()
      let watch = Watch(worker, seconds: limit(job.conformanceCase.size))
      let answer = Self.answer(worker)
      let isLate = watch.end()
      if let answer {
        done(answer)
        finished += 1
        continue
      }
      worker.signalKill()
      let status = worker.wait()
      let outcome: Outcome =
        isLate ? .timedOut : status < 0 ? .crashed(signal: -status) : .harnessError("the worker ended with \(status)")
      done(result(job, outcome, Date().timeIntervalSince(start)))
      return finished + 1
    }
    _ = worker.wait()
    return finished
  }

  private func limit(_ size: Size) -> Double {
    switch size {
    case .small: timeout
    case .medium: timeout * 10
    case .large: timeout * 100
    }
  }

  private static func answer(_ worker: ChildProcess) -> CaseResult? {
    while let line = worker.line() {
      guard line.hasPrefix(Worker.mark) else { continue }
      return try? JSONDecoder().decode(CaseResult.self, from: Data(line.dropFirst(Worker.mark.count).utf8))
    }
    return nil
  }

  private func result(_ job: Job, _ outcome: Outcome, _ seconds: Double) -> CaseResult {
    CaseResult(
      id: job.conformanceCase.id, backend: job.harness, profile: job.profile,
      requirements: job.conformanceCase.requirements, outcome: outcome, seconds: seconds, seed: job.seed)
  }

  /// Kills a worker that says nothing for too long.
  private final class Watch: Sendable {
    private let state = Mutex((isOver: false, isLate: false))

    init(_ worker: ChildProcess, seconds: Double) {
      DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
        guard let self else { return }
        let isLate = state.withLock { state in
          state.isLate = !state.isOver
          return state.isLate
        }
        if isLate { worker.signalKill() }
      }
    }

    /// Whether the worker was killed.
    func end() -> Bool {
      state.withLock { state in
        state.isOver = true
        return state.isLate
      }
    }
  }
}

/// The side of the pool that runs the cases: reads ids, and answers each with a result.
struct Worker {
  static let mark = "@case "

  let harness: any StoreHarness
  let profile: Profile
  let seed: UInt64
  let cases: CaseList
  let peers: [any StoreHarness]

  func run() {
    while let id = readLine() {
      guard let found = cases.find(id) else { continue }
      say(run(found))
    }
  }

  func run(_ conformanceCase: ConformanceCase) -> CaseResult {
    let start = Date()
    let outcome = CaseRun.run(
      conformanceCase, harness, profile, seed: seed, peers: peers, processes: RoleStarter())
    return CaseResult(
      id: conformanceCase.id, backend: harness.name, profile: profile, requirements: conformanceCase.requirements,
      outcome: outcome, seconds: Date().timeIntervalSince(start), seed: seed)
  }

  private func say(_ result: CaseResult) {
    guard let text = try? JSONEncoder().encode(result) else { return }
    FileHandle.standardOutput.write(Data(Self.mark.utf8) + text + Data("\n".utf8))
  }
}
