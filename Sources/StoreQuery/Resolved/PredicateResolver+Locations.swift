import StoreSchema

/// The arguments of `distanceToLocation(_:_:)`.
extension PredicateResolver {
  /// The latitude and the longitude of a location: attributes of an object with these names, elements of a composite
  /// attribute, or the two numbers of `{52.5, 13.4}`.
  func location(_ expression: Expression) throws(ResolutionError) -> [ResolvedExpression] {
    let parts: [Expression]
    switch expression {
    case .literal(let literal) where literal.value.isNull: parts = [expression, expression]
    case .nullObject: parts = [expression, expression]
    case .aggregate(let elements) where elements.count == 2: parts = elements
    case .evaluatedObject, .keyPath, .keyPathOf, .variable: parts = LocationKernel.keys.map(expression.key)
    default: throw noLocation(expression, "it is a value or an object that is given.")
    }
    var coordinates: [ResolvedExpression] = []
    for part in parts {
      let value: ResolvedExpression
      do { value = try one(part) } catch { throw noLocation(expression, error.message) }
      guard value.isMaybeNumber else { throw noLocation(expression, "\(part.format) is no number.") }
      coordinates.append(value)
    }
    return coordinates
  }

  private func noLocation(_ expression: Expression, _ reason: String) -> ResolutionError {
    .unsupported(
      "\(expression.format) is no location for distanceToLocation: \(reason) Give a composite attribute or an object that has the numbers latitude and longitude, or both numbers in degrees as {latitude, longitude}."
    )
  }
}

extension ResolvedExpression {
  /// False for values that certainly are not numbers.
  fileprivate var isMaybeNumber: Bool {
    switch self {
    case .constant(let value): value.isNull || Number(value) != nil
    case .path(let path):
      switch path.leaf {
      case .attribute(_, let kind, _): [.int16, .int32, .int64, .double, .float, .decimal].contains(kind)
      case .toOne, .object, .entity: false
      case .column: true
      }
    default: true
    }
  }
}

extension Expression {
  /// The value at a key of the expression's value.
  package func key(_ name: String) -> Expression {
    switch self {
    case .evaluatedObject: .keyPath(name)
    case .keyPath(let path): .keyPath(path + "." + name)
    case .keyPathOf(let base, let path): .keyPathOf(base, path + "." + name)
    default: .keyPathOf(self, name)
    }
  }
}
