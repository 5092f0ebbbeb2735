import CoreData

/// The operations of the workers of one run, with their coordinators and processes.
struct RaceProgram: Sendable {
  /// The merge policy of a context.
  enum Policy: String, Codable, CaseIterable, Sendable {
    case error, storeTrump, objectTrump, overwrite, rollback

    var mergePolicy: NSMergePolicy {
      switch self {
      case .error: .error
      case .storeTrump: .mergeByPropertyStoreTrump
      case .objectTrump: .mergeByPropertyObjectTrump
      case .overwrite: .overwrite
      case .rollback: .rollback
      }
    }
  }

  struct Worker: Sendable {
    /// The process of the worker; 0 is this process.
    var process = 0
    /// The index of the coordinator within the process.
    var coordinator = 0
    var policy = Policy.error
    var operations: [RaceOperation] = []
  }

  /// The number of stores of each coordinator: one or two.
  var stores = 1
  /// Operations that one context runs and saves before the workers begin.
  var setup: [RaceOperation] = []
  var workers: [Worker] = []

  /// The program's actions on whole stores.
  var actions: Set<RaceAction.Kind> {
    Set(
      workers.flatMap(\.operations).compactMap { operation in
        if case .act(let kind) = operation { kind } else { nil }
      })
  }

  var size: Int { setup.count + workers.reduce(0) { $0 + $1.operations.count } }
}

/// The program as text: the number of stores, then `setup` and `worker` lines, each followed by the lines of its
/// operations.
extension RaceProgram {
  var text: String {
    var lines = ["stores \(stores)", "setup"] + setup.map { "  \($0)" }
    for worker in workers {
      lines.append(
        "worker process \(worker.process) coordinator \(worker.coordinator) policy \(worker.policy.rawValue)")
      lines += worker.operations.map { "  \($0)" }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Throws a problem that names the line that cannot be read. Lines that begin with `#` are comments.
  init(text: String) throws(RaceProblem) {
    var isSetup = true
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      if words.isEmpty || words[0].hasPrefix("#") { continue }
      if words == ["setup"] { continue }
      if words == ["stores", "1"] || words == ["stores", "2"] {
        stores = words[1] == "2" ? 2 : 1
        continue
      }
      if words[0] == "worker" {
        guard words.count == 7, let process = Int(words[2]), let coordinator = Int(words[4]),
          let policy = Policy(rawValue: words[6])
        else { throw RaceProblem("Not a worker: \(line)") }
        workers.append(Worker(process: process, coordinator: coordinator, policy: policy))
        isSetup = false
      } else {
        guard let operation = RaceOperation(text: line) else { throw RaceProblem("Not an operation: \(line)") }
        if isSetup { setup.append(operation) } else { workers[workers.count - 1].operations.append(operation) }
      }
    }
  }
}

/// An error in a command line or a program, as a sentence.
struct RaceProblem: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
