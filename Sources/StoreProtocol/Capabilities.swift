/// What a kind of store can do beyond the obligations of every store, and what its medium is.
///
/// A declaration is a promise to users. The conformance suite runs the cases of each declared capability, and checks
/// that every other one is refused. By default nothing is declared.
public struct Capabilities: OptionSet, Sendable, Hashable {
  /// One bit for each capability.
  public let rawValue: UInt32
  /// The capabilities of the bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Data outlives the process.
  public static let persistent = Capabilities(rawValue: 1 << 0)
  /// Commits write rows, not the whole file.
  public static let rowLevel = Capabilities(rawValue: 1 << 1)
  /// Snapshots can be read while a commit runs, and several at once.
  public static let concurrentReads = Capabilities(rawValue: 1 << 2)
  /// The store evaluates predicates, sorts and limits; see ``FetchingSnapshot``.
  public static let pushDown = Capabilities(rawValue: 1 << 3)
  /// Several processes may have the store open.
  public static let multiProcess = Capabilities(rawValue: 1 << 4)
  /// Derived attributes are computed at commit.
  public static let derivedAttributes = Capabilities(rawValue: 1 << 5)
  /// Commits can be recorded in persistent history.
  public static let history = Capabilities(rawValue: 1 << 6)

  /// The store is files on this machine.
  public static let localFiles = Capabilities(rawValue: 1 << 7)
  /// The whole store is loaded, and each commit replaces the whole file.
  public static let wholeFile = Capabilities(rawValue: 1 << 8)
  /// An existing store can be opened without the right to write it.
  public static let readOnlyOpen = Capabilities(rawValue: 1 << 9)
  /// The same store can be opened more than once in one process.
  public static let multipleOpens = Capabilities(rawValue: 1 << 10)
  /// A commit fails where another process has written meanwhile, so that no change is lost. Weaker than
  /// ``multiProcess``.
  public static let detectsOtherWriters = Capabilities(rawValue: 1 << 11)
  /// The versions of objects are stored with them.
  public static let rowVersions = Capabilities(rawValue: 1 << 12)
  /// The versions of objects are counted while a store is open, and the file has one generation. Weaker than
  /// ``rowVersions``.
  public static let fileVersions = Capabilities(rawValue: 1 << 13)
  /// Uniqueness constraints are enforced at commit.
  public static let uniqueness = Capabilities(rawValue: 1 << 14)
  /// Values can be fetched in groups, with aggregates. ``TableExecution`` does what the store cannot do itself.
  public static let grouping = Capabilities(rawValue: 1 << 15)
  /// Rows can be inserted, changed and deleted in bulk, without objects.
  public static let batchRequests = Capabilities(rawValue: 1 << 16)
  /// A view can be pinned beyond a snapshot's life and found again by a token.
  public static let queryGenerations = Capabilities(rawValue: 1 << 17)
  /// Large binary values are kept in files beside the store.
  public static let externalData = Capabilities(rawValue: 1 << 18)
  /// A store can be changed to another model where it is.
  public static let migrationInPlace = Capabilities(rawValue: 1 << 19)
  /// A store of another model can replace this one, all or nothing. A migration by a copy needs it.
  public static let migrationByCopy = Capabilities(rawValue: 1 << 20)
  /// Any changed byte of user data is found when it is read.
  public static let checksums = Capabilities(rawValue: 1 << 21)
  /// A commit that has returned survives a loss of power or a crash of the operating system.
  public static let powerLossDurability = Capabilities(rawValue: 1 << 22)
  /// Another process keeps the data.
  public static let server = Capabilities(rawValue: 1 << 23)
  /// Data is read through a memory map.
  public static let memoryMapped = Capabilities(rawValue: 1 << 24)
  /// Requests are sent as SQL text.
  public static let sqlText = Capabilities(rawValue: 1 << 25)
  /// The file is an SQLite database.
  public static let sqliteFile = Capabilities(rawValue: 1 << 26)
  /// The file holds binary property lists.
  public static let binaryPropertyListFile = Capabilities(rawValue: 1 << 27)
  /// The file is XML.
  public static let xmlFile = Capabilities(rawValue: 1 << 28)
  /// The readable part of a damaged store can be read; see `SalvagingBackend` in StoreSupport.
  public static let salvage = Capabilities(rawValue: 1 << 29)
  /// Rows are kept and given out as they were given. Values of transformable attributes may be objects, which the rows
  /// own; see `RowObjects`.
  public static let objectValues = Capabilities(rawValue: 1 << 30)
}

extension Capabilities: CustomStringConvertible {
  /// Every single capability with the name that reports and expectations give it. Names never change.
  public static let named: [(name: String, capability: Capabilities)] = [
    ("persistent", .persistent), ("file", .localFiles), ("atomic", .wholeFile), ("rowLevel", .rowLevel),
    ("readOnlyOpen", .readOnlyOpen), ("multiCoord", .multipleOpens), ("multiProc", .multiProcess),
    ("multiProcDetect", .detectsOtherWriters), ("concRead", .concurrentReads), ("rowVersion", .rowVersions),
    ("fileVersion", .fileVersions), ("unique", .uniqueness), ("pushdown", .pushDown), ("groupBy", .grouping),
    ("batch", .batchRequests), ("history", .history), ("queryGen", .queryGenerations), ("extBlob", .externalData),
    ("derived", .derivedAttributes), ("migrateInPlace", .migrationInPlace), ("migrateCopy", .migrationByCopy),
    ("checksum", .checksums), ("powerLoss", .powerLossDurability), ("server", .server), ("mapped", .memoryMapped),
    ("sqlText", .sqlText), ("fmtSQLite", .sqliteFile), ("fmtBPlist", .binaryPropertyListFile), ("fmtXML", .xmlFile),
    ("salvage", .salvage), ("objectValues", .objectValues),
  ]

  /// The names of the capabilities in this set, in the order of ``named``.
  public var names: [String] { Self.named.filter { contains($0.capability) }.map(\.name) }

  /// The capability with a name, nil for an unknown name.
  public init?(name: String) {
    guard let found = Self.named.first(where: { $0.name == name }) else { return nil }
    self = found.capability
  }

  public var description: String { names.joined(separator: ", ") }
}
