import Foundation
import StoreConformance

/// A report as a table for people.
struct TableWriter {
  private let report: Report
  private let cases: CaseList

  init(_ report: Report, _ cases: CaseList = CaseList()) { (self.report, self.cases) = (report, cases) }

  var text: String {
    [areas, profiles, levels, problems, exemptions, footer].filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  private func cell(_ results: [CaseResult]) -> String {
    results.isEmpty ? "-" : "\(results.count { $0.outcome == .passed })/\(results.count)"
  }

  /// Areas by stores.
  private var areas: String {
    let names = Set(report.executed.map(\.id.area)).sorted()
    let rows = names.map { area in
      [area]
        + report.backends.map { backend in cell(report.executed.filter { $0.backend == backend && $0.id.area == area })
        }
    }
    return Self.table([["area"] + report.backends] + rows)
  }

  /// Profiles by stores.
  private var profiles: String {
    let rows = Profile.allCases.map { profile in
      [profile.rawValue]
        + report.backends.map { backend in
          cell(report.executed.filter { $0.backend == backend && $0.profile == profile })
        }
    }
    return Self.table([["profile"] + report.backends] + rows)
  }

  private var levels: String {
    report.backends.map { backend in
      let steps = Level.allCases.map { level in
        let results = report.executed.filter {
          $0.backend == backend && cases.find($0.id.text)?.level == level
        }
        let mark = results.isEmpty ? "-" : results.allSatisfy { $0.outcome == .passed } ? "yes" : "no"
        return "\(level.rawValue) \(mark)"
      }
      return "\(backend): " + steps.joined(separator: ", ")
    }.joined(separator: "\n")
  }

  private var problems: String {
    report.results.compactMap { result in
      switch result.outcome {
      case .passed, .notApplicable: nil
      case .knownFailure(let reason):
        "known failure: \(result.backend) \(result.profile.rawValue) \(result.id.text): \(reason)"
      default:
        "\(result.outcome.name): \(result.backend) \(result.profile.rawValue) \(result.id.text): "
          + "\(result.outcome.reason ?? "")\n  \(result.replayCommand)"
      }
    }.joined(separator: "\n")
  }

  /// How many cases do not apply, by store and reason.
  private var exemptions: String {
    var counts: [String: Int] = [:]
    for result in report.results {
      if case .notApplicable(let reason) = result.outcome { counts["\(result.backend) \(reason)", default: 0] += 1 }
    }
    return counts.sorted { $0.key < $1.key }.map { "not applicable: \($0.key): \($0.value)" }.joined(separator: "\n")
  }

  private var footer: String {
    let passed = report.executed.count { $0.outcome == .passed }
    return "\(passed) of \(report.executed.count) passed in \(String(format: "%.1f", report.seconds)) s; "
      + "\(report.notYet.count) rows of the specification are no cases yet"
  }

  /// Columns padded to the same width.
  static func table(_ rows: [[String]]) -> String {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
    return rows.map { row in
      zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined(separator: "  ")
        .trimmingCharacters(in: .whitespaces)
    }.joined(separator: "\n")
  }
}
