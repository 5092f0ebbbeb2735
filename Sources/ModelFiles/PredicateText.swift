import StoreQuery

/// The format texts of source models.
enum PredicateText {
  /// The error of a text that is no predicate does not name the element that has it.
  static func predicate(_ format: String) throws(ModelFileError) -> Predicate {
    do {
      return try Predicate(format: format)
    } catch {
      throw ModelFileError(.malformed, "the predicate \(format) cannot be read: \(error.message)")
    }
  }

  /// The expression of a derived attribute. Apple's compiler turns `x.@count` into `count:(x)`, which means the same.
  static func derivation(_ format: String) throws(ModelFileError) -> Expression {
    let expression: Expression
    do {
      expression = try Expression(format: format)
    } catch {
      throw ModelFileError(.malformed, "the expression \(format) cannot be read: \(error.message)")
    }
    guard case .keyPath(let path) = expression, path.hasSuffix(".@count") else { return expression }
    return .function("count:", [.keyPath(String(path.dropLast(7)))], target: nil)
  }

  /// The text of a derivation expression, in the form that Xcode's users write: `x.@count`, and `canonical:(x)`.
  static func text(ofDerivation expression: Expression) -> String {
    guard case .function(let name, let arguments, nil) = expression, arguments.count == 1, name.hasSuffix(":") else {
      return expression.format
    }
    if name == "count:", case .keyPath(let path) = arguments[0] { return path + ".@count" }
    return "\(name)(\(arguments[0].format))"
  }
}
