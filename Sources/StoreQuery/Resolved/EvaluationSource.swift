import StoreSchema

/// The objects of an evaluation, with their values and related objects: rows of a snapshot, objects of a context,
/// groups of a table, and objects that no schema describes.
///
/// Related objects are read when the evaluation reaches them; a source that can read many at once does so before.
public protocol EvaluationSource: SendableMetatype {
  /// The kind of object that predicates test: a row, a managed object, a group.
  associatedtype Object
  /// The error of a value that cannot be read; `Never` where all can.
  associatedtype Failure: Error = Never
  /// What the dynamic parts of a program give (``DynamicForm``).
  associatedtype Operand = Value

  /// The value at a path from the object, whatever the path's variable; null where a relationship on the way leads
  /// nowhere.
  func value(at path: SlotPath, of object: Object) throws(Failure) -> Value

  /// The objects that relationships lead to, one after another. An object that is reached twice comes twice.
  func objects(over hops: [Relationship], from object: Object) throws(Failure) -> [Object]

  /// A way to test an object that is faster than the kernels over ``value(at:of:)``, where there is one. It means the
  /// same.
  static func test(_ predicate: ResolvedPredicate) -> (@Sendable (Object) -> Bool)?

  // MARK: Dynamic parts

  /// A value as an operand.
  func operand(_ value: Value) -> Operand
  /// Values that are the same for all objects, as one operand.
  func operand(_ values: [Value]) -> Operand
  /// The object under evaluation as an operand.
  func operand(of object: Object) -> Operand
  /// The value that functions see of an operand; null for objects and collections.
  func value(of operand: Operand) -> Value
  /// The elements of an operand that is a collection. `single` says what an operand that is none stands for.
  func elements(of operand: Operand, single: DynamicForm.Single) -> [Operand]
  /// The operand that a form makes of others.
  func evaluate(_ form: DynamicForm, _ operands: [Operand], of object: Object) -> Operand
  /// Whether a comparison holds of two operands.
  func holds(_ comparison: DynamicComparison, _ left: Operand, _ right: Operand) -> Bool
  /// The source for one element of a subquery: what is assigned there is forgotten with the element.
  func inner() -> Self
}

extension EvaluationSource {
  public static func test(_ predicate: ResolvedPredicate) -> (@Sendable (Object) -> Bool)? { nil }
  public func inner() -> Self { self }
}

/// Sources of objects that a schema describes have no dynamic parts.
extension EvaluationSource where Operand == Value {
  public func operand(_ value: Value) -> Value { value }
  public func operand(_ values: [Value]) -> Value { .null }
  public func operand(of object: Object) -> Value { .null }
  public func value(of operand: Value) -> Value { operand }
  public func elements(of operand: Value, single: DynamicForm.Single) -> [Value] { [] }
  public func evaluate(_ form: DynamicForm, _ operands: [Value], of object: Object) -> Value { .null }
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
