/// Sorts entities in Core Data's order, and checks their names and parents.
enum EntityNumbering {
  struct Numbered {
    var definition: EntityDefinition
    var superentity: Int?
    var root: Int
    var subtree: Range<Int>
  }

  /// Every entity has the slots of all its superentities, so a very long line of them would fill the memory.
  private static let depthLimit = 256

  /// Root entities by name, ignoring case, each followed by its descendants, depth first.
  static func number(_ definitions: [EntityDefinition]) throws(SchemaError) -> [Numbered] {
    try checkNames(definitions)
    var children: [String?: [EntityDefinition]] = [:]
    for definition in definitions { children[definition.superentity, default: []].append(definition) }
    for key in children.keys { children[key]?.sort { precedes($0.name, $1.name) } }

    var result: [Numbered] = []
    var pending = Array((children[nil] ?? []).reversed().map { (definition: $0, superentity: Int?.none, depth: 1) })
    while let next = pending.popLast() {
      if next.depth > depthLimit {
        throw SchemaError(next.definition.name, "has more than \(depthLimit) entities above it")
      }
      let index = result.count
      let root = next.superentity.map { result[$0].root } ?? index
      result.append(
        Numbered(
          definition: next.definition, superentity: next.superentity, root: root, subtree: index..<(index + 1)))
      for child in (children[next.definition.name] ?? []).reversed() { pending.append((child, index, next.depth + 1)) }
    }
    if result.count < definitions.count { throw unreachable(definitions, result) }
    for index in result.indices.reversed() {
      guard let parent = result[index].superentity else { continue }
      result[parent].subtree = parent..<max(result[parent].subtree.upperBound, result[index].subtree.upperBound)
    }
    return result
  }

  static func precedes(_ a: String, _ b: String) -> Bool {
    let (x, y) = (a.lowercased(), b.lowercased())
    return UTF8Order.areEqual(x, y) ? UTF8Order.isLess(a, b) : UTF8Order.isLess(x, y)
  }

  private static func checkNames(_ definitions: [EntityDefinition]) throws(SchemaError) {
    var seen: [String: String] = [:]
    for definition in definitions {
      if definition.name.isEmpty { throw SchemaError("", "an entity has no name") }
      try checkWords(definition)
      if let other = seen.updateValue(definition.name, forKey: definition.name.uppercased()) {
        throw SchemaError(
          definition.name,
          UTF8Order.areEqual(other, definition.name)
            ? "two entities have this name; names must be unique in a model"
            : "differs from the entity \(other) only by case; rename one of them, because a store cannot tell them apart"
        )
      }
    }
  }

  /// Stores use names for tables and columns, so they must be words.
  private static func checkWords(_ definition: EntityDefinition) throws(SchemaError) {
    let rule =
      "has a character in its name other than letters, digits and _; rename it, because stores make their own names of it"
    if !SchemaName.isWord(definition.name) { throw SchemaError(definition.name, rule) }
    var names = definition.relationships.map(\.name)
    var attributes = definition.attributes[...]
    // Elements of composite attributes may themselves be composites.
    while let attribute = attributes.popFirst() {
      names.append(attribute.name)
      attributes += attribute.elements
    }
    if let name = names.first(where: { !SchemaName.isWord($0) }) { throw SchemaError(definition.name, name, rule) }
  }

  private static func unreachable(_ definitions: [EntityDefinition], _ reached: [Numbered]) -> SchemaError {
    let names = Set(definitions.map(\.name))
    for definition in definitions {
      if let parent = definition.superentity, !names.contains(parent) {
        return SchemaError(definition.name, "its parent entity \(parent) is not in the model")
      }
    }
    let found = Set(reached.map(\.definition.name))
    let lost = definitions.first { !found.contains($0.name) }
    return SchemaError(lost?.name ?? "", "its parent entities form a cycle")
  }
}
