import StoreSchema

/// Key paths.
extension PredicateResolver {
  /// The state of a walk along the keys of a path.
  private struct Walk {
    let text: String
    var keys: ArraySlice<String>
    var entity: Entity
    /// The objects after the last to-many relationship; nil before there was one.
    var objects: ResolvedCollection?
    let variable: Int
    /// The to-one relationships since then.
    var hops: [Relationship] = []

    func path(_ leaf: SlotPath.Leaf) -> ResolvedOperand {
      let path = SlotPath(variable: objects == nil ? variable : 0, hops: hops, leaf: leaf)
      guard let objects else { return .one(.path(path)) }
      return .many(ResolvedMany(collection: .values(objects, path)))
    }

    /// The objects that the walk has reached.
    var many: ResolvedMany? {
      guard let objects else { return nil }
      return ResolvedMany(collection: hops.isEmpty ? objects : objects.following(hops), entity: entity)
    }
  }

  /// Resolves the keys of a path from an object.
  func walk(_ text: String, from variable: Int, _ entity: Entity) throws(ResolutionError) -> ResolvedOperand {
    try finish(Walk(text: text, keys: Self.keys(text), entity: entity, objects: nil, variable: variable))
  }

  /// Resolves the keys of a path from the elements of a collection.
  func walk(_ text: String, from many: ResolvedMany) throws(ResolutionError) -> ResolvedOperand {
    let keys = Self.keys(text)
    guard let entity = many.entity else {
      guard let key = keys.first, key.hasPrefix("@"), keys.count == 1 else {
        throw .invalid("The key path \(text) was not found: there are values before it, not objects.")
      }
      return try collected(many, by: key, [], text)
    }
    var walk = Walk(text: text, keys: keys, entity: entity, objects: many.collection, variable: 0)
    // The references at the end of a to-one relationship count as objects.
    if case .values(let base, let path) = many.collection, case .toOne(let last) = path.leaf {
      (walk.objects, walk.hops) = (base, path.hops + [last])
    }
    return try finish(walk)
  }

  /// Resolves the keys of a path from the object at the end of a path over to-one relationships; nil where that is not
  /// an object.
  func walk(_ text: String, behind path: SlotPath) throws(ResolutionError) -> ResolvedOperand? {
    var hops = path.hops
    switch path.leaf {
    case .toOne(let last): hops.append(last)
    case .object: break
    case .attribute, .entity, .column: return nil
    }
    let own = path.variable == 0 ? entity : variables.values.first { $0.number == path.variable }?.entity
    guard let start = hops.last.map({ schema.entities[$0.destination] }) ?? own else { return nil }
    return try finish(
      Walk(
        text: text, keys: Self.keys(text), entity: start, objects: nil, variable: path.variable, hops: hops))
  }

  private static func keys(_ text: String) -> ArraySlice<String> {
    text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
  }

  private func finish(_ start: Walk) throws(ResolutionError) -> ResolvedOperand {
    var walk = start
    while let key = walk.keys.popFirst() {
      switch walk.entity.property(named: key) {
      case .attribute(let position): return try attribute(walk.entity.attributes[position], walk)
      case .relationship(let position):
        if let end = step(walk.entity.relationships[position], &walk) { return end }
      case nil: return try special(key, walk)
      }
    }
    throw .invalid("The key path is empty.")
  }

  /// Follows a relationship. Returns a value where the path ends with it.
  private func step(_ relationship: Relationship, _ walk: inout Walk) -> ResolvedOperand? {
    if relationship.isToMany {
      let hops = walk.hops + [relationship]
      walk.objects = walk.objects.map { $0.following(hops) } ?? .members(variable: walk.variable, hops)
      walk.hops = []
      walk.entity = schema.entities[relationship.destination]
      return walk.keys.isEmpty ? walk.many.map { .many($0) } : nil
    }
    let destination = schema.entities[relationship.destination]
    if walk.keys.isEmpty { return walk.path(.toOne(relationship)).objects(of: destination) }
    walk.hops.append(relationship)
    walk.entity = destination
    return nil
  }

  private func special(_ key: String, _ walk: Walk) throws(ResolutionError) -> ResolvedOperand {
    if key.hasPrefix("@"), let many = walk.many { return try collected(many, by: key, walk.keys, walk.text) }
    if walk.keys.isEmpty && ["self", "SELF", "objectID"].contains(key) {
      return walk.many.map { .many($0) } ?? walk.path(.object)
    }
    if key == "entity" && walk.objects == nil && walk.keys.isEmpty { return walk.path(.entity) }
    if key == "entity" && walk.objects == nil && Array(walk.keys) == ["name"],
      case .one(.path(let path)) = walk.path(.entity)
    {
      return .entityName(path)
    }
    throw .invalid(
      key.hasPrefix("@")
        ? "The key path \(walk.text) has \(key) behind what is no collection."
        : "The key path \(walk.text) was not found: the entity \(walk.entity.name) has no stored property \(key).")
  }

  private func attribute(_ attribute: Attribute, _ walk: Walk) throws(ResolutionError) -> ResolvedOperand {
    if let key = walk.keys.last, key.hasPrefix("@") {
      // `students.age.@sum`.
      let rest = walk.keys.dropLast()
      guard case .many(let values) = walk.path(try leaf(attribute, rest, of: walk.entity, walk.text)) else {
        throw .invalid("The key path \(walk.text) has \(key) behind what is no collection.")
      }
      return try collected(values, by: key, [], walk.text)
    }
    return walk.path(try leaf(attribute, walk.keys, of: walk.entity, walk.text))
  }

  private func leaf(
    _ attribute: Attribute, _ rest: ArraySlice<String>, of entity: Entity, _ text: String
  ) throws(ResolutionError) -> SlotPath.Leaf {
    if attribute.elements.isEmpty && rest.isEmpty {
      return .attribute(
        slot: attribute.slot, kind: entity.slots[attribute.slot], declaringEntity: attribute.declaringEntity)
    }
    let name = rest.joined(separator: ".")
    if let element = attribute.elements.first(where: { $0.name == name }) {
      return .attribute(slot: element.slot, kind: entity.slots[element.slot], declaringEntity: element.declaringEntity)
    }
    throw .invalid("The key path \(text) was not found: \(attribute.name) has no element \(name).")
  }

  // MARK: Collection operators

  /// The result of `@count`, `@sum` and other operators over a collection, or over the values at a path of its
  /// elements.
  private func collected(
    _ many: ResolvedMany, by key: String, _ rest: ArraySlice<String>, _ text: String
  ) throws(ResolutionError) -> ResolvedOperand {
    if key == "@count" {
      guard rest.isEmpty else { throw .invalid("The key path \(text) has keys behind @count.") }
      // Null is neither an object nor a value, so it is not counted.
      return .one(.aggregate(many.entity == nil ? .aggregate(.count) : .size, many.collection))
    }
    if let isDistinct = Self.unionOperators[key] {
      // A further operator applies to the new collection.
      let end = rest.firstIndex { $0.hasPrefix("@") } ?? rest.endIndex
      var values = try values(of: many, rest[..<end], text)
      if isDistinct { values = ResolvedMany(collection: .distinct(values.collection)) }
      return end == rest.endIndex ? .many(values) : try collected(values, by: rest[end], rest[(end + 1)...], text)
    }
    let values = try values(of: many, rest, text)
    guard let aggregate = Self.operators[key] else {
      throw .unsupported("The collection operator \(key) of \(text) is not known.")
    }
    guard values.entity == nil else { throw .invalid("The key path \(text) has \(key) of objects; name an attribute.") }
    return .one(.aggregate(.aggregate(aggregate), values.collection))
  }

  /// The values after an operator, for each element.
  private func values(
    of many: ResolvedMany, _ keys: ArraySlice<String>, _ text: String
  ) throws(ResolutionError) -> ResolvedMany {
    // Each value is its own `self`.
    if keys.isEmpty || many.entity == nil && keys.elementsEqual(["self"]) { return many }
    guard case .many(let found) = try walk(keys.joined(separator: "."), from: many) else {
      throw .unsupported("The key path \(text) has an operator behind an operator.")
    }
    return found
  }

  /// The union operators, and whether each value occurs only once. A path gives one list, even over several
  /// collections.
  package static let unionOperators = [
    "@unionOfObjects": false, "@unionOfArrays": false, "@distinctUnionOfObjects": true, "@distinctUnionOfArrays": true,
    "@distinctUnionOfSets": true,
  ]

  private static let operators: [String: Aggregate] = [
    "@sum": .sum, "@avg": .average, "@min": .minimum, "@max": .maximum,
  ]
}

extension ResolvedOperand {
  /// The to-one destinations at the end of a path from many objects are objects too.
  fileprivate func objects(of entity: Entity) -> ResolvedOperand {
    guard case .many(let many) = self else { return self }
    return .many(ResolvedMany(collection: many.collection, entity: entity))
  }
}

extension ResolvedCollection {
  /// The destinations of relationships from these objects.
  func following(_ hops: [Relationship]) -> ResolvedCollection {
    switch self {
    case .members(let variable, let first): .members(variable: variable, first + hops)
    // The references at the end of a to-one relationship count as objects.
    case .values(let base, let path):
      if case .toOne(let last) = path.leaf { base.following(path.hops + [last] + hops) } else { self }
    default: hops.isEmpty ? self : .following(self, hops)
    }
  }

  /// Whether these are the values at a path from each of `objects`, null included, so that both have the same indices.
  func hasOneValueForEach(of objects: ResolvedCollection) -> Bool {
    guard case .values(let base, let path) = self else { return self == objects }
    if base == objects { return true }
    guard case .values(base, let start) = objects, case .toOne(let last) = start.leaf else { return false }
    return path.hops.starts(with: start.hops + [last])
  }

  /// The same objects as objects, where they are the references at the end of a to-one relationship.
  var asObjects: ResolvedCollection { following([]) }
}
