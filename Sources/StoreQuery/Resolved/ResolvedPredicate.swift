import StoreSchema

/// A predicate whose names are resolved to slots. Stores translate it, and ``CompiledPredicate`` evaluates it.
///
/// It has fewer forms than the language: `ALL` is a negated `exists`, and single values are never in a position for
/// collections.
public indirect enum ResolvedPredicate: Hashable, Sendable {
  /// True for every object, or for none.
  case constant(Bool)
  /// True where all parts are true; also without parts.
  case and([ResolvedPredicate])
  /// True where at least one part is true; false without parts.
  case or([ResolvedPredicate])
  /// True where the part is false.
  case not(ResolvedPredicate)
  /// A comparison of two values, by ``ComparisonKernel``. `IN` means here that the left text occurs in the right one.
  case comparison(ResolvedExpression, Predicate.Operator, ResolvedExpression, Predicate.Options)
  /// Whether a value is between two others, both included.
  case between(ResolvedExpression, ResolvedExpression, ResolvedExpression, Predicate.Options)
  /// Whether some element of a collection equals the value.
  case member(ResolvedExpression, of: ResolvedCollection, Predicate.Options)
  /// Whether some element of a collection matches a predicate, in which it is the variable with that number.
  case exists(ResolvedCollection, variable: Int, ResolvedPredicate)
  /// A comparison of objects without a schema; see ``DynamicForm``. Predicates for stores never contain it.
  case dynamic(DynamicComparison, ResolvedExpression, ResolvedExpression)

  /// Whether it obviously selects everything.
  package var isTrue: Bool {
    switch self {
    case .constant(let constant): constant
    case .and(let parts): parts.isEmpty
    default: false
    }
  }
}

/// An expression for one value whose names are resolved to slots.
public indirect enum ResolvedExpression: Hashable, Sendable {
  /// A value that is the same for all objects.
  case constant(Value)
  /// The value at a path from an object.
  case path(SlotPath)
  /// A function of the values of other expressions.
  case function(Function, [ResolvedExpression])
  /// The first expression where the predicate holds, else the second.
  case conditional(ResolvedPredicate, ResolvedExpression, ResolvedExpression)
  /// The result of an aggregate over a collection.
  case aggregate(ResolvedAggregate, ResolvedCollection)
  /// An element of a collection by its index from 0; null where there is none, or where the index is not a whole
  /// number.
  case element(ResolvedCollection, ResolvedExpression)
  /// The first element of a collection, or its last one.
  case end(ResolvedCollection, isLast: Bool)
  /// A part that only objects without a schema have. Predicates for stores never contain it.
  case dynamic(DynamicForm, [ResolvedExpression])
  /// A collection as one operand of a dynamic part. Predicates for stores never contain it.
  case collection(ResolvedCollection)

  /// A function; if its operands are constants and its result is always the same, the result as a constant.
  static func folded(_ function: Function, _ operands: [ResolvedExpression]) -> ResolvedExpression {
    var values: [Value] = []
    for case .constant(let value) in operands { values.append(value) }
    guard values.count == operands.count, case .values = function.kernel else { return .function(function, operands) }
    return .constant(function.evaluate(values))
  }
}

/// A function that gives one value for a collection.
public enum ResolvedAggregate: Hashable, Sendable {
  /// The number of elements, null included: `@count`. ``Aggregate/count`` leaves null out.
  case size
  /// A sum, an average, the least or the greatest value, or the number of values that are not null.
  case aggregate(Aggregate)
  /// A function of a collection that grouped fetches do not have, for example a median.
  case function(Function)

  /// The aggregate of a function of a collection; nil for a function of values.
  init?(_ function: Function) {
    switch function.kernel {
    // Counts all elements, as `count` of an array does.
    case .aggregate(.count): self = .size
    case .aggregate(let aggregate): self = .aggregate(aggregate)
    case .collection: self = .function(function)
    case .values, .random, .now, .operand, .distinct, .element: return nil
    }
  }

  /// The value for a collection.
  public func evaluate(_ values: [Value]) -> Value {
    switch self {
    case .size: return .int(Int64(values.count))
    case .aggregate(let aggregate):
      var collector = Aggregate.Collector(aggregate)
      for value in values { collector.add(value) }
      return collector.value
    case .function(let function):
      guard case .collection(let evaluate) = function.kernel else { return .null }
      return evaluate(values)
    }
  }
}

/// An expression for any number of values or objects.
public indirect enum ResolvedCollection: Hashable, Sendable {
  /// Values that are the same for all objects.
  case constants([Value])
  /// The values of expressions, in their order.
  case list([ResolvedExpression])
  /// The destinations of relationships, followed one after another, from the variable with that number; at least one of
  /// the relationships is to-many. An object that is reached twice counts twice.
  case members(variable: Int, [Relationship])
  /// The destinations of relationships from objects of a collection.
  case following(ResolvedCollection, [Relationship])
  /// The values at a path that starts from each element. The path's variable is ignored.
  case values(ResolvedCollection, SlotPath)
  /// The elements that match a predicate, in which each is the variable with that number.
  case filtered(ResolvedCollection, variable: Int, ResolvedPredicate)
  /// A union, an intersection or a difference of two collections; each value once.
  case set(Expression.SetOperation, ResolvedCollection, ResolvedCollection)
  /// Each value once.
  case distinct(ResolvedCollection)
  /// The elements of an operand of a dynamic part. Predicates for stores never contain it.
  case elements(of: ResolvedExpression, DynamicForm.Single)
}
