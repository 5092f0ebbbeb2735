import StoreSchema

/// The objects of an evaluation, with their values and related objects: rows of a snapshot, objects of a context,
/// groups of a table, and objects without a schema.
///
/// Related objects are read when the evaluation reaches them. A source that can read many at once should do so before.
public protocol EvaluationSource: SendableMetatype {
  /// The kind of object that predicates test: a row, a managed object, a group.
  associatedtype Object
  /// The error of a value that cannot be read; `Never` where all values can.
  associatedtype Failure: Error = Never
  /// The result type of a program's dynamic parts (``DynamicForm``).
  associatedtype Operand = Value

  /// The value at a path from the object. The path's variable is ignored. Null where a relationship in the path has no
  /// destination.
  func value(at path: SlotPath, of object: Object) throws(Failure) -> Value

  /// The destinations of relationships, one after another. An object that is reached twice occurs twice.
  func objects(over hops: [Relationship], from object: Object) throws(Failure) -> [Object]

  /// A test of an object that is faster than the kernels over ``value(at:of:)``; nil where there is none. It must give
  /// the same results.
  static func test(_ predicate: ResolvedPredicate) -> (@Sendable (Object) -> Bool)?

  // MARK: Dynamic parts

  /// A value as an operand.
  func operand(_ value: Value) -> Operand
  /// Values that are the same for all objects, as one operand.
  func operand(_ values: [Value]) -> Operand
  /// The object under evaluation as an operand.
  func operand(of object: Object) -> Operand
  /// The value of an operand that functions use; null for objects and collections.
  func value(of operand: Operand) -> Value
  /// The elements of an operand that is a collection. `single` decides the elements of an operand that is not.
  func elements(of operand: Operand, single: DynamicForm.Single) -> [Operand]
  /// The result of a form over other operands.
  func evaluate(_ form: DynamicForm, _ operands: [Operand], of object: Object) -> Operand
  /// Whether a comparison of two operands is true.
  func holds(_ comparison: DynamicComparison, _ left: Operand, _ right: Operand) -> Bool
  /// The source for one element of a subquery. Assignments within it are dropped with the element.
  func inner() -> Self
}

extension EvaluationSource {
  public static func test(_ predicate: ResolvedPredicate) -> (@Sendable (Object) -> Bool)? { nil }
  public func inner() -> Self { self }
}

/// The implementation for objects with a schema, which have no dynamic parts.
extension EvaluationSource where Operand == Value {
  /// The value itself.
  public func operand(_ value: Value) -> Value { value }
  /// Null: there are no operands that are collections.
  public func operand(_ values: [Value]) -> Value { .null }
  /// Null: there are no operands that are objects.
  public func operand(of object: Object) -> Value { .null }
  /// The operand itself.
  public func value(of operand: Value) -> Value { operand }
  /// None: there are no operands that are collections.
  public func elements(of operand: Value, single: DynamicForm.Single) -> [Value] { [] }
  /// Null: there are no forms.
  public func evaluate(_ form: DynamicForm, _ operands: [Value], of object: Object) -> Value { .null }
  /// False: there are no dynamic comparisons.
  public func holds(_ comparison: DynamicComparison, _ left: Value, _ right: Value) -> Bool { false }
}

/// An element of a collection.
enum EvaluationItem<Source: EvaluationSource> {
  /// A related object.
  case object(Source.Object)
  /// A value of the collection.
  case value(Value)
  /// An element of an operand.
  case operand(Source.Operand)
}
