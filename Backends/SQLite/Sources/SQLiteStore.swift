import Foundation
import SQLEngine
import StoreProtocol
import StoreSchema
import Synchronization

/// An open SQLite store: one writing connection, and a pool of snapshot readers that never block it.
///
/// Sendable, unchecked: `writing` guards the writer and the mutable state.
final class SQLiteStore: Store, @unchecked Sendable {
  let schema: Schema
  let capabilities: Capabilities
  var isReadOnly: Bool { readOnlyReason != nil }
  /// Why nothing may be written, nil where it may.
  private let readOnlyReason: String?
  private let binding: SQLBinding
  private let pool: SQLitePool
  private let history: SQLHistory?
  private let externalFiles: SQLiteExternalFiles
  private let writing = NSRecursiveLock()
  private var writer: SQLiteConnection?
  private var statements: SQLStatements<SQLiteConnection>
  private var keyFloors: [Int: Int64]
  private var storedMetadata: StoreMetadata
  /// Atomic, so that snapshots need not wait for a running commit.
  private let commits = Atomic<UInt64>(0)
  private let onClose: @Sendable () -> Void
  /// Makes another writing connection.
  private let reopen: () throws(StoreError) -> SQLiteConnection

  init(
    _ writer: SQLiteConnection, schema: Schema, binding: SQLBinding, metadata: StoreMetadata, readOnlyReason: String?,
    history: SQLHistory?, pool: SQLitePool, externalFolder: URL, onClose: @escaping @Sendable () -> Void,
    reopen: @escaping () throws(StoreError) -> SQLiteConnection
  ) throws(StoreError) {
    self.reopen = reopen
    self.schema = schema
    self.binding = binding
    self.history = history
    self.pool = pool
    externalFiles = SQLiteExternalFiles(folder: externalFolder)
    self.readOnlyReason = readOnlyReason
    self.writer = writer
    self.onClose = onClose
    storedMetadata = metadata
    // With a rollback journal a reader makes commits wait.
    let isLogged = try writer.text("PRAGMA journal_mode") == "wal"
    capabilities = isLogged ? SQLiteBackend.capabilities : SQLiteBackend.capabilities.subtracting(.concurrentReads)
    statements = SQLStatements(writer, binding)
    keyFloors = [:]
    // A file edited by hand may list a highest key that is too small; keys in use must never be given again.
    for table in binding.layout.tables {
      keyFloors[table.root] = try writer.integer("SELECT max(Z_PK) FROM \(table.name)")
    }
  }

  deinit { pool.close() }

  var identifier: String { metadata.identifier }

  var metadata: StoreMetadata { writing.withLock { storedMetadata } }

  func snapshot() throws(StoreError) -> any StoreSnapshot {
    // The number is taken first: a commit in between makes the view newer than it says, never older.
    let number = commits.load(ordering: .acquiring)
    return try SQLiteSnapshot(pool, commitNumber: number)
  }

  func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
    writing.lock()
    defer { writing.unlock() }
    let connection = try openWriter()
    try connection.execute("BEGIN IMMEDIATE")
    let result: SQLCommit<SQLiteConnection>.Result
    do {
      var commit = SQLCommit(statements, changes, keyFloors: keyFloors)
      result = try commit.run()
      if case .written(let keys) = result {
        try history?.append(changes, keys: keys, statements)
        if let metadata = changes.metadata { try SQLiteFormat.write(metadata, on: connection, isNew: false) }
      }
    } catch {
      try? connection.execute("ROLLBACK")
      _ = connection.functions.takeTouched()
      throw error
    }
    let touched = connection.functions.takeTouched()
    switch result {
    case .conflicts(let conflicts):
      try? connection.execute("ROLLBACK")
      return .conflicts(conflicts)
    case .written(let keys):
      try end(connection, changes, keys)
      if let metadata = changes.metadata { storedMetadata = metadata }
      externalFiles.remove(changes.obsoleteExternalData)
      let number = commits.add(1, ordering: .acquiringAndReleasing).newValue
      let references = touched.compactMap { row in
        binding.numbers.entity(row.number).map { ObjectReference(entity: $0, key: row.key) }
      }
      return .committed(Receipt(keys: keys, commitNumber: number, touched: references))
    }
  }

  /// Commits the open transaction.
  ///
  /// A failed COMMIT may have reached the disk all the same. The connection is given up then, and another one looks for the
  /// changes: where they are, the commit has succeeded; where they are not, a small commit of its own makes sure that they
  /// cannot come back after a crash. Only if that fails too, the outcome is unknown.
  private func end(_ connection: SQLiteConnection, _ changes: ChangeSet, _ keys: [Int64]) throws(StoreError) {
    do { try connection.execute("COMMIT") } catch {
      if error.code == .busy, connection.isInTransaction {
        try? connection.execute("ROLLBACK")
        throw error
      }
      writer = nil
      var failure = error
      do {
        let fresh = try reopen()
        let isThere = try Self.probe(changes, keys, on: fresh, binding)
        if isThere == nil { failure.outcome = .outcomeUnknown }
        if isThere == false { try fresh.execute("UPDATE Z_METADATA SET Z_VERSION = Z_VERSION") }
        writer = fresh
        statements = SQLStatements(fresh, binding)
        if isThere == true { return }
      } catch { failure.outcome = .outcomeUnknown }
      throw failure
    }
  }

  /// Whether a change set is in the store, judged by its first row; nil where it has none.
  private static func probe(
    _ changes: ChangeSet, _ keys: [Int64], on connection: SQLiteConnection, _ binding: SQLBinding
  ) throws(StoreError) -> Bool? {
    func version(_ entity: Int, _ key: Int64) throws(StoreError) -> Int64? {
      try connection.integer("SELECT Z_OPT FROM \(binding.layout.table(entity).name) WHERE Z_PK = \(key)")
    }
    if let row = changes.insertions.first, let key = keys.first { return try version(row.entity, key) != nil }
    if let row = changes.updates.first?.row { return try version(row.entity, row.key) == row.version }
    if let gone = changes.deletions.first?.reference { return try version(gone.entity, gone.key) == nil }
    return nil
  }

  private func openWriter() throws(StoreError) -> SQLiteConnection {
    if let readOnlyReason {
      throw StoreError(.readOnly, "The store was opened read-only, because \(readOnlyReason).")
    }
    guard let writer else {
      throw StoreError(.closed, "The store was closed, or given up after a failed commit; open it again.")
    }
    return writer
  }

  func allocateKeys(root: Int, count: Int) throws(StoreError) -> Range<Int64> {
    writing.lock()
    defer { writing.unlock() }
    let connection = try openWriter()
    try connection.execute("BEGIN IMMEDIATE")
    do {
      let keys = try SQLKeyAllocator(statements).take(count, root: root, floor: keyFloors[root] ?? 0)
      try connection.execute("COMMIT")
      return keys
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
  }

  func externalData(_ name: Data) throws(StoreError) -> Data { try externalFiles.read(name) }

  func keepExternalData(_ data: Data) throws(StoreError) -> Data? { try externalFiles.write(data) }

  func discardExternalData(_ names: [Data]) { externalFiles.remove(names) }

  func close() throws(StoreError) {
    writing.lock()
    defer { writing.unlock() }
    pool.close()
    guard let closing = writer else { return }
    writer = nil
    // The statements hold the connection open until they are gone.
    statements = SQLStatements(closing, binding)
    onClose()
  }
}
