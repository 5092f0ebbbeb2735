import StoreConformance
import StoreProtocol

/// What stores declare, compared with what is required of them.
enum CapabilityTable {
  /// `yes` declared, `-` neither declared nor required, `missing` required and not declared, `more` declared and not
  /// required.
  static func text(_ harnesses: [any StoreHarness]) -> String {
    var rows = [["capability"] + harnesses.map(\.name)]
    for (name, capability) in Capabilities.named {
      rows.append([name] + harnesses.map { mark(capability, $0) })
    }
    let missing = harnesses.flatMap { harness in
      CapabilityFloor.missing(harness.backend).names.map { "missing: \(harness.name) \($0)" }
    }
    return ([TableWriter.table(rows)] + missing).joined(separator: "\n")
  }

  private static func mark(_ capability: Capabilities, _ harness: any StoreHarness) -> String {
    let declares = harness.backend.capabilities.contains(capability)
    guard let floor = CapabilityFloor.of(harness.backend) else { return declares ? "yes" : "-" }
    if declares { return floor.contains(capability) ? "yes" : "more" }
    return CapabilityFloor.missing(harness.backend).contains(capability) ? "missing" : "-"
  }
}
