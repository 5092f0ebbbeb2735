import Foundation
import StoreQuery
import StoreSchema

/// Built-in functions over plain values, by their selectors.
enum FunctionEvaluator {
  /// The function's value; stops the program for one that cannot be evaluated yet.
  static func value(_ name: String, _ arguments: [Any?]) -> Any? {
    if let operation = ArithmeticKernel.Operation(rawValue: name), arguments.count == 2 {
      let result = ArithmeticKernel.evaluate(operation, constant(arguments[0]), constant(arguments[1]))
      return ConstantCoding.object(result)
    }
    if name == "now" && arguments.isEmpty { return Date() }
    guard arguments.count == 1, let argument = arguments.first else { refuse(name) }
    if let aggregate = aggregate(name, argument) { return aggregate.value }
    switch name {
    case "negate:": return ConstantCoding.object(ArithmeticKernel.negate(constant(argument)))
    case "onesComplement:": return ConstantCoding.object(ArithmeticKernel.complement(constant(argument)))
    case "uppercase:": return (argument as? String)?.uppercased()
    case "lowercase:": return (argument as? String)?.lowercased()
    case "length:": return (argument as? String)?.utf16.count
    default: return math(name, argument)
    }
  }

  /// Whether ``value(_:_:)`` can evaluate a function with that many arguments.
  static func knows(_ name: String, argumentCount: Int) -> Bool {
    if ArithmeticKernel.Operation(rawValue: name) != nil { return argumentCount == 2 }
    if name == "now" { return argumentCount == 0 }
    return argumentCount == 1 && unary.contains(name)
  }

  private static let unary: Set<String> = [
    "sum:", "count:", "min:", "max:", "average:", "negate:", "onesComplement:", "uppercase:", "lowercase:", "length:",
    "sqrt:", "ln:", "log:", "exp:", "floor:", "ceiling:", "trunc:", "abs:",
  ]

  private struct Result { let value: Any? }

  /// Nil for a function that is no aggregate.
  private static func aggregate(_ name: String, _ argument: Any?) -> Result? {
    guard ["sum:", "count:", "min:", "max:", "average:"].contains(name) else { return nil }
    let values = members(argument)
    if name == "count:" { return Result(value: values.count) }
    let constants = values.map(constant).filter { !$0.isNull }
    switch name {
    case "sum:": return Result(value: ConstantCoding.object(constants.reduce(.int(0), add)))
    case "average:":
      if constants.isEmpty { return Result(value: nil) }
      let total = ArithmeticKernel.evaluate(.multiply, constants.reduce(.int(0), add), .double(1))
      return Result(
        value: ConstantCoding.object(ArithmeticKernel.evaluate(.divide, total, .int(Int64(constants.count)))))
    default:
      let wanted: StoreQuery.Predicate.Operator = name == "min:" ? .lessThan : .greaterThan
      let best = constants.reduce(Value.null) { best, next in
        best.isNull || ComparisonKernel.evaluate(wanted, [], left: next, right: best) ? next : best
      }
      return Result(value: ConstantCoding.object(best))
    }
  }

  private static func add(_ a: Value, _ b: Value) -> Value { ArithmeticKernel.evaluate(.add, a, b) }

  private static func math(_ name: String, _ argument: Any?) -> Any? {
    let functions: [String: (Double) -> Double] = [
      "sqrt:": { $0.squareRoot() }, "ln:": { Foundation.log($0) }, "log:": { Foundation.log10($0) },
      "exp:": { Foundation.exp($0) }, "floor:": { $0.rounded(.down) }, "ceiling:": { $0.rounded(.up) },
      "trunc:": { $0.rounded(.towardZero) }, "abs:": { Swift.abs($0) },
    ]
    guard let function = functions[name] else { refuse(name) }
    guard let number = argument.flatMap(AttributeCoding.double) else { return nil }
    return function(number)
  }

  private static func members(_ argument: Any?) -> [Any?] {
    switch argument {
    case let set as NSSet: set.allObjects
    case let set as NSOrderedSet: set.array
    case let array as [Any?]: array
    case nil: []
    default: [argument]
    }
  }

  private static func constant(_ value: Any?) -> Value {
    if let value = value as? Value { return value }
    return AttributeCoding.flattened(value).flatMap(PredicateArgument.constant) ?? .null
  }

  private static func refuse(_ name: String) -> Never { misuse("The function \(name) cannot be evaluated yet.") }
}
