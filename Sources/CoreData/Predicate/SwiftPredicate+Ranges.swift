import Foundation
import StoreQuery
import StoreSchema

extension PredicateExpressions.RangeExpressionContains: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    guard let bounds = try (range as? any SwiftRange)?.bounds(&translation) else {
      throw SwiftPredicateTranslation.Untranslatable()
    }
    return .predicate(bounds.contain(try translation.expression(element)))
  }
}

/// The ends of a range; nil where the range has no end.
struct SwiftBounds {
  var low: StoreQuery.Expression?
  var high: StoreQuery.Expression?
  /// Whether the upper end is in the range.
  var isClosed = false

  func contain(_ element: StoreQuery.Expression) -> StoreQuery.Predicate {
    if let low, let high, isClosed { return .comparison(.init(element, .between, .aggregate([low, high]))) }
    let parts = [
      low.map { StoreQuery.Predicate.comparison(.init(element, .greaterThanOrEqualTo, $0)) },
      high.map { .comparison(.init(element, isClosed ? .lessThanOrEqualTo : .lessThan, $0)) },
    ].compactMap(\.self)
    return parts.count == 1 ? parts[0] : .and(parts)
  }
}

/// A node that is a range.
protocol SwiftRange {
  func bounds(_ translation: inout SwiftPredicateTranslation) throws -> SwiftBounds
}

extension PredicateExpressions.Range: SwiftRange {
  func bounds(_ translation: inout SwiftPredicateTranslation) throws -> SwiftBounds {
    SwiftBounds(low: try translation.expression(lower), high: try translation.expression(upper))
  }
}

extension PredicateExpressions.ClosedRange: SwiftRange {
  func bounds(_ translation: inout SwiftPredicateTranslation) throws -> SwiftBounds {
    SwiftBounds(low: try translation.expression(lower), high: try translation.expression(upper), isClosed: true)
  }
}

extension PredicateExpressions.Value: SwiftRange {
  func bounds(_ translation: inout SwiftPredicateTranslation) throws -> SwiftBounds {
    guard let range = value as? any CapturedRange else { throw SwiftPredicateTranslation.Untranslatable() }
    func end(_ value: Any?) throws -> StoreQuery.Expression? {
      guard let value else { return nil }
      guard let constant = SwiftConstant.expression(value) else { throw SwiftPredicateTranslation.Untranslatable() }
      return constant
    }
    return SwiftBounds(low: try end(range.ends.low), high: try end(range.ends.high), isClosed: range.ends.isClosed)
  }
}

/// A range that was captured as a value.
private protocol CapturedRange {
  var ends: (low: Any?, high: Any?, isClosed: Bool) { get }
}

extension Swift.Range: CapturedRange {
  fileprivate var ends: (low: Any?, high: Any?, isClosed: Bool) { (lowerBound, upperBound, false) }
}

extension Swift.ClosedRange: CapturedRange {
  fileprivate var ends: (low: Any?, high: Any?, isClosed: Bool) { (lowerBound, upperBound, true) }
}

extension Swift.PartialRangeFrom: CapturedRange {
  fileprivate var ends: (low: Any?, high: Any?, isClosed: Bool) { (lowerBound, nil, false) }
}

extension Swift.PartialRangeUpTo: CapturedRange {
  fileprivate var ends: (low: Any?, high: Any?, isClosed: Bool) { (nil, upperBound, false) }
}

extension Swift.PartialRangeThrough: CapturedRange {
  fileprivate var ends: (low: Any?, high: Any?, isClosed: Bool) { (nil, upperBound, true) }
}
