import CSQLite
import CZlib
import Foundation
import PropertyLists
import SQLEngine
import StoreProtocol
import StoreSchema
import StoreSupport

/// Core Data's SQLite file format: how a fresh file is made, and what an existing one says of itself.
enum SQLiteFormat {
  static let storeType = "SQLite"
  /// The framework generation whose shape new stores have (iOS 17).
  static let frameworkVersion: Int64 = 1344

  // MARK: Making

  /// Makes the tables, rows and metadata of a new store in one transaction.
  static func create(on connection: SQLiteConnection, schema: Schema, options: StoreOptions) throws(StoreError) {
    try connection.execute("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL")
    if options.pragmas["journal_mode"] == nil {
      try connection.setJournalMode("WAL", timeout: options.timeout)
    } else {
      try SQLiteLogOwner.reserve(on: connection)
    }
    let text = SQLSchemaText(SQLLayout(schema: schema))
    if let (entity, index) = text.impossibleIndex {
      throw StoreError(
        .unsupported,
        "The partial predicate of the fetch index \(index) cannot be expressed in SQL. It may only compare attributes of the entity with constants, without options.",
        context: ["entity": entity, "index": index])
    }
    try connection.execute("BEGIN IMMEDIATE")
    do {
      // Another process may have made it since we looked.
      if try connection.integer("SELECT count(*) FROM sqlite_master WHERE name = 'Z_METADATA'") == 1 {
        return try connection.execute("ROLLBACK")
      }
      let identifier = try SQLiteLogOwner.useReserved(on: connection)
      for statement in text.statements { try connection.execute(statement) }
      let insert = try connection.prepare(
        "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)")
      for row in text.primaryKeyRows {
        insert.bind(row.number, at: 1)
        insert.bind(.string(row.name), at: 2)
        insert.bind(row.superentity, at: 3)
        try connection.changeOneRow(insert, of: "Z_PRIMARYKEY")
      }
      try write(fresh(identifier, schema, options), on: connection, isNew: true)
      let model = try connection.prepare("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)")
      model.bind(options.archivedModel?().flatMap(Deflate.compress).map(Value.data) ?? .null, at: 1)
      try connection.changeOneRow(model, of: "Z_MODELCACHE")
      try connection.execute("COMMIT")
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
  }

  private static func fresh(_ identifier: String, _ schema: Schema, _ options: StoreOptions) -> StoreMetadata {
    StoreMetadata(
      identifier: identifier, storeType: storeType, versionHashes: schema.versionHashes,
      versionIdentifiers: options.versionIdentifiers,
      additional: [
        "NSPersistenceFrameworkVersion": .integer(frameworkVersion),
        "NSStoreModelVersionHashesVersion": .integer(3),
        "_NSAutoVacuumLevel": .string("2"),
      ])
  }

  // MARK: Metadata

  static func write(_ metadata: StoreMetadata, on connection: SQLiteConnection, isNew: Bool) throws(StoreError) {
    let statement = try connection.prepare(
      isNew
        ? "INSERT INTO Z_METADATA (Z_UUID, Z_PLIST, Z_VERSION) VALUES (?, ?, 1)"
        : "UPDATE Z_METADATA SET Z_UUID = ?, Z_PLIST = ?")
    statement.bind(.string(metadata.identifier), at: 1)
    statement.bind(.data(BinaryPropertyListWriter.write(.dictionary(metadata.propertyList(isNew: isNew)))), at: 2)
    try connection.changeOneRow(statement, of: "Z_METADATA")
  }

  /// Reads the file's metadata. The model that the file carries takes longer than all else, and is read only on
  /// request.
  static func metadata(
    on connection: SQLiteConnection, withModel: Bool = false, withOtherIdentifier: Bool = false
  ) throws(StoreError) -> StoreMetadata {
    let statement = try connection.prepare("SELECT Z_UUID, Z_PLIST, Z_VERSION FROM Z_METADATA")
    guard try statement.step() else { throw StoreError(.corrupt, "The store has no metadata row.") }
    if case let version = statement.int(2), version > 1 {
      throw StoreError(
        .newerFormat,
        "The store has a newer version of Core Data's format. It was not changed. Open it with a newer version of this library.",
        context: ["version": "\(version)"])
    }
    guard let identifier = statement.string(0), let bytes = statement.data(1) else {
      throw StoreError(.corrupt, "The store has no metadata row.")
    }
    if identifier.utf8.count > 255 {
      throw StoreError(.corrupt, "The store's UUID is longer than its column allows.")
    }
    let list: PropertyList
    do { list = try BinaryPropertyListReader.read(bytes) } catch {
      throw StoreError(.corrupt, "The store's metadata is not a property list.", cause: "\(error)")
    }
    var metadata = try StoreMetadata(list, identifier: identifier, storeType: storeType)
    if !withOtherIdentifier { metadata.additional[SQLiteLogOwner.otherIdentifierKey] = nil }
    if withModel { metadata.archivedModel = try archivedModel(on: connection) }
    return metadata
  }

  /// The embedded model; nil where there is none or where it is damaged, because it is only a hint.
  static func archivedModel(on connection: SQLiteConnection) throws(StoreError) -> Data? {
    let count = try connection.integer(
      "SELECT count(*) FROM sqlite_master WHERE name = 'Z_MODELCACHE' AND type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    )
    guard count == 1 else { return nil }
    let statement = try connection.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE")
    return try statement.step() ? statement.data(0).flatMap(Deflate.expand) : nil
  }

  // MARK: Looking

  /// Whether the file at `path` can be a store; false for a missing or empty file, which is to be made.
  ///
  /// Throws `notAStore` for anything else. Reads the header only.
  static func isStoreFile(_ path: String) throws(StoreError) -> Bool {
    // A file that this process has open is a store, or becomes one if it is just being made.
    try SQLiteOpenFiles.exclusively(path) { (isOpen) throws(StoreError) in isOpen ? true : try hasHeader(path) }
  }

  /// Whether the header says that changes go to a write-ahead log. Without one, only locks show the work of others.
  ///
  /// Not for a file that this process has open: see ``SQLiteOpenFiles``.
  static func isLogged(_ path: String) throws(StoreError) -> Bool {
    let header = try header(path, count: 20) ?? []
    // The version for readers; the version for writers may be newer.
    return header.count == 20 && header.last == 2
  }

  private static func hasHeader(_ path: String) throws(StoreError) -> Bool {
    guard let header = try header(path, count: 16), !header.isEmpty else { return false }
    guard header == Array("SQLite format 3\0".utf8) else {
      throw StoreError(
        .notAStore, "The file is not an SQLite database. Open it with its own type.", context: ["path": path])
    }
    return true
  }

  /// The first bytes of a file, nil where there is none.
  private static func header(_ path: String, count: Int) throws(StoreError) -> [UInt8]? {
    guard let status = FileStatus(path) else { return nil }
    // A pipe blocks whoever opens it until somebody writes.
    guard status.isRegular else {
      throw StoreError(
        .notAStore, "The URL leads to something other than a regular file. Choose another URL.", context: ["path": path]
      )
    }
    func unreadable() -> StoreError {
      StoreError(
        .io, "The store file cannot be read. Check its permissions.", context: ["path": path],
        cause: String(cString: strerror(errno)))
    }
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    if file < 0 {
      let error = unreadable()
      // The file may have been removed meanwhile.
      if FileStatus(path) == nil { return nil }
      throw error
    }
    defer { _ = close(file) }
    guard let bytes = start(of: file, count: count) else { throw unreadable() }
    return bytes
  }

  /// The first bytes of an open file, fewer where it is shorter. Nil where the system cannot read it.
  private static func start(of file: Int32, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let part = bytes.withUnsafeMutableBytes { bytes in
        pread(file, bytes.baseAddress.map { $0 + done }, count - done, off_t(done))
      }
      if part < 0 && errno == EINTR { continue }
      if part < 0 { return nil }
      if part == 0 { break }
      done += part
    }
    return Array(bytes.prefix(done))
  }

  /// Throws `notAStore` unless Core Data's tables exist as tables. A view or a virtual table of the same name could run
  /// anything when it is read.
  static func requireSystemTables(on connection: SQLiteConnection) throws(StoreError) {
    let count = try connection.integer(
      """
      SELECT count(*) FROM sqlite_master
      WHERE name IN ('Z_METADATA', 'Z_PRIMARYKEY') AND type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
      """)
    if count != 2 { throw noSystemTables }
  }

  /// The tables and numbers that a schema is bound to. Throws `notAStore` for a database without Core Data's tables.
  ///
  /// With `lost`, which is for damaged stores, unreadable entity numbers and missing system tables are reported to it
  /// and not thrown. All but the numbers follows from the rows of `sqlite_master`; see ``SQLiteDeclarations``.
  static func catalogue(
    on connection: SQLiteConnection, lost: ((StoreError) -> Void)? = nil
  ) throws(StoreError) -> SQLCatalogue {
    var columns: [String: Set<String>] = [:]
    var rTrees: Set<String> = []
    var doubtful: Set<String> = []
    // One statement, because preparing a statement takes longer than running it. Columns of virtual tables are not
    // read.
    let rows = try connection.prepare(
      """
      SELECT m.name, c.name, c.pk = 1 AND c.type LIKE 'INTEGER', m.sql LIKE '%WITHOUT%' OR m.sql LIKE '%DESC%',
        m.sql LIKE 'CREATE VIRTUAL TABLE%USING RTREE%', c.pk > 1
      FROM sqlite_master m
      LEFT JOIN pragma_table_info(CASE WHEN m.sql LIKE 'CREATE VIRTUAL%' THEN NULL ELSE m.name END) c
      WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'
      """)
    func allow(_ body: () throws(StoreError) -> Void) throws(StoreError) {
      do { try body() } catch {
        guard let lost, Salvage.isDamage(error) else { throw error }
        lost(error)
      }
    }
    try allow { () throws(StoreError) in
      while try rows.step() {
        guard let table = rows.string(0) else { continue }
        guard let column = rows.string(1) else {
          if rows.int(4) == 1 { rTrees.insert(table) }
          continue
        }
        // The key is of several columns.
        if rows.int(5) == 1 { doubtful.insert(table) }
        // A key that is not the row's own number may be any value, and several rows may share it.
        if column == "Z_PK" {
          if rows.int(2) != 1 { continue }
          if rows.int(3) == 1 { doubtful.insert(table) }
        }
        columns[table, default: []].insert(column)
      }
    }
    if columns["Z_METADATA"] == nil || columns["Z_PRIMARYKEY"] == nil {
      guard let lost else { throw noSystemTables }
      lost(noSystemTables)
    }
    // INTEGER PRIMARY KEY is not the row's own number in a table WITHOUT ROWID, nor where it is descending.
    for table in doubtful {
      let indexes = try connection.prepare("SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk'")
      indexes.bind(.string(table), at: 1)
      if try indexes.step() { columns[table]?.remove("Z_PK") }
    }
    var numbers: [String: Int64] = [:]
    try allow { () throws(StoreError) in
      if columns["Z_PRIMARYKEY"] == nil { return }
      try readEntityNumbers(on: connection, &numbers)
    }
    return SQLCatalogue(columns: columns, entityNumbers: numbers, rTrees: rTrees)
  }

  /// The numbers of entities in `Z_PRIMARYKEY`, which must be a table.
  static func entityNumbers(on connection: SQLiteConnection) throws(StoreError) -> [String: Int64] {
    var numbers: [String: Int64] = [:]
    try readEntityNumbers(on: connection, &numbers)
    return numbers
  }

  private static func readEntityNumbers(
    on connection: SQLiteConnection, _ numbers: inout [String: Int64]
  ) throws(StoreError) {
    let entities = try connection.prepare("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY")
    while try entities.step() {
      if let name = entities.string(0) { numbers[name] = entities.int(1) }
    }
  }

  static let noSystemTables = StoreError(
    .notAStore, "The database has no Core Data tables (Z_METADATA and Z_PRIMARYKEY).")
}

/// Raw DEFLATE without a header, as `Z_MODELCACHE` holds it.
enum Deflate {
  /// The largest size that is expanded: a real model takes some hundred kilobytes.
  private static let limit = 64 << 20

  static func compress(_ data: Data) -> Data? {
    var stream = z_stream()
    let version = deflateInit2_(
      &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    guard version == Z_OK else { return nil }
    defer { deflateEnd(&stream) }
    let output = run(&stream, data, capacity: Int(deflateBound(&stream, UInt(data.count)))) { deflate(&$0, Z_FINISH) }
    return output
  }

  static func expand(_ data: Data) -> Data? {
    var capacity = max(data.count * 8, 4096)
    while capacity <= limit {
      var stream = z_stream()
      guard inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
      defer { inflateEnd(&stream) }
      var isTooSmall = false
      let output = run(&stream, data, capacity: capacity) { stream in
        let result = inflate(&stream, Z_FINISH)
        isTooSmall = result == Z_BUF_ERROR && stream.avail_out == 0
        return result
      }
      if let output { return output }
      if !isTooSmall { return nil }
      capacity *= 2
    }
    return nil
  }

  private static func run(
    _ stream: inout z_stream, _ input: Data, capacity: Int, _ step: (inout z_stream) -> Int32
  ) -> Data? {
    var source = Array(input)
    var target = [UInt8](repeating: 0, count: capacity)
    let result = source.withUnsafeMutableBufferPointer { from in
      target.withUnsafeMutableBufferPointer { to in
        stream.next_in = from.baseAddress
        stream.avail_in = UInt32(clamping: from.count)
        stream.next_out = to.baseAddress
        stream.avail_out = UInt32(clamping: to.count)
        return step(&stream)
      }
    }
    return result == Z_STREAM_END ? Data(target.prefix(capacity - Int(stream.avail_out))) : nil
  }
}
