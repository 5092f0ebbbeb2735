import StoreSchema

/// Functions of one string. Any other operand gives null.
extension Function {
  static let texts = [
    // The text in upper and in lower case, independent of the locale.
    text("uppercase:", gives: .text) { .string($0.uppercased()) },
    text("lowercase:", gives: .text) { .string($0.lowercased()) },
    // The text without case and diacritics, as `[cd]` compares it.
    text("canonical:", gives: .text) { .string(Folding([.caseInsensitive, .diacriticInsensitive]).folded($0)) },
    // The number of UTF-16 code units, as `NSString.length`.
    text("length:", gives: .number) { .int(Int64($0.utf16.count)) },
  ]

  private static func text(
    _ selector: String, gives type: ValueType, _ kernel: @escaping @Sendable (String) -> Value
  ) -> Function {
    Function(
      selector, [.text], gives: .always(type),
      .values { if case .string(let text) = $0[0] { kernel(text) } else { .null } })
  }
}
