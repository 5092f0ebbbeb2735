import StoreSchema

/// A predicate whose names are resolved to slots: what stores translate and ``CompiledPredicate`` runs.
///
/// It has fewer forms than the language: `ALL` is a negated `exists`, and single values never stand where collections
/// do.
public indirect enum ResolvedPredicate: Hashable, Sendable {
  /// True of every object, or of none.
  case constant(Bool)
  /// True where all parts are; also without parts.
  case and([ResolvedPredicate])
  /// True where some part is; false without parts.
  case or([ResolvedPredicate])
  /// True where the part is false.
  case not(ResolvedPredicate)
  /// One value against another, by ``ComparisonKernel``. `IN` means here that the left text occurs in the right one.
  case comparison(ResolvedExpression, Predicate.Operator, ResolvedExpression, Predicate.Options)
  /// Whether a value lies between two others, both included.
  case between(ResolvedExpression, ResolvedExpression, ResolvedExpression, Predicate.Options)
  /// Whether some element of a collection equals the value.
  case member(ResolvedExpression, of: ResolvedCollection, Predicate.Options)
  /// Whether some element of a collection meets a predicate, in which it is the variable of that number.
  case exists(ResolvedCollection, variable: Int, ResolvedPredicate)
  /// A comparison of objects that no schema describes; see ``DynamicForm``. A store is never asked for it.
  case dynamic(DynamicComparison, ResolvedExpression, ResolvedExpression)

  /// Whether it plainly selects everything.
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
  /// What an aggregate makes of a collection.
  case aggregate(ResolvedAggregate, ResolvedCollection)
  /// An element of a collection by its index from 0; null where there is none, or the index is no whole number.
  case element(ResolvedCollection, ResolvedExpression)
  /// The first element of a collection, or its last one.
  case end(ResolvedCollection, isLast: Bool)
  /// A part that only objects have that no schema describes. A store is never asked for it.
  case dynamic(DynamicForm, [ResolvedExpression])
  /// A collection as one operand of a dynamic part. A store is never asked for it.
  case collection(ResolvedCollection)

  /// A function; of constants its value, where that is always the same.
  static func folded(_ function: Function, _ operands: [ResolvedExpression]) -> ResolvedExpression {
    var values: [Value] = []
    for case .constant(let value) in operands { values.append(value) }
    guard values.count == operands.count, case .values = function.kernel else { return .function(function, operands) }
    return .constant(function.evaluate(values))
  }
}

/// What makes one value of a collection.
public enum ResolvedAggregate: Hashable, Sendable {
  /// The number of elements, null among them: `@count`, where ``Aggregate/count`` leaves null out.
  case size
  /// A sum, an average, the least or the greatest value, or the number of values that are not null.
  case aggregate(Aggregate)
  /// A function of a collection that no grouped fetch has: a median, for example.
  case function(Function)

  /// What a function makes of a collection; nil for a function of values.
  init?(_ function: Function) {
    switch function.kernel {
    // Counts what is there, as `count` of an array does.
    case .aggregate(.count): self = .size
    case .aggregate(let aggregate): self = .aggregate(aggregate)
    case .collection: self = .function(function)
    case .values, .random, .now, .operand, .distinct, .element: return nil
    }
  }

  /// The one value made of a collection.
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
  /// The objects that relationships lead to, one after another, from the variable of that number; at least one of them
  /// is to-many. An object that is reached twice counts twice.
  case members(variable: Int, [Relationship])
  /// The objects that relationships lead to from objects of a collection.
  case following(ResolvedCollection, [Relationship])
  /// The values at a path that starts from each element, whatever the path's variable.
  case values(ResolvedCollection, SlotPath)
  /// The elements that meet a predicate, in which each is the variable of that number.
  case filtered(ResolvedCollection, variable: Int, ResolvedPredicate)
  /// A union, an intersection or a difference of two collections; each value once.
  case set(Expression.SetOperation, ResolvedCollection, ResolvedCollection)
  /// Each value once.
  case distinct(ResolvedCollection)
  /// The elements of an operand of a dynamic part. A store is never asked for them.
  case elements(of: ResolvedExpression, DynamicForm.Single)
}
