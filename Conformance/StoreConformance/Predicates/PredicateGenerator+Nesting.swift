import StoreSchema

/// Expressions within expressions.
extension PredicateGenerator {
  /// Compares two nested expressions, or one with its value for some object.
  mutating func nested(_ variable: Int, _ depth: Int) -> GeneratedPredicate? {
    _ = note("nested")
    let isText = random.below(4) == 0
    guard let left = isText ? text(variable, 2) : number(variable, 3, depth) else { return nil }
    if random.below(2) == 0, let right = isText ? text(variable, 1) : number(variable, 2, depth) {
      return .comparison(left, order(), right, options: "")
    }
    return compared(left, variable, or: isText ? .string(anyText()) : edge())
  }

  /// An expression for a number or a date, with at most `height` nested operators.
  private mutating func number(_ variable: Int, _ height: Int, _ depth: Int) -> GeneratedValue? {
    switch height > 0 ? random.below(10) : 0 {
    case 0, 1:
      let found = attribute(of: scopes[variable], where: { $0.isNumber || $0 == .date || $0 == .boolean })
      return found.map { .path(variable, $0.keys) }
    case 2: return .constant(random.below(2) == 0 ? edge() : .int(Int64(random.below(9)) - 4))
    case 3, 4, 5:
      guard let left = number(variable, height - 1, depth), let right = number(variable, height - 1, depth) else {
        return nil
      }
      return .arithmetic(left, note(one(["+", "-", "*", "/", "+", "-", "**", "&", "|", "^", "<<", ">>"])), right)
    case 6:
      let function = one(GeneratedFunction.all.filter { !$0.givesText })
      let operand = function.takesText ? text(variable, height - 1) : number(variable, height - 1, depth)
      return operand.map { .function(note(function.name), $0) }
    case 7:
      let isText = random.below(2) == 0
      let operand = isText ? text(variable, height - 1) : number(variable, height - 1, depth)
      return operand.map { .cast($0, one(["NSNumber", "NSDecimalNumber", "NSDate"])) }
    case 8:
      guard let yes = number(variable, height - 1, depth), let no = number(variable, height - 1, depth) else {
        return nil
      }
      return .ternary(predicate(depth: 0), yes, no)
    default: return summary(variable, depth) ?? number(variable, 0, depth)
    }
  }

  private mutating func text(_ variable: Int, _ height: Int) -> GeneratedValue? {
    switch height > 0 ? random.below(6) : 0 {
    case 0, 1: return attribute(of: scopes[variable], where: { $0 == .string }).map { .path(variable, $0.keys) }
    case 2:
      let function = one(GeneratedFunction.all.filter { $0.takesText && $0.givesText })
      return text(variable, height - 1).map { .function(note(function.name), $0) }
    case 3: return number(variable, height - 1, 0).map { .cast($0, "NSString") }
    case 4: return .constant(.string(anyText()))
    default:
      guard let yes = text(variable, height - 1), let no = text(variable, height - 1) else { return nil }
      return .ternary(predicate(depth: 0), yes, no)
    }
  }
}
