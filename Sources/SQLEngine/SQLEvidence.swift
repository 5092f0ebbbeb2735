import StoreProtocol
import StoreSchema

/// Finds out whether a commit whose end failed has happened, whatever others have written since.
///
/// Versions only grow, and no key is assigned twice. So each of these proves that the commit did not happen: a row
/// below its new version, an existing row that was to be deleted, a highest key below one that the commit took. If all
/// rows are as the commit wrote them, to the last changed value, it has happened; at the least, the store is as it was
/// to be.
public struct SQLEvidence<Connection: SQLConnection> {
  /// Whether a commit with an unknown end has happened.
  public enum Verdict: Sendable {
    /// The evidence proves that it has happened, or that it has not.
    case happened, didNotHappen
    /// Others have changed so much since that both are possible.
    case unclear
  }

  private let changes: SealedChanges
  private let highestKeys: [Int: Int64]
  /// The key of the record in the store's history.
  private let transaction: Int64?
  /// Rows that triggers have changed as well.
  private let touched: Set<ObjectReference>

  /// For `changes` as they were written, and the `highestKeys` recorded for their insertions.
  public init(
    _ changes: SealedChanges, highestKeys: [Int: Int64], transaction: Int64?, touched: [ObjectReference]
  ) {
    self.changes = changes
    self.highestKeys = highestKeys
    self.transaction = transaction
    self.touched = Set(touched)
  }

  /// Judges by the present content of the store; the caller keeps others from writing meanwhile. Returns unclear for a
  /// change set without rows.
  ///
  /// Throws where the store cannot be read.
  public func verdict(_ statements: SQLStatements<Connection>) throws(StoreError) -> Verdict {
    if try takenKeysAreMissing(statements) { return .didNotHappen }
    if let known = try historyVerdict(statements) { return known }
    var isComplete = !changes.hasNoRows
    for row in changes.insertions {
      let slots = statements.binding.insertions[row.entity].map(\.slot)
      switch try look(row, version: 1, slots, statements) {
      case .other: return .didNotHappen
      case .unknown: isComplete = false
      case .written: continue
      }
    }
    for update in changes.updates {
      let columns = statements.binding.layout.columnOfSlot[update.row.entity]
      let slots = update.changed.slots.filter { columns[$0] != nil }
      switch try look(update.row, version: update.row.version, slots, statements) {
      case .other: return .didNotHappen
      case .unknown: isComplete = false
      case .written: continue
      }
    }
    for deletion in changes.deletions where try isThere(deletion.reference, statements) { return .didNotHappen }
    return isComplete ? .happened : .unclear
  }

  private func takenKeysAreMissing(_ statements: SQLStatements<Connection>) throws(StoreError) -> Bool {
    for (root, taken) in highestKeys {
      let statement = try statements.statement(text: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?")
      statement.bind(statements.binding.numbers.numbers[root], at: 1)
      defer { statement.reset() }
      if try statement.step(), statement.int(0) < taken { return true }
    }
    return false
  }

  /// The time of the save identifies its record. A missing record may have been purged since.
  private func historyVerdict(_ statements: SQLStatements<Connection>) throws(StoreError) -> Verdict? {
    guard let transaction else { return nil }
    let statement = try statements.statement(text: "SELECT ZTIMESTAMP IS ? FROM ATRANSACTION WHERE Z_PK = ?")
    statement.bind(.double(changes.time), at: 1)
    statement.bind(transaction, at: 2)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return statement.int(0) == 1 ? .happened : .didNotHappen
  }

  private enum Finding {
    case written
    /// The commit would have left another row.
    case other
    case unknown
  }

  /// Compares the stored row with the written slots of `row` in the database, where both have the same form.
  private func look(
    _ row: Row, version: Int64, _ slots: [Int], _ statements: SQLStatements<Connection>
  ) throws(StoreError) -> Finding {
    let binding = statements.binding
    let columns = slots.map { binding.parameters[row.entity][$0] }
    let names = ["Z_ENT"] + slots.map { binding.layout.column(binding.layout.schema.entities[row.entity], $0).name }
    let marks = names.map { _ in "?" }.joined(separator: ", ")
    let table = binding.layout.table(row.entity).name
    let statement = try statements.statement(
      text: """
        SELECT ifnull(Z_OPT, 0), (\(names.joined(separator: ", "))) IS (\(marks)) FROM \(table) WHERE Z_PK = ?
        """)
    statement.bind(binding.numbers.numbers[row.entity], at: 1)
    statement.bind(row, columns, from: 2, binding.numbers)
    statement.bind(row.key, at: Int32(columns.count) + 2)
    defer { statement.reset() }
    guard try statement.step() else { return .unknown }
    let stored = statement.int(0)
    if stored < version { return .other }
    // A newer version, a trigger, or an update without written slots leaves nothing to compare.
    if stored > version || slots.isEmpty || touched.contains(row.reference) {
      return .unknown
    }
    return statement.int(1) == 1 ? .written : .other
  }

  private func isThere(
    _ reference: ObjectReference, _ statements: SQLStatements<Connection>
  ) throws(StoreError) -> Bool {
    let table = statements.binding.layout.table(reference.entity).name
    let statement = try statements.statement(text: "SELECT 1 FROM \(table) WHERE Z_PK = ?")
    statement.bind(reference.key, at: 1)
    defer { statement.reset() }
    return try statement.step()
  }
}
