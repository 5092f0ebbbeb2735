import StoreSchema

extension FormatPrinter {
  static func precedence(of expression: Expression) -> Precedence {
    switch expression {
    case .literal(let literal): self.literal(of: literal.value).hasPrefix("-") ? .unary : .primary
    case .assignment: .assignment
    case .set: .set
    case .keyPathOf: .postfix
    case .function(let selector, let arguments, target: nil):
      functionPrecedence(selector, argumentCount: arguments.count)
    default: .primary
    }
  }

  private static func functionPrecedence(_ selector: String, argumentCount: Int) -> Precedence {
    switch (selector, argumentCount) {
    case ("negate:", 1), ("onesComplement:", 1): .unary
    case ("objectFrom:withIndex:", 2): .postfix
    case (_, 2): Infix.functionSigns[selector]?.precedence ?? .primary
    default: .primary
    }
  }

  static func pieces(of expression: Expression) -> [Piece] {
    switch expression {
    case .literal(let literal): [.text(self.literal(of: literal.value))]
    case .nullObject: [.text("<null>")]
    case .object(let object): [.text("\(object)")]
    case .evaluatedObject: [.text("SELF")]
    case .variable(let name): [.text("$" + variable(name))]
    case .keyPath(let path): [.text(keyPath(path))]
    case .anyKey: [.text("ANYKEY")]
    case .keyPathOf(let base, let path): keyPath(of: base, path)
    case .function(let selector, let arguments, let target): function(selector, arguments, target)
    case .set(let operation, let left, let right):
      [.expression(left, .set), .text(" \(operation.rawValue) "), .expression(right, .bitOr)]
    case .assignment(let name, let value): [.text("$\(variable(name)) := "), .expression(value, .assignment)]
    default: call(expression)
    }
  }

  /// Expressions that are written as a word and a list.
  private static func call(_ expression: Expression) -> [Piece] {
    switch expression {
    case .aggregate(let elements): list("{", elements.map { .expression($0, .lowest) }, "}")
    case .subquery(let collection, let name, let predicate):
      list(
        "SUBQUERY(", [.expression(collection, .lowest), .text("$" + variable(name)), .predicate(predicate, .lowest)])
    case .conditional(let predicate, let yes, let no):
      list("TERNARY(", [.predicate(predicate, .lowest), .expression(yes, .lowest), .expression(no, .lowest)])
    case .fetch(let request, let context, let countOnly):
      list(
        "FETCH(",
        [.expression(request, .lowest), .expression(context, .lowest), .text(countOnly ? "YES" : "NO")])
    case .cast(let value, let type):
      list("CAST(", [.expression(value, .lowest), .text(quoted(type))])
    default: []
    }
  }

  private static func list(_ open: String, _ pieces: [Piece], _ close: String = ")") -> [Piece] {
    [.text(open)] + joined(pieces, by: ", ") + [.text(close)]
  }

  private static func keyPath(of base: Expression, _ path: String) -> [Piece] {
    // A key after the digits of a number would be parsed as its fraction.
    let isNumber = base.literal.map { literal(of: $0).first?.isNumber ?? false } ?? false
    let pieces: [Piece] = [.expression(base, .postfix)]
    return (isNumber ? [.text("(")] + pieces + [.text(")")] : pieces) + [.text("." + keyPath(path))]
  }

  // MARK: Functions

  private static func function(_ selector: String, _ arguments: [Expression], _ target: Expression?) -> [Piece] {
    let list = arguments.map { Piece.expression($0, .lowest) }
    if let target {
      // Apple's framework prints a space here.
      let name = quoted(selector) + (list.isEmpty ? "" : " ")
      return self.list("FUNCTION(", [.expression(target, .lowest), .text(name)] + list)
    }
    return operation(selector, arguments) ?? self.list(FunctionName.callName(selector) + "(", list)
  }

  /// The function as an operator; nil where it has none.
  private static func operation(_ selector: String, _ arguments: [Expression]) -> [Piece]? {
    switch (selector, arguments.count) {
    case ("negate:", 1): negation(of: arguments[0])
    case ("onesComplement:", 1): [.text("~"), .expression(arguments[0], .unary)]
    case ("objectFrom:withIndex:", 2): element(of: arguments[0], at: arguments[1])
    case (_, 2): infix(selector, arguments[0], arguments[1])
    default: nil
    }
  }

  /// A number after the sign is put in parentheses; otherwise the sign would become part of the number.
  private static func negation(of operand: Expression) -> [Piece] {
    if case .literal = operand { return [.text("-("), .expression(operand, .lowest), .text(")")] }
    return [.text("-"), .expression(operand, .unary)]
  }

  private static func element(of base: Expression, at index: Expression) -> [Piece] {
    let symbol = Expression.indexSymbols.first { $0.value == index }?.key
    return [
      .expression(base, .postfix), .text("["), symbol.map(Piece.text) ?? .expression(index, .lowest), .text("]"),
    ]
  }

  private static func infix(_ selector: String, _ left: Expression, _ right: Expression) -> [Piece]? {
    guard let (sign, precedence) = Infix.functionSigns[selector] else { return nil }
    let isPower = precedence == .power
    return [
      .expression(left, isPower ? .postfix : precedence), .text(" \(sign.rawValue) "),
      .expression(right, isPower ? .unary : precedence.next),
    ]
  }
}
