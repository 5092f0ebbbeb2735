import Foundation
import StoreSchema

/// Makes random predicates that fit a model, with constants that mostly are values of its objects.
struct PredicateGenerator {
  private let model: ModelSchema
  private let store: ReferenceStore
  private let reference: (Int) -> ObjectReference?
  private var random: SplitMix64
  /// The entity of the object at hand, and those of variables.
  private var scopes: [Entity] = []
  /// What the predicate at hand is made of.
  private(set) var operators: Set<String> = []

  init(_ model: ModelSchema, _ store: ReferenceStore, seed: UInt64, _ reference: @escaping (Int) -> ObjectReference?) {
    (self.model, self.store, self.reference) = (model, store, reference)
    random = SplitMix64(seed: seed)
  }

  struct Fetch {
    var entity: Entity
    var predicate: GeneratedPredicate
    var sort: [(keys: [String], isAscending: Bool)]
    var offset: Int
    var limit: Int?
    var operators: Set<String>
  }

  mutating func fetch() -> Fetch {
    let entity = model.schema.entities[random.below(model.schema.entities.count)]
    scopes = [entity]
    operators = []
    let predicate = predicate(depth: random.below(3))
    let sort = (0..<random.below(3)).compactMap { _ in
      attribute(of: entity, where: { $0 != .binaryData }).map { (keys: $0.keys, isAscending: random.below(2) == 0) }
    }
    let isWindowed = random.below(3) == 0
    return Fetch(
      entity: entity, predicate: predicate, sort: sort, offset: isWindowed ? random.below(4) : 0,
      limit: isWindowed ? random.below(12) : nil, operators: operators)
  }

  // MARK: Choices

  private mutating func one<T>(_ values: [T]) -> T { values[random.below(values.count)] }

  private mutating func note(_ name: String) -> String {
    operators.insert(name)
    return name
  }

  /// An attribute at a path over to-one relationships.
  private mutating func attribute(
    of entity: Entity, where fits: (AttributeType) -> Bool
  ) -> (keys: [String], type: AttributeType, name: String)? {
    var (keys, current) = ([String](), entity)
    while random.below(4) == 0, let hop = hops(of: current, toMany: false).randomElement(using: &random) {
      keys.append(hop.name)
      current = model.schema.entities[hop.destination]
    }
    guard let found = current.attributes.filter({ fits($0.type) }).randomElement(using: &random) else { return nil }
    return (keys + [found.name], found.type, found.name)
  }

  private func hops(of entity: Entity, toMany: Bool) -> [Relationship] {
    entity.relationships.filter { $0.isToMany == toMany }
  }

  /// Mostly a value that some object has.
  private mutating func constant(_ name: String, _ type: AttributeType) -> Value {
    if random.below(12) == 0 { return .null }
    let known = store.numbers.compactMap { store.objects[$0]?.values[name]?.value }.filter { !$0.isNull }
    if random.below(5) > 0, let value = known.randomElement(using: &random) { return value }
    switch type {
    case .integer16, .integer64: return .int(Int64(random.below(2000)) - 1000)
    case .double: return .double(Double(random.below(400)) / 4 - 50)
    case .decimal: return Decimal(string: "\(random.below(4000)).25").map(Value.decimal) ?? .null
    case .date: return .date(Double(random.below(1 << 30)))
    case .boolean: return .bool(random.below(2) == 0)
    case .string: return .string(one(["a", "A", "É", "b", "x", "mail", "1"]))
    case .uri: return .uri("http://x/\(random.below(1000))?a=1&b=%20")
    default: return .null
    }
  }

  private mutating func object(of entity: Int) -> Value {
    let root = model.schema.entities[entity].root
    let subtree = model.schema.entities[root].subtree.map { model.schema.entities[$0].name }
    let numbers = store.numbers.filter { subtree.contains(store.objects[$0]?.entity ?? "") }
    if random.below(8) == 0 { return .null }
    return numbers.randomElement(using: &random).flatMap(reference).map(Value.reference) ?? .null
  }

  // MARK: Predicates

  private mutating func predicate(depth: Int) -> GeneratedPredicate {
    if depth > 0 {
      switch random.below(6) {
      case 0, 1:
        _ = note("AND")
        return .and(parts(depth))
      case 2, 3:
        _ = note("OR")
        return .or(parts(depth))
      case 4:
        _ = note("NOT")
        return .not(predicate(depth: depth - 1))
      default: break
      }
    }
    let variable = random.below(scopes.count)
    return leaf(variable, depth: depth) ?? .constant(random.below(2) == 0)
  }

  private mutating func parts(_ depth: Int) -> [GeneratedPredicate] {
    var parts: [GeneratedPredicate] = []
    for _ in 0..<2 + random.below(2) { parts.append(predicate(depth: depth - 1)) }
    return parts
  }

  private mutating func leaf(_ variable: Int, depth: Int) -> GeneratedPredicate? {
    switch random.below(20) {
    case 0, 1, 2, 3: simple(variable)
    case 4, 5: search(variable)
    case 6: between(variable)
    case 7: oneOf(variable)
    case 8: paths(variable)
    case 9, 10: quantified(variable)
    case 11: counted(variable, depth)
    case 12: aggregated(variable, depth)
    case 13: calculated(variable)
    case 14: function(variable)
    case 15: ternary(variable, depth)
    case 16, 17: objects(variable)
    case 18: end(variable)
    default: mixed(variable)
    }
  }

  private mutating func order() -> String { note(one(["==", "==", "!=", "<", "<=", ">", ">="])) }

  private mutating func simple(_ variable: Int) -> GeneratedPredicate? {
    guard let found = self.attribute(of: scopes[variable], where: { $0 != .binaryData }) else { return nil }
    let isOrdered = ![.boolean, .uuid, .uri].contains(found.type)
    let op = isOrdered ? order() : note(one(["==", "!="]))
    let (path, value) = (
      GeneratedValue.path(variable, found.keys), GeneratedValue.constant(constant(found.name, found.type))
    )
    return random.below(5) == 0
      ? .comparison(value, op, path, options: "") : .comparison(path, op, value, options: "")
  }

  private mutating func search(_ variable: Int) -> GeneratedPredicate? {
    guard let found = self.attribute(of: scopes[variable], where: { $0 == .string }) else { return nil }
    let op = note(one(["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "==", "<", "!="]))
    let options = one(["", "", "c", "d", "cd"])
    if !options.isEmpty { _ = note("[\(options)]") }
    var text = ""
    if case .string(let known) = constant(found.name, .string) { text = known }
    switch op {
    case "LIKE": text = one(["*", "?*", "a*", "*a*", "*1?", "mail??", "\\*", text, text + "*"])
    case "MATCHES": text = one([".*", "[a-z]+[0-9]*", "a.*|b", "mail\\d+", "É?.*"])
    default: text = one([text, String(text.prefix(2)), String(text.suffix(1))])
    }
    return .comparison(.path(variable, found.keys), op, .constant(.string(text)), options: options)
  }

  private mutating func between(_ variable: Int) -> GeneratedPredicate? {
    let types: [AttributeType] = [.integer16, .integer64, .double, .date, .string, .decimal]
    guard let found = self.attribute(of: scopes[variable], where: types.contains) else { return nil }
    _ = note("BETWEEN")
    return .between(
      .path(variable, found.keys), .constant(constant(found.name, found.type)),
      .constant(constant(found.name, found.type)))
  }

  private mutating func oneOf(_ variable: Int) -> GeneratedPredicate? {
    _ = note("IN")
    if random.below(4) == 0 {
      var list: [Value] = []
      for _ in 0..<random.below(4) { list.append(object(of: scopes[variable].index)) }
      return .oneOf(.path(variable, []), list, options: "")
    }
    guard let found = self.attribute(of: scopes[variable], where: { $0 != .binaryData }) else { return nil }
    var list: [Value] = []
    for _ in 0..<random.below(5) { list.append(constant(found.name, found.type)) }
    let options = found.type == .string ? one(["", "", "c", "cd"]) : ""
    return .oneOf(.path(variable, found.keys), list, options: options)
  }

  private mutating func paths(_ variable: Int) -> GeneratedPredicate? {
    let type: AttributeType = one([.string, .integer16, .integer64, .date, .double, .decimal])
    guard let a = self.attribute(of: scopes[variable], where: { $0 == type }),
      let b = self.attribute(of: scopes[random.below(scopes.count)], where: { $0 == type })
    else { return nil }
    _ = note("paths")
    // The second path must start where it was chosen: from the same entity in most cases.
    guard let other = scopes.firstIndex(where: { starts(b.keys, in: $0) }) else { return nil }
    return .comparison(.path(variable, a.keys), order(), .path(other, b.keys), options: "")
  }

  private func starts(_ keys: [String], in entity: Entity) -> Bool {
    guard let first = keys.first else { return true }
    if keys.count == 1 { return entity.attribute(named: first) != nil }
    guard let hop = entity.relationship(named: first) else { return false }
    return starts(Array(keys.dropFirst()), in: model.schema.entities[hop.destination])
  }

  // MARK: Collections

  /// A collection of objects, and their entity.
  private mutating func collection(_ variable: Int) -> (GeneratedCollection, Entity)? {
    var (keys, current, isMany) = ([String](), scopes[variable], false)
    for _ in 0..<1 + random.below(2) {
      let next = hops(of: current, toMany: !keys.isEmpty || random.below(4) > 0)
      guard let hop = next.randomElement(using: &random) else { break }
      keys.append(hop.name)
      isMany = hop.isToMany
      current = model.schema.entities[hop.destination]
      if isMany && random.below(3) > 0 { break }
    }
    guard isMany else { return nil }
    return (GeneratedCollection(variable: variable, hops: keys), current)
  }

  private mutating func filtered(
    _ collection: GeneratedCollection, _ entity: Entity, _ depth: Int
  ) -> GeneratedCollection {
    guard random.below(2) == 0, scopes.count < 3 else { return collection }
    _ = note("SUBQUERY")
    var collection = collection
    scopes.append(entity)
    let number = scopes.count - 1
    collection.filter = GeneratedFilter(number, predicate(depth: depth - 1))
    scopes.removeLast()
    return collection
  }

  private mutating func quantified(_ variable: Int) -> GeneratedPredicate? {
    guard let (found, entity) = collection(variable) else { return nil }
    var collection = found
    let word = note(one(["ANY", "ALL", "NONE", "SOME"]))
    if random.below(4) == 0 {
      return .quantified(
        word, collection, note(one(["==", "!="])), .constant(object(of: entity.index)), options: "")
    }
    guard let attribute = self.attribute(of: entity, where: { $0 != .binaryData }) else { return nil }
    collection.attribute = attribute.keys
    if random.below(4) == 0 {
      return .quantifiedOneOf(
        word, collection, [constant(attribute.name, attribute.type), constant(attribute.name, attribute.type)])
    }
    if attribute.type == .string && random.below(2) == 0 {
      return .quantified(
        word, collection, note(one(["CONTAINS", "BEGINSWITH"])), .constant(.string(one(["a", "É", "1"]))),
        options: one(["", "cd"]))
    }
    return .quantified(
      word, collection, order(), .constant(constant(attribute.name, attribute.type)), options: "")
  }

  private mutating func counted(_ variable: Int, _ depth: Int) -> GeneratedPredicate? {
    guard let (collection, entity) = collection(variable) else { return nil }
    _ = note("@count")
    return .comparison(
      .count(filtered(collection, entity, depth)), order(), .constant(.int(Int64(random.below(4)))), options: "")
  }

  private mutating func aggregated(_ variable: Int, _ depth: Int) -> GeneratedPredicate? {
    guard let (found, entity) = collection(variable) else { return nil }
    var collection = found
    let name = note(one(["@sum", "@avg", "@min", "@max"]))
    let isSum = name == "@sum" || name == "@avg"
    let types: [AttributeType] = isSum ? [.integer16, .integer64] : [.integer16, .integer64, .date, .string, .double]
    guard let attribute = self.attribute(of: entity, where: types.contains) else { return nil }
    collection = filtered(collection, entity, depth)
    collection.attribute = attribute.keys
    return .comparison(
      .aggregate(name, collection), order(), .constant(constant(attribute.name, attribute.type)), options: "")
  }

  private mutating func end(_ variable: Int) -> GeneratedPredicate? {
    let many = hops(of: scopes[variable], toMany: true)
    guard let hop = many.randomElement(using: &random),
      let found = self.attribute(
        of: model.schema.entities[hop.destination], where: { $0 == .string || $0 == .integer16 })
    else { return nil }
    let word = note(one(["FIRST", "LAST"]))
    let collection = GeneratedCollection(variable: variable, hops: [hop.name], attribute: found.keys)
    return .comparison(.end(word, collection), order(), .constant(constant(found.name, found.type)), options: "")
  }

  // MARK: Functions

  private mutating func calculated(_ variable: Int) -> GeneratedPredicate? {
    let types: [AttributeType] = [.integer16, .integer64, .double, .date]
    guard let found = self.attribute(of: scopes[variable], where: types.contains) else { return nil }
    let isInteger = found.type == .integer16 || found.type == .integer64
    let sign = note(one(isInteger ? ["+", "-", "*", "/", "modulus", "&", "|"] : ["+", "-", "*", "/"]))
    let number: Value = random.below(3) == 0 && !"&|".contains(sign) ? .double(2.5) : .int(Int64(random.below(9)) - 3)
    return .comparison(
      .arithmetic(.path(variable, found.keys), sign, .constant(number)), order(),
      .constant(constant(found.name, found.type)), options: "")
  }

  private mutating func function(_ variable: Int) -> GeneratedPredicate? {
    if random.below(2) == 0 {
      guard let found = self.attribute(of: scopes[variable], where: { $0 == .string }) else { return nil }
      let name = note(one(["uppercase", "lowercase", "canonical", "length"]))
      let value = GeneratedValue.function(name, .path(variable, found.keys))
      return name == "length"
        ? .comparison(value, order(), .constant(.int(Int64(random.below(6)))), options: "")
        : .comparison(value, one(["==", "CONTAINS"]), .constant(constant(found.name, .string)), options: "")
    }
    guard let found = self.attribute(of: scopes[variable], where: { [.integer16, .integer64, .double].contains($0) })
    else {
      return nil
    }
    let name = note(one(["abs", "floor", "ceiling", "trunc", "sqrt"]))
    return .comparison(
      .function(name, .path(variable, found.keys)), order(), .constant(constant(found.name, found.type)), options: "")
  }

  private mutating func ternary(_ variable: Int, _ depth: Int) -> GeneratedPredicate? {
    guard let found = self.attribute(of: scopes[variable], where: { $0 == .string || $0 == .integer16 }) else {
      return nil
    }
    _ = note("TERNARY")
    return .comparison(
      .ternary(
        predicate(depth: min(depth - 1, 0)), .path(variable, found.keys), .constant(constant(found.name, found.type))),
      order(), .constant(constant(found.name, found.type)), options: "")
  }

  // MARK: Objects

  private mutating func objects(_ variable: Int) -> GeneratedPredicate? {
    let entity = scopes[variable]
    if random.below(2) == 0, let hop = hops(of: entity, toMany: false).randomElement(using: &random) {
      _ = note("to-one")
      let (op, value) = (note(one(["==", "!="])), object(of: hop.destination))
      return .comparison(.path(variable, [hop.name]), op, .constant(value), options: "")
    }
    guard let (collection, element) = collection(variable) else { return nil }
    _ = note("to-many")
    if random.below(2) == 0 { return .isNil(collection, random.below(2) == 0) }
    let value = object(of: element.index)
    return value.isNull ? nil : .holds(collection, .constant(value), isContains: random.below(2) == 0)
  }

  /// Values of types that compare with some and not with others.
  private mutating func mixed(_ variable: Int) -> GeneratedPredicate? {
    guard let found = self.attribute(of: scopes[variable], where: { $0 != .binaryData }) else { return nil }
    _ = note("mixed")
    let other: Value = one([
      .int(3), .double(2.5), .string("1"), .date(0), .bool(true), .decimal(Decimal(3)),
      .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
      .null,
    ])
    return .comparison(.path(variable, found.keys), order(), .constant(other), options: "")
  }
}
