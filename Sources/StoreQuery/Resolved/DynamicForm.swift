import StoreSchema

/// A part of a program over objects without a schema: dictionaries, managed objects by their keys, plain values.
///
/// Only the lookup of a key shows whether its value is a plain value, an object or a collection. These parts therefore
/// take and give operands of the source (``EvaluationSource/Operand``). Only ``DynamicResolver`` makes them; predicates
/// for stores never contain one.
public enum DynamicForm: Hashable, Sendable {
  /// The value at a key path of the operand.
  case keyPath(String)
  /// A collection of the operands.
  case list
  /// A union, an intersection or a difference of two operands.
  case set(Expression.SetOperation)
  /// Each element of the operand once.
  case distinct
  /// An element of the operand.
  case element(Index)
  /// The value of a function that takes locations. Each operand is a location, or the value of another parameter.
  case function(Function)
  /// The value that was assigned to a variable.
  case variable(String)
  /// The operand, after it was assigned to a variable.
  case assignment(String)
  /// The time of the evaluation.
  case now
  /// A constant object.
  case object(ObjectConstant)
  /// The result of a method of the first operand, with the other operands as arguments.
  case method(String)
  /// The result of a fetch. The operands are the request and the context.
  case fetch(countOnly: Bool)
  /// An expression that cannot be evaluated, with the reason as a sentence. It ends the program when it is reached.
  case failure(String)

  /// An element of a collection, or the number of its elements.
  public enum Index: Hashable, Sendable {
    /// The first element.
    case first
    /// The last element.
    case last
    /// The number of elements.
    case size
    /// The element at the index in the second operand, or the value of the key in it.
    case at
  }

  /// The elements of an operand that is not a collection, where a collection is required.
  public enum Single: Hashable, Sendable {
    /// The operand alone.
    case element
    /// The operand alone; no elements if it is nil.
    case elementUnlessNil
    /// No elements.
    case nothing
  }
}

/// A comparison of operands that may be collections.
public struct DynamicComparison: Hashable, Sendable {
  /// Whether the left operand or its elements are compared.
  public let modifier: Predicate.Modifier
  /// The operator.
  public let op: Predicate.Operator
  /// The options of comparisons of strings.
  public let options: Predicate.Options
}
