import Foundation
import StoreConformance
import StoreProtocol

/// One case on one store under one profile, and what became of it.
public struct CaseResult: Sendable, Codable, Hashable {
  /// The id of the case.
  public var id: CaseID
  /// The name of the store's harness.
  public var backend: String
  /// The way that the case was run.
  public var profile: Profile
  /// The ids of what the case proves, beside its own row.
  public var requirements: [String]
  /// What became of the case.
  public var outcome: Outcome
  /// How long the case took.
  public var seconds: Double
  /// The seed of the case's numbers, with which it can be run again.
  public var seed: UInt64

  /// The result of a case.
  public init(
    id: CaseID, backend: String, profile: Profile, requirements: [String], outcome: Outcome, seconds: Double,
    seed: UInt64
  ) {
    self.id = id
    self.backend = backend
    self.profile = profile
    self.requirements = requirements
    self.outcome = outcome
    self.seconds = seconds
    self.seed = seed
  }

  /// The command that runs this alone.
  var replayCommand: String {
    "store-conformance run --backend \(backend) --profile \(profile.rawValue) --seed \(seed) --size L --only '\(id.text)'"
  }
}

/// All results of a run, with what they came from.
public struct Report: Sendable, Codable {
  /// The version of this form of a report.
  public var schema = Report.form
  private static let form = 1
  /// The version of the suite that was run.
  public var suiteVersion = ConformanceSuite.version
  /// The system that the run was on, and the number of its processors.
  public var environment: [String: String]
  /// The declared capabilities by store.
  public var capabilities: [String: [String]]
  /// The results, by store, profile and case.
  public var results: [CaseResult]
  /// Rows of the specification that are no cases yet, with the reason.
  public var notYet: [String: String]
  /// How long the run took.
  public var seconds: Double

  /// A report of results, with what the stores declare.
  public init(
    _ results: [CaseResult], _ harnesses: [any StoreHarness], _ cases: CaseList = CaseList(), seconds: Double = 0
  ) {
    self.results = results.sorted {
      ($0.backend, $0.profile.rawValue, $0.id.text) < ($1.backend, $1.profile.rawValue, $1.id.text)
    }
    capabilities = Dictionary(
      harnesses.map { ($0.name, $0.backend.capabilities.names) }, uniquingKeysWith: { first, _ in first })
    notYet = SpecificationRows.open(of: cases.all)
    environment = [
      "system": ProcessInfo.processInfo.operatingSystemVersionString,
      "processors": "\(ProcessInfo.processInfo.activeProcessorCount)",
    ]
    self.seconds = seconds
  }

  /// What was run, exemptions left out.
  var executed: [CaseResult] {
    results.filter { if case .notApplicable = $0.outcome { false } else { true } }
  }

  var bad: [CaseResult] { results.filter(\.outcome.isBad) }
  var harnessErrors: [CaseResult] { results.filter { if case .harnessError = $0.outcome { true } else { false } } }
  var backends: [String] { Set(capabilities.keys).union(results.map(\.backend)).sorted() }

  /// A report that was written as JSON. Throws where it is none, or one of another form.
  static func read(_ data: Data) throws -> Report {
    let report = try JSONDecoder().decode(Report.self, from: data)
    guard report.schema == form else {
      throw UsageError("the report has the form \(report.schema); this program reads \(form)")
    }
    return report
  }
}
