import StoreProtocol
import StoreSchema
import StoreSupport

/// Shows the destinations of one to-many relationship as they are stored.
struct SQLLinkInspection {
  private let binding: SQLBinding
  private let relationship: Relationship

  init(_ binding: SQLBinding, _ relationship: Relationship) {
    self.binding = binding
    self.relationship = relationship
  }

  private var layout: SQLLayout { binding.layout }

  /// The destinations of each owner that has any.
  func targets<Connection: SQLConnection>(
    of owners: [Int64], _ connection: Connection
  ) throws(StoreError) -> [Int64: InspectedTargets] {
    let statement = try connection.prepare(text(owners))
    var found: [Int64: InspectedTargets] = [:]
    var (owner, links): (Int64?, [Link]) = (nil, [])
    while try statement.step() {
      let next = statement.int(0)
      if let owner, owner != next {
        found[owner] = judge(links)
        links = []
      }
      owner = next
      links.append(Link(key: statement.stored(1), number: statement.stored(2), order: statement.stored(3)))
    }
    if let owner { found[owner] = judge(links) }
    return found
  }

  private struct Link {
    let key: SQLStoredValue
    let number: SQLStoredValue
    let order: SQLStoredValue
  }

  private func judge(_ links: [Link]) -> InspectedTargets {
    let targets = links.map { link in
      guard case .integer(let key) = link.key else {
        return InspectedTarget(
          entity: relationship.destination, key: 0, defect: "\(link.key.description) is no key")
      }
      return binding.target(relationship, key, number: link.number)
    }
    guard relationship.isOrdered else { return .objects(targets) }
    var previous: Int64?
    for (link, target) in zip(links, targets) {
      let name = layout.schema.entities[target.entity].name
      guard case .integer(let order) = link.order else { return .invalid("\(name) \(target.key) has no order key") }
      if order == previous { return .invalid("\(name) \(target.key) has the same order key as another, \(order)") }
      previous = order
    }
    return .objects(targets)
  }

  /// Columns: owner, key, entity number of the row with that key, order key. Sorted by all but the third.
  private func text(_ owners: [Int64]) -> String {
    let list = owners.map(String.init).joined(separator: ", ")
    func select(_ owner: String, _ key: String, _ number: String, _ order: String?, from source: String) -> String {
      "SELECT \(owner), \(key), \(number), \(order ?? "NULL") FROM \(source) WHERE \(owner) IN (\(list))"
    }
    let key = SQLLayout.RelationshipKey(relationship)
    let destination = layout.schema.entities[relationship.destination]
    let table = layout.table(destination.index)
    if let side = layout.joinOfRelationship[key] {
      let join = layout.joins[side.join]
      func number(_ key: String) -> String { "(SELECT t1.Z_ENT FROM \(table.name) t1 WHERE t1.Z_PK = \(key))" }
      let (owner, other) = side.ownerIsFirst ? (join.first, join.second) : (join.second, join.first)
      let text = select(
        owner, other, number(other), side.ownerIsFirst ? join.secondOrder : join.firstOrder, from: join.name)
      if !join.isReflexive { return text + " ORDER BY 1, 4, 2" }
      // A reflexive pair is stored once and counts in both directions.
      return text + " UNION " + select(other, owner, number(owner), nil, from: join.name) + " ORDER BY 1, 4, 2"
    }
    let link = layout.linkColumns[key]
    let inverse = layout.schema.inverse(of: relationship)?.slot
    let owner =
      link.map { table.columns[$0.owner].name } ?? inverse.map { layout.column(destination, $0).name } ?? "NULL"
    let order = link?.order.map { "t0." + table.columns[$0].name }
    // Rows of sibling entities may hold anything in the column.
    return select("t0." + owner, "t0.Z_PK", "t0.Z_ENT", order, from: table.name + " t0")
      + " AND " + SQLBinding.filter(destination.subtree, of: layout) + " ORDER BY 1, 4, 2"
  }
}
