import SQLEngine
import StoreProtocol
import StoreSchema

/// The header fields of a store's file when it is opened with a schema.
struct SQLiteHeaderFields {
  let metadata: StoreMetadata
  /// Why the store must not be written, nil where it may be.
  let readOnlyReason: String?
  /// Whether commits go through a write-ahead log, otherwise a rollback journal.
  let isLogged: Bool

  /// What holds for all databases with the same declarations.
  let database: SQLiteKnownDatabases.Known
  var binding: SQLBinding { database.binding }
  var history: SQLHistory? { SQLHistory(database.catalogue) }

  /// Throws `notAStore` for a database without Core Data's tables, `modelMismatch` for a store of another model. The
  /// `declarations` are those of the database, read in the transaction that is open.
  init(
    _ connection: SQLiteConnection, _ declarations: SQLiteDeclarations, _ schema: Schema, _ options: StoreOptions,
    isWritable: Bool = true
  ) throws(StoreError) {
    let known = SQLiteKnownDatabases.databases(declarations)
    let catalogue = try Self.catalogue(connection, known.first?.catalogue)
    metadata = try Self.check(connection, schema, options)
    if let same = known.first(where: { $0.binding.layout.schema === schema && $0.hasNumbers(of: catalogue) }) {
      database = same
    } else {
      let binding = try Self.bind(schema, to: catalogue, metadata)
      let foreign = try SQLiteForeignObjects.reason(connection, binding.layout)
      database = .init(declarations: declarations, catalogue: catalogue, binding: binding, foreign: foreign)
    }
    readOnlyReason =
      options.isReadOnly ? "it was asked for" : isWritable ? database.foreign : "its file or folder cannot be written"
    isLogged = connection.isImmutable ? true : try connection.text("PRAGMA journal_mode") == "wal"
  }

  /// `known` is the catalogue of a database with the same declarations.
  private static func catalogue(
    _ connection: SQLiteConnection, _ known: SQLCatalogue?
  ) throws(StoreError) -> SQLCatalogue {
    guard var catalogue = known else { return try SQLiteFormat.catalogue(on: connection) }
    catalogue.entityNumbers = try SQLiteFormat.entityNumbers(on: connection)
    return catalogue
  }

  /// Whether the options for opening change the file.
  func mustWrite(_ options: StoreOptions) -> Bool {
    options.vacuums || options.analyzes || (options.tracksHistory && history == nil)
      || options.pragmas["journal_mode"].map { ($0.lowercased() == "wal") != isLogged } ?? false
  }

  /// Compares the store's version hashes with the schema's.
  private static func check(
    _ connection: SQLiteConnection, _ schema: Schema, _ options: StoreOptions
  ) throws(StoreError) -> StoreMetadata {
    let metadata = try SQLiteFormat.metadata(on: connection)
    if !options.ignoresModelVersion, try !isCompatible(connection, metadata, schema, options) {
      throw .modelMismatch(metadata, schema)
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
      // Where the store carries no model, its columns are compared when they are bound.
      guard let haveSameStructure = options.haveSameStructure,
        let archive = try SQLiteFormat.archivedModel(on: connection)
      else { return true }
      return haveSameStructure(archive, entities)
    }
  }

  /// A store without a needed column is damaged, unless its version hashes left open whether it is of this model.
  private static func bind(
    _ schema: Schema, to catalogue: SQLCatalogue, _ metadata: StoreMetadata
  ) throws(StoreError) -> SQLBinding {
    do { return try SQLBinding.bind(schema, to: catalogue) } catch {
      guard error.code == .corrupt, case .sameButFor = schema.compatibility(withVersionHashes: metadata.versionHashes)
      else { throw error }
      var mismatch = StoreError.modelMismatch(metadata, schema)
      mismatch.context = error.context
      throw mismatch
    }
  }
}
