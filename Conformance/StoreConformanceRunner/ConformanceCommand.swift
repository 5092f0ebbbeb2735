import Foundation
import StoreConformance
import StoreProtocol

/// The program `store-conformance` for some kinds of stores.
///
/// A package with a store of its own has an executable of one line: `ConformanceCommand.main(harnesses:
/// [DuckHarness()])`.
public struct ConformanceCommand {
  let harnesses: [any StoreHarness]
  let sabotaged: [SabotagedHarness]
  let cases: CaseList
  /// Makes contexts above a store that does not exist yet; nil where there are none.
  let stacks: StackMaker?
  private let moreUsage: String

  /// Makes contexts above a new store of a harness at a URL.
  public typealias StackMaker = (any StoreHarness, URL) throws -> any ObjectStack

  /// Runs the command of the program's arguments, and ends the program with its exit status. `cases` are run beside
  /// those of the suite of stores, or without `runsStoreCases` alone; `stacks` makes what predicates over unsaved
  /// changes are run in; `moreUsage` is shown behind the usage, for what the program does besides.
  public static func main(
    harnesses: [any StoreHarness], sabotaged: [SabotagedHarness] = [], cases: [ConformanceCase] = [],
    runsStoreCases: Bool = true, stacks: StackMaker? = nil, moreUsage: String = ""
  ) -> Never {
    exit(
      run(
        Array(CommandLine.arguments.dropFirst()), harnesses: harnesses, sabotaged: sabotaged, cases: cases,
        runsStoreCases: runsStoreCases, stacks: stacks, moreUsage: moreUsage))
  }

  /// Runs a command. The status: 0 as expected, 1 failures, 2 wrong use or an error of the harness, 3 drift.
  public static func run(
    _ words: [String], harnesses: [any StoreHarness], sabotaged: [SabotagedHarness] = [],
    cases: [ConformanceCase] = [], runsStoreCases: Bool = true, stacks: StackMaker? = nil, moreUsage: String = ""
  ) -> Int32 {
    do {
      let command = ConformanceCommand(
        harnesses: harnesses, sabotaged: sabotaged, cases: CaseList(adding: cases, storeCases: runsStoreCases),
        stacks: stacks, moreUsage: moreUsage)
      return try command.run(try Arguments(words), words)
    } catch {
      FileHandle.standardError.write(Data("store-conformance: \(error)\n\n\(usage)\n".utf8))
      return 2
    }
  }

  private func run(_ arguments: Arguments, _ words: [String]) throws -> Int32 {
    if arguments.has("--help") || arguments.command == "help" {
      print(Self.usage + moreUsage)
      return 0
    }
    if let package = arguments.value("--package") { return try ForeignPackage.run(package, words) }
    switch arguments.command {
    case "list": return try list(arguments)
    case "matrix": return matrix(try arguments.harnesses(of: harnesses))
    case "run": return try RunCommand(arguments, harnesses, cases).run()
    case "accept": return try accept(arguments)
    case "report": return try report(arguments)
    case "replay": return try replay(arguments)
    case "model": return try ModelCommands(arguments, harnesses).model()
    case "differential": return try ModelCommands(arguments, harnesses).differential()
    case "diff-predicates": return try ModelCommands(arguments, harnesses).predicates(stacks)
    case "pairs": return try ModelCommands(arguments, harnesses).pairs()
    case "mutate": return try MutateCommand(arguments, harnesses).run()
    case "mutants":
      return try MutateCommand(arguments, harnesses).work(from: arguments.operands.first.flatMap(Int.init) ?? 0)
    case "sabotage": return try SabotageCommand(arguments, sabotaged, cases.all).run()
    case "worker": return try work(arguments)
    case "role": return try role(arguments)
    default: throw UsageError("there is no command “\(arguments.command)”")
    }
  }

  static let usage = """
    usage: store-conformance COMMAND [OPTION...]
      list [--json]                            all cases
      matrix [--backend B]                     what stores declare, against what is wanted of them
      run [--backend B | --all] [--only 'SAV-*'] [--profile P] [--size S|M|L] [--seed N] [--jobs N]
          [--timeout SECONDS] [--format table|json|junit --output FILE]... [--package FOLDER]
      replay FILE                              the failures of a JSON report or of a model run once more
      accept --backend B [--output FILE]       writes the expectations of a store; keeps its known failures
      model [--backend B] [--operations N] [--seed S] [--replay-to FILE]   random operations against plain dictionaries
      differential [--backend B]... [--operations N] [--seed S]            one stream over all stores
      diff-predicates [--backend B]... [--n N] [--seed S] [--operators] [--show N] [--least-pushed B=PERCENT]...
      random predicates against plain dictionaries; by operators, what was pushed down; what a store must evaluate by
      itself, and of each operator something
      pairs [--backend B]... [--operations N] [--seed S]   every store copied to every other and back: all is equal
      mutate [--backend B]... [--count N] [--seed S]       damaged files: typed errors, no crash, nothing wrong unnoticed
      sabotage [--output FILE]                 whether stores that are wrong on purpose are caught, by exactly their cases
      report A.json B.json...                  the table of several reports
    Exit status: 0 as expected, 1 failures, 2 wrong use or harness, 3 drift from the expectations.
    """

  // MARK: Small commands

  private func list(_ arguments: Arguments) throws -> Int32 {
    if arguments.has("--json") {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      print(String(decoding: try encoder.encode(cases.all.map(ListedCase.init)), as: UTF8.self))
      return 0
    }
    for listed in cases.all {
      let needs = listed.requires.isEmpty ? "" : " [\(listed.requires)]"
      print("\(listed.id.text)  \(listed.level.rawValue) \(listed.size.rawValue)\(needs)  \(listed.title)")
    }
    return 0
  }

  private struct ListedCase: Encodable {
    let id, title, level, size: String
    let requirements, requires, absent, profiles: [String]

    init(_ listed: ConformanceCase) {
      (id, title) = (listed.id.text, listed.title)
      (level, size) = (listed.level.rawValue, listed.size.rawValue)
      requirements = [listed.id.row] + listed.requirements
      (requires, absent) = (listed.requires.names, listed.absent.names)
      profiles = listed.profiles.map(\.rawValue).sorted()
    }
  }

  private func matrix(_ harnesses: [any StoreHarness]) -> Int32 {
    print(CapabilityTable.text(harnesses))
    return 0
  }

  private func accept(_ arguments: Arguments) throws -> Int32 {
    for harness in try arguments.harnesses(of: harnesses) {
      guard let url = arguments.value("--output").map({ URL(filePath: $0) }) ?? harness.expectations else {
        throw UsageError("\(harness.name) says nowhere to keep its expectations; give --output")
      }
      let known = FileManager.default.fileExists(atPath: url.path) ? try Expectations.read(url).knownFailures : [:]
      let now = Expectations(harness, cases.all, knownFailures: known)
      try now.write(url)
      print("\(harness.name): \(now.counts.values.reduce(0, +)) cases apply, written to \(url.path)")
    }
    return 0
  }

  private func report(_ arguments: Arguments) throws -> Int32 {
    var results: [CaseResult] = []
    var declared: [String: [String]] = [:]
    var seconds = 0.0
    for path in arguments.operands {
      let report = try Report.read(Data(contentsOf: URL(filePath: path)))
      results += report.results
      seconds += report.seconds
      declared.merge(report.capabilities) { $1 }
    }
    if results.isEmpty { throw UsageError("report needs JSON reports with results") }
    var merged = Report(results, [], cases, seconds: seconds)
    merged.capabilities = declared
    print(TableWriter(merged, cases).text)
    return merged.bad.isEmpty ? 0 : 1
  }

  private func replay(_ arguments: Arguments) throws -> Int32 {
    guard let path = arguments.operands.first else { throw UsageError("replay needs a file") }
    let data = try Data(contentsOf: URL(filePath: path))
    if let run = try? JSONDecoder().decode(ModelReplay.self, from: data) { return try run.run(harnesses) }
    let report = try Report.read(data)
    if report.bad.isEmpty { throw UsageError("the report has no failures") }
    var isBad = false
    for old in report.bad {
      guard let found = cases.find(old.id.text), let harness = everything.first(where: { $0.name == old.backend })
      else { throw UsageError("there is no \(old.id.text) for \(old.backend) here") }
      let pool = CasePool(jobs: 1, timeout: 60)
      let job = CasePool.Job(conformanceCase: found, harness: harness.name, profile: old.profile, seed: old.seed)
      for result in pool.run([job], { _ in }) {
        print(
          "\(old.backend) \(old.profile.rawValue) \(old.id.text): \(result.outcome.name) \(result.outcome.reason ?? "")"
        )
        isBad = isBad || result.outcome.isBad
      }
    }
    return isBad ? 1 : 0
  }

  // MARK: Processes of its own

  private var everything: [any StoreHarness] { harnesses + sabotaged.flatMap { [$0.harness, $0.sound] } }

  private func work(_ arguments: Arguments) throws -> Int32 {
    guard let harness = try arguments.harnesses(of: everything).first, let profile = try arguments.profiles().first
    else {
      return 2
    }
    let seed: UInt64 = try arguments.number("--seed", default: 1)
    Worker(harness: harness, profile: profile, seed: seed, cases: cases, peers: harnesses).run()
    return 0
  }

  private func role(_ arguments: Arguments) throws -> Int32 {
    guard let harness = try arguments.harnesses(of: everything).first, let name = arguments.operands.first,
      let body = arguments.value("--case").flatMap(cases.find)?.roles[name],
      let url = arguments.value("--url").flatMap({ URL(string: $0) })
    else { throw UsageError("there is no such role") }
    // Whoever started it may be killed, and a role may be one that waits for ever.
    Thread.detachNewThread {
      while !FileHandle.standardInput.availableData.isEmpty {}
      _exit(1)
    }
    try body(
      RoleContext(backend: harness.backend, url: url, seed: try arguments.number("--seed", default: 1)) {
        FileHandle.standardOutput.write(Data(($0 + "\n").utf8))
      })
    return 0
  }
}
