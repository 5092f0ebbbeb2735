/// The variables that predicates assign, `$name := value`.
extension Predicate {
  /// The names of the assigned variables. They belong to the predicate: values from outside do not replace them.
  package var assignedVariables: Set<String> {
    var names: Set<String> = []
    collectAssigned(&names)
    return names
  }

  fileprivate func collectAssigned(_ names: inout Set<String>) {
    switch self {
    case .value, .variable: break
    case .and(let parts), .or(let parts): for part in parts { part.collectAssigned(&names) }
    case .not(let part): part.collectAssigned(&names)
    case .comparison(let comparison):
      comparison.left.collectAssigned(&names)
      comparison.right.collectAssigned(&names)
    }
  }
}

extension Expression {
  /// The names of the variables that the expression assigns.
  package var assignedVariables: Set<String> {
    var names: Set<String> = []
    collectAssigned(&names)
    return names
  }

  fileprivate func collectAssigned(_ names: inout Set<String>) {
    switch self {
    case .literal, .nullObject, .object, .evaluatedObject, .variable, .keyPath, .anyKey: break
    case .assignment(let name, let value):
      names.insert(name)
      value.collectAssigned(&names)
    case .keyPathOf(let part, _), .cast(let part, _): part.collectAssigned(&names)
    case .function(_, let arguments, let target):
      target?.collectAssigned(&names)
      for argument in arguments { argument.collectAssigned(&names) }
    case .aggregate(let elements): for element in elements { element.collectAssigned(&names) }
    case .set(_, let left, let right), .fetch(let left, context: let right, countOnly: _):
      left.collectAssigned(&names)
      right.collectAssigned(&names)
    case .subquery(let collection, variable: _, let condition):
      collection.collectAssigned(&names)
      condition.collectAssigned(&names)
    case .conditional(let condition, let yes, let no):
      condition.collectAssigned(&names)
      yes.collectAssigned(&names)
      no.collectAssigned(&names)
    }
  }
}
