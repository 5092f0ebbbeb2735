import StoreSchema

/// Pieces of JSON text in the canonical form: no spaces, members sorted by the bytes of their names, nothing escaped that
/// need not be.
enum JSONText {
  static func string(_ text: some StringProtocol) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\u{8}": result += "\\b"
      case "\u{c}": result += "\\f"
      case "\u{0}"..."\u{1f}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// A double as the shortest digits that read back equal, with a fraction, or with an exponent from 1e16 on and below 1e-4.
  static func number(_ value: Double) -> String {
    if value.isInfinite { return object(["$double": string(value < 0 ? "-inf" : "inf")]) }
    // Swift begins with exponents at 2^53. What is greater has no fraction.
    if value.magnitude > 0x1p53, value.magnitude < 1e16 { return "\(Int64(value)).0" }
    return value.description
  }

  /// Members in the order of their names.
  static func object(_ members: [String: String]) -> String {
    ordered(members.sorted { UTF8Order.isLess($0.key, $1.key) })
  }

  /// Members as they come.
  static func ordered(_ members: [(key: String, value: String)]) -> String {
    "{" + members.map { "\(string($0.key)):\($0.value)" }.joined(separator: ",") + "}"
  }

  static func array(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }

  static func optional(_ text: String?) -> String { text.map(string) ?? "null" }
}
