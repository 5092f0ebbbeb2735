import Foundation
import StoreQuery
import StoreSchema

// Comparisons of texts that Foundation's `#Predicate` has on Apple's platforms only. The macro finds the ones below by
// name.

extension PredicateExpressions {
  /// Whether a text contains another one, without regard to case and diacritics: `localizedStandardContains(_:)`.
  public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
    PredicateExpression
  where Root.Output: StringProtocol, Other.Output: StringProtocol {
    public typealias Output = Bool
    /// The text that is searched.
    public let root: Root
    /// The text that is looked for.
    public let other: Other

    /// Whether the text contains the other one. `bindings` has the values of the variables.
    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try root.evaluate(bindings).localizedStandardContains(try other.evaluate(bindings))
    }
  }

  /// The order of two texts without regard to case: `caseInsensitiveCompare(_:)`.
  public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>:
    PredicateExpression
  where Root.Output: StringProtocol, Other.Output: StringProtocol {
    public typealias Output = ComparisonResult
    /// The first text.
    public let root: Root
    /// The second text.
    public let other: Other

    /// The order of both texts. `bindings` has the values of the variables.
    public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
      try root.evaluate(bindings).caseInsensitiveCompare(try other.evaluate(bindings))
    }
  }

  /// The order of two texts in the user's language: `localizedCompare(_:)`.
  public struct StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
  where Root.Output: StringProtocol, Other.Output: StringProtocol {
    public typealias Output = ComparisonResult
    /// The first text.
    public let root: Root
    /// The second text.
    public let other: Other

    /// The order of both texts. `bindings` has the values of the variables.
    public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
      try root.evaluate(bindings).localizedCompare(try other.evaluate(bindings))
    }
  }

  /// Makes the expression for `localizedStandardContains(_:)` in a `#Predicate`.
  public static func build_localizedStandardContains<Root, Other>(
    _ root: Root, _ other: Other
  ) -> StringLocalizedStandardContains<Root, Other> { StringLocalizedStandardContains(root: root, other: other) }

  /// Makes the expression for `caseInsensitiveCompare(_:)` in a `#Predicate`.
  public static func build_caseInsensitiveCompare<Root, Other>(
    _ root: Root, _ other: Other
  ) -> StringCaseInsensitiveCompare<Root, Other> { StringCaseInsensitiveCompare(root: root, other: other) }

  /// Makes the expression for `localizedCompare(_:)` in a `#Predicate`.
  public static func build_localizedCompare<Root, Other>(
    _ root: Root, _ other: Other
  ) -> StringLocalizedCompare<Root, Other> { StringLocalizedCompare(root: root, other: other) }
}

extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedCompare: Sendable where Root: Sendable, Other: Sendable {}

extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedCompare: Codable where Root: Codable, Other: Codable {}

extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

// MARK: - As formats

extension PredicateExpressions.StringLocalizedStandardContains: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    let options: StoreQuery.Predicate.Options = [.caseInsensitive, .diacriticInsensitive, .localeSensitive]
    let (text, part) = (try translation.expression(root), try translation.expression(other))
    return .predicate(.comparison(.init(text, .contains, part, options: options)))
  }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    try translation.order(root, other, .caseInsensitive)
  }
}

extension PredicateExpressions.StringLocalizedCompare: SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree {
    try translation.order(root, other, .localeSensitive)
  }
}

extension SwiftPredicateTranslation {
  /// The tree of a `ComparisonResult`, made of two comparisons.
  fileprivate mutating func order(
    _ left: Any, _ right: Any, _ options: StoreQuery.Predicate.Options
  ) throws -> SwiftPredicateTree {
    let (left, right) = (try expression(left), try expression(right))
    func result(_ result: ComparisonResult) -> StoreQuery.Expression { .constant(.int(Int64(result.rawValue))) }
    func test(_ op: StoreQuery.Predicate.Operator) -> StoreQuery.Predicate {
      .comparison(.init(left, op, right, options: options))
    }
    return .expression(
      .conditional(
        test(.equalTo), result(.orderedSame),
        .conditional(test(.lessThan), result(.orderedAscending), result(.orderedDescending))))
  }
}
