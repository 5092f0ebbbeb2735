import StoreSchema

extension SQLLayout {
  mutating func buildJoins() {
    var used: [String: Int] = [:]
    for entity in schema.storedEntities {
      for relationship in ownRelationships(entity) {
        guard case .pairs(true) = relationship.storage, let inverse = schema.inverse(of: relationship) else { continue }
        add(relationship, inverse, &used)
      }
    }
    joins.sort { ($0.naming.entity, $0.name) < ($1.naming.entity, $1.name) }
    joinOfRelationship = [:]
    for (index, join) in joins.enumerated() {
      joinOfRelationship[join.other] = JoinSide(join: index, ownerIsFirst: false)
      joinOfRelationship[join.naming] = JoinSide(join: index, ownerIsFirst: true)
    }
  }

  private mutating func add(_ a: Relationship, _ b: Relationship, _ used: inout [String: Int]) {
    let (naming, other) = namesTable(a, b) ? (a, b) : (b, a)
    joins.append(join(naming, other, &used))
  }

  /// The join table with the name that `naming` gives it, without the numbers that tell columns of one name apart.
  public func join(_ naming: Relationship, _ other: Relationship) -> JoinTable {
    var used: [String: Int] = [:]
    return join(naming, other, &used)
  }

  private func join(_ naming: Relationship, _ other: Relationship, _ used: inout [String: Int]) -> JoinTable {
    let (a, b) = (entityNumbers[naming.declaringEntity], entityNumbers[other.declaringEntity])
    let name = "Z_\(a)\(naming.name.uppercased())"
    let table = tableOfEntity[naming.declaringEntity] ?? 0
    if naming.declaringEntity == other.declaringEntity && naming.index == other.index {
      return JoinTable(
        name: name, first: name, second: "REFLEXIVE", firstOrder: nil, secondOrder: nil, table: table,
        naming: RelationshipKey(naming), other: RelationshipKey(other))
    }
    let first = Self.unique("\(a)\(other.name.uppercased())", &used)
    let second = Self.unique("\(b)\(naming.name.uppercased())", &used)
    return JoinTable(
      name: name, first: "Z_" + first, second: "Z_" + second,
      firstOrder: other.isOrdered ? "Z_FOK_" + first : nil, secondOrder: naming.isOrdered ? "Z_FOK_" + second : nil,
      table: table, naming: RelationshipKey(naming), other: RelationshipKey(other))
  }

  private static func unique(_ name: String, _ used: inout [String: Int]) -> String {
    let count = used[name, default: 0]
    used[name] = count + 1
    return count == 0 ? name : "\(name)\(count)"
  }

  /// Whether `a` rather than its inverse `b` names the join table.
  private func namesTable(_ a: Relationship, _ b: Relationship) -> Bool {
    let (x, y) = (schema.entities[a.declaringEntity], schema.entities[b.declaringEntity])
    // For two relationships of one entity Core Data's rule is unknown; this is the choice that was seen.
    if x.index == y.index { return !UTF8Order.isLess(a.name, b.name) }
    let (lower, higher) = x.index < y.index ? (x, y) : (y, x)
    let winner = higher.hasSubentities && !lower.hasSubentities ? higher : lower
    return winner.index == x.index
  }
}
