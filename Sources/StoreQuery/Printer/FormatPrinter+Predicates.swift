extension FormatPrinter {
  /// The member of a compound with one member; else the predicate itself.
  static func essence(of predicate: Predicate) -> Predicate {
    var predicate = predicate
    while true {
      switch predicate {
      case .and(let members) where members.count == 1, .or(let members) where members.count == 1:
        predicate = members[0]
      default: return predicate
      }
    }
  }

  static func precedence(of predicate: Predicate) -> Precedence {
    switch predicate {
    case .value, .variable: .primary
    case .comparison: .comparison
    case .and(let members): members.isEmpty ? .primary : .and
    case .or(let members): members.isEmpty ? .primary : .or
    case .not: .not
    }
  }

  static func pieces(of predicate: Predicate) -> [Piece] {
    switch predicate {
    case .value(let value): [.text(value ? "TRUEPREDICATE" : "FALSEPREDICATE")]
    case .variable(let name): [.text("$" + variable(name))]
    case .not(let negated): [.text("NOT "), .predicate(negated, .not)]
    case .and(let members): compound(members, " AND ", empty: true)
    case .or(let members): compound(members, " OR ", empty: false)
    case .comparison(let comparison): pieces(of: comparison)
    }
  }

  /// An empty conjunction is true, an empty disjunction false. Compounds in compounds always have parentheses, as
  /// Apple's framework prints them.
  private static func compound(_ members: [Predicate], _ separator: String, empty: Bool) -> [Piece] {
    members.isEmpty ? pieces(of: .value(empty)) : joined(members.map { .predicate($0, .comparison) }, by: separator)
  }

  private static func pieces(of comparison: Predicate.Comparison) -> [Piece] {
    let modifier =
      switch comparison.modifier {
      case .direct: ""
      case .any: "ANY "
      case .all: "ALL "
      }
    return [
      .text(modifier), .expression(comparison.left, .set),
      .text(" " + comparison.op.format + comparison.options.format + " "), .expression(comparison.right, .set),
    ]
  }
}

extension Predicate.Operator {
  /// The operator as it is printed. `customSelector` has no spelling in the format language.
  var format: String {
    switch self {
    case .lessThan: "<"
    case .lessThanOrEqualTo: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqualTo: ">="
    case .equalTo: "=="
    case .notEqualTo: "!="
    case .matches: "MATCHES"
    case .like: "LIKE"
    case .beginsWith: "BEGINSWITH"
    case .endsWith: "ENDSWITH"
    case .in: "IN"
    case .contains: "CONTAINS"
    case .between: "BETWEEN"
    case .customSelector: "CUSTOMSELECTOR"
    }
  }
}

extension Predicate.Options {
  /// The options in brackets; empty for none.
  var format: String {
    let letters = "cdnl".unicodeScalars.filter { Self(letter: $0).map(contains) ?? false }
    return letters.isEmpty ? "" : "[" + letters.map(String.init).joined() + "]"
  }
}
