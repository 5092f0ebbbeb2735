import StoreSchema

/// Functions of one string. Whatever is no string gives null.
extension Function {
  static let texts = [
    // In upper and lower case, whatever the language.
    text("uppercase:", gives: .text) { .string($0.uppercased()) },
    text("lowercase:", gives: .text) { .string($0.lowercased()) },
    // Without case and diacritics, as `[cd]` compares.
    text("canonical:", gives: .text) { .string(Folding([.caseInsensitive, .diacriticInsensitive]).folded($0)) },
    // In UTF-16 code units, as `NSString.length`.
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
