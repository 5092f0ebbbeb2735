/// Makes the stores that cells begin with.
enum StorePreparation {
  /// A store with the library's own tables and metadata; its rows, unless it stays empty, are inserted by the raw side,
  /// so that both sides begin with the very same file.
  static func prepare(_ path: String, _ scale: Scale, isEmpty: Bool) throws {
    try LibraryStack(BenchmarkModel.make(), path, synchronous: "NORMAL").close()
    let database = try RawDatabase(path, synchronous: "OFF")
    if !isEmpty {
      try RawInsertion(database).insert(EmployeeData.all(scale), scale, batch: scale.employees)
    }
    // One file is left to be copied.
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }
}
