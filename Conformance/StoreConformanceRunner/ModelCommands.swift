import Foundation
import StoreConformance
import StoreProtocol

/// `model` and `differential`: long random runs against plain dictionaries, and of all stores against each other.
struct ModelCommands {
  fileprivate let arguments: Arguments
  fileprivate let harnesses: [any StoreHarness]
  fileprivate let seed: UInt64
  fileprivate let count: Int

  init(_ arguments: Arguments, _ all: [any StoreHarness]) throws {
    self.arguments = arguments
    harnesses = try arguments.harnesses(of: all)
    seed = try arguments.number("--seed", default: UInt64(Date().timeIntervalSince1970))
    count = try arguments.number("--operations", default: 300)
  }

  /// Each store against the dictionaries. A failure is made shorter and kept for `replay`.
  func model() throws -> Int32 {
    var status: Int32 = 0
    let operations = ModelOperation.stream(count: count, seed: seed)
    for harness in harnesses {
      let run = try ModelRun(harness)
      let start = Date()
      guard let first = try run.run(operations) else {
        let seconds = String(format: "%.1f", Date().timeIntervalSince(start))
        print("\(harness.name): \(count) operations of seed \(seed) agree (\(seconds) s)")
        continue
      }
      let short = try run.shrink(Array(operations.prefix(first.step + 1)))
      let divergence = try run.run(short)
      status = 1
      print("\(harness.name): seed \(seed) fails, also with these \(short.count) operations: \(divergence?.text ?? "")")
      for operation in short { print("  \(operation)") }
      let file = URL(filePath: arguments.value("--replay-to") ?? "model-\(harness.name)-\(seed).json")
      try JSONEncoder().encode(ModelReplay(backend: harness.name, seed: seed, model: short)).write(to: file)
      print("  store-conformance replay \(file.path)")
    }
    return status
  }

  /// One stream over all stores: after each operation all hold the same.
  func differential() throws -> Int32 {
    let operations = ModelOperation.stream(count: count, seed: seed)
    var dumps: [(name: String, steps: [[String]])] = []
    for harness in harnesses {
      var steps: [[String]] = []
      if let divergence = try ModelRun(harness).run(operations, dumped: { steps.append($1) }) {
        print("\(harness.name): step \(divergence.step): \(divergence.text)")
      }
      dumps.append((harness.name, steps))
    }
    guard let first = dumps.first, dumps.count > 1 else { throw UsageError("differential needs two stores") }
    var isSame = true
    for other in dumps.dropFirst() {
      for step in operations.indices where dump(first.steps, step) != dump(other.steps, step) {
        isSame = false
        print("\(first.name) and \(other.name) differ after step \(step), \(operations[step]), of seed \(seed)")
        break
      }
    }
    if isSame {
      print("\(dumps.map(\.name).joined(separator: ", ")): \(count) operations of seed \(seed) leave the same")
    }
    return isSame ? 0 : 1
  }

  private func dump(_ steps: [[String]], _ step: Int) -> [String]? { steps.indices.contains(step) ? steps[step] : nil }
}

/// `pairs`: every store copied to every other and back.
extension ModelCommands {
  func pairs() throws -> Int32 {
    let operations = ModelOperation.stream(count: count, seed: seed)
    var status: Int32 = 0
    for source in harnesses {
      for (target, problem) in try PairRun(source).run(operations, to: harnesses) {
        print("\(source.name) to \(target): \(problem ?? "equal")")
        if problem != nil { status = 1 }
      }
    }
    print("\(harnesses.count * harnesses.count) pairs after \(count) operations of seed \(seed)")
    return status
  }
}

/// `diff-predicates`: random predicates on every store against plain dictionaries.
extension ModelCommands {
  func predicates(_ stacks: ConformanceCommand.StackMaker?) throws -> Int32 {
    let required = try arguments.number("--n", default: 500)
    let least = try leastPushed()
    var status: Int32 = 0
    for harness in harnesses where harness.opensStores {
      let start = Date()
      let report = try PredicateRun(harness).run(count: required, seed: seed)
      let pushed = "\(report.pushed * 100 / max(1, report.count)) % pushed down"
      status = max(status, tell(harness.name, report, since: start, pushed))
      if let least = least[harness.name], !pushesEnough(harness.name, report, least) { status = 1 }
      if arguments.has("--operators") {
        for (name, counts) in report.operators.sorted(by: { $0.key < $1.key }) {
          print("  \(name): \(counts.pushed) of \(counts.count) pushed down")
        }
      }
      guard let stacks else { continue }
      let (position, begin) = (try harness.makeLocation(), Date())
      defer { try? harness.destroy(position) }
      let unsaved = try UnsavedPredicateRun(try stacks(harness, position.url)).run(
        count: required, seed: seed)
      let dictionaries = "\(unsaved.asDictionaries) of them over dictionaries too"
      status = max(status, tell(harness.name, unsaved, since: begin, "with unsaved changes laid over, \(dictionaries)"))
      // Most predicates need no schema. Of few, chance decides.
      if unsaved.count >= 100 && unsaved.asDictionaries * 2 < unsaved.count {
        print("\(harness.name): too few predicates were evaluated over dictionaries")
        status = 1
      }
    }
    return status
  }

  /// How many of a hundred predicates a store must evaluate by itself, by its name.
  private func leastPushed() throws -> [String: Int] {
    var least: [String: Int] = [:]
    for text in arguments.values("--least-pushed") {
      let parts = text.split(separator: "=")
      guard parts.count == 2, let percent = Int(parts[1]), harnesses.contains(where: { $0.name == parts[0] }) else {
        throw UsageError("--least-pushed needs BACKEND=PERCENT, not \(text)")
      }
      least[String(parts[0])] = percent
    }
    return least
  }

  /// Whether a store evaluates so much by itself, and something of every operator. Prints what is missing.
  private func pushesEnough(_ name: String, _ report: PredicateRun.Report, _ percent: Int) -> Bool {
    let isEnough = report.pushed * 100 >= report.count * percent
    if !isEnough {
      print("\(name): \(report.pushed) of \(report.count) predicates are pushed down, less than \(percent) %")
    }
    // In few predicates, most of which have other operators too, chance may have it.
    let never = report.operators.filter { $0.value.pushed == 0 && $0.value.count >= 60 }.keys.sorted()
    if !never.isEmpty { print("\(name): never pushed down: \(never.joined(separator: ", "))") }
    return isEnough && never.isEmpty
  }

  /// How many divergences are printed of each run.
  private var shown: Int { (try? arguments.number("--show", default: 5)) ?? 5 }

  /// Prints what came of a run. The status: 1 for divergences.
  private func tell(_ name: String, _ report: PredicateRun.Report, since start: Date, _ what: String) -> Int32 {
    let seconds = String(format: "%.1f", Date().timeIntervalSince(start))
    print(
      "\(name): \(report.count) predicates of seed \(seed), \(report.telling) of them select some objects and not all, "
        + "\(what), \(report.divergences.count) divergences (\(seconds) s)")
    for divergence in report.divergences.prefix(shown) { print("  \(divergence)") }
    return report.divergences.isEmpty ? 0 : 1
  }
}

/// A failed model run, to be run again.
struct ModelReplay: Codable {
  var backend: String
  var seed: UInt64
  var model: [ModelOperation]

  func run(_ harnesses: [any StoreHarness]) throws -> Int32 {
    guard let harness = harnesses.first(where: { $0.name == backend }) else {
      throw UsageError("there is no store \(backend) here")
    }
    let divergence = try ModelRun(harness).run(model)
    print("\(backend): \(divergence.map { "step \($0.step): \($0.text)" } ?? "agrees now")")
    return divergence == nil ? 0 : 1
  }
}
