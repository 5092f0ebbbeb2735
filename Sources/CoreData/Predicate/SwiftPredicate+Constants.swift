import Foundation
import StoreQuery
import StoreSchema

/// Converts values that a Swift predicate has captured.
enum SwiftConstant {
  /// The constant for a captured value; nil for a value that no attribute can have.
  static func expression(_ value: Any) -> StoreQuery.Expression? {
    guard let value = AttributeCoding.flattened(value) else { return .constant(.null) }
    if let object = ObjectInPredicate(value) { return .object(ObjectConstant(object)) }
    if let constant = PredicateArgument.constant(value) { return .constant(constant) }
    guard let elements = ObjectCollection.elements(value) ?? collection(value) else { return nil }
    var list: [StoreQuery.Expression] = []
    for element in elements {
      guard let constant = element.map(expression) ?? .constant(.null) else { return nil }
      list.append(constant)
    }
    return .aggregate(list)
  }

  /// The elements of a slice, a range or another sequence; nil if there are more than a predicate can have.
  private static func collection(_ value: Any) -> [Any?]? {
    func elements(_ collection: some Collection) -> [Any?]? {
      collection.count > 1_000_000 ? nil : collection.map { $0 }
    }
    return (value as? any Collection).flatMap { elements($0) }
  }
}
