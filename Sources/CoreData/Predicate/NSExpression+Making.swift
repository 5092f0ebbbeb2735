import Foundation
import RuntimeAccess
import StoreQuery
import StoreSchema

/// Foundation's class. The alias exists so that the name is not ambiguous in code that imports both modules.
public typealias NSExpression = Foundation.NSExpression

/// An expression with a syntax tree.
final class TreeExpression: NSExpression {
  final class Payload {
    let tree: StoreQuery.Expression
    let origin: Origin
    /// Whether the tree is so deep that recursion over it could overflow the stack. A fetch with it throws, and no
    /// other code visits it.
    let isTooDeep: Bool
    /// Nil if the expression was not decoded from an archive.
    let permission: EvaluationPermission?
    let program = ObjectExpression()

    init(_ tree: StoreQuery.Expression, _ origin: Origin = .tree, _ permission: EvaluationPermission? = nil) {
      self.tree = tree
      self.origin = origin
      self.permission = permission
      isTooDeep = TreeHeight.isExceeded(by: tree)
    }

    /// How an expression was made, where its syntax tree does not say it.
    enum Origin {
      case tree
      /// By `forConstantValue`, with a value of any class.
      case constant(Any?)
      /// By `forAggregate`. All elements may be constants.
      case aggregate
      /// By `forKeyPath`, with a path that begins with a variable.
      case keyPath(String)
    }
  }

  private var payload: Payload?

  required init?(coder: NSCoder) { nil }

  static func make(_ payload: Payload) -> TreeExpression {
    CompoundPredicatePatch.apply()
    let made = RawObject.made(TreeExpression.self)
    made.payload = payload
    return made
  }

  var content: Payload {
    guard let payload else { misuse("An expression was made without its initialiser.") }
    return payload
  }

  override func copy(with zone: NSZone? = nil) -> Any { self }
  override var classForCoder: AnyClass { NSExpression.self }
  override var hash: Int { content.isTooDeep ? 0 : content.tree.hashValue }
  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? TreeExpression, other !== self else { return object as AnyObject? === self }
    return !content.isTooDeep && !other.content.isTooDeep && content.tree == other.content.tree
  }
  override var description: String { content.isTooDeep ? TreeHeight.excuse : content.tree.format }
}

/// Converts between expression objects and syntax trees.
enum ExpressionTree {
  static func of(_ expression: NSExpression) -> StoreQuery.Expression {
    if let fetch = expression as? NSFetchRequestExpression { return fetch.tree }
    guard let own = expression as? TreeExpression else {
      misuse("\(type(of: expression)) is an own subclass of NSExpression; only the initialisers' expressions work.")
    }
    return own.content.tree
  }

  /// The name of the function that `CAST` becomes on Apple's platforms.
  static let cast = "castObject:toType:"

  static func expression(
    _ tree: StoreQuery.Expression, _ permission: EvaluationPermission? = nil
  ) -> NSExpression {
    let payload = TreeExpression.Payload(tree, .tree, permission)
    if case .fetch = tree { return NSFetchRequestExpression.make(payload) }
    return TreeExpression.make(payload)
  }

  /// The tree of an argument, which is an expression or a constant.
  static func operand(_ value: Any) -> StoreQuery.Expression {
    if let expression = value as? NSExpression { return part(expression) }
    return Substitution.literal(PredicateArgument.make(value))
  }
}

/// Lets the initialisers of `NSExpression` give an object of a subclass, which an initialiser of the class cannot.
public protocol _ExpressionMaking {}

extension NSExpression: _ExpressionMaking {}

extension _ExpressionMaking {
  init(_ payload: TreeExpression.Payload) {
    guard let made = TreeExpression.make(payload) as? Self else {
      misuse("\(Self.self) is an own subclass of NSExpression; use NSExpression itself.")
    }
    self = made
  }

  init(_ tree: StoreQuery.Expression) { self.init(TreeExpression.Payload(tree)) }

  /// Parses an expression. The format is what may stand on one side of a comparison. A format that cannot be parsed
  /// stops the program.
  public init(format expressionFormat: String, _ args: Any?...) {
    self.init(format: expressionFormat, argumentArray: args as [Any?])
  }

  /// Parses an expression with the arguments of a list of C. Types of arguments are as for
  /// `NSPredicate(format:arguments:)`.
  public init(format expressionFormat: String, arguments argList: CVaListPointer) {
    self.init(format: expressionFormat, argumentArray: VariableArguments.read(argList, for: expressionFormat))
  }

  /// Parses an expression with arguments, as ``init(format:_:)`` does.
  public init(format expressionFormat: String, argumentArray arguments: [Any?]) {
    do {
      let values = arguments.map(PredicateArgument.make)
      self.init(try StoreQuery.Expression(format: expressionFormat, arguments: values))
    } catch { misuse("Unable to parse the format string \"\(expressionFormat)\": \(error.message)") }
  }

  /// A constant. A collection becomes an aggregate of its elements. A value of a class that no attribute can have is
  /// kept; a store finds nothing that is equal to it.
  public init(forConstantValue obj: Any?) {
    self.init(.init(Substitution.literal(PredicateArgument.make(obj)), .constant(obj)))
  }

  /// A `$variable`. It gets its value when the predicate around it is evaluated.
  public init(forVariable string: String) { self.init(.variable(string)) }

  /// The value at a dotted path of keys. A path that begins with a variable, such as `$x.title`, begins at the
  /// variable's value, for example at an element of the subquery around it.
  public init(forKeyPath keyPath: String) {
    if keyPath.hasPrefix("$") {
      let keys = keyPath.dropFirst().split(separator: ".", maxSplits: 1).map(String.init)
      let variable = StoreQuery.Expression.variable(keys.first ?? "")
      self.init(.init(keys.count > 1 ? .keyPathOf(variable, keys[1]) : variable, .keyPath(keyPath)))
    } else {
      self.init(.keyPath(keyPath))
    }
  }

  /// The value of a managed object's property. A key path of another class, which has no names, stops the program.
  public init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
    guard let name = KeyPathName.name(of: keyPath) else {
      misuse("\(keyPath) is no key path of a managed object's properties; give the keys as text.")
    }
    self.init(.keyPath(name))
  }

  /// A built-in function by its selector (`sum:`, `add:to:`, `now`). Arguments are expressions.
  public init(forFunction name: String, arguments parameters: [Any]) {
    let arguments = parameters.map(ExpressionTree.operand)
    // The parser makes the same tree of `CAST(…)`.
    if name == ExpressionTree.cast, arguments.count == 2, case .string(let type)? = arguments[1].literal {
      self.init(.cast(arguments[0], type))
    } else {
      self.init(.function(name, arguments, target: nil))
    }
  }

  /// A method of an object, for example `stringByAppendingString:`. Only a few methods are known here. With any other
  /// one, evaluating the expression stops the program, and a fetch throws.
  public init(forFunction target: NSExpression, selectorName name: String, arguments parameters: [Any]?) {
    self.init(
      .function(name, (parameters ?? []).map(ExpressionTree.operand), target: ExpressionTree.part(target)))
  }

  /// A collection of expressions, `{a, b}`.
  public init(forAggregate subexpressions: [Any]) {
    self.init(.init(.aggregate(subexpressions.map(ExpressionTree.operand)), .aggregate))
  }

  /// A set of the elements that are in either collection.
  public init(forUnionSet left: NSExpression, with right: NSExpression) {
    self.init(.set(.union, ExpressionTree.part(left), ExpressionTree.part(right)))
  }

  /// A set of the elements that are in both collections.
  public init(forIntersectSet left: NSExpression, with right: NSExpression) {
    self.init(.set(.intersect, ExpressionTree.part(left), ExpressionTree.part(right)))
  }

  /// A set of the elements of the left collection that are not in the right one.
  public init(forMinusSet left: NSExpression, with right: NSExpression) {
    self.init(.set(.minus, ExpressionTree.part(left), ExpressionTree.part(right)))
  }

  /// The members of a collection that meet a predicate.
  public init(forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate) {
    guard let tree = PredicateTree.part(predicate) else { misuse("A SUBQUERY cannot have a block as its predicate.") }
    self.init(.subquery(ExpressionTree.part(expression), variable: variable, tree))
  }

  /// One of two expressions: the first where the predicate holds, otherwise the second.
  public init(
    forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
  ) {
    guard let tree = PredicateTree.part(predicate) else { misuse("A TERNARY cannot have a block as its predicate.") }
    self.init(.conditional(tree, ExpressionTree.part(trueExpression), ExpressionTree.part(falseExpression)))
  }

  /// The result of a block. The block gets the evaluated object and the values of the arguments; nil values come as
  /// `NSNull`. It can be evaluated in memory only: a fetch with it throws.
  public init(forBlock block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any, arguments: [NSExpression]?) {
    let target = StoreQuery.Expression.object(ObjectConstant(ObjectInPredicate.other(.init(ExpressionBlock(block)))))
    self.init(.function(ExpressionBlock.selector, (arguments ?? []).map(ExpressionTree.part), target: target))
  }
}

/// A block, as the receiver of a function that has no other receivers.
final class ExpressionBlock: CustomStringConvertible {
  static let selector = "block"
  let body: (Any?, [Any], NSMutableDictionary?) -> Any

  init(_ body: @escaping (Any?, [Any], NSMutableDictionary?) -> Any) { self.body = body }

  var description: String { "BLOCK" }
}

extension NSExpression {
  /// `SELF`, the object under evaluation.
  public class func expressionForEvaluatedObject() -> NSExpression { ExpressionTree.expression(.evaluatedObject) }

  /// Any key, for Spotlight queries. It can be made and printed, but not evaluated.
  public class func expressionForAnyKey() -> NSExpression { ExpressionTree.expression(.anyKey) }
}
