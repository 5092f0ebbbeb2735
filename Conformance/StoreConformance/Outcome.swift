import Foundation
import StoreProtocol

/// The outcome of a case.
public enum Outcome: Sendable, Hashable {
  /// Everything was as expected.
  case passed
  /// Something was not as expected.
  case failed(Failure)
  /// The store is exempt: it does not declare required capabilities, or it declares capabilities that must be absent.
  case notApplicable(String)
  /// It failed as the expectations say, for the reason given there.
  case knownFailure(String)
  /// It passed, and the expectations say that it fails.
  case unexpectedPass(String)
  /// Its process ended by a signal.
  case crashed(signal: Int32)
  /// It took longer than a case may.
  case timedOut
  /// The harness or the runner failed.
  case harnessError(String)

  /// The name in reports.
  public var name: String {
    switch self {
    case .passed: "passed"
    case .failed: "failed"
    case .notApplicable: "notApplicable"
    case .knownFailure: "knownFailure"
    case .unexpectedPass: "unexpectedPass"
    case .crashed: "crashed"
    case .timedOut: "timedOut"
    case .harnessError: "harnessError"
    }
  }

  /// The reason of the outcome, nil where the name says everything.
  public var reason: String? {
    switch self {
    case .passed, .timedOut: nil
    case .failed(let failure): failure.description
    case .notApplicable(let text), .knownFailure(let text), .unexpectedPass(let text), .harnessError(let text): text
    case .crashed(let signal): "signal \(signal)"
    }
  }

  /// Whether the outcome counts against the store.
  public var isBad: Bool {
    switch self {
    case .failed, .crashed, .timedOut: true
    default: false
    }
  }
}

/// Why a case failed: every unexpected result, each with its labels.
public struct Failure: Error, Sendable, Hashable, Codable, CustomStringConvertible {
  /// The unexpected results.
  public var problems: [Problem]

  /// A failure with several problems.
  public init(_ problems: [Problem]) { self.problems = problems }

  /// A failure with one problem.
  public init(_ text: String, labels: [String] = []) { problems = [Problem(text: text, labels: labels)] }

  /// One unexpected result.
  public struct Problem: Sendable, Hashable, Codable {
    /// The result that was found, and the expected one.
    public var text: String
    /// The labels of the case's current step, outermost first.
    public var labels: [String]

    /// A problem with the labels of the step.
    public init(text: String, labels: [String]) {
      self.text = text
      self.labels = labels
    }
  }

  public var description: String {
    problems.map { ($0.labels + [$0.text]).joined(separator: " > ") }.joined(separator: "; ")
  }
}

/// An outcome as reports have it: its name and its reason.
extension Outcome: Codable {
  private enum Key: String, CodingKey { case name, reason, signal, problems }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    switch self {
    case .failed(let failure): try container.encode(failure.problems, forKey: .problems)
    case .crashed(let signal): try container.encode(signal, forKey: .signal)
    default: try container.encodeIfPresent(reason, forKey: .reason)
    }
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let reason = try container.decodeIfPresent(String.self, forKey: .reason) ?? ""
    switch try container.decode(String.self, forKey: .name) {
    case "passed": self = .passed
    case "failed": self = .failed(Failure(try container.decode([Failure.Problem].self, forKey: .problems)))
    case "notApplicable": self = .notApplicable(reason)
    case "knownFailure": self = .knownFailure(reason)
    case "unexpectedPass": self = .unexpectedPass(reason)
    case "crashed": self = .crashed(signal: try container.decode(Int32.self, forKey: .signal))
    case "timedOut": self = .timedOut
    case "harnessError": self = .harnessError(reason)
    case let name:
      throw DecodingError.dataCorruptedError(forKey: .name, in: container, debugDescription: "no outcome “\(name)”")
    }
  }
}

/// Ends a case that cannot go on; the problem is recorded already.
struct CaseEnded: Error {}
