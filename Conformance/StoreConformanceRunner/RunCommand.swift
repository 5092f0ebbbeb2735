import Foundation
import StoreConformance
import StoreProtocol
import Synchronization

/// `run`: the cases of some stores under some profiles, and whether that is what was expected.
struct RunCommand {
  private let arguments: Arguments
  private let harnesses: [any StoreHarness]
  private let profiles: [Profile]
  private let known: CaseList
  /// The requested ones.
  private let cases: [ConformanceCase]
  private let seed: UInt64
  /// How long a small case may take, in seconds.
  private let timeout: UInt32
  private var expected: [String: Expectations] = [:]

  init(_ arguments: Arguments, _ all: [any StoreHarness], _ known: CaseList) throws {
    self.arguments = arguments
    self.known = known
    harnesses = try arguments.harnesses(of: all)
    profiles = try arguments.profiles()
    seed = try arguments.number("--seed", default: 1)
    timeout = try arguments.number("--timeout", default: 60)
    let (size, patterns) = (try arguments.size(), arguments.values("--only"))
    cases = known.all.filter { candidate in
      candidate.size <= size && (patterns.isEmpty || patterns.contains { candidate.id.matches($0) })
    }
    for harness in harnesses {
      guard let url = harness.expectations, FileManager.default.fileExists(atPath: url.path) else { continue }
      expected[harness.name] = try Expectations.read(url)
    }
  }

  func run() throws -> Int32 {
    let start = Date()
    let results = exemptions() + pool(try arguments.number("--jobs", default: standardJobs))
    let report = Report(judged(results), harnesses, known, seconds: Date().timeIntervalSince(start))
    try write(report)
    return status(report)
  }

  private var standardJobs: Int { ProcessInfo.processInfo.activeProcessorCount }

  // MARK: Running

  private func applies(_ candidate: ConformanceCase, _ harness: any StoreHarness, _ profile: Profile) -> Bool {
    candidate.profiles.contains(profile) && candidate.exemption(of: harness, profile) == nil
  }

  private func pool(_ jobs: Int) -> [CaseResult] {
    var all: [CasePool.Job] = []
    for harness in harnesses {
      for profile in profiles {
        for candidate in cases where applies(candidate, harness, profile) {
          all.append(.init(conformanceCase: candidate, harness: harness.name, profile: profile, seed: seed))
        }
      }
    }
    return CasePool(jobs: jobs, timeout: Double(timeout)).run(all) { _ in }
  }

  /// One result for each case that does not apply to a store, whatever the profile.
  private func exemptions() -> [CaseResult] {
    harnesses.flatMap { harness in
      cases.compactMap { candidate in
        let reason: String
        switch candidate.exemption(of: harness) {
        case .missing(let names): reason = "requires " + names.joined(separator: ", ")
        case .declared(let names): reason = "is for stores without " + names.joined(separator: ", ")
        case nil: return nil
        }
        return CaseResult(
          id: candidate.id, backend: harness.name, profile: .plain, requirements: candidate.requirements,
          outcome: .notApplicable(reason), seconds: 0, seed: seed)
      }
    }
  }

  private func judged(_ results: [CaseResult]) -> [CaseResult] {
    results.map { result in
      var result = result
      if let expectations = expected[result.backend] {
        result.outcome = expectations.judged(result.outcome, of: result.id)
      }
      return result
    }
  }

  // MARK: What comes of it

  private func write(_ report: Report) throws {
    let (formats, outputs) = (arguments.values("--format"), arguments.values("--output"))
    if formats.count != outputs.count && !(formats.count <= 1 && outputs.isEmpty) {
      throw UsageError("each --format needs its --output")
    }
    if outputs.isEmpty {
      print(try text(report, formats.first ?? "table"))
      return
    }
    for (format, path) in zip(formats, outputs) {
      try Data(try text(report, format).utf8).write(to: URL(filePath: path))
    }
    print(TableWriter(report, known).text)
  }

  private func text(_ report: Report, _ format: String) throws -> String {
    switch format {
    case "table": return TableWriter(report, known).text
    case "junit": return JUnitWriter(report).text
    case "json":
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
    default: throw UsageError("there is no format \(format); there are table, json and junit")
    }
  }

  private func status(_ report: Report) -> Int32 {
    if report.executed.isEmpty {
      print("Nothing ran.")
      return 2
    }
    if !report.harnessErrors.isEmpty { return 2 }
    if !report.bad.isEmpty { return 1 }
    let drift = self.drift(report)
    for line in drift { print("drift: \(line)") }
    return drift.isEmpty ? 0 : 3
  }

  private func drift(_ report: Report) -> [String] {
    var result = report.results.compactMap { entry in
      if case .unexpectedPass(let reason) = entry.outcome {
        "\(entry.backend) \(entry.profile.rawValue) \(entry.id.text) passes, though: \(reason)"
      } else {
        nil
      }
    }
    for harness in harnesses {
      guard let expectations = expected[harness.name] else { continue }
      let now = Expectations(harness, known.all, knownFailures: expectations.knownFailures)
      result += expectations.drift(to: now).map { "\(harness.name): \($0)" }
    }
    return result
  }
}
