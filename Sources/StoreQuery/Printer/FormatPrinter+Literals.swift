import StoreSchema

extension FormatPrinter {
  /// The value as a literal, or as the cast that denotes it.
  static func literal(of value: Value) -> String {
    if let (literal, type) = TypedLiteral.form(of: value) { return "CAST(\(literal), \"\(type)\")" }
    return switch value {
    case .bool(let value): value ? "1" : "0"
    case .int(let value): "\(value)"
    case .double(let value): "\(value)"
    case .string(let value): quoted(value)
    default: "nil"
    }
  }

  /// The text in quotation marks, escaped.
  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars { result.unicodeScalars.append(contentsOf: escape(scalar).unicodeScalars) }
    return result + "\""
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\"", "\\": return "\\" + String(scalar)
    case "\n": return "\\n"
    case "\t": return "\\t"
    case "\r": return "\\r"
    default:
      guard scalar.value < 0x20 || scalar.value == 0x7F else { return String(scalar) }
      return "\\u" + String(0x10000 + scalar.value, radix: 16).dropFirst()
    }
  }

  // MARK: Names

  /// The keys, with `#` before reserved words and before keys that are not names.
  static func keyPath(_ path: String) -> String {
    path.split(separator: ".", omittingEmptySubsequences: false).map { key(String($0)) }.joined(separator: ".")
  }

  private static func key(_ key: String) -> String {
    if key.hasPrefix("@"), Lexer.isName(String(key.dropFirst())) { return key }
    guard Lexer.isName(key) else { return "#" + quoted(key) }
    return ReservedWords.contains(key) ? "#" + key : key
  }

  static func variable(_ name: String) -> String {
    Lexer.isName(name) ? name : "#" + quoted(name)
  }
}
