/// Words that Swift reserves.
enum Keywords {
  /// Those that cannot be the name of a property without backticks
  /// ([Lexical Structure](https://docs.swift.org/swift-book/documentation/the-swift-programming-language/lexicalstructure/)).
  static let reserved: Set<String> = [
    "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import",
    "init", "inout", "internal", "let", "operator", "precedencegroup", "private", "protocol",
    "public", "rethrows", "static", "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue",
    "default", "defer", "do", "else", "fallthrough", "for", "guard", "if", "in", "repeat", "return", "switch", "throw",
    "where", "while", "Any", "as", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try",
  ]

  /// Whether a name can be that of a property or a class. Swift allows more letters than are checked here.
  static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.first, first.isLetter || first == "_", name != "_" else { return false }
    return name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
  }

  /// Whether a class can have the name only in backticks.
  static func isReservedType(_ name: String) -> Bool { reserved.contains(name) || name == "any" || name == "some" }

  /// The name of a property as an identifier, in backticks where it is reserved; so are `Type` and `Protocol`, because
  /// `Person.Type` means something else.
  static func quoted(_ name: String) -> String {
    reserved.contains(name) || ["Type", "Protocol"].contains(name) ? "`\(name)`" : name
  }

  /// The name of a class as an identifier, in backticks where it is reserved.
  static func quotedType(_ name: String) -> String { isReservedType(name) ? "`\(name)`" : name }
}
