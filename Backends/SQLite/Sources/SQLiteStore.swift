import CSQLite
import Foundation
import SQLEngine
import StoreProtocol
import StoreSchema
import StoreSupport
import Synchronization

/// An open SQLite store: one writing connection, and a pool of snapshot readers that never block it.
///
/// Sendable, unchecked: `writing` guards the writer and the mutable state.
final class SQLiteStore: Store, ExternalDataStore, @unchecked Sendable {
  let schema: Schema
  let capabilities: Capabilities
  var isReadOnly: Bool { readOnlyReason != nil }
  /// Why nothing may be written, nil where it may.
  private let readOnlyReason: String?
  private let binding: SQLBinding
  private let pool: SQLitePool
  private let history: SQLHistory?
  private let externalFiles: ExternalDataFiles
  private let folder: URL
  private let file: SQLiteStoreFile
  private let writing = NSRecursiveLock()
  private var writer: SQLStatements<SQLiteConnection>?
  /// The connection whose commit failed at its end, until the outcome is reconciled. It stays open, because opening a
  /// log that nobody has open brings the failed commit back.
  private var failed: SQLStatements<SQLiteConnection>?
  /// Whether commits go through a write-ahead log, otherwise a rollback journal.
  private let isLogged: Bool
  private var isClosed = false
  /// The highest key in use in each table, because a file edited by hand may list one that is too small. Nil until the
  /// first write.
  private var keyFloors: [Int: Int64]?
  /// Whether a commit has brought the fetch indexes in line with the model; see ``SQLiteIndexes``.
  private var hasIndexes = false
  private var storedMetadata: StoreMetadata
  /// Atomic, so that snapshots need not wait for a running commit.
  private let commits = Atomic<UInt64>(0)
  private var logOwner: SQLiteLogOwner
  private let onClose: @Sendable () -> Void
  /// Makes another writing connection.
  private let reopen: () throws(StoreError) -> SQLiteConnection

  init(
    _ headerFields: SQLiteHeaderFields, _ options: StoreOptions, pool: SQLitePool, location: SQLiteLocation,
    file: SQLiteStoreFile,
    writer: SQLiteConnection?, reopen: @escaping () throws(StoreError) -> SQLiteConnection
  ) {
    self.reopen = reopen
    binding = headerFields.binding
    schema = headerFields.binding.layout.schema
    history = headerFields.history
    readOnlyReason = headerFields.readOnlyReason
    isLogged = headerFields.isLogged
    storedMetadata = headerFields.metadata
    self.pool = pool
    self.file = file
    folder = location.folder
    externalFiles = ExternalDataFiles(location.externalData, ofStore: headerFields.metadata.identifier, schema, options)
    onClose = location.release
    logOwner = SQLiteLogOwner(options)
    self.writer = writer.map { SQLStatements($0, headerFields.binding) }
    // With a rollback journal a reader makes commits wait.
    capabilities = isLogged ? SQLiteBackend.capabilities : SQLiteBackend.capabilities.subtracting(.concurrentReads)
    let isDurable = SQLiteBackend.isDurable(options, isLogged: isLogged)
    let identifier = headerFields.metadata.identifier
    externalFiles.makeDurable { [weak self] () throws(StoreError) in
      // The files of a store that has replaced this one stay.
      try file.require()
      // So do all files that a copy beside the store may need.
      if try location.sharesExternalData(withCopyOf: identifier) {
        throw StoreError(
          .exists, "A copy of the store uses the same folder of large values. Move one of them to another folder.",
          context: ["path": location.path])
      }
      if isDurable { return }
      guard let self else {
        throw StoreError(.closed, "The store was closed; open it again.", context: ["path": location.path])
      }
      try syncFiles()
    }
    externalFiles.sweep(self)
  }

  deinit {
    pool.close()
    if !isClosed { onClose() }
  }

  var identifier: String { metadata.identifier }
  var hasHistory: Bool { history != nil }

  var metadata: StoreMetadata { writing.withLock { storedMetadata } }

  func snapshot() throws(StoreError) -> any StoreSnapshot {
    // The number is taken first: a commit in between makes the view newer than it says, never older.
    let number = commits.load(ordering: .acquiring)
    return try SQLiteSnapshot(pool, commitNumber: number, externalFiles.view())
  }

  func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
    writing.lock()
    defer { writing.unlock() }
    let statements = try begin()
    let connection = statements.connection
    var commit: SQLCommit<SQLiteConnection>
    let result: SQLCommit<SQLiteConnection>.Result
    var transaction: Int64?
    do {
      commit = try SQLCommit(statements, changes, keyFloors: keyFloors ?? [:])
      result = try commit.run()
      if case .written = result {
        transaction = try history?.append(commit.changes, statements)
        if let metadata = changes.metadata { try SQLiteFormat.write(metadata, on: connection, isNew: false) }
        if !hasIndexes {
          for change in try SQLiteIndexes(connection, binding.layout).changes { try connection.execute(change) }
        }
        try externalFiles.prepare(commit.changes)
      }
    } catch {
      rollBack(statements)
      _ = connection.functions.takeTouched()
      throw error
    }
    let touched = connection.functions.takeTouched().compactMap { row in
      binding.numbers.entity(row.number).map { ObjectReference(entity: $0, key: row.key) }
    }
    switch result {
    case .conflicts(let conflicts):
      rollBack(statements)
      return .conflicts(conflicts)
    case .written:
      let written = commit.changes
      try end(statements) { (fresh) throws(StoreError) in
        if let verdict = try judgeMetadata(changes, fresh) { return verdict }
        return try SQLEvidence(
          written, highestKeys: commit.highestKeys, transaction: transaction, touched: touched
        ).verdict(fresh)
      }
      if let metadata = changes.metadata { storedMetadata = metadata }
      hasIndexes = true
      externalFiles.committed(written)
      let number = commits.add(1, ordering: .acquiringAndReleasing).newValue
      return .committed(Receipt(keys: written.keys, commitNumber: number, touched: touched))
    }
  }

  func rehearse(_ changes: ChangeSet) throws(StoreError) -> [Conflict] {
    writing.lock()
    defer { writing.unlock() }
    let statements = try begin()
    defer {
      rollBack(statements)
      _ = statements.connection.functions.takeTouched()
    }
    var commit = try SQLCommit(statements, changes, keyFloors: keyFloors ?? [:], isRehearsal: true)
    if case .conflicts(let conflicts) = try commit.run() { return conflicts }
    return []
  }

  func allocateKeys(root: Int, count: Int) throws(StoreError) -> Range<Int64> {
    writing.lock()
    defer { writing.unlock() }
    let statements = try begin()
    let keys: Range<Int64>
    do { keys = try SQLKeyAllocator(statements).take(count, root: root, floor: keyFloors?[root] ?? 0) } catch {
      rollBack(statements)
      throw error
    }
    if keys.isEmpty {
      rollBack(statements)
      return keys
    }
    do { try statements.connection.execute("COMMIT") } catch {
      // Unused keys do no harm, so it does not matter whether they are taken.
      _ = abandon(statements)
      throw error
    }
    committed(statements.connection)
    return keys
  }

  func externalData(_ name: Data) throws(StoreError) -> Data {
    try file.require()
    return try externalFiles.read(name)
  }

  func keepExternalData(_ data: Data) throws(StoreError) -> Data? {
    try file.require()
    return try externalFiles.keep(data)
  }

  func discardExternalData(_ names: [Data]) { externalFiles.discard(names) }

  func holdExternalData(_ names: [Data]) { externalFiles.hold(names) }

  func releaseExternalData(_ names: [Data]) -> [Data] { externalFiles.release(names) }

  func close() throws(StoreError) {
    // First the pool: a sweep that waits for a reader ends then.
    pool.close()
    externalFiles.close()
    writing.lock()
    defer { writing.unlock() }
    if isClosed { return }
    isClosed = true
    writer = nil
    failed = nil
    onClose()
  }
}

// MARK: - The ends of transactions

extension SQLiteStore {
  private func openWriter() throws(StoreError) -> SQLStatements<SQLiteConnection> {
    if let readOnlyReason {
      throw StoreError(.readOnly, "The store was opened read-only, because \(readOnlyReason).")
    }
    if isClosed { throw StoreError(.closed, "The store was closed; open it again.") }
    // SQLite opens a file for reading where it cannot open it for writing, perhaps only for a moment.
    if let writer, writer.connection.isReadOnly { self.writer = nil }
    // The outcome of an earlier commit is reconciled before anything is written on top of it.
    if failed != nil { _ = try finish { (_) throws(StoreError) in .unclear } }
    if writer == nil { writer = SQLStatements(try reopen(), binding) }
    guard let writer else { throw StoreError(.closed, "The store has no writing connection; open it again.") }
    return writer
  }

  /// The writing connection in a transaction; nobody else can write meanwhile.
  private func begin() throws(StoreError) -> SQLStatements<SQLiteConnection> {
    do { return try beginOnce() } catch {
      if error.code != .readOnly || isReadOnly { throw file.explained(error) }
    }
    // The same may have happened to the log's index, which the connections of the process share.
    writer = nil
    pool.dropIdle()
    return try beginOnce()
  }

  private func beginOnce() throws(StoreError) -> SQLStatements<SQLiteConnection> {
    let statements = try openWriter()
    try statements.connection.execute("BEGIN IMMEDIATE")
    do {
      try requireSameStore(statements.connection)
      if keyFloors == nil { keyFloors = try prepareToWrite(statements.connection) }
      try logOwner.mark(statements.connection)
    } catch {
      rollBack(statements)
      throw error
    }
    return statements
  }

  /// Throws `replaced` where another store has replaced this one. The UUID is read only after another connection has
  /// committed.
  private func requireSameStore(_ connection: SQLiteConnection) throws(StoreError) {
    // The replacing process has ended its transaction, and is about to say so.
    file.waitForReplacement()
    try file.require(connection)
    connection.noteLog()
    let version = connection.dataVersion
    if let version, version == connection.checkedDataVersion { return }
    try file.require(identifier: try connection.text("SELECT Z_UUID FROM Z_METADATA"))
    connection.checkedDataVersion = version
  }

  /// Makes sure, before the first write, that the file is still of the model it was opened with; gives the key floors.
  private func prepareToWrite(_ connection: SQLiteConnection) throws(StoreError) -> [Int: Int64] {
    if try SQLiteFormat.metadata(on: connection).versionHashes != storedMetadata.versionHashes {
      throw StoreError(.modelMismatch, "The store was migrated to another model since it was opened; open it again.")
    }
    var floors: [Int: Int64] = [:]
    for table in binding.layout.tables {
      floors[table.root] = try connection.integer("SELECT max(Z_PK) FROM \(table.name)")
    }
    return floors
  }

  /// Makes commits durable that did not wait for the disk.
  private func syncFiles() throws(StoreError) {
    writing.lock()
    defer { writing.unlock() }
    let connection = try openWriter().connection
    try connection.check(ocd_sync(connection.database), "syncing the store's files")
    // A rollback journal that was removed may be back after a loss of power.
    if !isLogged { try ExternalDataFolder.synchronize(folder) }
  }

  private func rollBack(_ statements: SQLStatements<SQLiteConnection>) {
    // SQLite has rolled back already after some errors; that is no error here.
    try? statements.connection.execute("ROLLBACK")
    if statements.connection.isInTransaction { writer = nil }
  }

  /// Updates the state of the store after a commit.
  private func committed(_ connection: SQLiteConnection) {
    logOwner.committed(connection)
    connection.checkedDataVersion = connection.dataVersion
  }

  /// Drops a transaction whose COMMIT failed. True where it is certain that nothing was committed.
  private func abandon(_ statements: SQLStatements<SQLiteConnection>) -> Bool {
    // A transaction that is still open failed on a lock or a deferred constraint, before anything was written.
    if statements.connection.isInTransaction {
      rollBack(statements)
      return true
    }
    failed = statements
    writer = nil
    return false
  }

  /// Commits the open transaction.
  ///
  /// A failed COMMIT may still have reached the disk, now or after the next crash. The store reconciles the file and
  /// judges by the evidence. It returns where the commit has happened. It throws the error as not saved where the
  /// commit has not happened. Otherwise the outcome is unknown. While the store cannot be reconciled it refuses to
  /// write; every further write tries again.
  private func end(
    _ statements: SQLStatements<SQLiteConnection>,
    _ evidence: (SQLStatements<SQLiteConnection>) throws(StoreError) -> SQLEvidence<SQLiteConnection>.Verdict
  ) throws(StoreError) {
    do { try statements.connection.execute("COMMIT") } catch {
      if abandon(statements) { throw error }
      var failure = error
      do {
        switch try finish(evidence) {
        case .happened: return
        case .didNotHappen: break
        case .unclear: failure.outcome = .outcomeUnknown
        }
      } catch {
        failure.outcome = .outcomeUnknown
        failure.context["settling"] = error.description
      }
      throw failure
    }
    committed(statements.connection)
  }

  /// Judges by the metadata a change set that changes nothing else.
  private func judgeMetadata(
    _ changes: ChangeSet, _ statements: SQLStatements<SQLiteConnection>
  ) throws(StoreError) -> SQLEvidence<SQLiteConnection>.Verdict? {
    var rest = changes
    rest.metadata = nil
    guard let metadata = changes.metadata, metadata != storedMetadata, rest.isEmpty else { return nil }
    let found = try SQLiteFormat.metadata(on: statements.connection)
    return found == metadata ? .happened : found == storedMetadata ? .didNotHappen : .unclear
  }

  /// Replaces the failed connection by a fresh one, and makes sure that the state which the fresh one sees is
  /// permanent.
  ///
  /// In a log, the pages of a failed commit lie behind the last good one, and a process that opens the log after a
  /// crash would apply them. A commit that changes nothing overwrites them. Such a commit also removes a rollback
  /// journal that could not be removed before. Nobody can write between the judgement and that commit.
  private func finish(
    _ judge: (SQLStatements<SQLiteConnection>) throws(StoreError) -> SQLEvidence<SQLiteConnection>.Verdict
  ) throws(StoreError) -> SQLEvidence<SQLiteConnection>.Verdict {
    let fresh = SQLStatements(try reopen(), binding)
    try fresh.connection.execute("BEGIN IMMEDIATE")
    let verdict = try judge(fresh)
    if isLogged || verdict != .didNotHappen {
      // Writes the first page unchanged; an UPDATE to the same value may write nothing.
      let version = try fresh.connection.integer("PRAGMA user_version") ?? 0
      try fresh.connection.execute("PRAGMA user_version = \(version)")
    }
    try fresh.connection.execute("COMMIT")
    writer = fresh
    failed = nil
    // Pages of a log whose sync failed can be read now, and may be lost with the next loss of power.
    return isLogged && verdict == .happened ? .unclear : verdict
  }
}
