import Foundation
import StoreSchema

/// Evaluates generated predicates over the plain dictionaries of a ``ReferenceStore``.
struct ReferenceEvaluator {
  private let store: ReferenceStore
  private let model: ModelSchema
  /// The object of the store with a number.
  private let reference: (Int) -> ObjectReference?

  init(_ store: ReferenceStore, _ model: ModelSchema, _ reference: @escaping (Int) -> ObjectReference?) {
    (self.store, self.model, self.reference) = (store, model, reference)
  }

  /// The numbers of an entity's objects that meet a predicate, in the order of sorts and then of their numbers.
  func select(
    _ entity: Entity, _ predicate: GeneratedPredicate, sort: [GeneratedSort]
  ) -> [Int] {
    let names = entity.subtree.map { model.schema.entities[$0].name }
    let found = store.numbers.filter { number in
      names.contains(store.objects[number]?.entity ?? "") && holds(predicate, [number])
    }
    return found.sorted { a, b in
      for step in sort {
        let (x, y) = (value(.path(0, step.keys), [a]), value(.path(0, step.keys), [b]))
        let order = ReferenceValues.order(x, y, step.selector)
        if order != 0 { return (order < 0) == step.isAscending }
      }
      return a < b
    }
  }

  /// Whether a predicate holds. `objects` are the current object and the objects of variables.
  private func holds(_ predicate: GeneratedPredicate, _ objects: [Int]) -> Bool {
    switch predicate {
    case .constant(let value): return value
    case .and(let parts): return parts.allSatisfy { holds($0, objects) }
    case .or(let parts): return parts.contains { holds($0, objects) }
    case .not(let inner): return !holds(inner, objects)
    case .comparison(let left, let op, let right, let options):
      return ReferenceValues.compare(value(left, objects), op, value(right, objects), options)
    case .between(let value, let low, let high):
      let value = self.value(value, objects)
      return ReferenceValues.compare(value, ">=", self.value(low, objects), "")
        && ReferenceValues.compare(value, "<=", self.value(high, objects), "")
    case .oneOf(let value, let list, let options):
      let value = self.value(value, objects)
      return list.contains { ReferenceValues.areEqual(value, $0, options) }
    case .quantified(let word, let collection, let op, let other, let options):
      let other = value(other, objects)
      return quantified(word, values(collection, objects)) { ReferenceValues.compare($0, op, other, options) }
    case .quantifiedOneOf(let word, let collection, let list):
      return quantified(word, values(collection, objects)) { value in
        list.contains { ReferenceValues.areEqual(value, $0) }
      }
    case .holds(let collection, let value, _):
      let value = self.value(value, objects)
      return values(collection, objects).contains { ReferenceValues.areEqual($0, value) }
    case .belongs(let value, let set):
      let value = self.value(value, objects)
      return values(set, objects).contains { ReferenceValues.areEqual($0, value) }
    case .entityName(let variable, let keys, let op, let names):
      let name = entityName(objects[variable], keys)
      if op == "IN" { return names.contains { ReferenceValues.areEqual(name, .string($0)) } }
      return ReferenceValues.compare(name, op, names.first.map(Value.string) ?? .null, "")
    case .isNil(let collection, let isNil): return members(collection, objects).isEmpty == isNil
    }
  }

  private func quantified(_ word: String, _ values: [Value], _ test: (Value) -> Bool) -> Bool {
    switch word {
    case "ANY", "SOME": values.contains(where: test)
    case "ALL": values.allSatisfy(test)
    default: !values.contains(where: test)
    }
  }

  /// The value of an expression for the objects as in ``holds(_:_:)``.
  func value(_ expression: GeneratedValue, _ objects: [Int]) -> Value {
    switch expression {
    case .constant(let value): return value
    case .path(let variable, let keys): return value(objects[variable], keys)
    case .arithmetic(let left, let sign, let right):
      return ReferenceValues.arithmetic(value(left, objects), sign, value(right, objects))
    case .prefixed(let sign, let operand): return ReferenceValues.prefixed(sign, value(operand, objects))
    case .cast(let operand, let type): return ReferenceValues.cast(value(operand, objects), type)
    case .now: return .date(Date().timeIntervalSinceReferenceDate)
    case .measure(let name, let set): return ReferenceValues.measure(name, values(set, objects))
    case .function(let name, let operand): return ReferenceValues.function(name, value(operand, objects))
    case .ternary(let condition, let yes, let no): return value(holds(condition, objects) ? yes : no, objects)
    case .count(let collection): return .int(Int64(members(collection, objects).count))
    case .aggregate(let name, let collection): return ReferenceValues.aggregate(name, values(collection, objects))
    case .element(let word, let collection):
      let values = values(collection, objects)
      switch word {
      case "FIRST": return values.first ?? .null
      case "LAST": return values.last ?? .null
      default: return Int(word).flatMap { values.indices.contains($0) ? values[$0] : nil } ?? .null
      }
    }
  }

  private func value(_ number: Int, _ keys: [String]) -> Value {
    var current = number
    for (index, key) in keys.enumerated() {
      guard let object = store.objects[current] else { return .null }
      // The rest is the path of an attribute, or of an element of a composite one.
      guard model.toOnes(of: object.entity).contains(key) else {
        return object.values[keys[index...].joined(separator: ".")]?.value ?? .null
      }
      guard let next = object.targets[key] else { return .null }
      if index == keys.count - 1 { return reference(next).map(Value.reference) ?? .null }
      current = next
    }
    return reference(current).map(Value.reference) ?? .null
  }

  private func entityName(_ number: Int, _ keys: [String]) -> Value {
    var current: Int? = number
    for key in keys { current = current.flatMap { store.objects[$0]?.targets[key] } }
    return current.flatMap { store.objects[$0] }.map { .string($0.entity) } ?? .null
  }

  private func values(_ set: GeneratedSet, _ objects: [Int]) -> [Value] {
    switch set {
    case .members(let collection): return values(collection, objects)
    case .constants(let values): return values
    case .distinct(let inner): return ReferenceValues.distinct(values(inner, objects))
    case .collected(let op, let collection):
      let values = values(collection, objects)
      return op == "@distinctUnionOfObjects" ? ReferenceValues.distinct(values) : values
    case .combined(let left, let op, let right):
      let (a, b) = (values(left, objects), values(right, objects))
      if op == "UNION" { return ReferenceValues.distinct(a + b) }
      return ReferenceValues.distinct(a).filter { value in
        b.contains { ReferenceValues.areEqual($0, value) } == (op == "INTERSECT")
      }
    }
  }

  private func values(_ collection: GeneratedCollection, _ objects: [Int]) -> [Value] {
    members(collection, objects).map { value($0, collection.attribute) }
  }

  private func members(_ collection: GeneratedCollection, _ objects: [Int]) -> [Int] {
    var found = [objects[collection.variable]]
    for hop in collection.hops { found = found.flatMap { store.members(hop, of: $0, model) } }
    guard let filter = collection.filter else { return found }
    return found.filter { holds(filter.predicate, Array(objects.prefix(filter.variable)) + [$0]) }
  }
}
