import PropertyLists
import StoreQuery
import StoreSchema

/// Archived expressions. The keys of NSFunctionExpression, NSKeyPathExpression, NSFetchRequestExpression and of the
/// simple ones were seen in files; those of aggregates, sets, subqueries, conditionals and assignments were not.
extension CompiledDecoding {
  mutating func optionalExpression(_ object: ArchivedObject?) throws(ModelFileError) -> Expression? {
    guard let object else { return nil }
    return try expression(object, depth: 0)
  }

  mutating func expression(_ object: ArchivedObject, depth: Int) throws(ModelFileError) -> Expression {
    try spend()
    guard depth < Self.depthLimit else { throw ModelFileError(.malformed, "an expression is nested too deeply") }
    switch object.className {
    case "NSConstantValueExpression": return try constant(object, depth: depth)
    case "NSSelfExpression": return .evaluatedObject
    case "NSVariableExpression": return .variable(try name(of: object, "NSVariable"))
    case "NSKeyPathSpecifierExpression": return .keyPath(try name(of: object, "NSKeyPath"))
    case "NSKeyPathExpression", "NSFunctionExpression": return try function(object, depth: depth)
    case "NSAggregateExpression": return .aggregate(try expressions(object["NSCollection"], depth: depth))
    case "NSSubqueryExpression":
      return .subquery(
        try side(object, "NSCollection", depth: depth), variable: try name(of: object, "NSVariable"),
        try condition(object, depth: depth))
    case "NSTernaryExpression":
      return .conditional(
        try condition(object, depth: depth), try side(object, "NSTrueExpression", depth: depth),
        try side(object, "NSFalseExpression", depth: depth))
    case "NSSetExpression": return try set(object, depth: depth)
    case "NSVariableAssignmentExpression":
      return .assignment(try name(of: object, "NSVariable"), try side(object, "NSSubexpression", depth: depth))
    case "NSAnyKeyExpression": return .anyKey
    case "NSFetchRequestExpression":
      return .fetch(
        try side(object, "NSFRExpression", depth: depth), context: try side(object, "NSMOCExpression", depth: depth),
        countOnly: object["NSCountOnlyFlag"]?.bool ?? false)
    default: throw ModelFileError(.unsupported, "an expression is of the class \(object.className ?? "none")")
    }
  }

  private mutating func condition(_ object: ArchivedObject, depth: Int) throws(ModelFileError) -> Predicate {
    guard let predicate = object["NSPredicate"] else {
      throw ModelFileError(.malformed, "an \(object.className ?? "object") has no predicate")
    }
    return try self.predicate(predicate, depth: depth + 1)
  }

  private mutating func set(_ object: ArchivedObject, depth: Int) throws(ModelFileError) -> Expression {
    let operations: [Int64: Expression.SetOperation] = [5: .union, 6: .intersect, 7: .minus]
    guard let operation = object["NSExpressionType"]?.integer.flatMap({ operations[$0] }) else {
      throw ModelFileError(.unsupported, "a set expression is of an unknown type")
    }
    return .set(
      operation, try side(object, "NSLeftExpression", depth: depth),
      try side(object, "NSRightExpression", depth: depth))
  }

  private mutating func expressions(_ list: ArchivedObject?, depth: Int) throws(ModelFileError) -> [Expression] {
    var result: [Expression] = []
    for element in list?.array ?? [] { result.append(try expression(element, depth: depth + 1)) }
    return result
  }

  private mutating func constant(_ object: ArchivedObject, depth: Int) throws(ModelFileError) -> Expression {
    if let className = object["NSConstantValueClassName"]?.string { return .constant(.string(className)) }
    guard let value = object["NSConstantValue"] else { return .constant(.null) }
    if let constant = CompiledValue.constant(value) { return value.isNullObject ? .nullObject : .constant(constant) }
    guard depth < Self.depthLimit, let elements = value.array else {
      throw ModelFileError(.unsupported, "a constant is of the class \(value.className ?? "none")")
    }
    var constants: [Expression] = []
    for element in elements {
      try spend()
      guard let constant = CompiledValue.constant(element) else {
        throw ModelFileError(.unsupported, "a constant list holds a \(element.className ?? "list")")
      }
      constants.append(element.isNullObject ? .nullObject : .constant(constant))
    }
    return .aggregate(constants)
  }

  /// Key paths are archived as calls of `valueForKey:`, casts as calls of `castObject:toType:`.
  private mutating func function(_ object: ArchivedObject, depth: Int) throws(ModelFileError) -> Expression {
    let selector = try name(of: object, "NSSelectorName")
    let operand = object["NSOperand"]
    let arguments = object["NSArguments"]?.array ?? []
    if selector == "valueForKey:" || selector == "valueForKeyPath:", arguments.count == 1,
      let path = keyPath(arguments[0])
    {
      guard let operand, operand.className != "NSSelfExpression" else { return .keyPath(path) }
      return .keyPathOf(try expression(operand, depth: depth + 1), path)
    }
    var converted: [Expression] = []
    for argument in arguments { converted.append(try expression(argument, depth: depth + 1)) }
    // The class that implements the built-in functions.
    if operand == nil || operand?["NSConstantValueClassName"]?.string == "_NSPredicateUtilities" {
      if selector == "castObject:toType:", converted.count == 2, case .string(let type) = converted[1].literal {
        return .cast(converted[0], type)
      }
      return .function(selector, converted, target: nil)
    }
    return .function(selector, converted, target: try optionalTarget(operand, depth: depth))
  }

  private mutating func optionalTarget(
    _ operand: ArchivedObject?, depth: Int
  ) throws(ModelFileError) -> Expression? {
    guard let operand else { return nil }
    return try expression(operand, depth: depth + 1)
  }

  private func keyPath(_ argument: ArchivedObject) -> String? {
    argument["NSKeyPath"]?.string
      ?? (argument.className == "NSConstantValueExpression" ? argument["NSConstantValue"]?.string : nil)
  }
}
