import Foundation
import StoreQuery
import StoreSchema

/// Objects that no schema describes, for predicates and expressions in memory: managed objects by their keys,
/// dictionaries and plain values. There is one source for each evaluation.
///
/// Comparisons and functions are those of stores, so that a predicate means in memory what it means in a fetch. What
/// cannot be evaluated stops the program, as it raises an exception on Apple's platforms.
struct ObjectSource: EvaluationSource {
  /// A value as ``Value``, a list of constants, or anything that a key leads to.
  typealias Operand = Any?

  private let state: State

  /// What is remembered during an evaluation.
  private final class State {
    var variables: Variables
    /// The variables that are assigned in what is evaluated, and where it is a part of something else, elsewhere there.
    let assigned: Set<String>
    private let elsewhere: () -> Set<String>
    /// What `now()` is, wherever it stands in the predicate.
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

  /// The variables that have been assigned.
  typealias Variables = [String: Any?]

  /// `assigned` are the variables that are assigned in what is evaluated. `elsewhere` names those that are assigned in
  /// the compound of which it is a part: before they are assigned, they are nil, as its own are.
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

  /// The value of what has one; null for objects.
  static func value(_ operand: Any?) -> Value {
    if let value = operand as? Value { return value }
    return AttributeCoding.flattened(operand).flatMap(PredicateArgument.constant) ?? .null
  }

  /// An operand as code outside knows it.
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
      // What is assigned in a part that has not been evaluated is nil.
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

  private func element(of base: Any?, _ index: DynamicForm.Index, _ place: Any?) -> Any? {
    let elements = ObjectCollection.elements(base)
    switch index {
    case .first: return elements?.first ?? nil
    case .last: return elements?.last ?? nil
    case .size: return elements.map { Value.int(Int64($0.count)) }
    case .at:
      guard let elements else {
        // `dictionary['key']`.
        return (Self.plain(place) as? String).flatMap { ObjectCollection.value(of: base, $0) }
      }
      guard case .int(let index) = Self.value(place), elements.indices.contains(Int(clamping: index)) else {
        return nil
      }
      return elements[Int(index)]
    }
  }

  /// Latitude and longitude of a location: of a list of the two, or by key of an object, a composite attribute's value
  /// or a dictionary. Nulls for nil, and for other values in the data. A constant that is no location stops the program.
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
