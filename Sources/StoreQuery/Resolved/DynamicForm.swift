import StoreSchema

/// A part of a program over objects that no schema describes: dictionaries, managed objects by their keys, plain values.
///
/// Whether a key leads to a value, an object or a collection is known only once it is looked up, so that these parts
/// take and give operands of the source (``EvaluationSource/Operand``). Only ``DynamicResolver`` makes them: a store is
/// never asked for one.
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
  /// The latitude, or the longitude, of the operand, which is a location.
  case coordinate(isLatitude: Bool)
  /// What was assigned to a variable.
  case variable(String)
  /// The operand, which is assigned to a variable.
  case assignment(String)
  /// The time of the evaluation.
  case now
  /// An object that is given.
  case object(ObjectConstant)
  /// What a method of the first operand gives for the others.
  case method(String)
  /// What a fetch finds: of a request and a context.
  case fetch(countOnly: Bool)
  /// What cannot be evaluated, with the reason as a sentence. It ends the program when it is reached.
  case failure(String)

  /// Which element of a collection is meant.
  public enum Index: Hashable, Sendable {
    /// The first element.
    case first
    /// The last element.
    case last
    /// The number of elements.
    case size
    /// The element at the index that the second operand is, or the value of the key that it is.
    case at
  }

  /// What an operand that is no collection stands for, where a collection is needed.
  public enum Single: Hashable, Sendable {
    /// A collection of it alone.
    case element
    /// A collection of it alone, and none where it is nil.
    case elementUnlessNil
    /// No elements.
    case nothing
  }
}

/// A comparison of operands that may be collections.
public struct DynamicComparison: Hashable, Sendable {
  /// Whether the left operand is compared, or its elements are.
  public let modifier: Predicate.Modifier
  /// The operator.
  public let op: Predicate.Operator
  /// How texts are compared.
  public let options: Predicate.Options
}
