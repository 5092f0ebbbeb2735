/// The raw sides by type of store.
enum RawStore {
  /// What the raw side can do, nil where there is none.
  static func workloads(of store: String) -> [Workload]? {
    switch store {
    case "SQLite": return Workload.allCases
    #if LMDB
      case "LMDB": return LMDBSide.workloads
    #endif
    default: return nil
    }
  }

  static func run(_ cell: Cell) throws -> CellResult {
    switch cell.store {
    case "SQLite": return try RawSide.run(cell)
    #if LMDB
      case "LMDB": return try LMDBSide.run(cell)
    #endif
    default: throw BenchmarkError("A store of type \(cell.store) has no raw side here.")
    }
  }

  /// Makes the file that the raw side begins with, where that is not the library's own.
  static func prepare(_ store: String, _ path: String, _ data: [EmployeeData], _ scale: Scale) throws {
    #if LMDB
      let side = LMDBSide(scale: scale, database: try LMDBDatabase(path))
      try side.insert(data, batch: scale.employees)
    #endif
  }

  /// All employees of a file that the raw side wrote.
  static func employees(_ cell: Cell) throws -> [(key: Int64, checksum: Double)] {
    #if LMDB
      let side = LMDBSide(scale: cell.scale, database: try LMDBDatabase(cell.path))
      return try side.employees().map { ($0.key, $0.checksum) }
    #else
      throw BenchmarkError("A store of type \(cell.store) has no raw side here.")
    #endif
  }
}
