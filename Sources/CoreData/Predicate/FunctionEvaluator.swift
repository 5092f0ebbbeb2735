import Foundation
import StoreQuery
import StoreSchema

/// Built-in functions over plain values, by their selectors: the kernels of StoreQuery, and what only memory has.
enum FunctionEvaluator {
  /// The function's value; stops the program for one that there is not.
  static func value(_ name: String, _ arguments: [Any?]) -> Any? {
    if let operation = ArithmeticKernel.Operation(rawValue: name), arguments.count == 2 {
      return ArithmeticKernel.evaluate(
        operation, ObjectEvaluator.value(arguments[0]), ObjectEvaluator.value(arguments[1]))
    }
    switch (name, arguments.count) {
    case ("random", 0): return Value.double(Double.random(in: 0..<1))
    case ("random:", 1):
      // A number below the argument.
      guard case .int(let bound) = ObjectEvaluator.value(arguments[0]), bound > 0 else { return Value.null }
      return Value.int(Int64.random(in: 0..<bound))
    case ("noindex:", 1): return arguments[0]
    case (LocationKernel.selector, 2):
      return LocationKernel.distance(coordinates(arguments[0]) + coordinates(arguments[1]))
    case ("distinct:", 1): return ObjectCollection.distinct(elements(arguments[0]))
    case ("count:", 1): return Value.int(Int64(elements(arguments[0]).count))
    case (_, 1): return unary(name, arguments[0])
    default: refuse(name)
    }
  }

  private static func unary(_ name: String, _ argument: Any?) -> Value {
    if let function = FunctionKernel.Function(rawValue: name) {
      return FunctionKernel.evaluate(function, ObjectEvaluator.value(argument))
    }
    if let aggregate = Aggregate(rawValue: name) { return ObjectCollection.aggregate(aggregate, elements(argument)) }
    guard let function = StatisticsKernel.Function(rawValue: name) else { refuse(name) }
    return StatisticsKernel.evaluate(function, elements(argument).map(ObjectEvaluator.value))
  }

  /// Whether ``value(_:_:)`` can evaluate a function with that many arguments.
  static func knows(_ name: String, argumentCount: Int) -> Bool {
    switch argumentCount {
    case 0: name == "now" || name == "random"
    case 1:
      FunctionKernel.Function(rawValue: name) != nil || Aggregate(rawValue: name) != nil
        || StatisticsKernel.Function(rawValue: name) != nil || ["random:", "noindex:", "distinct:"].contains(name)
    case 2:
      ArithmeticKernel.Operation(rawValue: name) != nil
        || ["objectFrom:withIndex:", LocationKernel.selector].contains(name)
    default: false
    }
  }

  /// A single value is a collection of one, nil of none.
  private static func elements(_ argument: Any?) -> [Any?] {
    ObjectCollection.elements(argument) ?? (ObjectCollection.isNil(argument) ? [] : [argument])
  }

  /// Latitude and longitude of a location: of a list of the two, or by key of an object, a composite attribute's value
  /// or a dictionary. Nulls for nil and for what in the data is no location. A constant that is none stops the program.
  private static func coordinates(_ argument: Any?) -> [Value] {
    let none = [Value.null, .null]
    if ObjectCollection.isNil(argument) { return none }
    if argument is Value {
      misuse(
        "distanceToLocation takes locations: an object, a composite attribute or a dictionary with latitude and longitude, or {latitude, longitude}."
      )
    }
    if let elements = ObjectCollection.elements(argument) {
      return elements.count == 2 && !ObjectCollection.isUnordered(argument) ? elements.map(ObjectEvaluator.value) : none
    }
    if let object = argument as? NSManagedObject, LocationKernel.keys.contains(where: { object.info.keys[$0] == nil }) {
      return none
    }
    return LocationKernel.keys.map { ObjectEvaluator.value(ObjectCollection.value(of: argument, $0)) }
  }

  /// Whether an argument of ``coordinates(_:)`` does not stop the program.
  static func isMaybeLocation(_ argument: StoreQuery.Expression) -> Bool {
    switch argument {
    case .literal(let literal): literal.value.isNull
    case .aggregate(let elements): elements.count == 2
    case .cast, .conditional, .nullObject, .object, .evaluatedObject, .variable, .keyPath, .keyPathOf, .function, .set,
      .subquery, .assignment, .anyKey, .fetch:
      true
    }
  }

  private static func refuse(_ name: String) -> Never { misuse("There is no function \(name) with such arguments.") }
}
