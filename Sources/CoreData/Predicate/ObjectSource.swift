import Foundation
import StoreQuery
import StoreSchema

/// Objects without a schema, for predicates and expressions in memory: managed objects by their keys, dictionaries and
/// plain values. Each evaluation has a source of its own.
///
/// Comparisons and functions are those of stores: a predicate means in memory what it means in a fetch. An expression
/// that cannot be evaluated stops the program. Apple's platforms raise an exception there.
struct ObjectSource: EvaluationSource {
  /// A ``Value``, a list of constants, or any object that a key gives.
  typealias Operand = Any?

  private let state: State

  /// The state of one evaluation.
  private final class State {
    var variables: Variables
    /// The variables that the evaluated predicate or expression assigns.
    let assigned: Set<String>
    /// The variables that other parts of the same compound assign.
    private let elsewhere: () -> Set<String>
    /// The result of each `now()` of the predicate.
    lazy var now = Value.date(Date().timeIntervalSinceReferenceDate)

    init(_ variables: Variables, _ assigned: Set<String>, _ elsewhere: @escaping () -> Set<String>) {
      (self.variables, self.assigned, self.elsewhere) = (variables, assigned, elsewhere)
    }

    func isAssigned(_ name: String) -> Bool { assigned.contains(name) || elsewhere().contains(name) }

    func copy() -> State {
      let copy = State(variables, assigned, elsewhere)
      copy.now = now
      return copy
    }
  }

  /// The variables that were assigned, with their values.
  typealias Variables = [String: Any?]

  /// `assigned` has the variables that the predicate or expression assigns. `elsewhere` returns those that other parts
  /// of the same compound assign. Before its assignment, each of them is nil.
  init(
    _ variables: Variables = [:], assigned: Set<String>, elsewhere: @escaping () -> Set<String> = { [] }
  ) { state = State(variables, assigned, elsewhere) }

  private init(_ state: State) { self.state = state }

  var variables: Variables { state.variables }

  func inner() -> ObjectSource { state.assigned.isEmpty ? self : ObjectSource(state.copy()) }

  // MARK: Objects of a schema

  func value(at path: SlotPath, of object: Any?) -> Value { Self.value(object) }
  func objects(over hops: [Relationship], from object: Any?) -> [Any?] { [] }

  // MARK: Operands

  func operand(_ value: Value) -> Any? { value }
  func operand(_ values: [Value]) -> Any? { ConstantList(values: values) }
  func operand(of object: Any?) -> Any? { object }
  func value(of operand: Any?) -> Value { Self.value(operand) }

  /// The value of an operand; null for objects and collections.
  static func value(_ operand: Any?) -> Value {
    if let value = operand as? Value { return value }
    return AttributeCoding.flattened(operand).flatMap(PredicateArgument.constant) ?? .null
  }

  /// The operand in the form that callers of predicates and expressions use.
  static func plain(_ operand: Any?) -> Any? {
    switch operand {
    case let value as Value: AttributeCoding.decode(value, .undefined)
    case let list as ConstantList: list.values.map { AttributeCoding.decode($0, .undefined) ?? NSNull() }
    case let elements as [Any?]: elements.map { plain($0) ?? NSNull() }
    default: operand
    }
  }

  func elements(of operand: Any?, single: DynamicForm.Single) -> [Any?] {
    if let elements = ObjectCollection.elements(operand) { return elements }
    return switch single {
    case .element: [operand]
    case .elementUnlessNil: ObjectCollection.isNil(operand) ? [] : [operand]
    case .nothing: []
    }
  }

  func holds(_ comparison: DynamicComparison, _ left: Any?, _ right: Any?) -> Bool {
    let test = ObjectComparison(comparison.op, comparison.options, with: right)
    return switch comparison.modifier {
    case .direct: test(left)
    case .any: elements(of: left, single: .element).contains { test($0) }
    case .all: elements(of: left, single: .element).allSatisfy { test($0) }
    }
  }

  // MARK: Forms

  func evaluate(_ form: DynamicForm, _ operands: [Any?], of object: Any?) -> Any? {
    switch form {
    case .keyPath(let path): return ObjectCollection.value(of: operands[0], path)
    case .list: return operands
    case .set(let operation): return ObjectCollection.combine(operation, operands[0], operands[1])
    case .distinct: return ObjectCollection.distinct(elements(of: operands[0], single: .elementUnlessNil))
    case .element(let index): return element(of: operands[0], index, operands.last ?? nil)
    case .function(let function):
      let values = zip(function.parameters, operands).flatMap { parameter, operand in
        if case .location = parameter { Self.coordinates(operand) } else { [Self.value(operand)] }
      }
      return function.evaluate(values)
    case .variable(let name):
      if let value = state.variables[name] { return value }
      // The part with its assignment was not evaluated.
      if state.isAssigned(name) { return nil }
      misuse("The predicate's variable $\(name) has no value; use withSubstitutionVariables(_:).")
    case .assignment(let name):
      state.variables[name] = .some(operands[0])
      return operands[0]
    case .now: return state.now
    case .object(let constant): return ObjectInPredicate(constant)?.value
    case .method(let selector): return method(selector, operands[0], Array(operands.dropFirst()), object)
    case .fetch(let countOnly):
      do { return try NestedFetch.value(operands[0], operands[1], countOnly: countOnly) } catch {
        misuse("The fetch within a predicate failed: \(error)")
      }
    case .failure(let reason): misuse(reason)
    }
  }

  private func method(_ selector: String, _ target: Any?, _ arguments: [Any?], _ object: Any?) -> Any? {
    if selector == ExpressionBlock.selector {
      return (target as? ExpressionBlock)?.body(object, arguments.map { Self.plain($0) ?? NSNull() }, nil)
    }
    return MethodRegistry.value(selector, of: Self.plain(target), arguments.map(Self.plain))
  }

  private func element(of base: Any?, _ index: DynamicForm.Index, _ key: Any?) -> Any? {
    let elements = ObjectCollection.elements(base)
    switch index {
    case .first: return elements?.first ?? nil
    case .last: return elements?.last ?? nil
    case .size: return elements.map { Value.int(Int64($0.count)) }
    case .at:
      guard let elements else {
        // `dictionary['key']`.
        return (Self.plain(key) as? String).flatMap { ObjectCollection.value(of: base, $0) }
      }
      guard case .int(let index) = Self.value(key), elements.indices.contains(Int(clamping: index)) else {
        return nil
      }
      return elements[Int(index)]
    }
  }

  /// Latitude and longitude of a location. A location is a list of the two, or an object, a dictionary or a composite
  /// attribute with the two as keys. Both are null for nil and for any other value in the data. A constant that is no
  /// location stops the program.
  private static func coordinates(_ location: Any?) -> [Value] {
    let none = [Value.null, .null]
    if ObjectCollection.isNil(location) { return none }
    if location is Value {
      misuse(
        "distanceToLocation takes locations: an object, a composite attribute or a dictionary with latitude and longitude, or {latitude, longitude}."
      )
    }
    if let elements = ObjectCollection.elements(location) {
      return elements.count == 2 && !ObjectCollection.isUnordered(location) ? elements.map(value) : none
    }
    if let object = location as? NSManagedObject, LocationKernel.keys.contains(where: { object.info.keys[$0] == nil }) {
      return none
    }
    return LocationKernel.keys.map { value(ObjectCollection.value(of: location, $0)) }
  }
}
