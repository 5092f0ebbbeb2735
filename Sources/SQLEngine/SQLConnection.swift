import StoreProtocol
import StoreSchema

/// A connection to an SQL database, used by one caller at a time.
public protocol SQLConnection: AnyObject {
  /// A statement of the connection.
  associatedtype Statement: SQLStatement

  /// Compiles one statement, to be kept and used many times.
  func prepare(_ sql: String) throws(StoreError) -> Statement

  /// Runs statements that return nothing.
  func execute(_ sql: String) throws(StoreError)

  /// How many rows the last insert, update or delete changed.
  var changedRows: Int { get }
}

extension SQLConnection {
  /// Runs a statement that must insert or update exactly one row.
  public func changeOneRow(_ statement: Statement, of table: String) throws(StoreError) {
    try statement.run()
    if changedRows != 1 { throw wrongCount(table) }
  }

  /// The error of a statement that has changed more or fewer rows than one. In SQLite only a conflict clause of the
  /// table causes that without an error. The caller rolls back.
  public func wrongCount(_ table: String) -> StoreError {
    StoreError(
      .corrupt,
      "The database changed \(changedRows) rows instead of one. Nothing was saved. The table has a clause that Core Data does not write. Work on a copy without the clause.",
      context: ["table": table])
  }
}

/// A compiled statement. Parameters count from 1, columns from 0. `reset` before it is used again.
public protocol SQLStatement: AnyObject {
  /// Sets a parameter to an integer.
  func bind(_ value: Int64, at index: Int32)
  /// Sets a parameter to a value.
  func bind(_ value: Value, at index: Int32)
  /// Sets a parameter to null.
  func bindNull(at index: Int32)

  /// Binds slots of a row to consecutive parameters. The row must live until `reset`.
  func bind(_ row: Row, _ columns: [BoundColumn], from index: Int32, _ numbers: EntityNumbers)

  /// Runs to the next row; false at the end.
  func step() throws(StoreError) -> Bool
  /// Ends the run, so that the statement can be bound and run again.
  func reset()

  /// Runs a statement that returns no rows, and resets it.
  func run() throws(StoreError)

  /// The same with values for two consecutive parameters.
  func run(_ first: Int64, _ second: Int64, at index: Int32) throws(StoreError)

  /// Whether a column of the current row is null.
  func isNull(_ column: Int32) -> Bool
  /// A column of the current row as an integer.
  func int(_ column: Int32) -> Int64

  /// The value in the form that the database has.
  func stored(_ column: Int32) -> SQLStoredValue

  /// The current row, whose first three columns are the object's entity number, key and version; see ``RowShape``. Nil
  /// where its entity is not in the shape.
  func row(_ shape: RowShape, _ builder: RowBuilder) throws(StoreError) -> Row?

  /// The row of a statement whose one parameter is a key, nil where there is none. Resets.
  func row(key: Int64, _ shape: RowShape, _ builder: RowBuilder) throws(StoreError) -> Row?

  /// Calls `body` with each ``row(_:_:)`` up to the last, and resets. One call for all rows, because a protocol call
  /// from generic code of another module costs as much as reading a row.
  func drain(_ shape: RowShape, _ builder: RowBuilder, _ body: (consuming Row) -> Void) throws(StoreError)

  /// Calls `body` with the values of each row up to the last, and resets.
  func drain(
    _ columns: [SQLResultColumn], _ numbers: EntityNumbers, _ body: ([Value]) -> Void
  ) throws(StoreError)
}

/// A slot and the way its value is bound to a parameter or read from a column.
public struct BoundColumn: Sendable, Hashable {
  /// The slot of the row.
  public let slot: Int
  /// The kind of the slot.
  public let kind: SlotKind
  /// The result column; unused for parameters.
  public let column: Int32

  /// A slot with the result column that it is read from.
  public init(slot: Int, kind: SlotKind, column: Int32) {
    self.slot = slot
    self.kind = kind
    self.column = column
  }
}

/// Which result columns make up the rows of each entity of a subtree. A class, so that passing it costs one reference.
///
/// Sendable, unchecked: nothing writes to the columns after `init`.
public final class RowShape: @unchecked Sendable {
  /// The index of the first entity of the subtree.
  public let firstEntity: Int
  /// The columns of the first entity's slots in their order, then those of the next entity of the subtree. Unmanaged
  /// memory, so that reading a row counts no references.
  public let columns: UnsafePointer<BoundColumn>
  /// How many columns all rows of the subtree have together.
  let width: Int
  /// The index of each entity's first column, and the end of the last one.
  @usableFromInline let starts: ContiguousArray<Int>
  /// The numbers that the store has for entities.
  public let numbers: EntityNumbers

  init(firstEntity: Int, columns: [BoundColumn], starts: ContiguousArray<Int>, numbers: EntityNumbers) {
    self.firstEntity = firstEntity
    let memory = UnsafeMutableBufferPointer<BoundColumn>.allocate(capacity: max(columns.count, 1))
    _ = memory.initialize(from: columns)
    self.columns = UnsafePointer(memory.baseAddress.unsafelyUnwrapped)
    width = Set(columns.map(\.column)).count
    self.starts = starts
    self.numbers = numbers
  }

  deinit { columns.deallocate() }

  /// The entity's columns, nil where the entity is not in the subtree.
  @inlinable @inline(__always)
  public func columns(of entity: Int) -> Range<Int>? {
    let offset = entity &- firstEntity
    guard offset >= 0, offset &+ 1 < starts.count else { return nil }
    return Range(uncheckedBounds: (starts[offset], starts[offset &+ 1]))
  }
}

/// Maps between the entity indexes of a schema and the entity numbers of a store.
public struct EntityNumbers: Sendable {
  /// `Z_ENT` by entity index, zero for an entity that the store does not know.
  public let numbers: [Int64]
  private let isKnown: [Bool]
  private let lowest: Int64
  private let indices: [Int]

  /// `isKnown` says which entities the store knows; all of them by default.
  public init(_ numbers: [Int64], isKnown: [Bool]? = nil) {
    self.numbers = numbers
    let isKnown = isKnown ?? numbers.map { _ in true }
    self.isKnown = isKnown
    let known = zip(numbers, isKnown).filter { $1 }.map { $0.0 }
    let range = (known.min() ?? 0)...(known.max() ?? 0)
    lowest = range.lowerBound
    // Numbers of a real store are dense; those of a hostile store are searched for.
    var indices: [Int] = []
    let (width, overflow) = range.upperBound.subtractingReportingOverflow(range.lowerBound)
    if !overflow && width < 1 << 16 {
      indices = Array(repeating: -1, count: Int(range.upperBound - range.lowerBound) + 1)
      for (index, number) in numbers.enumerated() where isKnown[index] { indices[Int(number - lowest)] = index }
    }
    self.indices = indices
  }

  /// The entity with a number, nil where the store knows none.
  public func entity(_ number: Int64) -> Int? {
    if indices.isEmpty { return numbers.indices.first { isKnown[$0] && numbers[$0] == number } }
    let (offset, overflow) = number.subtractingReportingOverflow(lowest)
    guard !overflow, offset >= 0, offset < Int64(indices.count) else { return nil }
    let index = indices[Int(offset)]
    return index < 0 ? nil : index
  }
}
