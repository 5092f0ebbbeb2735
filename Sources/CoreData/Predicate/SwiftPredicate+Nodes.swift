import Foundation
import StoreQuery
import StoreSchema

// The nodes of `#Predicate` that have a counterpart in the language of formats. Those that are not here have none: regular expressions of
// Swift, subscripts of collections and dictionaries, type checks and casts.

extension PredicateExpressions.Variable: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    .expression(try translation.value(of: key))
  }
}

extension PredicateExpressions.Value: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    guard let constant = SwiftConstant.expression(value) else { throw SwiftPredicateTranslation.Untranslatable() }
    return .expression(constant)
  }
}

/// Captured values.
enum SwiftConstant {
  /// Nil for a value that no attribute can have.
  static func expression(_ value: Any) -> StoreQuery.Expression? {
    guard let value = AttributeCoding.flattened(value) else { return .constant(.null) }
    if let object = NewObject(value) {
      // An object without a permanent ID is looked up when the predicate is used.
      if case .reference(let reference)? = PredicateArgument.constant(value), reference.key > 0 {
        return .constant(.reference(reference))
      }
      return .object(UnsavedObject(object))
    }
    if let constant = PredicateArgument.constant(value) { return .constant(constant) }
    guard let elements = ObjectCollection.elements(value) else { return nil }
    var list: [StoreQuery.Expression] = []
    for element in elements {
      guard let element, let constant = expression(element) else { return nil }
      list.append(constant)
    }
    return .aggregate(list)
  }
}

extension PredicateExpressions.NilLiteral: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) -> SwiftPredicateTree { .expression(.constant(.null)) }
}

extension PredicateExpressions.KeyPath: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    let base = try translation.expression(root)
    let isText = Root.Output.self == String.self
    switch kind {
    case .collectionCount?:
      return .expression(isText ? .function("length:", [base], target: nil) : base.key("@count"))
    case .collectionIsEmpty?:
      if isText { return .predicate(.comparison(.init(base, .equalTo, .constant(.string(""))))) }
      return .predicate(base.isEmpty)
    case .collectionFirst?: return .expression(.function("objectFrom:withIndex:", [base, .firstIndex], target: nil))
    case .bidirectionalCollectionLast?:
      return .expression(.function("objectFrom:withIndex:", [base, .lastIndex], target: nil))
    default:
      guard let name = KeyPathName.name(of: keyPath) else { throw SwiftPredicateTranslation.Untranslatable() }
      return .expression(base.key(name))
    }
  }
}

// MARK: - Logic

extension PredicateExpressions.Conjunction: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    .predicate(.and([try translation.predicate(lhs), try translation.predicate(rhs)]))
  }
}

extension PredicateExpressions.Disjunction: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    .predicate(.or([try translation.predicate(lhs), try translation.predicate(rhs)]))
  }
}

extension PredicateExpressions.Negation: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    .predicate(.not(try translation.predicate(wrapped)))
  }
}

extension PredicateExpressions.Conditional: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    let condition = try translation.predicate(test)
    if Output.self == Bool.self {
      let (yes, no) = (try translation.predicate(trueBranch), try translation.predicate(falseBranch))
      return .predicate(.or([.and([condition, yes]), .and([.not(condition), no])]))
    }
    return .expression(
      .conditional(condition, try translation.expression(trueBranch), try translation.expression(falseBranch)))
  }
}

// MARK: - Comparisons

extension PredicateExpressions.Equal: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    try translation.comparison(lhs, .equalTo, rhs)
  }
}

extension PredicateExpressions.NotEqual: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    try translation.comparison(lhs, .notEqualTo, rhs)
  }
}

extension PredicateExpressions.Comparison: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    let sign: StoreQuery.Predicate.Operator =
      switch op {
      case .lessThan: .lessThan
      case .lessThanOrEqual: .lessThanOrEqualTo
      case .greaterThan: .greaterThan
      case .greaterThanOrEqual: .greaterThanOrEqualTo
      @unknown default: throw SwiftPredicateTranslation.Untranslatable()
      }
    return try translation.comparison(lhs, sign, rhs)
  }
}

extension PredicateExpressions.RangeExpressionContains: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    guard let bounds = try (range as? any SwiftBounds)?.bounds(&translation) else {
      throw SwiftPredicateTranslation.Untranslatable()
    }
    let element = try translation.expression(element)
    return .predicate(
      .and([
        .comparison(.init(element, .greaterThanOrEqualTo, bounds.low)),
        .comparison(.init(element, bounds.isClosed ? .lessThanOrEqualTo : .lessThan, bounds.high)),
      ]))
  }
}

/// A range of two bounds.
protocol SwiftBounds {
  func bounds(
    _ translation: inout SwiftPredicateTranslation
  ) throws -> (low: StoreQuery.Expression, high: StoreQuery.Expression, isClosed: Bool)
}

extension PredicateExpressions.Range: SwiftBounds {
  func bounds(
    _ translation: inout SwiftPredicateTranslation
  ) throws -> (low: StoreQuery.Expression, high: StoreQuery.Expression, isClosed: Bool) {
    (try translation.expression(lower), try translation.expression(upper), false)
  }
}

extension PredicateExpressions.ClosedRange: SwiftBounds {
  func bounds(
    _ translation: inout SwiftPredicateTranslation
  ) throws -> (low: StoreQuery.Expression, high: StoreQuery.Expression, isClosed: Bool) {
    (try translation.expression(lower), try translation.expression(upper), true)
  }
}

extension PredicateExpressions.Value: SwiftBounds {
  func bounds(
    _ translation: inout SwiftPredicateTranslation
  ) throws -> (low: StoreQuery.Expression, high: StoreQuery.Expression, isClosed: Bool) {
    guard let range = value as? any SwiftConstantBounds, let low = SwiftConstant.expression(range.ends.low),
      let high = SwiftConstant.expression(range.ends.high)
    else { throw SwiftPredicateTranslation.Untranslatable() }
    return (low, high, range.ends.isClosed)
  }
}

/// A captured range.
protocol SwiftConstantBounds {
  var ends: (low: Any, high: Any, isClosed: Bool) { get }
}

extension Swift.Range: SwiftConstantBounds {
  var ends: (low: Any, high: Any, isClosed: Bool) { (lowerBound, upperBound, false) }
}

extension Swift.ClosedRange: SwiftConstantBounds {
  var ends: (low: Any, high: Any, isClosed: Bool) { (lowerBound, upperBound, true) }
}

// MARK: - Collections and texts

extension PredicateExpressions.SequenceContains: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    try translation.comparison(element, .in, sequence)
  }
}

extension PredicateExpressions.SequenceContainsWhere: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    .predicate(.not(try translation.subquery(sequence, variable.key, test).isEmpty))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    .predicate(try translation.subquery(sequence, variable.key, test, isNegated: true).isEmpty)
  }
}

extension PredicateExpressions.Filter: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    .expression(try translation.subquery(sequence, variable.key, filter))
  }
}

extension PredicateExpressions.SequenceMinimum: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    try translation.function("min:", elements)
  }
}

extension PredicateExpressions.SequenceMaximum: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    try translation.function("max:", elements)
  }
}

extension PredicateExpressions.CollectionContainsCollection: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    guard Base.Output.self == String.self else { throw SwiftPredicateTranslation.Untranslatable() }
    return try translation.comparison(base, .contains, other)
  }
}

extension PredicateExpressions.SequenceStartsWith: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    guard Base.Output.self == String.self else { throw SwiftPredicateTranslation.Untranslatable() }
    return try translation.comparison(base, .beginsWith, prefix)
  }
}

// MARK: - Optionals

/// A test of a value that may be nil, which is nil then.
protocol SwiftOptionalTest {
  func test(
    _ translation: inout SwiftPredicateTranslation
  ) throws -> (isNil: StoreQuery.Predicate, test: StoreQuery.Predicate)?
}

extension PredicateExpressions.OptionalFlatMap: SwiftPredicateNode, SwiftOptionalTest {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    guard let (isNil, test) = try test(&translation) else {
      // Nil on the way gives nil, and so does a key path.
      translation.bind(variable.key, to: try translation.expression(wrapped))
      return .expression(try translation.expression(transform))
    }
    let value = StoreQuery.Expression.conditional(test, .constant(.bool(true)), .constant(.bool(false)))
    return .expression(.conditional(isNil, .constant(.null), value))
  }

  func test(
    _ translation: inout SwiftPredicateTranslation
  ) throws -> (isNil: StoreQuery.Predicate, test: StoreQuery.Predicate)? {
    guard Result.self == Bool.self else { return nil }
    let value = try translation.expression(wrapped)
    translation.bind(variable.key, to: value)
    return (.comparison(.init(value, .equalTo, .constant(.null))), try translation.predicate(transform))
  }
}

extension PredicateExpressions.ForcedUnwrap: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    .expression(try translation.expression(inner))
  }
}

extension PredicateExpressions.NilCoalesce: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    if let (isNil, test) = try (lhs as? any SwiftOptionalTest)?.test(&translation) {
      let other = try translation.predicate(rhs)
      return .predicate(.or([.and([.not(isNil), test]), .and([isNil, other])]))
    }
    let (value, other) = (try translation.expression(lhs), try translation.expression(rhs))
    return .expression(.conditional(.comparison(.init(value, .equalTo, .constant(.null))), other, value))
  }
}

// MARK: - Arithmetic

extension PredicateExpressions.Arithmetic: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    switch op {
    case .add: try translation.function("add:to:", lhs, rhs)
    case .subtract: try translation.function("from:subtract:", lhs, rhs)
    case .multiply: try translation.function("multiply:by:", lhs, rhs)
    @unknown default: throw SwiftPredicateTranslation.Untranslatable()
    }
  }
}

extension PredicateExpressions.UnaryMinus: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    try translation.function("negate:", wrapped)
  }
}

extension PredicateExpressions.FloatDivision: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    try translation.function("divide:by:", lhs, rhs)
  }
}

extension PredicateExpressions.IntDivision: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    try translation.function("divide:by:", lhs, rhs)
  }
}

extension PredicateExpressions.IntRemainder: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    try translation.function("modulus:by:", lhs, rhs)
  }
}
