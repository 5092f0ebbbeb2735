/// One word, literal or sign of a format string.
struct Token {
  enum Kind: Equatable {
    /// A name that may be a keyword. A selector contains colons (`add:to:`).
    case identifier(String)
    /// A name after `#`, which is never a keyword.
    case escaped(String)
    /// A name after `@`, with the sign: a collection operator.
    case operatorKey(String)
    case variable(String)
    case number(String)
    case string(String)
    case substitution(Substitution)
    case sign(Sign)
    case end
  }

  /// The kinds of `%` substitution. Printf types differ only in the values that they accept.
  enum Substitution: Equatable {
    case object, keyPath, integer, real, text, pointer
  }

  /// The signs. The lexer takes the longest one that matches.
  enum Sign: String, CaseIterable {
    case equal = "=", doubleEqual = "==", notEqual = "!=", lessGreater = "<>"
    case less = "<", lessEqual = "<=", equalLess = "=<", greater = ">", greaterEqual = ">=", equalGreater = "=>"
    case and = "&&", or = "||", not = "!"
    case openParenthesis = "(", closeParenthesis = ")", openBrace = "{", closeBrace = "}"
    case openBracket = "[", closeBracket = "]", comma = ",", dot = "."
    case plus = "+", minus = "-", times = "*", divide = "/", power = "**", modulus = "%%"
    case bitAnd = "&", bitOr = "|", bitXor = "^", complement = "~", shiftLeft = "<<", shiftRight = ">>"
    case assign = ":="
  }

  var kind: Kind
  /// UTF-8 offsets of the token's first byte and of the byte after its last.
  var range: Range<Int>

  /// The name in capitals if this token may be a keyword.
  var keyword: String? {
    if case .identifier(let name) = kind { name.uppercased() } else { nil }
  }
}
