import CoreData

/// What the workers of one run do, on which coordinators and in which process.
struct RaceProgram: Sendable {
  /// How a context settles conflicts.
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
    /// 0 for this process.
    var process = 0
    /// The coordinator within its process.
    var coordinator = 0
    var policy = Policy.error
    var operations: [RaceOperation] = []
  }

  /// How many stores each coordinator has: one or two.
  var stores = 1
  /// What one context does, and saves, before the workers begin.
  var setup: [RaceOperation] = []
  var workers: [Worker] = []

  /// What it does to whole stores.
  var actions: Set<RaceAction.Kind> {
    Set(
      workers.flatMap(\.operations).compactMap { operation in
        if case .act(let kind) = operation { kind } else { nil }
      })
  }

  var size: Int { setup.count + workers.reduce(0) { $0 + $1.operations.count } }
}

/// As a text: the number of stores, `setup` and `worker` lines, each followed by the lines of its operations.
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

  /// Throws a sentence that names the line which cannot be read. Lines that begin with `#` are remarks.
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
        else { throw RaceProblem("This line is no worker: \(line)") }
        workers.append(Worker(process: process, coordinator: coordinator, policy: policy))
        isSetup = false
      } else {
        guard let operation = RaceOperation(text: line) else { throw RaceProblem("This line is no operation: \(line)") }
        if isSetup { setup.append(operation) } else { workers[workers.count - 1].operations.append(operation) }
      }
    }
  }
}

/// A wrong command line or program, as a sentence.
struct RaceProblem: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
