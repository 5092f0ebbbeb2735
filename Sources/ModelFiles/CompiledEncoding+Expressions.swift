import PropertyLists
import StoreQuery
import StoreSchema

/// Expressions as NSExpression archives them; the reverse of `CompiledDecoding.expression(_:depth:)`.
extension CompiledEncoding {
  mutating func encode(_ expression: Expression, depth: Int) throws(ModelFileError) -> Reference {
    guard depth < Self.depthLimit else { throw ModelFileError(.unsupported, "an expression is nested too deeply") }
    switch expression {
    case .literal(let literal):
      guard let constant = CompiledValue.reference(to: literal.value, in: &writer) else {
        throw ModelFileError(.unsupported, "a constant is a reference to an object")
      }
      return add("NSConstantValueExpression", 0, ["NSConstantValue": constant.value])
    case .nullObject:
      return add("NSConstantValueExpression", 0, ["NSConstantValue": writer.addNullObject().value])
    case .object: throw ModelFileError(.unsupported, "a constant is an object")
    case .evaluatedObject: return add("NSSelfExpression", 1, [:])
    case .variable(let name): return add("NSVariableExpression", 2, ["NSVariable": string(name)])
    case .keyPath(let path): return keyPath(path, of: add("NSSelfExpression", 1, [:]), type: 3)
    case .keyPathOf(let base, let path): return keyPath(path, of: try encode(base, depth: depth + 1), type: 4)
    case .function(let selector, let arguments, let target):
      return try function(selector, arguments, target: target, depth: depth)
    case .aggregate(let elements):
      let list = try encode(elements, depth: depth)
      return add("NSAggregateExpression", 14, ["NSCollection": list.value])
    case .set(let operation, let left, let right):
      let types: [Expression.SetOperation: Int64] = [.union: 5, .intersect: 6, .minus: 7]
      return add(
        "NSSetExpression", types[operation] ?? 5,
        [
          "NSLeftExpression": try encode(left, depth: depth + 1).value,
          "NSRightExpression": try encode(right, depth: depth + 1).value,
        ])
    case .cast(let value, let type):
      return try function("castObject:toType:", [value, .constant(.string(type))], target: nil, depth: depth)
    case .subquery, .conditional, .assignment, .anyKey, .fetch:
      return try encodeRare(expression, depth: depth)
    }
  }

  private mutating func encodeRare(_ expression: Expression, depth: Int) throws(ModelFileError) -> Reference {
    switch expression {
    case .subquery(let collection, let variable, let condition):
      return add(
        "NSSubqueryExpression", 13,
        [
          "NSCollection": try encode(collection, depth: depth + 1).value, "NSVariable": string(variable),
          "NSPredicate": try encode(condition, depth: depth + 1).value,
        ])
    case .conditional(let condition, let yes, let no):
      return add(
        "NSTernaryExpression", 20,
        [
          "NSPredicate": try encode(condition, depth: depth + 1).value,
          "NSTrueExpression": try encode(yes, depth: depth + 1).value,
          "NSFalseExpression": try encode(no, depth: depth + 1).value,
        ])
    case .assignment(let variable, let value):
      return add(
        "NSVariableAssignmentExpression", 9,
        ["NSVariable": string(variable), "NSSubexpression": try encode(value, depth: depth + 1).value])
    case .fetch(let request, let context, let countOnly):
      return add(
        "NSFetchRequestExpression", 50,
        [
          "NSFRExpression": try encode(request, depth: depth + 1).value,
          "NSMOCExpression": try encode(context, depth: depth + 1).value, "NSCountOnlyFlag": .bool(countOnly),
        ])
    default: return add("NSAnyKeyExpression", 15, [:])
    }
  }

  private mutating func add(
    _ className: String, _ type: Int64, _ values: [String: PropertyList]
  ) -> Reference {
    var fields = values
    fields["NSExpressionType"] = .integer(type)
    let superclass = className == "NSKeyPathExpression" ? ["NSFunctionExpression"] : []
    return writer.add(classes: [className] + superclass + ["NSExpression", "NSObject"], values: fields)
  }

  private mutating func encode(
    _ expressions: [Expression], depth: Int, isMutable: Bool = false
  ) throws(ModelFileError) -> Reference {
    var references: [Reference] = []
    for expression in expressions { references.append(try encode(expression, depth: depth + 1)) }
    return writer.add(array: references, isMutable: isMutable)
  }

  private mutating func keyPath(_ path: String, of operand: Reference, type: Int64) -> Reference {
    let specifier = add("NSKeyPathSpecifierExpression", 10, ["NSKeyPath": string(path)])
    let isPath = type == 4 || path.contains(".")
    return add(
      "NSKeyPathExpression", type,
      [
        "NSOperand": operand.value, "NSSelectorName": string(isPath ? "valueForKeyPath:" : "valueForKey:"),
        "NSArguments": writer.add(array: [specifier], isMutable: true).value,
      ])
  }

  private mutating func function(
    _ selector: String, _ arguments: [Expression], target: Expression?, depth: Int
  ) throws(ModelFileError) -> Reference {
    let operand: Reference
    if let target {
      operand = try encode(target, depth: depth + 1)
    } else {
      // The class that implements the built-in functions.
      operand = add(
        "NSConstantValueExpression", 0, ["NSConstantValueClassName": string("_NSPredicateUtilities")])
    }
    // Apple's compilers make these functions themselves: of `x.@count`, and for a mapping. Others come from text.
    let own: Set<String> = ["count:", "fetchRequestForSourceEntityNamed:predicateString:"]
    let list = try encode(arguments, depth: depth, isMutable: !own.contains(selector))
    return add(
      "NSFunctionExpression", 4,
      ["NSOperand": operand.value, "NSSelectorName": string(selector), "NSArguments": list.value])
  }
}
