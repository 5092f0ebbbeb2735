import Foundation
import StoreQuery
import StoreSchema

// The nodes of `#Predicate` that have a counterpart in the format language. The counterparts are those of Apple's
// Foundation (swift-foundation, NSPredicateConversion.swift). Type checks, casts, regular expressions of Swift and
// slices have none. They are translated only if they use nothing but captured values.

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

extension PredicateExpressions.NilLiteral: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) -> SwiftPredicateTree { .expression(.constant(.null)) }
}

extension PredicateExpressions.KeyPath: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    let base = try translation.expression(root)
    let isText = Root.Output.self == String.self || Root.Output.self == Substring.self
    // In the format language only the length of a text can be read, and nothing of data.
    let isEnd = kind == .collectionFirst || kind == .bidirectionalCollectionLast
    if isText && isEnd || Root.Output.self == Data.self { throw SwiftPredicateTranslation.Untranslatable() }
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

/// A test of an optional value. Its result is nil if the value is.
protocol SwiftOptionalTest {
  func test(
    _ translation: inout SwiftPredicateTranslation
  ) throws -> (isNil: StoreQuery.Predicate, test: StoreQuery.Predicate)?
}

extension PredicateExpressions.OptionalFlatMap: SwiftPredicateNode, SwiftOptionalTest {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    let value = try translation.expression(wrapped)
    translation.bind(variable.key, to: value)
    let result = try translation.expression(transform)
    // A key path to one value gives nil by itself where a value on the way is nil.
    if (transform as? any SwiftKeyPathNode)?.leadsToOneValue ?? false { return .expression(result) }
    return .expression(.conditional(.comparison(.init(value, .notEqualTo, .constant(.null))), result, .constant(.null)))
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

/// A property of a variable's value.
private protocol SwiftKeyPathNode {
  var leadsToOneValue: Bool { get }
}

extension PredicateExpressions.KeyPath: SwiftKeyPathNode {
  fileprivate var leadsToOneValue: Bool {
    kind == nil && (root is any SwiftVariable || (root as? any SwiftKeyPathNode)?.leadsToOneValue ?? false)
  }
}

private protocol SwiftVariable {}
extension PredicateExpressions.Variable: SwiftVariable {}

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
    return .expression(value.replacingNil(with: other))
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
    let operands = [try translation.expression(wrapped), .constant(.int(-1))]
    return .expression(.function("multiply:by:", operands, target: nil))
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
