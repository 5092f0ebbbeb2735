import StoreProtocol
import StoreSchema

/// The arithmetic of keys, which begins at a number from the file.
enum SQLKeys {
  /// The last of `count` keys above `highest`. Throws `corrupt` where there are fewer keys.
  static func last(_ highest: Int64, _ count: Int, of entity: String) throws(StoreError) -> Int64 {
    let (last, overflow) = highest.addingReportingOverflow(Int64(count))
    // One key is left over, so that the key after the last is a valid number too.
    guard highest >= 0, !overflow, last < Int64.max else {
      throw StoreError(
        .corrupt,
        "The highest key of the entity \(entity) is \(highest), so that no object can be added. Copy the objects to a new store.",
        context: ["entity": entity])
    }
    return last
  }
}

/// Hands out keys from `Z_PRIMARYKEY`, inside a transaction of its caller.
public struct SQLKeyAllocator<Connection: SQLConnection> {
  private let statements: SQLStatements<Connection>

  /// Hands out keys on the connection of `statements`.
  public init(_ statements: SQLStatements<Connection>) { self.statements = statements }

  /// The next `count` keys of the hierarchy of a root entity. `floor` is the greatest key known to be in use.
  public func take(_ count: Int, root: Int, floor: Int64) throws(StoreError) -> Range<Int64> {
    let number = statements.binding.numbers.numbers[root]
    let read = try statements.statement(text: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?")
    read.bind(number, at: 1)
    defer { read.reset() }
    let recorded = try read.step() ? read.int(0) : 0
    let highest = max(recorded, floor)
    let last = try SQLKeys.last(highest, count, of: statements.binding.layout.schema.entities[root].name)
    if last == recorded { return (highest + 1)..<(last + 1) }
    let write = try statements.statement(text: "UPDATE OR ABORT Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?")
    write.bind(last, at: 1)
    write.bind(number, at: 2)
    try statements.connection.changeOneRow(write, of: "Z_PRIMARYKEY")
    return (highest + 1)..<(last + 1)
  }
}
