import StoreSchema

/// The objects of an evaluation, with their values and related objects: rows of a snapshot, objects of a context,
/// groups of a table.
///
/// Related objects are read when the evaluation reaches them; a source that can read many at once does so before.
public protocol EvaluationSource {
  /// The kind of object that predicates test: a row, a managed object, a group.
  associatedtype Object
  /// The error of a value that cannot be read; `Never` where all can.
  associatedtype Failure: Error = Never

  /// The value at a path from the object, whatever the path's variable; null where a relationship on the way leads
  /// nowhere.
  func value(at path: SlotPath, of object: Object) throws(Failure) -> Value

  /// The objects that relationships lead to, one after another. An object that is reached twice comes twice.
  func objects(over hops: [Relationship], from object: Object) throws(Failure) -> [Object]

  /// A way to test an object that is faster than the kernels over ``value(at:of:)``, where there is one. It means the
  /// same.
  func test(_ predicate: ResolvedPredicate) -> ((Object) -> Bool)?
}

extension EvaluationSource {
  public func test(_ predicate: ResolvedPredicate) -> ((Object) -> Bool)? { nil }
}

/// An element of a collection.
public enum EvaluationItem<Object> {
  /// A related object.
  case object(Object)
  /// A value of the collection.
  case value(Value)
}
