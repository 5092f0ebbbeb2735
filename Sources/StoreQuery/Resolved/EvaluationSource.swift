import StoreSchema

/// The objects of an evaluation, with their values and related objects: rows of a snapshot, objects of a context,
/// groups of a table.
///
/// Related objects are read when the evaluation reaches them. A source that can read many at once should do so before.
public protocol EvaluationSource {
  /// The kind of object that predicates test: a row, a managed object, a group.
  associatedtype Object
  /// The error of a value that cannot be read; `Never` where all values can.
  associatedtype Failure: Error = Never

  /// The value at a path from the object. The path's variable is ignored. Null where a relationship in the path has no
  /// destination.
  func value(at path: SlotPath, of object: Object) throws(Failure) -> Value

  /// The destinations of relationships, one after another. An object that is reached twice occurs twice.
  func objects(over hops: [Relationship], from object: Object) throws(Failure) -> [Object]

  /// A test of an object that is faster than the kernels over ``value(at:of:)``; nil where there is none. It must give
  /// the same results.
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
