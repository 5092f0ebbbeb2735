import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema
import StoreSupport

/// Reads rows on one connection that is inside a read transaction.
public struct SQLReader<Connection: SQLConnection> {
  let statements: SQLStatements<Connection>
  private let builder = RowBuilder()

  var binding: SQLBinding { statements.binding }
  var schema: Schema { binding.layout.schema }

  /// Reads on the connection of `statements`.
  public init(_ statements: SQLStatements<Connection>) { self.statements = statements }

  /// Calls `body` with the row of each key that exists in the table of `entity`.
  public func rows(of entity: Int, keys: [Int64], _ body: (consuming Row) -> Void) throws(StoreError) {
    for key in keys {
      if let row = try row(of: entity, key: key) { body(row) }
    }
  }

  /// The row of one key in the table of `entity`, nil where there is none.
  public func row(of entity: Int, key: Int64) throws(StoreError) -> Row? {
    guard schema.stores(entity) else { return nil }
    return try statements.select(entity).row(key: key, binding.shapes[entity], builder)
  }

  /// Calls `body` with the rows of the table of `entity` whose keys are in a range.
  public func rows(
    of entity: Int, between keys: ClosedRange<Int64>, _ body: (consuming Row) -> Void
  ) throws(StoreError) {
    guard schema.stores(entity) else { return }
    let statement = try statements.selectKeyRange(entity)
    statement.bind(keys.lowerBound, at: 1)
    statement.bind(keys.upperBound, at: 2)
    try statement.drain(binding.shapes[entity], builder, body)
  }

  /// Calls `body` with every row whose entity is in `entities`, in key order.
  public func scan(_ entities: Range<Int>, _ body: (consuming Row) -> Void) throws(StoreError) {
    try fetch(prepare(FetchPlan(entities: entities)), body)
  }

  /// Calls `body` with the key of an owner and a destination's row for each link of a to-many relationship that leaves
  /// one of `owners`.
  public func destinations(
    of relationship: Relationship, owners: [Int64], _ body: (Int64, consuming Row) -> Void
  ) throws(StoreError) {
    guard schema.stores(relationship) else { return }
    let shape = binding.shapes[relationship.destination]
    let ownerColumn = Int32(shape.width) + 3
    if owners.count == 1 {
      let statement = try statements.destinations(relationship)
      statement.bind(owners[0], at: 1)
      try statement.drain(shape, builder) { body(owners[0], $0) }
      return
    }
    let text = DestinationsText(binding, relationship)
    if relationship.storage == .inverseToOne, !relationship.isOrdered, try isMost(owners, of: relationship) {
      return try scanDestinations(of: relationship, owners, body)
    }
    var rest = Set(owners).sorted()[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(512))
      rest = rest.dropFirst(part.count)
      // The number of parameters is a power of two, so that there are few statements.
      let keys = part.filled
      let statement = try statements.statement(text: text.several(keys.count))
      for (index, key) in keys.enumerated() { statement.bind(key, at: Int32(index) + 1) }
      try statement.drain(shape, builder) { body(statement.int(ownerColumn), $0) }
    }
  }

  /// Whether `owners` are so large a part of their table that reading all destinations is faster.
  private func isMost(_ owners: [Int64], of relationship: Relationship) throws(StoreError) -> Bool {
    if owners.count < 100 { return false }
    return try highestKey(relationship.declaringEntity) <= Int64(owners.count) * 2
  }

  /// The highest key of an entity's table, zero for an empty table.
  private func highestKey(_ entity: Int) throws(StoreError) -> Int64 {
    let statement = try statements.statement(text: "SELECT max(Z_PK) FROM \(binding.layout.table(entity).name)")
    defer { statement.reset() }
    return try statement.step() ? statement.int(0) : 0
  }

  /// Keys are handed out one after another, so the highest key limits the number of rows.
  public func estimatedCount(_ plan: FetchPlan) -> Int? {
    guard let first = plan.entities.first, schema.stores(first), plan.limit == nil,
      case .constant(true) = plan.predicate
    else { return nil }
    return (try? highestKey(first)).map { Int(clamping: $0) }
  }

  /// Reads all destinations in key order and sorts them by their owner in memory.
  private func scanDestinations(
    of relationship: Relationship, _ owners: [Int64], _ body: (Int64, consuming Row) -> Void
  ) throws(StoreError) {
    guard let slot = schema.inverse(of: relationship)?.slot else { return }
    var positions: [Int64: Int] = [:]
    positions.reserveCapacity(owners.count)
    for (position, owner) in owners.enumerated() { positions[owner] = position }
    var groups = ContiguousArray<ContiguousArray<Row?>>(repeating: [], count: owners.count)
    let destination = schema.entities[relationship.destination]
    try fetch(prepare(FetchPlan(entities: destination.subtree))) { (row: consuming Row) in
      if !row.isNull(slot), let position = positions[row.int(slot)] { groups[position].append(row) }
    }
    for (position, owner) in owners.enumerated() {
      // The rows move out of their group.
      for index in groups[position].indices { if let row = groups[position][index].take() { body(owner, row) } }
    }
  }

  /// Calls `body` with each binary value that is as short as a name of data outside the rows, until it returns false.
  public func externalDataNames(_ body: (Data) -> Bool) throws(StoreError) {
    for table in binding.layout.tables {
      for column in table.columns {
        guard case .attribute(let kind) = column.role, [.externalData, .data, .transformable].contains(kind) else {
          continue
        }
        // The length is read without the value, so that larger values are not read.
        let name = column.name
        let statement = try statements.statement(
          text: "SELECT \(name) FROM \(table.name) WHERE length(\(name)) BETWEEN 37 AND 63")
        defer { statement.reset() }
        while try statement.step() {
          if case .blob(let bytes) = statement.stored(0), !body(bytes) { return }
        }
      }
    }
  }

  // MARK: Fetch plans

  /// Translates a plan.
  public func prepare(_ plan: FetchPlan) -> SQLFetch { SQLFetch(plan, binding.layout) }

  /// Calls `body` with each row that a fetch selects, in its order, ties in key order.
  public func fetch(_ fetch: SQLFetch, _ body: (consuming Row) -> Void) throws(StoreError) {
    guard let entity = fetch.entity else { return }
    try run(fetch.text(columns: binding.selections[entity].columns)) { (statement) throws(StoreError) in
      try statement.drain(binding.shapes[entity], builder, body)
    }
  }

  /// Calls `body` with entity and key only, otherwise like ``fetch(_:_:)``.
  public func references(_ fetch: SQLFetch, _ body: (ObjectReference) -> Void) throws(StoreError) {
    if fetch.entity == nil { return }
    try run(fetch.text(columns: "t0.Z_ENT, t0.Z_PK")) { (statement) throws(StoreError) in
      defer { statement.reset() }
      while try statement.step() {
        guard let entity = binding.numbers.entity(statement.int(0)) else { continue }
        body(ObjectReference(entity: entity, key: statement.int(1)))
      }
    }
  }

  /// The number of rows that a fetch selects.
  public func count(_ fetch: SQLFetch) throws(StoreError) -> Int {
    if fetch.entity == nil { return 0 }
    let all = try run(fetch.counted) { (statement) throws(StoreError) in
      defer { statement.reset() }
      return try statement.step() ? Int(clamping: statement.int(0)) : 0
    }
    let rest = max(0, all - fetch.plan.offset)
    return min(fetch.plan.limit ?? rest, rest)
  }

  /// The statement of a fetch, and how SQLite runs it.
  public func explanation(of fetch: SQLFetch) throws(StoreError) -> [String] {
    guard let entity = fetch.entity else { return [] }
    let text = fetch.text(columns: binding.selections[entity].columns)
    return try run("EXPLAIN QUERY PLAN \(text)") { (statement) throws(StoreError) in
      defer { statement.reset() }
      var lines = [text.statement.text]
      while try statement.step() {
        if case .text(let detail) = statement.stored(3) { lines.append("  " + String(decoding: detail, as: UTF8.self)) }
      }
      return lines
    }
  }

  /// Calls `body` with a statement whose parameters are bound. `body` must reset it.
  func run<R>(
    _ text: SQLText, _ body: (Connection.Statement) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let parts = text.statement
    // A failure does not matter: the table is emptied again before it is filled.
    defer { for index in parts.lists.indices { try? statements.emptyList(SQLText.listName(index)) } }
    for (index, list) in parts.lists.enumerated() { try statements.fillList(SQLText.listName(index), list) }
    let statement = try statements.statement(text: parts.text)
    for (index, value) in parts.values.enumerated() { statement.bind(value, at: Int32(index) + 1) }
    return try body(statement)
  }
}
