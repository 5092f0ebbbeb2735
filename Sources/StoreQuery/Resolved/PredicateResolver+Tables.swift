/// Columns of tables and conditions on their groups.
extension PredicateResolver {
  /// Resolves a column. Over a single value, `sum:`, `count:` and the other functions of collections are aggregates of
  /// the fetched objects. Over a to-many relationship they are values of each object.
  public func column(_ expression: Expression) throws(ResolutionError) -> TablePlan.Column {
    let expression = try AssignmentReplacement.replace(expression)
    guard case .function(let name, let arguments, target: nil) = expression, arguments.count == 1,
      let aggregate = Function.named(name).flatMap(ResolvedAggregate.init)
    else { return .value(try one(expression)) }
    var (argument, isDistinct) = (arguments[0], false)
    if case .function("distinct:", let inner, target: nil) = argument, inner.count == 1 {
      (argument, isDistinct) = (inner[0], true)
    }
    guard case .one(let value) = try operand(argument) else { return .value(try one(expression)) }
    // In a column, nil values are not counted.
    return .aggregate(aggregate == .size ? .aggregate(.count) : aggregate, value, isDistinct: isDistinct)
  }

  /// Resolves a condition on groups, in which variables refer to the columns by name.
  public func having(_ predicate: Predicate, columns: [String]) throws(ResolutionError) -> ResolvedPredicate {
    var resolver = self
    for (position, name) in columns.enumerated() { resolver.columns[name] = position }
    return try resolver.resolve(predicate)
  }
}
