import StoreSchema

/// An expression in its written form: the syntax tree that the format language parses to and prints from.
///
/// Names are unresolved text here. Stores evaluate the tree of `ResolvedExpression`.
public indirect enum Expression: Hashable, Sendable {
  /// A literal value; see ``constant(_:)``.
  case literal(Literal)
  /// `NSNull` as a value. It means nil, but is not equal to a nil literal: Apple's framework prints it as `<null>`,
  /// which this parser reads too.
  case nullObject
  /// An object. Resolving the predicate for a fetch finds its key in the store of the fetch.
  case object(ObjectConstant)
  /// `SELF`, the object under evaluation.
  case evaluatedObject
  /// `$name`, bound before evaluation.
  case variable(String)
  /// A key path of `SELF`, its keys joined by dots; collection operators such as `@count` are keys too.
  case keyPath(String)
  /// A key path of another expression, for example `$source.name`.
  case keyPathOf(Expression, String)
  /// A function by its selector name (`sum:`, `add:to:`, `now`) over its arguments.
  /// `target` is the receiver in `FUNCTION(target, 'selector:', …)`, nil for built-in functions.
  case function(String, [Expression], target: Expression?)
  /// `{a, b, c}`.
  case aggregate([Expression])
  /// `left UNION right`, `left INTERSECT right`, `left MINUS right`.
  case set(SetOperation, Expression, Expression)
  /// `SUBQUERY(collection, $variable, predicate)`.
  case subquery(Expression, variable: String, Predicate)
  /// `TERNARY(predicate, yes, no)`.
  case conditional(Predicate, Expression, Expression)
  /// `$variable := value`.
  case assignment(String, Expression)
  /// A key that matches any key (Spotlight queries). It is kept, but never evaluated.
  case anyKey
  /// `FETCH(request, context, countOnly)`.
  case fetch(Expression, context: Expression, countOnly: Bool)
  /// `CAST(value, 'ClassName')`.
  case cast(Expression, String)

  /// A literal value.
  public static func constant(_ value: Value) -> Expression { .literal(Literal(value)) }

  /// The value of a literal.
  public var literal: Value? {
    if case .literal(let literal) = self { literal.value } else { nil }
  }

  /// A value in an expression. Truth values are equal to the numbers 1 and 0, because Apple's framework prints them as
  /// these numbers.
  public struct Literal: Hashable, Sendable {
    /// The given value, which may be a truth value.
    public let value: Value

    /// The literal of a value.
    public init(_ value: Value) { self.value = value }

    private var number: Value {
      if case .bool(let isTrue) = value { .int(isTrue ? 1 : 0) } else { value }
    }

    public static func == (a: Literal, b: Literal) -> Bool { a.number == b.number }
    public func hash(into hasher: inout Hasher) { number.hash(into: &hasher) }
  }

  /// The set operations, with their words in the format language.
  public enum SetOperation: String, Hashable, Sendable {
    /// The elements that are in either set.
    case union = "UNION"
    /// The elements that are in both sets.
    case intersect = "INTERSECT"
    /// The elements of the left set that are not in the right one.
    case minus = "MINUS"
  }
}

/// An object in a predicate, of a type of the module above.
public struct ObjectConstant: Hashable, Sendable, CustomStringConvertible {
  /// The object. It is compared and hashed by its own `==` and `hash(into:)`.
  public let base: any Hashable & Sendable

  /// Wraps an object.
  public init(_ base: any Hashable & Sendable) { self.base = base }

  public static func == (a: ObjectConstant, b: ObjectConstant) -> Bool { AnyHashable(a.base) == AnyHashable(b.base) }
  public func hash(into hasher: inout Hasher) { base.hash(into: &hasher) }
  public var description: String { "\(base)" }
}
