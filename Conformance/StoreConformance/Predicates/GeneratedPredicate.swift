import StoreSchema

/// A generated predicate: a tree that is printed as a format for stores, and evaluated independently.
indirect enum GeneratedPredicate: Sendable {
  case constant(Bool)
  case and([GeneratedPredicate])
  case or([GeneratedPredicate])
  case not(GeneratedPredicate)
  /// `options` are the letters behind the operator.
  case comparison(GeneratedValue, String, GeneratedValue, options: String)
  case between(GeneratedValue, GeneratedValue, GeneratedValue)
  case oneOf(GeneratedValue, [Value], options: String)
  /// ANY, ALL or NONE of a collection.
  case quantified(String, GeneratedCollection, String, GeneratedValue, options: String)
  case quantifiedOneOf(String, GeneratedCollection, [Value])
  case holds(GeneratedCollection, GeneratedValue, isContains: Bool)
  /// Whether a set of values has the value.
  case belongs(GeneratedValue, GeneratedSet)
  /// Compares the entity name of the object at a path with some names; with several for IN.
  case entityName(Int, [String], String, [String])
  /// Compares a relationship with nil.
  case isNil(GeneratedCollection, Bool)
}

/// An expression for one value.
indirect enum GeneratedValue: Sendable {
  case constant(Value)
  /// Keys from the current object (0) or from a variable; no keys for the object itself.
  case path(Int, [String])
  case arithmetic(GeneratedValue, String, GeneratedValue)
  /// `-`, or `~` for all bits flipped.
  case prefixed(String, GeneratedValue)
  case function(String, GeneratedValue)
  case cast(GeneratedValue, String)
  case now
  case ternary(GeneratedPredicate, GeneratedValue, GeneratedValue)
  case count(GeneratedCollection)
  /// `@sum` and the like, over the collection's attribute.
  case aggregate(String, GeneratedCollection)
  /// `items[FIRST].name`, or `LAST`, or a number.
  case element(String, GeneratedCollection)
  /// A function of a set, `@count` and `[SIZE]` among them.
  case measure(String, GeneratedSet)
}

/// An expression for a set of values, the operand of set operators.
indirect enum GeneratedSet: Sendable {
  case members(GeneratedCollection)
  case constants([Value])
  /// UNION, INTERSECT and MINUS.
  case combined(GeneratedSet, String, GeneratedSet)
  case distinct(GeneratedSet)
  /// `@unionOfObjects` and `@distinctUnionOfObjects` over the collection's attribute.
  case collected(String, GeneratedCollection)
}

/// A sort: keys to a value, and the method that compares texts, nil for the literal order.
struct GeneratedSort: Sendable {
  var keys: [String]
  var isAscending: Bool
  var selector: String?

  var brief: String { (isAscending ? "" : "-") + keys.joined(separator: ".") + (selector.map { " \($0)" } ?? "") }
}

/// An expression for objects, or for the values of one of their attributes.
struct GeneratedCollection: Sendable {
  var variable: Int
  /// Keys of relationships, at least one of them to-many.
  var hops: [String]
  /// Selects some of the objects; the number is the variable of each object.
  var filter: GeneratedFilter?
  /// To-one keys and an attribute, or none for the objects themselves.
  var attribute: [String] = []
}

final class GeneratedFilter: Sendable {
  let variable: Int
  let predicate: GeneratedPredicate

  init(_ variable: Int, _ predicate: GeneratedPredicate) {
    self.variable = variable
    self.predicate = predicate
  }
}
