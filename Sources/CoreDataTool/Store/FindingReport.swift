import Foundation
import StoreProtocol
import StoreSupport

/// Writes findings, one on each line.
final class FindingReport {
  private let output: Output
  private let isJSON: Bool
  private(set) var count = 0

  init(_ output: Output, isJSON: Bool) {
    self.output = output
    self.isJSON = isJSON
  }

  func add(_ finding: StoreFinding) {
    count += 1
    if isJSON { return output.line(json(finding)) }
    let location = [
      finding.entity.map { $0 + (finding.key.map { "/p\($0)" } ?? "") }, finding.property,
    ].compactMap { $0 }.joined(separator: " ")
    let kind = Terminal.styled(finding.kind.rawValue, .strong, on: .standardOutput)
    output.line("\(kind): \(Terminal.harmless((location.isEmpty ? "" : location + ": ") + finding.text))")
  }

  private func json(_ finding: StoreFinding) -> String {
    JSONText.ordered([
      ("kind", JSONText.string(finding.kind.rawValue)), ("entity", JSONText.optional(finding.entity)),
      ("key", finding.key.map(String.init) ?? "null"), ("property", JSONText.optional(finding.property)),
      ("text", JSONText.string(finding.text)),
    ])
  }

  /// Writes the number of findings, with the noun for one and for several.
  func end(_ one: String, _ several: String) {
    if !isJSON { output.line(count == 0 ? "No \(several)." : "\(count) \(count == 1 ? one : several).") }
  }
}
