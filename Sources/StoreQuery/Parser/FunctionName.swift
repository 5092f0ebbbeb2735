/// The names of functions in formats. A name without colons takes one argument (`sum`) or none (`now`), and some
/// functions of two arguments have a short name.
enum FunctionName {
  /// The selector that `name(…)` calls with that many arguments; nil if the name takes another number.
  static func selector(_ name: String, argumentCount: Int) -> String? {
    let colons = name.utf8.count { $0 == UInt8(ascii: ":") }
    if colons > 0 { return colons == argumentCount ? name : nil }
    switch argumentCount {
    case 0: return name
    case 1: return name + ":"
    case 2: return Function.selector(shortName: name)
    default: return nil
    }
  }

  /// The name to write before the parentheses so that ``selector(_:argumentCount:)`` returns the selector.
  static func callName(_ selector: String) -> String {
    let base = selector.dropLast()
    guard selector.hasSuffix(":"), !base.utf8.contains(UInt8(ascii: ":")), !base.isEmpty,
      !ReservedWords.contains(String(base))
    else { return selector }
    return String(base)
  }
}

/// The words that a key path may contain only after `#`, in any case: the reserved words of Apple's "Predicate Format
/// String Syntax", and the operators that it names elsewhere.
enum ReservedWords {
  private static let words: Set<String> = [
    "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES", "CONTAINS",
    "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST", "SIZE",
    "ANYKEY", "SUBQUERY", "FETCH", "CAST", "TRUEPREDICATE", "FALSEPREDICATE", "UNION", "INTERSECT", "MINUS",
    "FUNCTION", "TERNARY",
  ]

  static func contains(_ word: String) -> Bool { words.contains(word.uppercased()) }
}
