import StoreSchema

/// Collections, and related objects.
extension PredicateGenerator {
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
    collection.filter = GeneratedFilter(number, predicate(depth: min(depth, 2) - 1))
    scopes.removeLast()
    return collection
  }

  mutating func quantified(_ variable: Int) -> GeneratedPredicate? {
    guard let (found, entity) = collection(variable) else { return nil }
    var collection = found
    let word = note(one(["ANY", "ALL", "NONE", "SOME"]))
    if random.below(4) == 0 {
      return .quantified(
        word, collection, note(one(["==", "!="])), .constant(object(of: entity.index)), options: "")
    }
    guard let attribute = self.attribute(of: entity, where: \.isComparable) else { return nil }
    collection.attribute = attribute.keys
    if random.below(4) == 0 {
      return .quantifiedOneOf(
        word, collection, [constant(attribute.name, attribute.type), constant(attribute.name, attribute.type)])
    }
    if attribute.type == .string && random.below(2) == 0 {
      return .quantified(
        word, collection, note(one(["CONTAINS", "BEGINSWITH", "LIKE", "=="])), .constant(.string(anyText())),
        options: one(["", "cd", "n", "l"]))
    }
    return .quantified(
      word, collection, order(), .constant(constant(attribute.name, attribute.type)), options: "")
  }

  mutating func counted(_ variable: Int, _ depth: Int) -> GeneratedPredicate? {
    guard let (collection, entity) = collection(variable) else { return nil }
    _ = note("@count")
    return .comparison(
      .count(filtered(collection, entity, depth)), order(), .constant(.int(Int64(random.below(4)))), options: "")
  }

  /// A number computed from a collection.
  mutating func summary(_ variable: Int, _ depth: Int) -> GeneratedValue? {
    guard let (found, entity) = collection(variable) else { return nil }
    var collection = filtered(found, entity, depth)
    let name = note(one(["@count", "@sum", "@avg", "@min", "@max"]))
    if name == "@count" { return .count(collection) }
    guard let attribute = attribute(of: entity, where: { $0.isNumber || $0 == .date }) else { return nil }
    collection.attribute = attribute.keys
    return .aggregate(name, collection)
  }

  mutating func aggregated(_ variable: Int, _ depth: Int) -> GeneratedPredicate? {
    guard let (found, entity) = collection(variable) else { return nil }
    var collection = found
    let name = note(one(["@sum", "@avg", "@min", "@max"]))
    let isSum = name == "@sum" || name == "@avg"
    guard
      let attribute = self.attribute(
        of: entity, where: { isSum ? $0.isNumber || $0 == .date || $0 == .boolean : $0.isComparable })
    else { return nil }
    if attribute.type == .decimal { _ = note(name + " of decimals") }
    collection = filtered(collection, entity, depth)
    collection.attribute = attribute.keys
    return compared(.aggregate(name, collection), variable, or: constant(attribute.name, attribute.type))
  }

  /// An element of a collection by its index, and its value or itself.
  mutating func element(_ variable: Int, _ depth: Int) -> GeneratedPredicate? {
    guard let hop = hops(of: scopes[variable], toMany: true).randomElement(using: &random) else { return nil }
    let entity = model.schema.entities[hop.destination]
    var collection = filtered(GeneratedCollection(variable: variable, hops: [hop.name]), entity, depth)
    let word = one(["FIRST", "LAST", "0", "1", "2", "7", "-1"])
    _ = note(word == "FIRST" || word == "LAST" ? "[\(word)]" : "[n]")
    if random.below(4) == 0 {
      return .comparison(
        .element(word, collection), note(one(["==", "!="])), .constant(object(of: hop.destination)), options: "")
    }
    guard let found = attribute(of: entity, where: \.isOrdered) else { return nil }
    collection.attribute = found.keys
    return compared(.element(word, collection), variable, or: constant(found.name, found.type))
  }

  // MARK: Sets

  /// A set of objects, or of the values of one of their attributes, and a question about it.
  private mutating func set(
    _ variable: Int, _ depth: Int, where fits: (AttributeType) -> Bool
  ) -> (set: GeneratedSet, entity: Entity, attribute: Found?)? {
    guard let (found, entity) = collection(variable) else { return nil }
    var collection = filtered(found, entity, depth)
    guard random.below(3) > 0 else { return (combined(.members(collection), entity, nil), entity, nil) }
    guard let attribute = attribute(of: entity, where: fits) else { return nil }
    collection.attribute = attribute.keys
    let set: GeneratedSet =
      random.below(3) == 0
      ? .collected(note(one(["@unionOfObjects", "@distinctUnionOfObjects"])), collection) : .members(collection)
    return (combined(set, entity, attribute), entity, attribute)
  }

  private mutating func combined(_ set: GeneratedSet, _ entity: Entity, _ attribute: Found?) -> GeneratedSet {
    if random.below(4) == 0 {
      _ = note("distinct:")
      return .distinct(set)
    }
    guard random.below(2) == 0 else { return set }
    var other: [Value] = []
    for _ in 0..<1 + random.below(4) {
      let value = attribute.map { constant($0.name, $0.type) } ?? object(of: entity.index)
      // No object is nil, and no relationship has it.
      if attribute != nil || !value.isNull { other.append(value) }
    }
    let op = note(one(["UNION", "INTERSECT", "MINUS"]))
    return random.below(4) == 0
      ? .combined(.constants(other), op, set) : .combined(set, op, .constants(other))
  }

  mutating func measured(_ variable: Int, _ depth: Int) -> GeneratedPredicate? {
    let name = one(["count", "@count", "[SIZE]", "sum", "average", "min", "max", "median", "mode", "stddev"])
    let isCount = name == "count" || name == "@count" || name == "[SIZE]"
    // Rounding and overflow depend on the order of the terms, which is not promised. So only small numbers are used.
    let fits: (AttributeType) -> Bool = { type in
      name == "stddev"
        ? type == .integer16 : isCount ? type.isComparable : type.isNumber || type == .date || type == .boolean
    }
    guard let (set, _, attribute) = set(variable, depth, where: fits), isCount || attribute != nil else { return nil }
    let measure = GeneratedValue.measure(note(name), set)
    if name == "stddev" {
      return .comparison(
        measure, note(one(["<", ">"])), .constant(.double(Double(random.below(200)) * 100 + 0.37)), options: "")
    }
    let other: Value = attribute.map { constant($0.name, $0.type) } ?? .null
    return compared(measure, variable, or: isCount ? .int(Int64(random.below(5))) : other)
  }

  mutating func belongs(_ variable: Int, _ depth: Int) -> GeneratedPredicate? {
    guard let (set, entity, attribute) = set(variable, depth, where: \.isComparable) else { return nil }
    _ = note("IN set")
    if let attribute {
      let isOwn = random.below(3) == 0
      if isOwn, let own = self.attribute(of: scopes[variable], where: { $0 == attribute.type }) {
        return .belongs(.path(variable, own.keys), set)
      }
      return .belongs(.constant(constant(attribute.name, attribute.type)), set)
    }
    let value = object(of: entity.index)
    return value.isNull ? nil : .belongs(.constant(value), set)
  }

  // MARK: Objects

  mutating func objects(_ variable: Int) -> GeneratedPredicate? {
    let toOnes = scopes[variable].relationships.filter { !$0.isToMany }
    if random.below(2) == 0, let hop = toOnes.randomElement(using: &random) {
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
}
