/// The raw sides by type of store.
enum RawStore {
  /// What the raw side can do.
  static func workloads(of store: String) -> [Workload] {
    switch store {
    case "SQLite": return Workload.rows
    case "InMemory": return Workload.general.filter { $0 != .w11 }
    case "Binary", "XML": return Workload.wholeFile
    #if LMDB
      case "LMDB": return LMDBSide.workloads
    #endif
    default: return []
    }
  }

  /// What is run where nothing else is asked for.
  static func defaults(of store: String, _ sides: [Side]) -> [Workload] {
    switch store {
    case "InMemory": Workload.general
    case "Binary", "XML": sides == [.raw] ? Workload.wholeFile : Workload.general + Workload.wholeFile
    default: sides.contains(.raw) ? workloads(of: store) : Workload.rows
    }
  }

  static func run(_ cell: Cell) throws -> CellResult {
    switch cell.store {
    case "SQLite": return try RawSide.run(cell)
    case "InMemory": return try LibrarySide.run(cell.overSQLite)
    case "Binary", "XML": return try FileSide.run(cell)
    #if LMDB
      case "LMDB": return try LMDBSide.run(cell)
    #endif
    default: throw BenchmarkError("A store of type \(cell.store) has no raw side here.")
    }
  }

  /// Makes the file that the raw side begins with, where that is not the library's own.
  static func prepare(_ store: String, _ path: String, _ data: [EmployeeData], _ scale: Scale) throws {
    if store == "Binary" { return try PackedFile.write(RawGraph(data, scale), path) }
    #if LMDB
      let side = LMDBSide(scale: scale, database: try LMDBDatabase(path))
      try side.insert(data, batch: scale.employees)
    #endif
  }

  /// All employees of a file that the raw side wrote.
  static func employees(_ cell: Cell) throws -> [(key: Int64, checksum: Double)] {
    if cell.store == "Binary" { return try PackedFile.read(cell.path).employees.map { ($0.key, $0.checksum) } }
    if cell.store == "XML" { return try XMLFile.sums(cell.path) }
    #if LMDB
      let side = LMDBSide(scale: cell.scale, database: try LMDBDatabase(cell.path))
      return try side.employees().map { ($0.key, $0.checksum) }
    #else
      throw BenchmarkError("A store of type \(cell.store) has no raw side here.")
    #endif
  }
}
