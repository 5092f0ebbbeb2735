import CSQLite
import Foundation
import PropertyLists
import StoreProtocol

/// Finds out which database a log belongs to.
///
/// SQLite applies every sound log that has the right name; nothing in it says which database it was made for ([How to
/// corrupt](https://www.sqlite.org/howtocorrupt.html), 1.4). Therefore the first commit in each log, and each commit
/// with a rollback journal, also writes the page of `Z_METADATA`, so that the log states its store's UUID. A database
/// whose UUID differs with and without its log is refused. The log has page 1 too, or another schema would be read with
/// it.
///
/// A log of another program may lack these pages, and is accepted. So is the log of a copy of the store, which has the
/// same UUID (decision 035).
struct SQLiteLogOwner {
  /// A log and its generation: every log that is begun anew has new salts.
  private typealias Salts = UInt64

  private let hasOwnIndex: Bool
  private var marked: Salts?
  private var isMarking = false

  /// In exclusive locking mode a connection keeps the log's index to itself; then every commit marks the log.
  init(_ options: StoreOptions) { hasOwnIndex = options.pragmas.keys.contains { $0.lowercased() == "locking_mode" } }

  /// Lets the open write transaction state its store where the log does not yet.
  mutating func mark(_ connection: SQLiteConnection) throws(StoreError) {
    isMarking = false
    if !hasOwnIndex, let marked, marked == Self.salts(connection, ifItGoesOn: true) { return }
    // An unchanged page would not be written. Journals always have page 1, logs only where it changes.
    let version = try connection.integer("PRAGMA user_version") ?? 0
    try connection.execute(
      """
      UPDATE Z_METADATA SET Z_VERSION = Z_VERSION + 1; UPDATE Z_METADATA SET Z_VERSION = Z_VERSION - 1;
      PRAGMA user_version = \(version == 0 ? 1 : 0); PRAGMA user_version = \(version)
      """)
    isMarking = true
  }

  /// Reports that the transaction is committed.
  mutating func committed(_ connection: SQLiteConnection) {
    if isMarking && !hasOwnIndex { marked = Self.salts(connection, ifItGoesOn: false) }
  }

  /// The salts of the log. Nil where there is none, or where all of it is in the database and the next commit may begin
  /// another. They are read in the log's index, which is shared memory ([The
  /// WAL-index](https://www.sqlite.org/walformat.html#the_wal_index_file_format), 2.1), under the lock of a writer.
  private static func salts(_ connection: SQLiteConnection, ifItGoesOn: Bool) -> Salts? {
    var index: [UInt32] = Array(repeating: 0, count: 25)
    guard ocd_wal_index(connection.database, &index, Int32(index.count)) == SQLITE_OK else { return nil }
    let (frames, inDatabase) = (index[4], index[24])
    if frames == 0 || ifItGoesOn && frames == inDatabase { return nil }
    return UInt64(index[8]) << 32 | UInt64(index[9])
  }

  // MARK: Making

  /// Reserves a store UUID in an empty database: writes the number that the UUID will begin with. So the journal of the
  /// transaction that makes the store, which undoes all of it, can be recognised as the database's own.
  static func reserve(on connection: SQLiteConnection) throws(StoreError) {
    // Where another process is making the store too, both use the number that was written last.
    if try reserved(connection) == 0 {
      try connection.execute("PRAGMA user_version = \(Int32.random(in: 1 ... .max))")
    }
  }

  /// The UUID of the store that the open transaction makes. Afterwards the database has no reserved UUID.
  static func useReserved(on connection: SQLiteConnection) throws(StoreError) -> String {
    let identifier = UUID().uuidString
    guard let number = try reserved(connection), number != 0 else { return identifier }
    try connection.execute("PRAGMA user_version = 0")
    let digits = String(UInt32(bitPattern: number), radix: 16, uppercase: true)
    return String(repeating: "0", count: 8 - digits.count) + digits + identifier.dropFirst(8)
  }

  /// The number that a store's UUID begins with; nil where there is none, or where it is 0, which reserves nothing.
  private static func number(of identifier: String) -> Int32? {
    guard let number = UInt32(identifier.prefix(8), radix: 16), number != 0 else { return nil }
    return Int32(bitPattern: number)
  }

  /// The number that a database without tables reserves, nil where it has tables.
  private static func reserved(_ connection: SQLiteConnection) throws(StoreError) -> Int32? {
    guard try connection.integer("SELECT count(*) FROM sqlite_master") == 0 else { return nil }
    return try connection.integer("PRAGMA user_version").map(Int32.init(truncatingIfNeeded:))
  }

  // MARK: Looking

  /// Throws where the database at `path` is another store without the files beside it than with them. `connection` sees
  /// it with them.
  static func require(_ path: String, _ connection: SQLiteConnection) throws(StoreError) {
    var log = "none"
    // Twice: another process may let a store replace this one between the two looks.
    for _ in 0..<2 {
      let seen: Identity?
      do throws(StoreError) { seen = try identity(connection) } catch {
        // Damage is found elsewhere.
        if error.code != .notAStore { return }
        seen = nil
      }
      guard let alone = try identityOfFile(path) else { return }
      if let number = number(of: alone.identifier), try reserved(connection) == number { return }
      if let seen {
        if seen.identifier == alone.identifier { return }
        if seen.other == alone.identifier || alone.other == seen.identifier { return }
      }
      log = seen?.identifier ?? "none"
    }
    throw StoreError(
      .corrupt,
      "The log or journal beside the store belongs to another store. Move it away. The store was not changed.",
      context: ["path": path, "log": log])
  }

  /// The identity of the database without its log. Nil where it is no store, or is not complete without the log, as
  /// after an interrupted commit.
  private static func identityOfFile(_ path: String) throws(StoreError) -> Identity? {
    do throws(StoreError) { return try identity(SQLiteConnection(path, .immutable, timeout: 0)) } catch {
      switch error.code {
      case .io, .busy, .full: throw error
      default: return nil
      }
    }
  }

  /// The store's UUID, and the UUID of the store that is to replace it.
  private typealias Identity = (identifier: String, other: String?)

  private static func identity(_ connection: SQLiteConnection) throws(StoreError) -> Identity {
    connection.limitWork()
    try SQLiteFormat.requireSystemTables(on: connection)
    let metadata = try SQLiteFormat.metadata(on: connection, withOtherIdentifier: true)
    guard case .string(let other)? = metadata.additional[otherIdentifierKey] else { return (metadata.identifier, nil) }
    return (metadata.identifier, other)
  }

  /// A metadata entry of a store that is being replaced: the UUID of the new store. With it neither the log nor the
  /// database counts as another store's. A store's UUID does not change otherwise.
  static let otherIdentifierKey = "_OpenCoreDataOtherUUID"

  /// Writes in the database `target`, not only in its log, that the store `source` is about to replace it, or to be
  /// made there.
  ///
  /// Returns nil then. A view of the store, or a running commit, may keep the log from being moved into the database.
  /// Then it returns the UUID of the store in `target`, which the metadata of the other store must name instead.
  static func announce(_ source: SQLiteConnection, in target: SQLiteConnection) throws(StoreError) -> String? {
    let identifier = try SQLiteFormat.metadata(on: source).identifier
    if try reserved(target) != nil {
      if let number = number(of: identifier) { try target.execute("PRAGMA user_version = \(number)") }
      return nil
    }
    // A file that is no store, or a damaged one, is not compared with its log either.
    guard var metadata = try? SQLiteFormat.metadata(on: target), metadata.identifier != identifier else {
      return nil
    }
    // SQLite refuses it too, but later and only with an error number.
    let sizes = (try source.integer("PRAGMA page_size"), try target.integer("PRAGMA page_size"))
    if sizes.0 != sizes.1, try target.text("PRAGMA journal_mode") == "wal" {
      throw StoreError(
        .unsupported, "A store with a log cannot get pages of another size. Remove the store that is to be replaced.")
    }
    metadata.additional[otherIdentifierKey] = .string(identifier)
    try SQLiteFormat.write(metadata, on: target, isNew: false)
    // One row, which says whether another connection prevented it.
    let isInTheWay = try target.withoutWaiting { () throws(StoreError) in
      try target.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 1
    }
    return isInTheWay ? metadata.identifier : nil
  }
}
