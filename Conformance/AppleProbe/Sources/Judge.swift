import Foundation

/// Compares a report with what happens elsewhere.
struct Judge {
  let report: Report
  /// What happened in each case on the platform that wrote the table.
  let expected: [String: String]

  /// The table has a line for each case: id, question and outcome, with tabs between.
  static func readTable(_ file: URL) throws -> [String: String] {
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropFirst()
    let cells = lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    return Dictionary(cells.filter { $0.count == 3 }.map { ($0[0], $0[2]) }, uniquingKeysWith: { first, _ in first })
  }

  static func table(_ cases: [CaseReport]) -> String {
    (["case\tquestion\there"] + cases.map { "\($0.id)\t\($0.question)\t\($0.outcome)" }).joined(separator: "\n") + "\n"
  }

  /// One text for each difference.
  var differences: [String] {
    var lines: [String] = []
    for model in report.models { lines += model.differences.map { "model \(model.name): \($0)" } }
    for store in report.stores {
      if let failure = store.failure { lines.append("store \(store.file): failed to \(failure)") }
      lines += store.differences.map { "store \(store.file): \($0)" }
    }
    var missing = Set(expected.keys)
    for result in report.cases {
      missing.remove(result.id)
      guard result.outcome != expected[result.id] else { continue }
      let note = result.note.map { "\n    note: \($0)" } ?? ""
      lines.append(
        """
        case \(result.id): \(result.question)
            there: \(result.outcome)
            here:  \(expected[result.id] ?? "not in the table")\(note)
        """)
    }
    return lines + missing.sorted().map { "case \($0): not in the report" }
  }

  var summary: String {
    let compared = report.stores.reduce(0) { $0 + $1.compared }
    return
      "\(report.models.count) models, \(report.stores.count) stores with \(compared) compared values, "
      + "\(report.cases.count) cases; "
      + "written on \(report.writer), checked on \(report.platform): \(differences.count) differences"
  }
}
