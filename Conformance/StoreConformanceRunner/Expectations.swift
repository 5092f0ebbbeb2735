import Foundation
import StoreConformance
import StoreProtocol

/// What is expected of one store: what it declares, which cases do not apply to it, and which are known to fail.
///
/// A case that is lost, a new exemption, and a known failure that passes are drift, in either direction.
public struct Expectations: Sendable, Codable, Equatable {
  /// The version of the suite that the expectations were accepted with.
  public var suiteVersion: String
  /// The name of the store's harness.
  public var backend: String
  /// The names of the capabilities that the store declares.
  public var capabilities: [String]
  /// How many cases apply, by size.
  public var counts: [String: Int]
  /// The ids of the cases that do not apply, by what exempts the store.
  public var notApplicable: [String: [String]]
  /// The ids of the cases that fail, with the reason.
  public var knownFailures: [String: String]

  /// What a harness and the suite say now. Known failures are given, because only people know why.
  public init(_ harness: any StoreHarness, _ cases: [ConformanceCase], knownFailures: [String: String]) {
    suiteVersion = ConformanceSuite.version
    backend = harness.name
    capabilities = harness.backend.capabilities.names
    counts = [:]
    notApplicable = [:]
    for conformanceCase in cases {
      switch conformanceCase.exemption(of: harness) {
      case nil: counts[conformanceCase.size.rawValue, default: 0] += 1
      case .missing(let names):
        notApplicable["requires " + names.joined(separator: ", "), default: []].append(conformanceCase.id.text)
      case .declared(let names):
        notApplicable["without " + names.joined(separator: ", "), default: []].append(conformanceCase.id.text)
      }
    }
    self.knownFailures = knownFailures
  }

  /// Reads expectations from a JSON file.
  public static func read(_ url: URL) throws -> Expectations {
    try JSONDecoder().decode(Expectations.self, from: Data(contentsOf: url))
  }

  /// Writes the expectations to a JSON file, which is replaced.
  public func write(_ url: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try (encoder.encode(self) + Data("\n".utf8)).write(to: url)
  }

  /// The outcome with what was expected taken into account.
  public func judged(_ outcome: Outcome, of id: CaseID) -> Outcome {
    guard let reason = knownFailures[id.text] else { return outcome }
    switch outcome {
    case .failed, .crashed, .timedOut: return .knownFailure(reason)
    case .passed: return .unexpectedPass(reason)
    default: return outcome
    }
  }

  /// How what is now differs from what was expected, in sentences; none where it does not.
  public func drift(to now: Expectations) -> [String] {
    var result: [String] = []
    if suiteVersion != now.suiteVersion { result.append("the suite is \(now.suiteVersion), expected \(suiteVersion)") }
    for name in Set(now.capabilities).subtracting(capabilities).sorted() { result.append("now declares \(name)") }
    for name in Set(capabilities).subtracting(now.capabilities).sorted() { result.append("no longer declares \(name)") }
    for size in Set(counts.keys).union(now.counts.keys).sorted() where counts[size] != now.counts[size] {
      result.append("\(now.counts[size] ?? 0) cases of size \(size) apply, expected \(counts[size] ?? 0)")
    }
    let (old, new) = (Self.ids(notApplicable), Self.ids(now.notApplicable))
    for id in new.subtracting(old).sorted() { result.append("\(id) does not apply any more") }
    for id in old.subtracting(new).sorted() { result.append("\(id) applies now, or is gone") }
    return result
  }

  private static func ids(_ lists: [String: [String]]) -> Set<String> { Set(lists.values.joined()) }
}
