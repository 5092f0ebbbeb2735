import SQLEngine
import StoreProtocol
import StoreSchema
import Synchronization

/// What a database declares: the rows of `sqlite_master`.
///
/// SQLite makes its tables, columns, indexes and triggers from these rows and from nothing else. They are therefore the
/// same in databases with equal declarations.
struct SQLiteDeclarations: Equatable {
  /// Longer declarations are not kept, so that files of others cannot take much memory. Real ones have some kilobytes.
  private static let limit = 1 << 20

  /// Whether the declarations are short enough to be kept.
  var canBeKept: Bool { bytes != nil }
  /// Whether the database has no tables yet.
  let isEmpty: Bool
  /// All rows with the types of their values; nil where they are too long.
  private let bytes: [UInt8]?

  init(_ connection: SQLiteConnection) throws(StoreError) {
    let rows = try connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_master")
    var found: [UInt8] = []
    while found.count <= Self.limit, try rows.step() {
      for column in 0..<Int32(4) { rows.append(column, to: &found) }
    }
    isEmpty = found.isEmpty
    bytes = found.count <= Self.limit ? found : nil
  }

  /// Declarations that are too long equal no others.
  static func == (a: Self, b: Self) -> Bool { a.bytes != nil && a.bytes == b.bytes }
}

/// What has been found out about the databases that were opened last in this process.
///
/// The catalogue of a database, and what makes it read-only, follow from its declarations. How a schema is bound to it
/// follows from the schema and the catalogue. To find all this out is half the work of opening a store. The stores of
/// one model have the same declarations, so that it is found out once for all of them.
///
/// Nothing here says anything about a file. Each opening reads the file's declarations, entity numbers and metadata.
enum SQLiteKnownDatabases {
  struct Known {
    let declarations: SQLiteDeclarations
    let catalogue: SQLCatalogue
    let binding: SQLBinding
    /// See ``SQLiteForeignObjects``.
    let foreign: String?

    func hasNumbers(of other: SQLCatalogue) -> Bool { catalogue.entityNumbers == other.entityNumbers }
  }

  /// How many are kept. A program with more models finds out more often.
  private static let limit = 4
  /// The latest last.
  private static let all = Mutex<[Known]>([])

  /// The known databases with equal declarations.
  static func databases(_ declarations: SQLiteDeclarations) -> [Known] {
    all.withLock { $0 }.filter { $0.declarations == declarations }
  }

  /// Keeps a database as the latest. It must have been read in one transaction, and must not have changed meanwhile.
  static func keep(_ database: Known) {
    if !database.declarations.canBeKept { return }
    all.withLock { all in
      all.removeAll { known in
        known.binding.layout.schema === database.binding.layout.schema && known.hasNumbers(of: database.catalogue)
          && known.declarations == database.declarations
      }
      all.append(database)
      if all.count > limit { all.removeFirst() }
    }
  }
}
