import CSQLite
import Foundation
import PropertyLists
import SQLEngine
import StoreProtocol
import StoreSchema
import StoreSupport

/// Stores in Core Data's SQLite file format.
public struct SQLiteBackend: StoreBackend, ModelInferringBackend, SalvagingBackend {
  /// The backend of SQLite stores.
  public init() {}

  /// How many bytes of the database's pages the writing connection keeps in memory at most. SQLite takes memory as it
  /// needs it. The connections that read have SQLite's own default of 2 MB each.
  ///
  /// A save that changes more pages than fit writes some of them to the log several times. With 16 MB, inserting a
  /// million objects in one save writes a seventh of what it writes with 2 MB. The pragma `cache_size` of
  /// ``StoreOptions/pragmas`` holds for all connections instead, if it is given.
  public static let writerCache = StoreOption("SQLite.writerCacheBytes", default: 16 << 20)
  public var ownOptions: [StoreOptionDeclaration] { [Self.writerCache.declaration] }

  public var storeType: String { SQLiteFormat.storeType }
  public var capabilities: Capabilities { Self.capabilities }

  static let capabilities: Capabilities = [
    .persistent, .localFiles, .rowLevel, .readOnlyOpen, .multipleOpens, .multiProcess, .concurrentReads, .rowVersions,
    .uniqueness, .grouping, .pushDown, .migrationByCopy, .history, .externalData, .derivedAttributes,
    .powerLossDurability, .sqlText, .sqliteFile, .salvage,
  ]

  public func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    TemporaryFolder.sweepOnce()
    let location = try SQLiteLocation(url)
    do { return try Self.open(location, schema, options) } catch {
      location.release()
      throw error
    }
  }

  private static func open(
    _ location: SQLiteLocation, _ schema: Schema, _ options: StoreOptions
  ) throws(StoreError) -> SQLiteStore {
    guard (1024...1 << 40).contains(options[writerCache]) else {
      throw StoreError(
        .invalidArgument, "The option \(writerCache.name) takes a number of bytes from 1024 to a tebibyte.",
        context: ["option": writerCache.name, "value": "\(options[writerCache])"])
    }
    let path = location.path
    let exists = try SQLiteFormat.isStoreFile(path)
    if !exists && options.isReadOnly {
      throw StoreError(
        .notFound, "There is no store at the URL, and a read-only store is not made. Check the URL.",
        context: ["path": path])
    }
    var identity = SQLiteOpenFiles.Identity(path)
    let folder = location.folder.path
    let isWritable = FileStatus.mayBeWritten(folder) && (!exists || FileStatus.mayBeWritten(path))
    // SQLite's own error would only say that it finds no file.
    if !exists && !isWritable {
      throw StoreError(
        .readOnly,
        "No store can be made in this folder, because the folder cannot be written. Change its permissions, or choose another URL.",
        context: ["path": folder])
    }
    // A foreign file, or a store of another model, is only read: not a byte of it changes.
    var headerFields = exists ? try look(at: path, schema, options, isWritable: isWritable) : nil
    // Not before the look is over: only then it is known that the file did not change meanwhile.
    if let headerFields { SQLiteKnownDatabases.keep(headerFields.database) }
    var writer: SQLiteConnection?
    if !options.isReadOnly, headerFields.map({ $0.readOnlyReason == nil && $0.mustWrite(options) }) ?? true {
      let connection = try connectWriter(path, .readWriteCreate, options)
      identity = connection.identity
      headerFields = try prepare(connection, schema, options, isNew: headerFields == nil)
      writer = connection
    }
    guard let headerFields else {
      throw StoreError(
        .notAStore, "The SQLite database has no tables, so it is not a store. Choose another URL.",
        context: ["path": path])
    }
    let file = SQLiteStoreFile(path, identity, identifier: headerFields.metadata.identifier)
    SQLiteOpenFiles.add(file)
    let pool = try pool(file, headerFields, options)
    return SQLiteStore(headerFields, options, pool: pool, location: location, file: file, writer: writer) {
      () throws(StoreError) in
      let connection = try connectWriter(path, .readWrite, options)
      try file.require(connection)
      // SQLite opens a file for reading where it cannot open it for writing.
      if connection.isReadOnly {
        throw StoreError(
          .readOnly,
          "The store cannot be opened for writing. Change the permissions of its file and folder, or open it read-only.",
          context: ["path": path])
      }
      return connection
    }
  }

  /// Makes the store where there is none, and applies the options for opening.
  private static func prepare(
    _ connection: SQLiteConnection, _ schema: Schema, _ options: StoreOptions, isNew: Bool
  ) throws(StoreError) -> SQLiteHeaderFields {
    if isNew {
      // Also where another process is making it: one of both then finds it made, perhaps with another model.
      if try connection.integer("SELECT count(*) FROM sqlite_master") == 0 {
        try SQLiteFormat.create(on: connection, schema: schema, options: options)
      }
      _ = try headerFields(connection, schema, options)
    }
    try maintain(connection, schema, options)
    guard let result = try headerFields(connection, schema, options) else { throw SQLiteFormat.noSystemTables }
    return result
  }

  /// Reads what an existing file says of itself, nil where it has no tables yet. Leaves no trace.
  private static func look(
    at path: String, _ schema: Schema, _ options: StoreOptions, isWritable: Bool
  ) throws(StoreError) -> SQLiteHeaderFields? {
    try SQLiteFileView.read(path, options) { (connection) throws(StoreError) in
      try headerFields(connection, schema, options, isWritable: isWritable)
    }
  }

  /// What a database says of itself, nil where it has no tables.
  private static func headerFields(
    _ connection: SQLiteConnection, _ schema: Schema, _ options: StoreOptions, isWritable: Bool = true
  ) throws(StoreError) -> SQLiteHeaderFields? {
    // One state of the database. Otherwise another process could change its tables between two statements, and what is
    // known of its declarations would be wrong.
    try connection.execute("BEGIN")
    defer { try? connection.execute("ROLLBACK") }
    let declarations = try SQLiteDeclarations(connection)
    if declarations.isEmpty { return nil }
    return try SQLiteHeaderFields(connection, declarations, schema, options, isWritable: isWritable)
  }

  private static func connect(
    _ path: String, _ mode: SQLiteConnection.Mode, _ options: StoreOptions
  ) throws(StoreError) -> SQLiteConnection {
    let connection = try SQLiteConnection(path, mode, timeout: options.timeout, trace: options.trace)
    try configure(connection, options)
    return connection
  }

  private static func connectWriter(
    _ path: String, _ mode: SQLiteConnection.Mode, _ options: StoreOptions
  ) throws(StoreError) -> SQLiteConnection {
    let connection = try connect(path, mode, options)
    if !options.pragmas.keys.contains(where: { $0.lowercased() == "cache_size" }) {
      // A negative number stands for KiB.
      try connection.execute("PRAGMA cache_size = \(-options[writerCache] / 1024)")
    }
    return connection
  }

  private static func pool(
    _ file: SQLiteStoreFile, _ headerFields: SQLiteHeaderFields, _ options: StoreOptions
  ) throws(StoreError) -> SQLitePool {
    let (binding, path) = (headerFields.binding, file.path)
    let shared = headerFields.readOnlyReason == nil ? nil : try SQLiteSharedView(path)
    return SQLitePool(limit: options.maximumReaders, timeout: options.timeout) { () throws(StoreError) in
      file.waitForReplacement()
      try file.require()
      guard let view = try shared?.current() else {
        let connection = try connect(path, .readWrite, options)
        // Before its log is moved.
        try file.require(connection)
        // An application that sets when the log is moved keeps that setting.
        if options.pragmas["wal_autocheckpoint"] == nil { connection.log.shorten(connection.database, path) }
        return try SQLiteReader(connection, binding, nil, file)
      }
      return try SQLiteReader(try view.connect(options), binding, view, file)
    }
  }

  private static func configure(_ connection: SQLiteConnection, _ options: StoreOptions) throws(StoreError) {
    // A save is durable when it returns, unless the application allows less. EXTRA is FULL and also syncs the folder
    // after a rollback journal was removed. Otherwise the journal may be back after a loss of power, and undo the
    // commit.
    if options.pragmas["synchronous"] == nil { try connection.execute("PRAGMA synchronous = EXTRA") }
    try connection.execute("PRAGMA journal_size_limit = \(SQLiteLog.longestRest)")
    for (name, value) in options.pragmas.sorted(by: { $0.key < $1.key }) {
      guard isWord(name), isWord(value) else {
        throw StoreError(
          .invalidArgument, "A pragma's name and value must be words or numbers.",
          context: ["pragma": "\(name)=\(value)"])
      }
      if name.lowercased() == "journal_mode" {
        try connection.setJournalMode(value, timeout: options.timeout)
      } else {
        try connection.execute("PRAGMA \(name) = \(value)")
      }
    }
  }

  /// Whether a commit with these options is on the disk for good when it returns.
  static func isDurable(_ options: StoreOptions, isLogged: Bool) -> Bool {
    let levels = options.pragmas.filter { $0.key.lowercased() == "synchronous" }.map { $0.value.lowercased() }
    return levels.allSatisfy { ["extra", "3"].contains($0) || isLogged && ["full", "2"].contains($0) }
  }

  private static func isWord(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || 0x2D...0x39 ~= $0 || $0 == 0x5F }
  }

  private static func maintain(
    _ connection: SQLiteConnection, _ schema: Schema, _ options: StoreOptions
  ) throws(StoreError) {
    if options.tracksHistory,
      try connection.integer("SELECT count(*) FROM sqlite_master WHERE name = 'ATRANSACTION'") == 0
    {
      let statements = SQLHistory.statements(for: schema).joined(separator: ";\n")
      try connection.execute("BEGIN IMMEDIATE;\n\(statements);\nCOMMIT")
    }
    if options.vacuums { try connection.execute("VACUUM") }
    if options.analyzes { try connection.execute("ANALYZE") }
  }

  public func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
    try Self.read(url, options) { (connection) throws(StoreError) in
      try SQLiteFormat.requireSystemTables(on: connection)
      return try SQLiteFormat.metadata(on: connection, withModel: true)
    }
  }

  public func setMetadata(_ metadata: StoreMetadata, at url: URL, options: StoreOptions) throws(StoreError) {
    let location = try SQLiteLocation(url)
    defer { location.release() }
    // A foreign file is only read.
    _ = try self.metadata(at: url, options: options)
    let connection = try Self.connect(location.path, .readWrite, options)
    try connection.execute("BEGIN IMMEDIATE")
    do {
      try SQLiteFormat.write(metadata, on: connection, isNew: false)
      try connection.execute("COMMIT")
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
  }

  public func inferredModel(at url: URL, options: StoreOptions) throws(StoreError) -> [EntityDefinition] {
    try Self.read(url, options) { (connection) throws(StoreError) in
      try SQLiteInferredModel.definitions(connection)
    }
  }

  /// Needs the list of tables, which is on the database's first pages. Where the store does not state their names and
  /// numbers, those of a new store are used.
  public func salvage(at url: URL, into salvage: Salvage, options: StoreOptions) throws(StoreError) {
    let location = try SQLiteLocation(url)
    defer { location.release() }
    salvage.externalData = { (name) throws(StoreError) in try location.externalData.read(name) }
    try Self.read(url, options) { (connection) throws(StoreError) in
      salvage.beginAnew()
      try connection.readDamaged()
      func lost(_ error: StoreError) { salvage.lose(StoreFinding(.integrity, error.message)) }
      let catalogue = try SQLiteFormat.catalogue(on: connection, lost: lost)
      let binding = try SQLBinding.bind(salvage.schema, to: catalogue, lost: lost)
      salvage.take { () throws(StoreError) in try SQLiteFormat.metadata(on: connection) }
      // The limit was for opening. Salvage may take longer.
      connection.limitWork(nil)
      let isBounded = try SQLSalvage(connection, binding, catalogue, salvage).run()
      // Rows may be missing without any other sign. SQLite's check would visit a page as often as other pages lead to
      // it.
      if !isBounded { return }
      do throws(StoreError) { try SQLiteFindings.integrity(connection, salvage.lose) } catch {
        if !Salvage.isDamage(error) { throw error }
        lost(error)
      }
    }
  }

  /// Reads an existing file without a trace.
  private static func read<R>(
    _ url: URL, _ options: StoreOptions, _ body: (SQLiteConnection) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let location = try SQLiteLocation(url)
    defer { location.release() }
    guard try SQLiteFormat.isStoreFile(location.path) else {
      throw StoreError(.notFound, "There is no store at the URL.", context: ["path": location.path])
    }
    return try SQLiteFileView.read(location.path, options, body)
  }

  public func destroy(at url: URL, options: StoreOptions) throws(StoreError) {
    let location = try SQLiteLocation(url)
    defer { location.release() }
    try SQLiteRemoval.remove(location, options)
  }

  public func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {
    let (target, origin) = (try SQLiteLocation(destination), try SQLiteLocation(source))
    defer { for location in [target, origin] { location.release() } }
    guard try SQLiteFormat.isStoreFile(origin.path) else {
      throw StoreError(.notFound, "There is no store to copy at the URL.", context: ["path": origin.path])
    }
    // Source and destination are the same file.
    if SQLiteOpenFiles.Identity(target.path) == SQLiteOpenFiles.Identity(origin.path) { return }
    try SQLiteRemoval.requireFiles(target.path)
    try ExternalDataFolder.copying { () throws(StoreError) in try Self.replace(target, with: origin, options) }
  }

  private static func replace(
    _ target: SQLiteLocation, with origin: SQLiteLocation, _ options: StoreOptions
  ) throws(StoreError) {
    // An empty file is what a removal leaves.
    let isNew = FileStatus(target.path)?.size ?? 0 == 0
    // Files that the source's rows name now stay, even if a save makes them obsolete meanwhile.
    let files = origin.externalData.view()
    defer { withExtendedLifetime(files) {} }
    try SQLiteFileView.read(origin.path, options) { (from) throws(StoreError) in
      // One state from here on: otherwise a save could name a file that is not copied.
      try from.execute("BEGIN")
      defer { try? from.execute("ROLLBACK") }
      _ = try from.integer("SELECT count(*) FROM sqlite_master")
      let isShared = try target.sharesExternalData()
      try target.externalData.replace(with: origin.externalData, isNew: isNew, isShared: isShared) {
        () throws(StoreError) in
        try replace(target.path, isNew: isNew, with: from, options)
      }
    }
  }

  private static func replace(
    _ target: String, isNew: Bool, with source: SQLiteConnection, _ options: StoreOptions
  ) throws(StoreError) {
    var isEmpty = isNew
    // Opening the store to be replaced would let its log or journal write to it.
    if !isNew { try SQLiteFileView.read(target, options) { _ in } }
    do throws(StoreError) {
      let to = try SQLiteConnection(target, .readWriteCreate, timeout: options.timeout)
      do throws(StoreError) {
        // A removed journal must not be back after a loss of power, and undo the copy.
        try to.execute("PRAGMA synchronous = EXTRA")
        if let other = try SQLiteLogOwner.announce(source, in: to) {
          try withCopy(of: source, naming: other, options.timeout) { (copied) throws(StoreError) in
            try copy(copied, to)
          }
        } else {
          try copy(source, to)
        }
      } catch {
        isEmpty = (try? to.integer("SELECT count(*) FROM sqlite_master")) == 0
        throw error
      }
    } catch {
      var error = error
      if !isNew && error.code != .busy && error.code != .readOnly {
        // Pages written to a log may come back with it.
        error.outcome = .outcomeUnknown
      } else if isNew && isEmpty && error.code != .busy {
        // The file holds nothing but its empty beginning.
        try? SQLiteRemoval.removeDatabase(target)
      }
      throw error
    }
  }

  private static func copy(_ from: SQLiteConnection, _ to: SQLiteConnection) throws(StoreError) {
    guard let backup = sqlite3_backup_init(to.database, "main", from.database, "main") else {
      throw SQLiteError.make(sqlite3_errcode(to.database), to.database, "copying the store")
    }
    func run(pages: Int32) throws(StoreError) {
      let result = sqlite3_backup_step(backup, pages)
      if result == SQLITE_OK || result == SQLITE_DONE { return }
      sqlite3_backup_finish(backup)
      throw SQLiteError.make(result, to.database, "copying the store")
    }
    // Copies no page at first: from then on nobody can commit.
    try run(pages: 0)
    try SQLiteOpenFiles.replacing(to.identity) { () throws(StoreError) in
      try run(pages: -1)
      try to.check(sqlite3_backup_finish(backup), "copying the store")
    }
  }

  /// Calls `body` with a copy of a store whose metadata names the store that it is to replace; see ``SQLiteLogOwner``.
  private static func withCopy(
    of source: SQLiteConnection, naming other: String, _ timeout: Double,
    _ body: (SQLiteConnection) throws(StoreError) -> Void
  ) throws(StoreError) {
    let folder = try TemporaryFolder()
    let copy = try SQLiteConnection(folder.url.appendingPathComponent("store").path, .readWriteCreate, timeout: timeout)
    try self.copy(source, copy)
    var metadata = try SQLiteFormat.metadata(on: copy)
    metadata.additional[SQLiteLogOwner.otherIdentifierKey] = .string(other)
    try SQLiteFormat.write(metadata, on: copy, isNew: false)
    try body(copy)
  }
}
