import StoreSchema

/// Expressions.
extension PredicateResolver {
  /// Resolves an expression with a single value, for example a column of a fetch.
  public func value(_ expression: Expression) throws(ResolutionError) -> ResolvedExpression {
    try one(try AssignmentReplacement.replace(expression))
  }

  func operand(_ expression: Expression) throws(ResolutionError) -> ResolvedOperand {
    switch expression {
    case .literal(let literal): return .one(.constant(literal.value))
    case .nullObject: return .one(.constant(.null))
    case .object(let object): return .one(.constant(.reference(reference(object))))
    case .evaluatedObject: return .one(.path(SlotPath(leaf: .object)))
    case .variable(let name):
      if let column = columns[name], variables[name] == nil { return .one(.path(SlotPath(leaf: .column(column)))) }
      return .one(.path(SlotPath(variable: try variable(name).number, leaf: .object)))
    case .keyPath(let text): return try walk(text, from: 0, entity)
    case .keyPathOf(let base, let text): return try keyPath(text, of: base)
    case .function(let name, let arguments, target: nil): return try function(name, arguments, expression)
    case .aggregate(let elements): return .many(ResolvedMany(collection: try list(elements)))
    case .set(let operation, let left, let right):
      return .many(
        ResolvedMany(collection: .set(operation, try many(left).collection, try many(right).collection)))
    case .subquery(let collection, variable: let name, let condition):
      return .many(try subquery(collection, name, condition))
    case .conditional(let condition, let yes, let no):
      return .one(.conditional(try resolved(condition), try one(yes), try one(no)))
    case .cast(let value, let type):
      guard let function = Function.cast(to: type) else {
        throw .unsupported("CAST to the class \(type) is not known.")
      }
      return .one(.folded(function, [try one(value)]))
    case .fetch(let request, let context, let countOnly): return try operand(try nested(request, context, countOnly))
    case .function, .assignment, .anyKey:
      throw .unsupported("The expression \(expression.format) has no place in a fetch.")
    }
  }

  private func variable(_ name: String) throws(ResolutionError) -> Variable {
    guard let variable = variables[name] else { throw unbound(name) }
    return variable
  }

  func one(_ expression: Expression) throws(ResolutionError) -> ResolvedExpression {
    guard case .one(let value) = try operand(expression) else {
      throw .unsupported("\(expression.format) is a collection where one value is needed.")
    }
    return value
  }

  private func many(_ expression: Expression) throws(ResolutionError) -> ResolvedMany {
    guard case .many(let many) = try operand(expression) else {
      throw .unsupported("\(expression.format) is one value where a collection is needed.")
    }
    return many
  }

  private func list(_ elements: [Expression]) throws(ResolutionError) -> ResolvedCollection {
    var list: [ResolvedExpression] = []
    for element in elements { list.append(try one(element)) }
    var constants: [Value] = []
    for case .constant(let value) in list { constants.append(value) }
    return constants.count == list.count ? .constants(constants) : .list(list)
  }

  private func keyPath(_ text: String, of base: Expression) throws(ResolutionError) -> ResolvedOperand {
    // Which indexes are used is up to stores; the result is the same.
    var base = base
    while case .function("noindex:", let arguments, target: nil) = base, arguments.count == 1 { base = arguments[0] }
    switch base {
    case .evaluatedObject: return try walk(text, from: 0, entity)
    case .variable(let name):
      let variable = try variable(name)
      guard let entity = variable.entity else { throw .invalid("$\(name) is a value, which has no \(text).") }
      return try walk(text, from: variable.number, entity)
    case .function("objectFrom:withIndex:", let arguments, target: nil) where arguments.count == 2:
      // The value of an element is the element of the values, provided that each element has one.
      let objects = try many(arguments[0])
      guard case .many(let values) = try walk(text, from: objects),
        values.collection.hasOneValueForEach(of: objects.collection)
      else { break }
      return .one(try element(of: values.collection, arguments[1]))
    default:
      switch try operand(base) {
      case .many(let many): return try walk(text, from: many)
      case .one(.path(let path)):
        if let walked = try walk(text, behind: path) { return walked }
      default: break
      }
    }
    throw .unsupported("The key path \(text) of \(base.format) has no place in a fetch.")
  }

  private func subquery(
    _ collection: Expression, _ name: String, _ condition: Predicate
  ) throws(ResolutionError) -> ResolvedMany {
    let many = try many(collection)
    var inner = self
    inner.depth += 1
    inner.variables[name] = Variable(number: inner.depth, entity: many.entity)
    let base = many.entity == nil ? many.collection : many.collection.asObjects
    return ResolvedMany(
      collection: .filtered(base, variable: inner.depth, try inner.resolved(condition)), entity: many.entity)
  }

  // MARK: Functions

  private func function(
    _ name: String, _ arguments: [Expression], _ expression: Expression
  ) throws(ResolutionError) -> ResolvedOperand {
    guard let function = Function.named(name), function.castClass == nil,
      function.parameters.count == arguments.count
    else { throw unknown(expression) }
    switch function.kernel {
    case .values: return .one(.folded(function, try operands(of: function, arguments)))
    case .random: throw unknown(expression)
    case .collection, .aggregate:
      guard let aggregate = ResolvedAggregate(function) else { throw unknown(expression) }
      return .one(.aggregate(aggregate, try collection(arguments[0])))
    case .now: return .one(.constant(.date(now)))
    case .operand: return try operand(arguments[0])
    case .distinct: return .many(ResolvedMany(collection: .distinct(try collection(arguments[0]))))
    case .element: return .one(try element(of: try many(arguments[0]).collection, arguments[1]))
    }
  }

  private func operands(
    of function: Function, _ arguments: [Expression]
  ) throws(ResolutionError) -> [ResolvedExpression] {
    var operands: [ResolvedExpression] = []
    for (parameter, argument) in zip(function.parameters, arguments) {
      if case .location = parameter {
        operands += try location(argument)
      } else {
        operands.append(try one(argument))
      }
    }
    return operands
  }

  /// A single value counts as a collection of one.
  private func collection(_ expression: Expression) throws(ResolutionError) -> ResolvedCollection {
    switch try operand(expression) {
    case .many(let many): many.collection
    case .one(let value): .list([value])
    case .entityName: throw .unsupported("The name of an entity is compared with constants only.")
    }
  }

  private func element(
    of collection: ResolvedCollection, _ index: Expression
  ) throws(ResolutionError) -> ResolvedExpression {
    switch index {
    case .firstIndex: .end(collection, isLast: false)
    case .lastIndex: .end(collection, isLast: true)
    case .sizeIndex: .aggregate(.size, collection)
    default: .element(collection, try one(index))
    }
  }

  private func unknown(_ expression: Expression) -> ResolutionError {
    .unsupported("The function of \(expression.format) has no place in a fetch.")
  }
}
