import StoreProtocol
import StoreSchema
import StoreSupport

/// Links that are not in a row of their owner: pairs, one-way links and orders.
extension SQLCommit {
  /// Writes all removals, then all additions, then all orders. A member that moves must not lose its new owner, and an
  /// order can only be written to existing pairs.
  func writeLinks() throws(StoreError) {
    let links = changes.links
    for step in [LinkStep.remove, .add, .order] {
      var next = 0
      while next < links.count {
        // Changes of one relationship are adjacent: its tables and columns are looked up once.
        let (entity, relationship) = (links.entity(at: next), links.relationship(at: next))
        var end = next + 1
        while end < links.count, links.entity(at: end) == entity, links.relationship(at: end) == relationship {
          end += 1
        }
        switch location(of: schema.entities[entity].relationships[relationship]) {
        case .pairs(let side, let isReflexive):
          try writePairs(step, links, next..<end, side, isReflexive: isReflexive)
        case .columns(let key, let columns, let isOneWay):
          for index in next..<end where step.concerns(links, index) {
            try writeLinkColumns(step, links[index], key, columns, isOneWay: isOneWay)
          }
        case .none: break
        }
        next = end
      }
    }
  }

  private enum LinkStep {
    case remove, add, order

    func concerns(_ links: ChangeSet.LinkChanges, _ index: Int) -> Bool {
      switch self {
      case .remove: links.removes(at: index)
      case .add: links.adds(at: index)
      case .order: links.orders(at: index)
      }
    }
  }

  /// The tables and columns of a relationship's links.
  private enum LinkLocation {
    case pairs(SQLLayout.JoinSide, isReflexive: Bool)
    case columns(SQLLayout.RelationshipKey, SQLLayout.LinkColumns, isOneWay: Bool)
    case none
  }

  private func location(of relationship: Relationship) -> LinkLocation {
    let key = SQLLayout.RelationshipKey(relationship)
    if let side = binding.layout.joinOfRelationship[key] {
      return .pairs(side, isReflexive: binding.layout.joins[side.join].isReflexive)
    }
    return binding.layout.linkColumns[key].map { .columns(key, $0, isOneWay: relationship.storage == .destination) }
      ?? .none
  }

  private func writePairs(
    _ step: LinkStep, _ links: ChangeSet.LinkChanges, _ range: Range<Int>, _ side: SQLLayout.JoinSide,
    isReflexive: Bool
  ) throws(StoreError) {
    func pair(_ owner: Int64, _ other: Int64) -> (Int64, Int64) {
      let pair = side.ownerIsFirst ? (owner, other) : (other, owner)
      // A pair of a relationship that is its own inverse is stored once, the smaller key first.
      return isReflexive && pair.0 > pair.1 ? (pair.1, pair.0) : pair
    }
    switch step {
    case .remove:
      for change in range.lazy.filter(links.removes).map({ links[$0] }) {
        let (owner, remove) = (changes.permanentKey(change.owner), try statements.removePair(side.join))
        for other in change.removed {
          let (first, second) = pair(owner, changes.permanentKey(other.key))
          try remove.run(first, second, at: 1)
          // Another program may have written it the other way round, or both ways.
          if isReflexive && first != second { try remove.run(second, first, at: 1) }
        }
      }
    case .add:
      guard range.contains(where: links.adds) else { return }
      try add(links, range, side, try statements.addPair(side.join), connection, pair)
    case .order:
      for change in range.lazy.filter(links.orders).map({ links[$0] }) {
        guard let order = change.order,
          let statement = try statements.pairOrder(side.join, ownerIsFirst: side.ownerIsFirst)
        else { return }
        let (owner, join) = (changes.permanentKey(change.owner), binding.layout.joins[side.join])
        let column = side.ownerIsFirst ? join.secondOrder : join.firstOrder
        let (mine, theirs) = side.ownerIsFirst ? (join.first, join.second) : (join.second, join.first)
        let existing = try orderKeys(
          "SELECT \(theirs), \(column ?? "NULL") FROM \(join.name) WHERE \(mine) = ?", owner)
        for (other, orderKey) in OrderKeys.assign(order.map { changes.permanentKey($0.key) }, existing: existing) {
          statement.bind(orderKey, at: 1)
          let (first, second) = pair(owner, other)
          try statement.run(first, second, at: 2)
          if connection.changedRows != 1 { try requireNoPair(side.join, first, second) }
        }
      }
    }
  }

  /// Adds pairs. The statement is an argument of its own type, so that the type is looked up once and not for each
  /// pair.
  private func add<Statement: SQLStatement, Database: SQLConnection>(
    _ links: ChangeSet.LinkChanges, _ range: Range<Int>, _ side: SQLLayout.JoinSide, _ statement: Statement,
    _ connection: Database, _ pair: (Int64, Int64) -> (Int64, Int64)
  ) throws(StoreError) {
    for index in range {
      let owner = changes.permanentKey(links.owner(at: index))
      for other in links.added(at: index) {
        let (first, second) = pair(owner, changes.permanentKey(other.key))
        try statement.run(first, second, at: 1)
        if connection.changedRows != 1 { try requirePair(side.join, first, second) }
      }
    }
  }

  private func writeLinkColumns(
    _ step: LinkStep, _ change: ChangeSet.LinkChange, _ key: SQLLayout.RelationshipKey,
    _ columns: SQLLayout.LinkColumns, isOneWay: Bool
  ) throws(StoreError) {
    let owner = changes.permanentKey(change.owner)
    let tableName = binding.layout.tables[columns.table].name
    switch step {
    case .remove:
      // Where there is an inverse, its row was written already.
      guard isOneWay, let statement = try statements.unlink(key, columns) else { return }
      for other in change.removed {
        statement.bind(changes.permanentKey(other.key), at: 1)
        statement.bind(owner, at: 2)
        // A destination with another owner stays as it is.
        try statement.run()
      }
    case .add:
      guard isOneWay else { return }
      let link = try statements.link(key, columns)
      for other in change.added {
        link.bind(owner, at: 1)
        link.bind(changes.permanentKey(other.key), at: 2)
        try link.run()
        if connection.changedRows != 1 { try requireMissing(changes.permanentKey(other.key), in: tableName) }
      }
    case .order:
      guard let statement = try statements.order(key, columns), let order = change.order, let column = columns.order
      else { return }
      let table = binding.layout.tables[columns.table]
      let text =
        "SELECT Z_PK, \(table.columns[column].name) FROM \(table.name) WHERE \(table.columns[columns.owner].name) = ?"
      let existing = try orderKeys(text, owner)
      for (other, orderKey) in OrderKeys.assign(order.map { changes.permanentKey($0.key) }, existing: existing) {
        statement.bind(orderKey, at: 1)
        statement.bind(other, at: 2)
        statement.bind(owner, at: 3)
        try statement.run()
        // A member that has another owner by now, or none, has its position there.
        if connection.changedRows != 1 {
          try requireMissing(other, in: tableName, of: (table.columns[columns.owner].name, owner))
        }
      }
    }
  }

  /// Appends objects to the order of the owner that the commit has given them, where that order does not name them. A
  /// merge may have changed the owner and not the order.
  func appendToOwners() throws(StoreError) {
    if binding.orderedOwners.allSatisfy(\.isEmpty) { return }
    var named: [SQLLayout.RelationshipKey: Set<Int64>] = [:]
    let links = changes.links
    for change in links.indices.lazy.filter(links.orders).map({ links[$0] }) {
      guard let order = change.order else { continue }
      let key = SQLLayout.RelationshipKey(schema.entities[change.entity].relationships[change.relationship])
      named[key, default: []].formUnion(order.lazy.map { changes.permanentKey($0.key) })
    }
    func append(_ row: Row, _ changed: SlotSet?) throws(StoreError) {
      for link in binding.orderedOwners[row.entity] {
        if changed?.contains(link.slot) == false || row.isNull(link.slot) { continue }
        if named[link.inverse]?.contains(row.key) == true { continue }
        let statement = try statements.appendToOwner(row.entity, link.slot, link)
        statement.bind(row.key, at: 1)
        try statement.run()
      }
    }
    for row in changes.insertions { try append(row, nil) }
    for update in changes.updates { try append(update.row, update.changed) }
  }

  /// Throws where a row exists (with this owner, if one is given) that an update has not found. Then the table has a
  /// clause that lets the database skip the row.
  func requireMissing(
    _ key: Int64, in table: String, of owner: (column: String, key: Int64)? = nil
  ) throws(StoreError) {
    let condition = owner.map { " AND \($0.column) = ?2" } ?? ""
    let statement = try statements.statement(text: "SELECT 1 FROM \(table) WHERE Z_PK = ?1\(condition)")
    statement.bind(key, at: 1)
    if let owner { statement.bind(owner.key, at: 2) }
    defer { statement.reset() }
    if try statement.step() { throw connection.wrongCount(table) }
  }

  /// Throws where a pair is missing although the database reported it as existing.
  private func requirePair(_ index: Int, _ first: Int64, _ second: Int64) throws(StoreError) {
    if try !hasPair(index, first, second) { throw connection.wrongCount(binding.layout.joins[index].name) }
  }

  private func requireNoPair(_ index: Int, _ first: Int64, _ second: Int64) throws(StoreError) {
    if try hasPair(index, first, second) { throw connection.wrongCount(binding.layout.joins[index].name) }
  }

  private func hasPair(_ index: Int, _ first: Int64, _ second: Int64) throws(StoreError) -> Bool {
    let join = binding.layout.joins[index]
    let statement = try statements.statement(
      text: "SELECT 1 FROM \(join.name) WHERE \(join.first) = ? AND \(join.second) = ?")
    statement.bind(first, at: 1)
    statement.bind(second, at: 2)
    defer { statement.reset() }
    return try statement.step()
  }

  private func orderKeys(_ text: String, _ owner: Int64) throws(StoreError) -> [Int64: Int64] {
    let statement = try statements.statement(text: text)
    statement.bind(owner, at: 1)
    defer { statement.reset() }
    var result: [Int64: Int64] = [:]
    while try statement.step() {
      if !statement.isNull(1) { result[statement.int(0)] = statement.int(1) }
    }
    return result
  }
}
