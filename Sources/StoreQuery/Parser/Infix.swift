/// The precedence of operators, loosest first. The parser and the printer share these levels.
enum Precedence: Int, Comparable {
  case or, and, not, comparison
  case assignment, set, bitOr, bitXor, bitAnd, shift, additive, multiplicative, unary, power
  /// Key paths and indexes.
  case postfix
  case primary

  static let lowest = Precedence.or

  /// The next tighter level.
  var next: Precedence { Precedence(rawValue: rawValue + 1) ?? .primary }

  static func < (a: Precedence, b: Precedence) -> Bool { a.rawValue < b.rawValue }
}

/// An operator between two operands.
enum Infix: Equatable {
  case or, and, assignment
  case comparison(Predicate.Operator)
  case set(Expression.SetOperation)
  /// An operator that is a short form of a function of two arguments.
  case function(String, Precedence)

  /// The operator of a token; nil if it is none.
  init?(_ token: Token) {
    let infix: Infix? =
      if case .sign(let sign) = token.kind { Self.bySign[sign] } else { token.keyword.flatMap { Self.byKeyword[$0] } }
    guard let infix else { return nil }
    self = infix
  }

  var precedence: Precedence {
    switch self {
    case .or: .or
    case .and: .and
    case .comparison: .comparison
    case .assignment: .assignment
    case .set: .set
    case .function(_, let precedence): precedence
    }
  }

  /// The loosest operator that may be part of the operand on its right. Powers and assignments are right-associative,
  /// all other operators left-associative.
  var rightBinding: Precedence {
    switch precedence {
    case .power: .unary
    case .assignment: .assignment
    default: precedence.next
    }
  }

  /// Whether `a op b op c` is one node of three.
  var isChain: Bool { self == .and || self == .or }

  private static let bySign: [Token.Sign: Infix] = [
    .or: .or, .and: .and, .assign: .assignment,
    .equal: .comparison(.equalTo), .doubleEqual: .comparison(.equalTo),
    .notEqual: .comparison(.notEqualTo), .lessGreater: .comparison(.notEqualTo),
    .less: .comparison(.lessThan), .greater: .comparison(.greaterThan),
    .lessEqual: .comparison(.lessThanOrEqualTo), .equalLess: .comparison(.lessThanOrEqualTo),
    .greaterEqual: .comparison(.greaterThanOrEqualTo), .equalGreater: .comparison(.greaterThanOrEqualTo),
    .modulus: .function("modulus:by:", .multiplicative),
  ].merging(functionSigns.map { ($0.value.sign, .function($0.key, $0.value.precedence)) }) { first, _ in first }

  private static let byKeyword: [String: Infix] = [
    "OR": .or, "AND": .and, "BETWEEN": .comparison(.between), "IN": .comparison(.in),
    "CONTAINS": .comparison(.contains), "BEGINSWITH": .comparison(.beginsWith), "ENDSWITH": .comparison(.endsWith),
    "LIKE": .comparison(.like), "MATCHES": .comparison(.matches),
    "UNION": .set(.union), "INTERSECT": .set(.intersect), "MINUS": .set(.minus),
  ]

  /// The functions with an operator sign, by selector. (`%%` is parsed as `modulus:by:`, which prints as a call.)
  static let functionSigns: [String: (sign: Token.Sign, precedence: Precedence)] = [
    "add:to:": (.plus, .additive), "from:subtract:": (.minus, .additive),
    "multiply:by:": (.times, .multiplicative), "divide:by:": (.divide, .multiplicative),
    "raise:toPower:": (.power, .power),
    "bitwiseAnd:with:": (.bitAnd, .bitAnd), "bitwiseOr:with:": (.bitOr, .bitOr),
    "bitwiseXor:with:": (.bitXor, .bitXor), "leftshift:by:": (.shiftLeft, .shift),
    "rightshift:by:": (.shiftRight, .shift),
  ]
}

extension Predicate.Options {
  /// The option of a letter in brackets, in either case.
  init?(letter: Unicode.Scalar) {
    switch letter {
    case "c", "C": self = .caseInsensitive
    case "d", "D": self = .diacriticInsensitive
    case "n", "N": self = .normalized
    case "l", "L": self = .localeSensitive
    default: return nil
    }
  }
}
