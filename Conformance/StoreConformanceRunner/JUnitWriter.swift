import StoreConformance

/// A report as JUnit's XML: a suite for each store and profile.
struct JUnitWriter {
  private let report: Report

  init(_ report: Report) { self.report = report }

  var text: String {
    var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites>"]
    for backend in report.backends {
      for profile in Profile.allCases {
        let results = report.results.filter { $0.backend == backend && $0.profile == profile }
        if !results.isEmpty { lines += suite("\(backend) \(profile.rawValue)", profile, results) }
      }
    }
    return (lines + ["</testsuites>", ""]).joined(separator: "\n")
  }

  private func suite(_ name: String, _ profile: Profile, _ results: [CaseResult]) -> [String] {
    func count(_ test: (Outcome) -> Bool) -> Int { results.count { test($0.outcome) } }
    let skipped = count { if case .notApplicable = $0 { true } else { false } }
    let errors = count { if case .harnessError = $0 { true } else { false } }
    var lines = [
      "<testsuite name=\"\(Self.escape(name))\" tests=\"\(results.count)\" failures=\"\(count(\.isBad))\" "
        + "errors=\"\(errors)\" skipped=\"\(skipped)\" time=\"\(results.reduce(0) { $0 + $1.seconds })\">",
      "<properties><property name=\"seed\" value=\"\(results[0].seed)\"/>"
        + "<property name=\"profile\" value=\"\(profile.rawValue)\"/></properties>",
    ]
    lines += results.map(Self.testCase)
    return lines + ["</testsuite>"]
  }

  private static func testCase(_ result: CaseResult) -> String {
    let head =
      "<testcase classname=\"\(escape(result.id.area))\" name=\"\(escape(result.id.text))\" time=\"\(result.seconds)\""
    let reason = escape(result.outcome.reason ?? result.outcome.name)
    switch result.outcome {
    case .passed, .unexpectedPass: return head + "/>"
    case .notApplicable, .knownFailure: return head + "><skipped message=\"\(reason)\"/></testcase>"
    case .failed, .crashed, .timedOut:
      return head + "><failure type=\"\(result.outcome.name)\" message=\"\(reason)\"/></testcase>"
    case .harnessError: return head + "><error message=\"\(reason)\"/></testcase>"
    }
  }

  /// Text for an attribute: what XML cannot say becomes a replacement character.
  static func escape(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\t", "\n", "\r": result += " "
      case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
