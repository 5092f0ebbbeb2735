import Foundation
import StoreQuery
import StoreSchema

extension PredicateExpressions.CollectionIndexSubscript: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    // Only an array's index is the number of the element.
    guard Wrapped.Output.self is any SwiftArray.Type else { throw SwiftPredicateTranslation.Untranslatable() }
    return try translation.function("objectFrom:withIndex:", wrapped, index)
  }
}

extension PredicateExpressions.DictionaryKeySubscript: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    try translation.function("objectFrom:withIndex:", wrapped, key)
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    let value = StoreQuery.Expression.function(
      "objectFrom:withIndex:", [try translation.expression(wrapped), try translation.expression(key)], target: nil)
    return .expression(value.replacingNil(with: try translation.expression(`default`)))
  }
}

private protocol SwiftArray {}
extension Array: SwiftArray {}

extension StoreQuery.Expression {
  /// This value, or `other` where it is nil.
  func replacingNil(with other: StoreQuery.Expression) -> StoreQuery.Expression {
    .conditional(.comparison(.init(self, .notEqualTo, .constant(.null))), self, other)
  }
}
