#if LMDB
  /// The workloads of many saves.
  extension LMDBSide {
    /// W12: each reader has a transaction of its own, all of them one environment.
    func saveWhileOthersRead() throws -> CellResult {
      let all = try employees()
      nonisolated(unsafe) let shared = self
      return try measure {
        let readers = Workers(Scale.readers) { _ in _ = try shared.walkDepartments() }
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
#endif
