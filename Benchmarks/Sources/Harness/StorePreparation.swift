import CoreData

/// Makes the stores that cells begin with.
enum StorePreparation {
  /// A store with the library's own tables and metadata; its rows, unless it stays empty, are inserted by the raw side,
  /// so that both sides begin with the very same file.
  ///
  /// Stores of other types than SQLite are made by the side that will use them.
  static func prepare(_ path: String, _ scale: Scale, _ options: Options) throws {
    let data = options.isEmpty ? [] : EmployeeData.all(scale)
    if !["SQLite", "InMemory"].contains(options.store) {
      if options.sides == [.raw] { return try RawStore.prepare(options.store, path, data, scale) }
      let stack = try LibraryStack(BenchmarkModel.make(), path, synchronous: "NORMAL", type: options.store)
      if !data.isEmpty {
        let cell = Cell(
          workload: .w1, side: .library, path: path, scale: scale, synchronous: "NORMAL", store: options.store)
        let side = LibrarySide(cell: cell, stack: stack, context: stack.context())
        try side.context.performAndWait { try side.insert(data, batch: data.count) }
      }
      return try stack.close()
    }
    try LibraryStack(BenchmarkModel.make(), path, synchronous: "NORMAL").close()
    let database = try RawDatabase(path, synchronous: "OFF")
    if !data.isEmpty { try RawInsertion(database).insert(data, scale, batch: scale.employees) }
    // One file is left to be copied.
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }
}
