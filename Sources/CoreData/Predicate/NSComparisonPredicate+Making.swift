import Foundation
import RuntimeAccess
import StoreQuery

/// Foundation's class. The alias exists so that the name is not ambiguous in code that imports both modules.
public typealias NSComparisonPredicate = Foundation.NSComparisonPredicate

/// A comparison with a syntax tree.
final class ComparisonTreePredicate: NSComparisonPredicate, ProgrammedPredicate {
  fileprivate final class Payload {
    let comparison: StoreQuery.Predicate.Comparison
    let program = ObjectProgram()
    /// The left and the right expression that the comparison was made from.
    let sides: (NSExpression, NSExpression)?
    /// See `TreeExpression.Payload.isTooDeep`.
    let isTooDeep: Bool
    /// Nil if the predicate was not decoded from an archive.
    let permission: EvaluationPermission?

    init(
      _ comparison: StoreQuery.Predicate.Comparison, _ sides: (NSExpression, NSExpression)?,
      _ permission: EvaluationPermission?
    ) {
      self.comparison = comparison
      self.sides = sides
      self.permission = permission
      isTooDeep = TreeHeight.isExceeded(by: .comparison(comparison))
    }
  }

  private var payload: Payload?

  required init?(coder: NSCoder) { nil }

  static func make(
    _ comparison: StoreQuery.Predicate.Comparison, _ sides: (NSExpression, NSExpression)? = nil,
    _ permission: EvaluationPermission? = nil
  ) -> ComparisonTreePredicate {
    CompoundPredicatePatch.apply()
    let made = RawObject.made(ComparisonTreePredicate.self)
    made.payload = Payload(comparison, sides, permission)
    return made
  }

  fileprivate var sides: (NSExpression, NSExpression) {
    payload?.sides
      ?? (
        ExpressionTree.expression(comparison.left, permission), ExpressionTree.expression(comparison.right, permission)
      )
  }

  var permission: EvaluationPermission? { payload?.permission }

  var comparison: StoreQuery.Predicate.Comparison {
    guard let payload else { misuse("A comparison predicate was made without its initialiser.") }
    return payload.comparison
  }
  var tree: StoreQuery.Predicate { .comparison(comparison) }
  var program: ObjectProgram { payload?.program ?? ObjectProgram() }
  var isTooDeep: Bool { payload?.isTooDeep ?? false }

  override func copy(with zone: NSZone?) -> Any { self }
  override var classForCoder: AnyClass { NSComparisonPredicate.self }
  override func evaluate(with object: Any?) -> Bool { evaluate(with: object, substitutionVariables: nil) }
  override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    if isTooDeep { misuse("A predicate that is evaluated in memory is nested deeper than \(TreeHeight.limit) levels.") }
    return PredicateTree.evaluate(self, object, bindings)
  }
  override var predicateFormat: String { isTooDeep ? TreeHeight.excuse : tree.format }
  override var hash: Int { isTooDeep ? 0 : tree.hashValue }
  override func isEqual(_ object: Any?) -> Bool {
    isTooDeep ? object as AnyObject? === self : PredicateTree.isEqual(tree, object)
  }
  override var description: String { predicateFormat }
}

/// Lets the initialisers of `NSComparisonPredicate` give an object of a subclass.
public protocol _ComparisonMaking {}

extension NSComparisonPredicate: _ComparisonMaking {}

extension _ComparisonMaking {
  /// Compares two expressions. With `any` or `all`, the left one must give a collection.
  public init(
    leftExpression lhs: NSExpression, rightExpression rhs: NSExpression,
    modifier: NSComparisonPredicate.Modifier, type: NSComparisonPredicate.Operator,
    options: NSComparisonPredicate.Options = []
  ) {
    let comparison = StoreQuery.Predicate.Comparison(
      ExpressionTree.part(lhs), ComparisonCoding.operation(type), ExpressionTree.part(rhs),
      modifier: ComparisonCoding.modifier(modifier), options: .init(rawValue: options.rawValue))
    guard let made = ComparisonTreePredicate.make(comparison, (lhs, rhs)) as? Self else {
      misuse("\(Self.self)(leftExpression:…) cannot give a subclass's object; use NSComparisonPredicate itself.")
    }
    self = made
  }
}

extension NSComparisonPredicate {
  private var own: ComparisonTreePredicate {
    guard let own = self as? ComparisonTreePredicate else { misuse("\(Swift.type(of: self)) has no expressions.") }
    return own
  }
  private var syntax: StoreQuery.Predicate.Comparison { own.comparison }

  /// The expression before the operator.
  public var leftExpression: NSExpression { own.sides.0 }
  /// The expression behind the operator.
  public var rightExpression: NSExpression { own.sides.1 }
  /// Whether the comparison holds for the left value itself, for all of its elements, or for any of them.
  public var comparisonPredicateModifier: Modifier { ComparisonCoding.modifier(syntax.modifier) }
  /// The operator between both expressions.
  public var predicateOperatorType: Operator { ComparisonCoding.operation(syntax.op) }
  /// How texts are compared: whether case, diacritics and the locale count.
  public var options: Options { Options(rawValue: syntax.options.rawValue) }
}

/// Foundation's names for operators and modifiers, and ours.
private enum ComparisonCoding {
  static func modifier(_ modifier: NSComparisonPredicate.Modifier) -> StoreQuery.Predicate.Modifier {
    switch modifier {
    case .all: .all
    case .any: .any
    default: .direct
    }
  }

  static func modifier(_ modifier: StoreQuery.Predicate.Modifier) -> NSComparisonPredicate.Modifier {
    switch modifier {
    case .direct: .direct
    case .all: .all
    case .any: .any
    }
  }

  private static let operations: [(NSComparisonPredicate.Operator, StoreQuery.Predicate.Operator)] = [
    (.lessThan, .lessThan), (.lessThanOrEqualTo, .lessThanOrEqualTo), (.greaterThan, .greaterThan),
    (.greaterThanOrEqualTo, .greaterThanOrEqualTo), (.equalTo, .equalTo), (.notEqualTo, .notEqualTo),
    (.matches, .matches), (.like, .like), (.beginsWith, .beginsWith), (.endsWith, .endsWith), (.in, .in),
    (.contains, .contains), (.between, .between),
  ]

  static func operation(_ operation: NSComparisonPredicate.Operator) -> StoreQuery.Predicate.Operator {
    guard let found = operations.first(where: { $0.0 == operation }) else {
      misuse("A comparison by a custom selector cannot be made here: there are no selectors. Use NSPredicate(block:).")
    }
    return found.1
  }

  static func operation(_ operation: StoreQuery.Predicate.Operator) -> NSComparisonPredicate.Operator {
    guard let found = operations.first(where: { $0.1 == operation }) else {
      misuse("A comparison by a custom selector has no operator here: there are no selectors.")
    }
    return found.0
  }
}
