import StoreSchema

/// Evaluates generated predicates over the plain dictionaries of a ``ReferenceStore``.
struct ReferenceEvaluator {
  private let store: ReferenceStore
  private let model: ModelSchema
  /// The object of the store that a number stands for.
  private let reference: (Int) -> ObjectReference?

  init(_ store: ReferenceStore, _ model: ModelSchema, _ reference: @escaping (Int) -> ObjectReference?) {
    (self.store, self.model, self.reference) = (store, model, reference)
  }

  /// The numbers of an entity's objects that meet a predicate, in the order of sorts and then of their numbers.
  func select(
    _ entity: Entity, _ predicate: GeneratedPredicate, sort: [(keys: [String], isAscending: Bool)]
  ) -> [Int] {
    let names = entity.subtree.map { model.schema.entities[$0].name }
    let found = store.numbers.filter { number in
      names.contains(store.objects[number]?.entity ?? "") && holds(predicate, [number])
    }
    return found.sorted { a, b in
      for step in sort {
        let order = Self.order(value(.path(0, step.keys), [a]), value(.path(0, step.keys), [b]))
        if order != 0 { return (order < 0) == step.isAscending }
      }
      return a < b
    }
  }

  /// Nil comes first.
  private static func order(_ a: Value, _ b: Value) -> Int {
    if a.isNull || b.isNull { return (a.isNull ? 0 : 1) - (b.isNull ? 0 : 1) }
    return ReferenceValues.compare(a, b) ?? 0
  }

  /// Whether a predicate holds; `objects` are the object at hand and those that variables stand for.
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

  private func value(_ expression: GeneratedValue, _ objects: [Int]) -> Value {
    switch expression {
    case .constant(let value): return value
    case .path(let variable, let keys): return value(objects[variable], keys)
    case .arithmetic(let left, let sign, let right):
      return ReferenceValues.arithmetic(value(left, objects), sign, value(right, objects))
    case .function(let name, let operand): return ReferenceValues.function(name, value(operand, objects))
    case .ternary(let condition, let yes, let no): return value(holds(condition, objects) ? yes : no, objects)
    case .count(let collection): return .int(Int64(members(collection, objects).count))
    case .aggregate(let name, let collection): return ReferenceValues.aggregate(name, values(collection, objects))
    case .end(let word, let collection):
      let values = values(collection, objects)
      return (word == "FIRST" ? values.first : values.last) ?? .null
    }
  }

  private func value(_ number: Int, _ keys: [String]) -> Value {
    var current = number
    for (index, key) in keys.enumerated() {
      guard let object = store.objects[current] else { return .null }
      guard model.toOnes(of: object.entity).contains(key) else { return object.values[key]?.value ?? .null }
      guard let next = object.targets[key] else { return .null }
      if index == keys.count - 1 { return reference(next).map(Value.reference) ?? .null }
      current = next
    }
    return reference(current).map(Value.reference) ?? .null
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
