import Foundation
import StoreConformance

/// Shortens a failing program while it still fails.
///
/// A race does not fail on each run, so a candidate counts as correct only after several runs without a fault.
struct RaceShrinker {
  private let harness: any StoreHarness
  private let deadline: Date
  private let attempts: Int

  /// The shrinker stops after `seconds` with the shortest program found so far.
  init(_ harness: any StoreHarness, seconds: Double, attempts: Int = 12) {
    self.harness = harness
    self.attempts = attempts
    deadline = Date(timeIntervalSinceNow: seconds)
  }

  /// Returns a shorter program and its faults, of which at least one has the same kind as the first of `faults`.
  /// Returns `program` unchanged if no candidate fails.
  func shrink(_ program: RaceProgram, _ faults: [RaceFault]) -> (program: RaceProgram, faults: [RaceFault]) {
    var best = (program: program, faults: faults)
    guard let first = faults.first else { return best }
    for fault in faults where fault.kind == first.kind && !fault.objects.isEmpty {
      let candidate = program.concerning(Set(fault.objects))
      guard candidate.size < program.size, let found = failure(candidate, first.kind) else { continue }
      best = (candidate, found)
      break
    }
    var size = max(1, best.program.size / 2)
    while size >= 1 && Date() < deadline {
      var (start, hasShrunk) = (0, false)
      while start < best.program.size && Date() < deadline {
        let candidate = best.program.removing(start..<(start + size))
        if let found = failure(candidate, first.kind) {
          best = (candidate, found)
          hasShrunk = true
        } else {
          start += size
        }
      }
      if size == 1 && !hasShrunk { break }
      size = max(1, size / 2)
    }
    return (best.program.withoutIdleWorkers, best.faults)
  }

  private func failure(_ program: RaceProgram, _ kind: RaceFault.Kind) -> [RaceFault]? {
    for _ in 0..<attempts where Date() < deadline {
      guard let result = try? RaceRun(harness, program).run() else { return nil }
      let faults = RaceJudge.faults(of: result)
      if faults.contains(where: { $0.kind == kind }) { return faults }
    }
    return nil
  }
}

extension RaceProgram {
  /// The program without a range of operations. The indices count the setup first, then the workers in order.
  func removing(_ range: Range<Int>) -> RaceProgram {
    var (program, index) = (self, 0)
    func kept(_ operations: [RaceOperation]) -> [RaceOperation] {
      defer { index += operations.count }
      return operations.enumerated().filter { !range.contains(index + $0.offset) }.map(\.element)
    }
    program.setup = kept(setup)
    for worker in workers.indices { program.workers[worker].operations = kept(workers[worker].operations) }
    return program
  }

  /// The program reduced to some objects: their operations, and the saves and meetings between them.
  func concerning(_ names: Set<String>) -> RaceProgram {
    func kept(_ operations: [RaceOperation]) -> [RaceOperation] {
      var hasKept = false
      return operations.filter { operation in
        if operation.objects.contains(where: { names.contains($0.text) }) {
          hasKept = true
          return true
        }
        defer { if case .save = operation { hasKept = false } }
        return hasKept && operation.objects.isEmpty
      }
    }
    var program = self
    program.setup = kept(setup)
    for worker in workers.indices { program.workers[worker].operations = kept(workers[worker].operations) }
    return program
  }

  var withoutIdleWorkers: RaceProgram {
    var program = self
    program.workers.removeAll(where: \.operations.isEmpty)
    return program
  }
}
