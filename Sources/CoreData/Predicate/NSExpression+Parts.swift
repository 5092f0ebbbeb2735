import Foundation
import StoreQuery
import StoreSchema

/// The parts of expressions. Reading a part that the expression's kind does not have stops the program, as on Apple's
/// platforms.
extension NSExpression {
  private var tree: StoreQuery.Expression { ExpressionTree.of(self) }

  /// A part as an expression. It shares the permission of this expression.
  private func part(_ tree: StoreQuery.Expression) -> NSExpression {
    ExpressionTree.expression(tree, evaluationPermission)
  }

  private func refuse(_ part: String) -> Never { misuse("The expression \(self) has no \(part).") }

  /// The kind of the expression. Casts, fetches and assignments have the kind function, because Foundation has no kinds
  /// for them here.
  public var expressionType: ExpressionType {
    if case .keyPath = origin { return .keyPath }
    return switch tree {
    case .literal, .nullObject, .object: .constantValue
    // Apple's framework has types for these; Foundation's enumeration lacks them here.
    case .assignment, .fetch, .cast: .function
    case .evaluatedObject: .evaluatedObject
    case .variable: .variable
    case .keyPath: .keyPath
    case .keyPathOf, .function: block == nil ? .function : .block
    case .aggregate: list == nil ? .aggregate : .constantValue
    case .set(.union, _, _): .unionSet
    case .set(.intersect, _, _): .intersectSet
    case .set(.minus, _, _): .minusSet
    case .subquery: .subquery
    case .conditional: .conditional
    case .anyKey: .anyKey
    }
  }

  private var block: ExpressionBlock? {
    guard case .function(ExpressionBlock.selector, _, .object(let target)?) = tree else { return nil }
    return ObjectInPredicate(target)?.value as? ExpressionBlock
  }

  /// The block of an expression made with one.
  public var expressionBlock: (Any?, [Any], NSMutableDictionary?) -> Any {
    guard let block else { refuse("block") }
    return block.body
  }

  private var origin: TreeExpression.Payload.Origin { (self as? TreeExpression)?.content.origin ?? .tree }

  /// The elements of a constant collection. In a syntax tree it is the same as a list of constants.
  private var list: [Any]? {
    guard case .aggregate(let elements) = tree else { return nil }
    switch origin {
    case .aggregate, .keyPath: return nil
    case .constant, .tree:
      var values: [Any] = []
      for element in elements {
        guard let value = Self.constant(element) else { return nil }
        values.append(value ?? NSNull())
      }
      return values
    }
  }

  /// The value of a constant; nil for any other expression.
  private static func constant(_ tree: StoreQuery.Expression) -> Any?? {
    switch tree {
    case .literal(let literal): .some(AttributeCoding.decode(literal.value, .undefined))
    case .nullObject: .some(NSNull())
    case .object(let constant): .some(ObjectInPredicate(constant)?.value)
    case .aggregate: ExpressionTree.expression(tree).list.map { .some($0) }
    default: nil
    }
  }

  /// The value of a constant expression.
  public var constantValue: Any? {
    if case .constant(let own) = origin { return own }
    guard let value = Self.constant(tree) else { refuse("constant value") }
    return value
  }

  /// The dotted path of keys.
  public var keyPath: String {
    if case .keyPath(let path) = origin { return path }
    return switch tree {
    case .keyPath(let path), .keyPathOf(_, let path): path
    default: refuse("key path")
    }
  }

  /// The name of the function of a function expression, such as `sum:`.
  public var function: String {
    switch tree {
    case .function(let name, _, _): name
    case .keyPathOf: "valueForKeyPath:"
    case .cast: ExpressionTree.cast
    case .fetch: "fetch"
    case .assignment: "assign"
    default: refuse("function")
    }
  }

  /// The name of a variable, without `$`; of a subquery or an assignment, the variable that it binds.
  public var variable: String {
    switch tree {
    case .variable(let name), .subquery(_, variable: let name, _), .assignment(let name, _): name
    default: refuse("variable")
    }
  }

  /// The receiver of a function.
  public var operand: NSExpression {
    switch tree {
    case .function(_, _, .some(let target)): part(target)
    case .keyPathOf(let base, _): part(base)
    default: refuse("operand")
    }
  }

  /// The arguments of a function expression, in order.
  public var arguments: [NSExpression]? {
    switch tree {
    case .function(_, let arguments, _): arguments.map(part)
    case .keyPathOf(_, let path): [part(.keyPath(path))]
    case .cast(let value, let type): [value, .constant(.string(type))].map(part)
    case .fetch(let request, let context, _): [request, context].map(part)
    case .assignment(_, let value): [part(value)]
    default: refuse("arguments")
    }
  }

  /// The members of an aggregate, or the expression that a subquery goes over.
  public var collection: Any? {
    switch tree {
    case .aggregate(let elements): elements.map(part)
    case .subquery(let expression, _, _): part(expression)
    default: refuse("collection")
    }
  }

  /// The predicate of a subquery or of a conditional expression.
  public var predicate: NSPredicate {
    switch tree {
    case .subquery(_, _, let predicate), .conditional(let predicate, _, _):
      PredicateTree.predicate(predicate, evaluationPermission)
    default: refuse("predicate")
    }
  }

  /// The left set of a union, intersection or difference.
  public var left: NSExpression {
    guard case .set(_, let left, _) = tree else { refuse("left side") }
    return part(left)
  }

  /// The right set of a union, intersection or difference.
  public var right: NSExpression {
    guard case .set(_, _, let right) = tree else { refuse("right side") }
    return part(right)
  }

  /// The expression that a conditional one evaluates where its predicate holds.
  public var `true`: NSExpression {
    guard case .conditional(_, let expression, _) = tree else { refuse("alternatives") }
    return part(expression)
  }

  /// The expression that a conditional one evaluates where its predicate does not hold.
  public var `false`: NSExpression {
    guard case .conditional(_, _, let expression) = tree else { refuse("alternatives") }
    return part(expression)
  }

  /// The value of the expression for an object: a managed object or a dictionary. For an expression without keys the
  /// object may be anything.
  ///
  /// `context` has the values of variables. The call adds the variables that the expression assigns (`$name := value`).
  /// An expression of a kind that cannot be evaluated yet stops the program.
  public func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
    var bindings: [String: Any] = [:]
    for (key, value) in context ?? [:] { if let key = key as? String { bindings[key] = value } }
    if isDenied { misuse("The expression \(self) \(EvaluationPermission.excuse)") }
    if case .constant(let own) = origin, bindings.isEmpty { return own }
    let program = bindings.isEmpty ? (self as? TreeExpression)?.content.program : nil
    let (value, assigned) = (program ?? ObjectExpression()).value(
      bindings.isEmpty ? tree : Substitution.bind(tree, bindings), object)
    for (name, value) in assigned { context?[name] = value }
    return value
  }
}
