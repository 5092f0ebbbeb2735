import CSQLite
import Foundation
import PropertyLists
import SQLEngine
import StoreProtocol
import StoreSchema

/// Stores in Core Data's SQLite file format.
public struct SQLiteBackend: StoreBackend {
  public init() {}

  public var storeType: String { SQLiteFormat.storeType }
  public var capabilities: Capabilities { Self.capabilities }

  static let capabilities: Capabilities = [
    .persistent, .rowLevel, .concurrentReads, .pushDown, .multiProcess, .derivedAttributes, .history,
  ]

  public func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    let place = try SQLitePlace(url)
    let exists = try SQLiteFormat.isStoreFile(place.path)
    if !exists && options.isReadOnly {
      throw StoreError(.notFound, "There is no store to open read-only.", context: ["path": place.path])
    }
    let mode: SQLiteConnection.Mode = options.isReadOnly ? .readOnly : .readWriteCreate
    let writer = try SQLiteConnection(place.path, mode, timeout: options.timeout, trace: options.trace)
    try Self.configure(writer, options)
    // Also where somebody else is just making it: then one of both finds it made.
    if !options.isReadOnly, try writer.integer("SELECT count(*) FROM sqlite_master") == 0 {
      try SQLiteFormat.create(on: writer, schema: schema, options: options)
    }
    let metadata = try Self.check(writer, schema, options)
    if !options.isReadOnly { try Self.maintain(writer, schema, options) }
    let catalogue = try SQLiteFormat.catalogue(on: writer)
    let binding = try Self.bind(schema, to: catalogue, metadata)
    let pool = SQLitePool(limit: options.maximumReaders, timeout: options.timeout) { () throws(StoreError) in
      let connection = try SQLiteConnection(
        place.path, options.isReadOnly ? .readOnly : .readWrite, timeout: options.timeout, trace: options.trace)
      try Self.configure(connection, options)
      return SQLiteReader(connection, binding)
    }
    var readOnlyReason = try SQLiteForeignObjects.reason(writer, binding.layout)
    if options.isReadOnly { readOnlyReason = "it was asked for" }
    return try SQLiteStore(
      writer, schema: schema, binding: binding, metadata: metadata, readOnlyReason: readOnlyReason,
      history: SQLHistory(catalogue), pool: pool, externalFolder: place.externalFolder, onClose: place.release
    ) { () throws(StoreError) in
      let connection = try SQLiteConnection(place.path, .readWrite, timeout: options.timeout, trace: options.trace)
      // Where a file cannot be opened for writing, SQLite takes what it gets.
      if connection.isReadOnly {
        throw StoreError(.readOnly, "The store cannot be opened for writing.", context: ["path": place.path])
      }
      try Self.configure(connection, options)
      return connection
    }
  }

  private static func configure(_ connection: SQLiteConnection, _ options: StoreOptions) throws(StoreError) {
    // A save is durable when it returns unless the application asks for less.
    if options.pragmas["synchronous"] == nil { try connection.execute("PRAGMA synchronous = FULL") }
    for (name, value) in options.pragmas.sorted(by: { $0.key < $1.key }) {
      guard isWord(name), isWord(value) else {
        throw StoreError(
          .invalidArgument, "A pragma's name and value must be words or numbers.",
          context: ["pragma": "\(name)=\(value)"])
      }
      try connection.execute("PRAGMA \(name) = \(value)")
    }
  }

  private static func isWord(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || 0x2D...0x39 ~= $0 || $0 == 0x5F }
  }

  /// Compares the store's version hashes with the schema's.
  private static func check(
    _ connection: SQLiteConnection, _ schema: Schema, _ options: StoreOptions
  ) throws(StoreError) -> StoreMetadata {
    guard try connection.integer("SELECT count(*) FROM sqlite_master WHERE name IN ('Z_METADATA', 'Z_PRIMARYKEY')") == 2
    else { throw StoreError(.notAStore, "The database has no Core Data tables (Z_METADATA and Z_PRIMARYKEY).") }
    let metadata = try SQLiteFormat.metadata(on: connection)
    if !options.ignoresModelVersion, try !isCompatible(connection, metadata, schema, options) {
      throw mismatch(metadata, schema)
    }
    return metadata
  }

  private static func isCompatible(
    _ connection: SQLiteConnection, _ metadata: StoreMetadata, _ schema: Schema, _ options: StoreOptions
  ) throws(StoreError) -> Bool {
    switch schema.compatibility(withVersionHashes: metadata.versionHashes) {
    case .same: return true
    case .different: return false
    case .sameButFor(let entities):
      // Where the store carries no model, its columns tell when they are bound.
      guard let haveSameStructure = options.haveSameStructure,
        let archive = try SQLiteFormat.archivedModel(on: connection)
      else { return true }
      return haveSameStructure(archive, entities)
    }
  }

  private static func mismatch(_ metadata: StoreMetadata, _ schema: Schema) -> StoreError {
    var error = StoreError(
      .modelMismatch,
      "The store was made with another version of the model; open it with that version, or migrate it.")
    error.modelHashes = .init(store: metadata.versionHashes, model: schema.versionHashes)
    return error
  }

  /// A store without a needed column is damaged, unless its version hashes left open whether it is of this model.
  private static func bind(
    _ schema: Schema, to catalogue: SQLCatalogue, _ metadata: StoreMetadata
  ) throws(StoreError) -> SQLBinding {
    do { return try SQLBinding.bind(schema, to: catalogue) } catch {
      guard error.code == .corrupt, case .sameButFor = schema.compatibility(withVersionHashes: metadata.versionHashes)
      else { throw error }
      var mismatch = mismatch(metadata, schema)
      mismatch.context = error.context
      throw mismatch
    }
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
    let path = try SQLitePlace(url).path
    guard try SQLiteFormat.isStoreFile(path) else {
      throw StoreError(.notFound, "There is no store.", context: ["path": path])
    }
    return try SQLiteFileView.read(path) { (uri) throws(StoreError) in
      let connection = try SQLiteConnection(uri, .readOnly, timeout: options.timeout)
      guard try connection.integer("SELECT count(*) FROM sqlite_master WHERE name = 'Z_METADATA'") == 1 else {
        throw StoreError(.notAStore, "The database has no Core Data tables.", context: ["path": path])
      }
      return try SQLiteFormat.metadata(on: connection, withModel: true)
    }
  }

  public func destroy(at url: URL, options: StoreOptions) throws(StoreError) {
    let place = try SQLitePlace(url)
    if !options.forceDestroy { guard try SQLiteFormat.isStoreFile(place.path) else { return } }
    for path in place.files where FileManager.default.fileExists(atPath: path) {
      do { try FileManager.default.removeItem(atPath: path) } catch {
        throw StoreError(.io, "A file of the store cannot be removed.", context: ["path": path], cause: "\(error)")
      }
    }
  }

  public func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {
    let (target, origin) = (try SQLitePlace(destination), try SQLitePlace(source))
    guard try SQLiteFormat.isStoreFile(origin.path) else {
      throw StoreError(.notFound, "There is no store to copy from.", context: ["path": origin.path])
    }
    try SQLiteFileView.read(origin.path) { (uri) throws(StoreError) in
      let from = try SQLiteConnection(uri, .readOnly, timeout: options.timeout)
      let to = try SQLiteConnection(target.path, .readWriteCreate, timeout: options.timeout)
      try Self.copy(from, to)
    }
    try origin.copyExternalData(to: target)
  }

  private static func copy(_ from: SQLiteConnection, _ to: SQLiteConnection) throws(StoreError) {
    guard let backup = sqlite3_backup_init(to.database, "main", from.database, "main") else {
      throw SQLiteError.make(sqlite3_errcode(to.database), to.database, "copying the store")
    }
    let step = sqlite3_backup_step(backup, -1)
    let finish = sqlite3_backup_finish(backup)
    if step != SQLITE_DONE { throw SQLiteError.make(step, to.database, "copying the store") }
    try to.check(finish, "copying the store")
  }
}
