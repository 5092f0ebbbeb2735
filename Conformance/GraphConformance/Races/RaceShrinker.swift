import Foundation
import StoreConformance

/// Makes a program that fails shorter, as long as it still fails.
///
/// A race need not show each time, so that a candidate counts as sound only after it has run well several times.
struct RaceShrinker {
  private let harness: any StoreHarness
  private let deadline: Date
  private let attempts: Int

  /// It stops after so many seconds, with what it has then.
  init(_ harness: any StoreHarness, seconds: Double, attempts: Int = 12) {
    self.harness = harness
    self.attempts = attempts
    deadline = Date(timeIntervalSinceNow: seconds)
  }

  /// A shorter program, and what goes wrong in it: at least one fault is of the same kind as the first of `faults`. The
  /// program as it is where none fails again.
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
  /// Without some of the operations, which are counted through the setup and all workers.
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

  /// Only what has to do with some objects: their operations, and the saves and meetings of what is kept.
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
