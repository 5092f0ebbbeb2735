import StoreProtocol

/// The capabilities that the specification requires of each store type, by the type's name in files.
public enum CapabilityFloor {
  private static let files: Capabilities = [
    .persistent, .localFiles, .readOnlyOpen, .multipleOpens, .externalData, .migrationByCopy, .powerLossDurability,
    .salvage,
  ]
  private static let every: Capabilities = [.uniqueness, .grouping, .derivedAttributes]
  private static let wholeFile: Capabilities = files.union(every).union([
    .wholeFile, .detectsOtherWriters, .fileVersions, .checksums,
  ])
  private static let rows: Capabilities = every.union([
    .rowLevel, .multiProcess, .concurrentReads, .rowVersions, .batchRequests, .history, .queryGenerations,
  ])

  /// The required capabilities, by store type.
  public static let table: [String: Capabilities] = [
    "SQLite": files.union(rows).union([.pushDown, .migrationInPlace, .sqlText, .sqliteFile]),
    "Binary": wholeFile.union(.binaryPropertyListFile),
    "XML": wholeFile.union(.xmlFile),
    "InMemory": every.union(.rowVersions),
    "LMDB": files.union(rows).union([.pushDown, .checksums, .memoryMapped]),
    "PostgreSQL": rows.union([
      .persistent, .readOnlyOpen, .multipleOpens, .pushDown, .migrationInPlace, .migrationByCopy, .powerLossDurability,
      .server, .sqlText,
    ]),
  ]

  /// The capabilities that a store must declare, nil where there is no such list.
  public static func of(_ backend: any StoreBackend) -> Capabilities? { table[backend.storeType] }

  /// The capabilities that a store must declare and does not. A stronger capability counts for the weaker one below it.
  public static func missing(_ backend: any StoreBackend) -> Capabilities {
    let declared = backend.capabilities
    var missing = (of(backend) ?? []).subtracting(declared)
    if declared.contains(.multiProcess) { missing.remove(.detectsOtherWriters) }
    if declared.contains(.rowVersions) { missing.remove(.fileVersions) }
    return missing
  }
}
