import StoreProtocol
import StoreSchema

/// Finds links that a commit must not leave behind. Runs after all rows and links are written.
extension SQLCommit {
  /// Finds new links to objects that do not exist.
  mutating func judge(_ targets: [ObjectReference]) throws(StoreError) {
    for target in targets {
      let statement = try statements.exists(target.entity)
      statement.bind(target.key, at: 1)
      defer { statement.reset() }
      if try !statement.step() {
        conflicts.append(Conflict(reference: target, versionRead: 0, kind: .version(persisted: nil)))
      }
    }
  }

  /// Finds objects that still refer to deleted ones.
  mutating func judgeDeletions() throws(StoreError) {
    try forEachEntity(of: changes.deletions) { (commit, entity, deletions) throws(StoreError) in
      for relationship in entity.guardedMembers + entity.guardedLinks where commit.schema.stores(relationship) {
        try commit.judge(relationship, of: entity, deletions)
      }
    }
  }

  /// Removes the links of deleted objects that are not in their own rows.
  mutating func dropLinks() throws(StoreError) {
    try forEachEntity(of: changes.deletions) { (commit, entity, deletions) throws(StoreError) in
      var removals: [Connection.Statement] = []
      for pair in commit.binding.pairs[entity.index].indices {
        removals.append(try commit.statements.removePairs(entity.index, pair: pair))
      }
      for oneWay in commit.binding.oneWays[entity.index].indices {
        removals.append(try commit.statements.leaveDestinations(entity.index, oneWay: oneWay))
      }
      for removal in removals {
        for deletion in deletions {
          removal.bind(deletion.reference.key, at: 1)
          try removal.run()
        }
      }
    }
  }

  /// Calls `body` once for each entity, with all of its deletions. They are mostly in this order already.
  private mutating func forEachEntity(
    of deletions: [ChangeSet.Deletion],
    _ body: (inout Self, Entity, ArraySlice<ChangeSet.Deletion>) throws(StoreError) -> Void
  ) throws(StoreError) {
    var deletions = deletions
    let isSorted = deletions.indices.dropFirst().allSatisfy {
      deletions[$0 - 1].reference.entity <= deletions[$0].reference.entity
    }
    if !isSorted { deletions.sort { $0.reference.entity < $1.reference.entity } }
    var next = 0
    while next < deletions.count {
      let entity = deletions[next].reference.entity
      let end = deletions[next...].firstIndex { $0.reference.entity != entity } ?? deletions.count
      try body(&self, schema.entities[entity], deletions[next..<end])
      next = end
    }
  }

  private mutating func judge(
    _ relationship: Relationship, of entity: Entity, _ deletions: ArraySlice<ChangeSet.Deletion>
  ) throws(StoreError) {
    var referrers: [Int64: [ObjectReference]] = [:]
    for search in ReferrerSearch.all(relationship, binding.layout) {
      // Without an index each key would read the whole table. Then the table is read once for all keys.
      if deletions.count > 1, try !search.isIndexed(statements) {
        try statements.fillList(ReferrerSearch.list, deletions.lazy.map { .int($0.reference.key) })
        let statement = try statements.statement(text: search.ofListed)
        defer { try? statements.emptyList(ReferrerSearch.list) }
        try collect(statement, &referrers)
      } else {
        let statement = try statements.statement(text: search.ofOne)
        for deletion in deletions {
          statement.bind(deletion.reference.key, at: 1)
          try collect(statement, &referrers)
        }
      }
    }
    if referrers.isEmpty { return }
    for deletion in deletions {
      guard let found = referrers[deletion.reference.key] else { continue }
      conflicts.append(
        Conflict(
          reference: deletion.reference, versionRead: deletion.versionRead,
          kind: .referrers(relationship: relationship.index, found)))
    }
  }

  private func collect(
    _ statement: Connection.Statement, _ referrers: inout [Int64: [ObjectReference]]
  ) throws(StoreError) {
    defer { statement.reset() }
    while try statement.step() {
      // Rows of entities outside the model do not count.
      guard let entity = binding.numbers.entity(statement.int(1)) else { continue }
      referrers[statement.int(0), default: []].append(ObjectReference(entity: entity, key: statement.int(2)))
    }
  }
}

/// Finds the objects that refer to deleted ones over a relationship, in columns of their table or in a join table.
private struct ReferrerSearch {
  static let list = "temp.OCDDeleted"

  private let selection: String
  /// The column with the deleted object's key, its table, and their names in the statement.
  private let (table, column, name): (String, String, String)

  /// Two for a relationship that is its own inverse, whose pairs are stored once.
  static func all(_ relationship: Relationship, _ layout: SQLLayout) -> [ReferrerSearch] {
    let key = SQLLayout.RelationshipKey(relationship)
    let members = layout.table(relationship.destination).name
    if let side = layout.joinOfRelationship[key] {
      let join = layout.joins[side.join]
      var sides = [side.ownerIsFirst ? (join.first, join.second) : (join.second, join.first)]
      if join.isReflexive { sides.append((sides[0].1, sides[0].0)) }
      // A pair with a missing object is no link.
      return sides.map { mine, theirs in
        ReferrerSearch(
          selection:
            "SELECT j.\(mine), t0.Z_ENT, t0.Z_PK FROM \(join.name) j JOIN \(members) t0 ON t0.Z_PK = j.\(theirs)",
          table: join.name, column: mine, name: "j.\(mine)")
      }
    }
    let table = layout.table(relationship.destination)
    let column: String
    if let slot = relationship.linkedInverse?.slot {
      column = layout.column(layout.schema.entities[relationship.destination], slot).name
    } else if let columns = layout.linkColumns[key] {
      column = table.columns[columns.owner].name
    } else {
      return []
    }
    return [
      ReferrerSearch(
        selection: "SELECT t0.\(column), t0.Z_ENT, t0.Z_PK FROM \(table.name) t0", table: table.name, column: column,
        name: "t0.\(column)", filter: SQLBinding.filter(relationship.destinations, of: layout))
    ]
  }

  private let filter: String

  private init(selection: String, table: String, column: String, name: String, filter: String = "") {
    (self.selection, self.table, self.column, self.name) = (selection, table, column, name)
    self.filter = filter.isEmpty ? "" : " AND \(filter)"
  }

  /// Parameter: the deleted key. Columns: deleted key, entity number, key.
  var ofOne: String { "\(selection) WHERE \(name) = ?\(filter)" }

  /// The same of all keys in the list.
  var ofListed: String { "\(selection) WHERE \(name) IN (SELECT v FROM \(Self.list))\(filter)" }

  /// Foreign files may lack the indexes that the schema has.
  func isIndexed<Connection>(_ statements: SQLStatements<Connection>) throws(StoreError) -> Bool {
    try statements.isIndexed(table, column)
  }
}
