import Foundation
import StoreQuery
import StoreSchema

extension _PredicateFormat {
  /// Converts a Swift predicate (`#Predicate<Student> { $0.age > 5 }`); nil for one that has an operation or a captured
  /// value without a counterpart in the language of formats, or a key path that is no property of a managed object.
  ///
  /// Type checks, casts, regular expressions of Swift and slices have no counterpart but where they are about captured
  /// values alone. (https://developer.apple.com/documentation/foundation/nspredicate/4220241-init, swift-foundation)
  public init?<Input: NSObject>(_ predicate: Foundation.Predicate<Input>) {
    guard let tree = SwiftPredicateTranslation.tree(of: predicate),
      let result = PredicateTree.predicate(tree) as? Self
    else { return nil }
    self = result
  }
}

/// Makes syntax trees of the expressions that `#Predicate` builds.
struct SwiftPredicateTranslation {
  private var variables: [PredicateExpressions.VariableID: StoreQuery.Expression] = [:]
  private var count = 0

  /// What has no counterpart.
  struct Untranslatable: Error {}

  static func tree<Input>(of predicate: Foundation.Predicate<Input>) -> StoreQuery.Predicate? {
    var translation = SwiftPredicateTranslation()
    translation.bind(predicate.variable.key, to: .evaluatedObject)
    return try? translation.predicate(predicate.expression)
  }

  mutating func bind(_ variable: PredicateExpressions.VariableID, to expression: StoreQuery.Expression) {
    variables[variable] = expression
  }

  /// A name for a variable of a subquery.
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

  /// What has no counterpart, but is about captured values alone, is its value.
  mutating func tree(_ node: Any) throws -> SwiftPredicateTree {
    if let tree = try? (node as? any SwiftPredicateNode)?.tree(&self) { return tree }
    guard let value = try? (node as? any PredicateExpression)?.evaluate(PredicateBindings()),
      let constant = SwiftConstant.expression(value)
    else { throw Untranslatable() }
    return .expression(constant)
  }

  /// A truth value is a predicate by itself.
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

/// What a node becomes.
enum SwiftPredicateTree {
  case predicate(StoreQuery.Predicate)
  case expression(StoreQuery.Expression)
}

/// A node that has a counterpart.
protocol SwiftPredicateNode {
  func tree(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTree
}

extension StoreQuery.Expression {
  /// Whether a collection has no elements.
  var isEmpty: StoreQuery.Predicate { .comparison(.init(key("@count"), .equalTo, .constant(.int(0)))) }
}
