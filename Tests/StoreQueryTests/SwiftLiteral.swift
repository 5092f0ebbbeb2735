/// Converts a Swift string literal to the format that it has at run time, as far as the literal determines it.
enum SwiftLiteral {
  /// The literal with its escapes resolved, and each interpolation replaced by sample text of its kind.
  static func format(_ literal: String) -> String {
    var result = ""
    var rest = Substring(literal)
    while let character = rest.popFirst() {
      guard character == "\\", let escaped = rest.popFirst() else {
        result.append(character)
        continue
      }
      guard escaped == "(" else {
        result.append(escaped)
        continue
      }
      // The corpus truncates an interpolation that contains a string; the rest is not a format.
      result += interpolation(&rest).map(stand) ?? "\\("
    }
    return result
  }

  /// The text up to the parenthesis that closes the interpolation; nil if it is not closed.
  private static func interpolation(_ rest: inout Substring) -> String? {
    var content = ""
    var depth = 1
    while let character = rest.popFirst() {
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      if depth == 0 { return content }
      content.append(character)
    }
    return nil
  }

  private static func stand(in interpolation: String) -> String {
    let name = interpolation.lowercased()
    if name.contains("operatorstring") { return "==" }
    if name.contains("predicate.predicateformat") || name.contains("conditions") || name.contains("clause") {
      return "TRUEPREDICATE"
    }
    if name == "false" || name == "0" { return interpolation }
    return "interpolated"
  }
}
