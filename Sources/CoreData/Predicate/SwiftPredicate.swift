import Foundation
import StoreQuery
import StoreSchema

extension _PredicateFormat {
  /// Converts a Swift predicate (`#Predicate<Student> { $0.age > 5 }`). The result is nil if an operation or a captured
  /// value has no counterpart in the format language, or if a key path is no property of a managed object.
  ///
  /// Type checks, casts, regular expressions of Swift and slices are converted only if they use nothing but captured
  /// values. (https://developer.apple.com/documentation/foundation/nspredicate/4220241-init, swift-foundation)
  public init?<Input: NSObject>(_ predicate: Foundation.Predicate<Input>) {
    guard let tree = SwiftPredicateTranslation.tree(of: predicate),
      let result = PredicateTree.predicate(tree) as? Self
    else { return nil }
    self = result
  }
}

/// Converts the expressions of a `#Predicate` to syntax trees.
struct SwiftPredicateTranslation {
  private var variables: [PredicateExpressions.VariableID: StoreQuery.Expression] = [:]
  private var count = 0

  /// An expression has no counterpart in the format language.
  struct Untranslatable: Error {}

  static func tree<Input>(of predicate: Foundation.Predicate<Input>) -> StoreQuery.Predicate? {
    var translation = SwiftPredicateTranslation()
    translation.bind(predicate.variable.key, to: .evaluatedObject)
    return try? translation.predicate(predicate.expression)
  }

  mutating func bind(_ variable: PredicateExpressions.VariableID, to expression: StoreQuery.Expression) {
    variables[variable] = expression
  }

  /// Chooses a name for the variable of a subquery.
  mutating func bind(_ variable: PredicateExpressions.VariableID) -> String {
    count += 1
    let name = "_local_\(count)"
    bind(variable, to: .variable(name))
    return name
  }

  func value(of variable: PredicateExpressions.VariableID) throws -> StoreQuery.Expression {
    guard let expression = variables[variable] else { throw Untranslatable() }
    return expression
  }

  // MARK: Nodes

  /// The tree of a node. A node without a counterpart that uses captured values only becomes a constant.
  mutating func tree(_ node: Any) throws -> SwiftPredicateTree {
    if let tree = try? (node as? any SwiftPredicateNode)?.tree(&self) { return tree }
    guard let value = try? (node as? any PredicateExpression)?.evaluate(PredicateBindings()),
      let constant = SwiftConstant.expression(value)
    else { throw Untranslatable() }
    return .expression(constant)
  }

  /// The predicate of a node. A constant truth value becomes a constant predicate; any other expression is compared
  /// with true.
  mutating func predicate(_ node: Any) throws -> StoreQuery.Predicate {
    switch try tree(node) {
    case .predicate(let predicate): predicate
    case .expression(let expression):
      if case .bool(let value) = expression.literal {
        .value(value)
      } else {
        .comparison(.init(expression, .equalTo, .constant(.bool(true))))
      }
    }
  }

  mutating func expression(_ node: Any) throws -> StoreQuery.Expression {
    switch try tree(node) {
    case .expression(let expression): expression
    case .predicate(let predicate): .conditional(predicate, .constant(.bool(true)), .constant(.bool(false)))
    }
  }

  mutating func comparison(
    _ left: Any, _ op: StoreQuery.Predicate.Operator, _ right: Any
  ) throws -> SwiftPredicateTree {
    .predicate(.comparison(.init(try expression(left), op, try expression(right))))
  }

  mutating func function(_ name: String, _ operands: Any...) throws -> SwiftPredicateTree {
    var arguments: [StoreQuery.Expression] = []
    for operand in operands { arguments.append(try expression(operand)) }
    return .expression(.function(name, arguments, target: nil))
  }

  /// The elements of a collection that meet a test.
  mutating func subquery(
    _ collection: Any, _ variable: PredicateExpressions.VariableID, _ test: Any, isNegated: Bool = false
  ) throws -> StoreQuery.Expression {
    let collection = try expression(collection)
    let name = bind(variable)
    let condition = try predicate(test)
    return .subquery(collection, variable: name, isNegated ? .not(condition) : condition)
  }
}

/// The result of translating a node.
enum SwiftPredicateTree {
  case predicate(StoreQuery.Predicate)
  case expression(StoreQuery.Expression)
}

/// A node that has a counterpart in the format language.
protocol SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree
}

extension StoreQuery.Expression {
  /// Whether a collection has no elements.
  var isEmpty: StoreQuery.Predicate { .comparison(.init(key("@count"), .equalTo, .constant(.int(0)))) }
}
