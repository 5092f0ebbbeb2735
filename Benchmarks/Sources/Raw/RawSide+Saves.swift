/// The workloads of many saves.
extension RawSide {
  /// W12: each reader has a connection of its own.
  func saveWhileOthersRead() throws -> CellResult {
    let all = try employees()
    let cell = cell
    return try measure {
      let readers = Workers(Scale.readers) { _ in
        let database = try RawDatabase(cell.path, synchronous: cell.synchronous)
        _ = try RawSide(cell: cell, database: database).walkDepartments()
      }
      for batch in scale.batches(of: all) { _ = try changeSalaries(Array(batch)) }
      try readers.wait()
      return Double(all.count)
    }
  }

  /// W13.
  func saveOneByOne() throws -> CellResult {
    let some = try employees().prefix(Scale.smallSaves)
    return try measure {
      for employee in some { _ = try changeSalaries([employee]) }
      return Double(some.count)
    }
  }
}
