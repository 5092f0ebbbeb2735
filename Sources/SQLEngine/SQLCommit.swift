import StoreProtocol
import StoreSchema
import StoreSupport

/// Writes one change set inside a transaction that its caller has begun and ends.
///
/// The steps, in order: checks, deletions, updates, insertions, links, forbidden links, links of deleted objects. Where
/// it reports conflicts the caller rolls back.
public struct SQLCommit<Connection: SQLConnection> {
  let statements: SQLStatements<Connection>
  /// The changes, in which every new object has its key.
  public let changes: SealedChanges
  /// The stored objects that new links lead to.
  private let targets: [ObjectReference]
  /// The highest key that the commit has taken for each root, and recorded as such.
  public private(set) var highestKeys: [Int: Int64] = [:]
  var conflicts: [Conflict] = []

  var binding: SQLBinding { statements.binding }
  var schema: Schema { binding.layout.schema }
  var connection: Connection { statements.connection }

  /// A commit of changes on the connection of `statements`. It takes the keys of new objects. `keyFloors` has the
  /// greatest key known to be in use by root entity, because `Z_MAX` of a file may be too small.
  public init(
    _ statements: SQLStatements<Connection>, _ changes: ChangeSet, keyFloors: [Int: Int64], isRehearsal: Bool = false
  ) throws(StoreError) {
    self.statements = statements
    let draft = CommitDraft(changes, statements.binding.layout.schema, isRehearsal: isRehearsal)
    targets = draft.targets
    var ranges: [Int: Range<Int64>] = [:]
    for need in draft.keyNeeds {
      let floor = max(keyFloors[need.root] ?? 0, need.highestGiven)
      let taken = try SQLKeyAllocator(statements).take(need.count, root: need.root, floor: floor)
      ranges[need.root] = taken
      highestKeys[need.root] = taken.upperBound - 1
    }
    self.changes = try draft.seal(ranges)
  }

  /// Writes the changes, or returns the conflicts that forbid the commit.
  public mutating func run() throws(StoreError) -> Result {
    try check()
    if schema.entities.contains(where: { !$0.uniquenessConstraints.isEmpty }) {
      try writeRowsUniquely()
    } else {
      try deleteRows()
      try updateRows()
      try insertRows()
    }
    if !conflicts.isEmpty { return .conflicts(changes.unsealed(conflicts)) }
    try writeLinks()
    try appendToOwners()
    try judge(targets)
    try judgeDeletions()
    if !conflicts.isEmpty { return .conflicts(changes.unsealed(conflicts)) }
    try dropLinks()
    if binding.hasRTrees { try writeRTrees() }
    return .written
  }

  /// The result of a commit.
  public enum Result {
    /// Everything was written.
    case written
    /// Nothing may be kept, because of these conflicts: the caller rolls the transaction back.
    case conflicts([Conflict])
  }

  // MARK: Rows

  private mutating func check() throws(StoreError) {
    if changes.checks.isEmpty { return }
    let doubtful = try doubtfulChecks()
    if doubtful.isEmpty { return }
    for check in changes.checks where doubtful.contains(check.reference) {
      try checkVersion(check.reference, check.versionRead)
    }
  }

  /// The checked objects that must be checked one by one. Objects that were inserted together mostly have consecutive
  /// keys, and one statement checks many of them.
  private func doubtfulChecks() throws(StoreError) -> Set<ObjectReference> {
    var doubtful: Set<ObjectReference> = []
    let checks = changes.checks.map { (entity: $0.reference.entity, version: $0.versionRead, key: $0.reference.key) }
      .sorted { $0 < $1 }
    var next = 0
    while next < checks.count {
      let first = checks[next]
      var last = first
      // At most 512 keys: if one object has changed, the objects of its range are checked one by one.
      while last.key - first.key < 511, next + 1 < checks.count,
        checks[next + 1] == (first.entity, first.version, last.key &+ 1)
      {
        next += 1
        last = checks[next]
      }
      next += 1
      let keys = first.key...last.key
      if keys.count > 1, try areCurrent(first.entity, first.version, keys) { continue }
      for key in keys { doubtful.insert(ObjectReference(entity: first.entity, key: key)) }
    }
    return doubtful
  }

  /// Whether all objects of a key range have a version. `Z_PK` is the table's INTEGER PRIMARY KEY, so no two rows share
  /// a key.
  private func areCurrent(_ entity: Int, _ version: Int64, _ keys: ClosedRange<Int64>) throws(StoreError) -> Bool {
    let statement = try statements.versions(entity)
    statement.bind(keys.lowerBound, at: 1)
    statement.bind(keys.upperBound, at: 2)
    statement.bind(version, at: 3)
    defer { statement.reset() }
    return try statement.step() ? statement.int(0) == Int64(keys.count) : false
  }

  private mutating func checkVersion(_ reference: ObjectReference, _ version: Int64) throws(StoreError) {
    let statement = try statements.version(reference.entity)
    statement.bind(reference.key, at: 1)
    statement.bind(version, at: 2)
    defer { statement.reset() }
    if try !statement.step() { try versionConflict(reference, version) }
  }

  private mutating func deleteRows() throws(StoreError) {
    // Rows of one entity are adjacent: their statements are looked up once.
    var (entity, deleting) = (-1, Connection.Statement?.none)
    for deletion in changes.deletions {
      let reference = deletion.reference
      if reference.entity != entity {
        entity = reference.entity
        deleting = try statements.delete(entity)
      }
      guard let statement = deleting else { continue }
      statement.bind(reference.key, at: 1)
      statement.bind(deletion.versionRead, at: 2)
      try statement.run()
      if connection.changedRows == 0 { try versionConflict(reference, deletion.versionRead) }
    }
  }

  private mutating func updateRows() throws(StoreError) {
    let updates = changes.updates
    guard var update = updates.first else { return }
    var next = 0
    // Values that every row needs are looked up, and retained, once.
    let (connection, numbers) = (connection, binding.numbers)
    // Rows with the same changed slots are adjacent: their statement is looked up once.
    while next < updates.count {
      let (entity, changed) = (update.row.entity, update.changed)
      let statement = try statements.update(entity, stored(changed, of: entity))
      let columns = columns(entity, changed)
      repeat {
        try write(update.row, statement, columns, numbers, connection)
        next += 1
        if next < updates.count { update = updates[next] }
      } while next < updates.count && update.row.entity == entity && update.changed == changed
    }
  }

  private func columns(_ entity: Int, _ changed: SlotSet) -> [BoundColumn] {
    stored(changed, of: entity).slots.map { binding.parameters[entity][$0] }
  }

  /// The changed slots that have a column.
  private func stored(_ changed: SlotSet, of entity: Int) -> SlotSet {
    if schema.isWhole { return changed }
    var result = SlotSet()
    for slot in changed.slots where binding.layout.columnOfSlot[entity][slot] != nil { result.insert(slot) }
    return result
  }

  /// Writes the new state of an object, if the store still has the version before it.
  private mutating func write(
    _ row: Row, _ statement: Connection.Statement, _ columns: [BoundColumn], _ numbers: EntityNumbers,
    _ connection: Connection
  ) throws(StoreError) {
    let view = row.view
    let keyIndex = Int32(columns.count) + 2
    statement.bind(view.version, at: 1)
    statement.bind(row, columns, from: 2, numbers)
    statement.bind(view.key, at: keyIndex)
    statement.bind(view.version &- 1, at: keyIndex + 1)
    try statement.run()
    if connection.changedRows != 1 {
      if connection.changedRows > 1 { throw connection.wrongCount(binding.layout.table(row.entity).name) }
      try versionConflict(row.reference, view.version &- 1)
    }
    withExtendedLifetime(row) {}
  }

  private func insertRows() throws(StoreError) {
    let rows = changes.insertions
    var next = 0
    // Rows of one entity are adjacent: their statement is looked up once.
    while next < rows.count {
      let (first, entity) = (next, rows[next].entity)
      while next < rows.count && rows[next].entity == entity { next += 1 }
      try insert(rows, first..<next)
    }
  }

  /// Inserts rows of one entity.
  private func insert(_ rows: SealedRows, _ range: Range<Int>) throws(StoreError) {
    try insert(rows, range, try statements.insert(rows[range.lowerBound].entity), connection)
  }

  /// The statement is an argument of its own type, so that the type is looked up once and not for each row.
  private func insert<Statement: SQLStatement, Database: SQLConnection>(
    _ rows: SealedRows, _ range: Range<Int>, _ statement: Statement, _ connection: Database
  ) throws(StoreError) {
    let entity = rows[range.lowerBound].entity
    let (numbers, columns) = (binding.numbers, binding.insertions[entity])
    let number = numbers.numbers[entity]
    for index in range {
      let row = rows[index]
      statement.bind(row.key, at: 1)
      statement.bind(number, at: 2)
      statement.bind(row.version, at: 3)
      statement.bind(row, columns, from: 4, numbers)
      try statement.run()
      if connection.changedRows != 1 { throw connection.wrongCount(binding.layout.table(entity).name) }
    }
  }

  private mutating func versionConflict(_ reference: ObjectReference, _ versionRead: Int64) throws(StoreError) {
    let row = try storedRow(reference)
    conflicts.append(Conflict(reference: reference, versionRead: versionRead, kind: .version(persisted: row)))
  }

  private func storedRow(_ reference: ObjectReference) throws(StoreError) -> Row? {
    let root = schema.entities[reference.entity].root
    return try statements.select(root).row(key: reference.key, binding.shapes[root], RowBuilder())
  }
}

// MARK: - Uniqueness

extension SQLCommit {
  /// Uniqueness is judged on the state after the save. Rows are first written the plain way. If that collides, they are
  /// written again after the constrained columns of all updated rows were emptied, so that only real duplicates
  /// collide.
  private mutating func writeRowsUniquely() throws(StoreError) {
    try connection.execute("SAVEPOINT rows")
    do {
      try deleteRows()
      try updateRows()
      try insertRows()
    } catch {
      guard error.code == .constraint else { throw error }
      try connection.execute("ROLLBACK TO rows")
      conflicts = []
      try parkUpdates()
      try deleteRows()
      try writeOneByOne()
    }
    try connection.execute("RELEASE rows")
  }

  private func parkUpdates() throws(StoreError) {
    for update in changes.updates {
      let columns = constrainedColumns(update.row.entity, touching: update.changed)
      if columns.isEmpty { continue }
      let table = binding.layout.table(update.row.entity).name
      let assignments = columns.map { "\($0) = NULL" }.joined(separator: ", ")
      let statement = try statements.statement(text: "UPDATE OR ABORT \(table) SET \(assignments) WHERE Z_PK = ?")
      statement.bind(update.row.key, at: 1)
      try statement.run()
      if connection.changedRows != 1 { try requireMissing(update.row.key, in: table) }
    }
  }

  private func constrainedColumns(_ entity: Int, touching changed: SlotSet) -> [String] {
    let slots = Set(constraints(of: entity).flatMap { $0 }).filter(changed.contains)
    return slots.sorted().map { binding.layout.column(schema.entities[entity], $0).name }
  }

  /// The constraints of an entity and its ancestors.
  private func constraints(of entity: Int) -> [[Int]] {
    var result: [[Int]] = []
    var current: Int? = entity
    while let index = current {
      result += binding.layout.constraints(of: schema.entities[index]).map(\.slots)
      current = schema.entities[index].superentity
    }
    return result
  }

  private mutating func writeOneByOne() throws(StoreError) {
    for update in changes.updates {
      let row = update.row
      let statement = try statements.update(row.entity, stored(update.changed, of: row.entity))
      do { try write(row, statement, columns(row.entity, update.changed), binding.numbers, connection) } catch {
        try constraintConflict(row, versionRead: update.versionRead, error)
      }
    }
    let rows = changes.insertions
    for index in rows.indices {
      do { try insert(rows, index..<index + 1) } catch { try constraintConflict(rows[index], versionRead: 0, error) }
    }
  }

  private mutating func constraintConflict(
    _ row: Row, versionRead: Int64, _ error: StoreError
  ) throws(StoreError) {
    guard error.code == .constraint else { throw error }
    for slots in constraints(of: row.entity) {
      guard let other = try holder(of: slots, in: row) else { continue }
      let persisted = changes.gives(slots, to: other) ? nil : try storedRow(other)
      conflicts.append(
        Conflict(
          reference: row.reference, versionRead: versionRead,
          kind: .constraint(slots: slots, other: other, persisted: persisted)))
      return
    }
    throw error
  }

  /// The other object with the row's values in the constrained slots.
  private func holder(of slots: [Int], in row: Row) throws(StoreError) -> ObjectReference? {
    let entity = schema.entities[row.entity]
    if slots.contains(where: row.isNull) { return nil }
    let conditions = slots.map { "\(binding.layout.column(entity, $0).name) IS ?" }.joined(separator: " AND ")
    let table = binding.layout.table(row.entity).name
    let statement = try statements.statement(
      text: "SELECT Z_ENT, Z_PK FROM \(table) WHERE \(conditions) AND Z_PK <> ?")
    statement.bind(row, slots.map { binding.parameters[row.entity][$0] }, from: 1, binding.numbers)
    statement.bind(row.key, at: Int32(slots.count) + 1)
    defer { statement.reset() }
    guard try statement.step(), let index = binding.numbers.entity(statement.int(0)) else { return nil }
    return ObjectReference(entity: index, key: statement.int(1))
  }
}
