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
    private let names: () -> Set<String>
    /// The variables that are assigned anywhere in what is evaluated: before that, they are nil.
    lazy var assigned = names()
    /// What `now()` is, wherever it stands in the predicate.
    lazy var now = Value.date(Date().timeIntervalSinceReferenceDate)

    init(_ variables: Variables, _ names: @escaping () -> Set<String>) {
      (self.variables, self.names) = (variables, names)
    }

    func copy() -> State {
      let copy = State(variables, names)
      (copy.assigned, copy.now) = (assigned, now)
      return copy
    }
  }

  /// The variables that have been assigned.
  typealias Variables = [String: Any?]

  /// `assigned` names the variables that are assigned anywhere in what is evaluated.
  init(_ variables: Variables = [:], assigned: @escaping () -> Set<String>) { state = State(variables, assigned) }

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
    case .coordinate(let isLatitude): return Self.coordinate(operands[0], isLatitude: isLatitude)
    case .variable(let name):
      if let value = state.variables[name] { return value }
      // What is assigned in a part that has not been evaluated is nil.
      if state.assigned.contains(name) { return nil }
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
    if selector == ExpressionBlock.selector, let block = target as? ExpressionBlock {
      return block.body(object, arguments.map { Self.plain($0) ?? NSNull() }, nil)
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

  /// Latitude or longitude of a location: of a list of the two, or by key of an object, a composite attribute's value
  /// or a dictionary. Null for nil and for what in the data is no location. A constant that is none stops the program.
  private static func coordinate(_ location: Any?, isLatitude: Bool) -> Any? {
    if ObjectCollection.isNil(location) { return nil }
    if location is Value {
      misuse(
        "distanceToLocation takes locations: an object, a composite attribute or a dictionary with latitude and longitude, or {latitude, longitude}."
      )
    }
    if let elements = ObjectCollection.elements(location) {
      if elements.count != 2 || ObjectCollection.isUnordered(location) { return nil }
      return elements[isLatitude ? 0 : 1]
    }
    if let object = location as? NSManagedObject, LocationKernel.keys.contains(where: { object.info.keys[$0] == nil }) {
      return nil
    }
    return ObjectCollection.value(of: location, LocationKernel.keys[isLatitude ? 0 : 1])
  }
}
