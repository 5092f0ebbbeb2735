import CSQLiteRaw
import Foundation

/// Results for readers and for programs.
enum Report {
  static func writeJSON(_ results: [WorkloadResult], to target: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let data = try encoder.encode(results) + Data("\n".utf8)
    if target == "-" {
      FileHandle.standardOutput.write(data)
    } else {
      try data.write(to: URL(fileURLWithPath: target))
    }
  }

  static func head(_ options: Options) -> String {
    let size = "\(options.employees) employees, median of \(options.rounds) rounds, "
    if options.store == "InMemory" { return size + "InMemory, beside the SQLite store of the library\n" }
    if options.store != "SQLite" { return size + "\(options.store), durable at every save on both sides\n" }
    let version = String(cString: sqlite3_libversion())
    return size + "SQLite \(version), synchronous = \(options.synchronous) on both sides\n"
  }

  static func table(_ results: [WorkloadResult]) -> String {
    let heads = [
      "", "figure", "goal", "", "best ratio", "CPU ms raw", "library", "wall ms raw", "library", "MB written raw",
      "library",
      "fsyncs raw", "library", "peak MB raw", "library", "checksums",
    ]
    let rows = [heads] + results.map(row)
    let widths = heads.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      zip(row, widths).enumerated().map { column, cell in
        let padding = String(repeating: " ", count: cell.1 - cell.0.count)
        return column == 0 ? cell.0 + padding : padding + cell.0
      }.joined(separator: "  ") + "\n"
    }.joined()
  }

  private static func row(_ result: WorkloadResult) -> [String] {
    var cells = [result.workload.rawValue, figure(result), goal(result), result.isMet.map { $0 ? "ok" : "MISS" } ?? ""]
    cells.append(result.bestRatio.map(number) ?? "–")
    func pair(_ text: (Measurement) -> String) { cells += [result.raw, result.library].map { $0.map(text) ?? "–" } }
    pair { number($0.cpu * 1000) }
    pair { number($0.wall * 1000) }
    pair { number(Double($0.bytesWritten) / 1e6) }
    pair { String($0.fsyncs) }
    pair { number(Double($0.peak) / 1e6) }
    cells.append(result.checksumEqual.map { $0 ? "equal" : "DIFFER" } ?? "–")
    return cells
  }

  private static func figure(_ result: WorkloadResult) -> String {
    guard let value = result.value else {
      // Without the library the raw side's own figure is still worth showing.
      return result.raw?.value.map { "raw " + number($0) + unit(result.figure) } ?? "–"
    }
    return number(value) + unit(result.figure)
  }

  private static func goal(_ result: WorkloadResult) -> String { "≤ " + number(result.goal) + unit(result.figure) }

  private static func unit(_ figure: Workload.Figure) -> String {
    switch figure {
    case .ratio: ""
    case .wallRatio: " wall"
    case .milliseconds: " ms"
    case .bytes: " B"
    case .share: "×"
    }
  }

  private static func number(_ value: Double) -> String { String(format: value < 100 ? "%.2f" : "%.0f", value) }
}
