import SQLEngine
import StoreProtocol
import StoreSchema

/// The header fields of a store's file when it is opened with a schema.
struct SQLiteHeaderFields {
  let binding: SQLBinding
  let metadata: StoreMetadata
  let history: SQLHistory?
  /// Why the store must not be written, nil where it may be.
  let readOnlyReason: String?
  /// Whether commits go through a write-ahead log, otherwise a rollback journal.
  let isLogged: Bool

  /// Throws `notAStore` for a database without Core Data's tables, `modelMismatch` for a store of another model.
  init(
    _ connection: SQLiteConnection, _ schema: Schema, _ options: StoreOptions, isWritable: Bool = true
  ) throws(StoreError) {
    let catalogue = try SQLiteFormat.catalogue(on: connection)
    metadata = try Self.check(connection, schema, options)
    binding = try Self.bind(schema, to: catalogue, metadata)
    history = SQLHistory(catalogue)
    let foreign = try SQLiteForeignObjects.reason(connection, binding.layout)
    readOnlyReason =
      options.isReadOnly ? "it was asked for" : isWritable ? foreign : "its file or folder cannot be written"
    let mode = try connection.text("PRAGMA journal_mode")
    isLogged = connection.isImmutable || mode == "wal"
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
