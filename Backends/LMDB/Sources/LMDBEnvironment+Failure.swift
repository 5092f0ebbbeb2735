#if LMDB
  import Foundation
  import StoreProtocol

  /// After a commit that failed at its end LMDB takes no further transactions: the file is opened again.
  extension LMDBEnvironment {
    /// The caller holds `writing`.
    func reopen(_ deadline: Date) throws(StoreError) {
      try whileNobodyReads(until: deadline) { () throws(StoreError) in
        self.closeHandle()
        try self.open()
        do throws(StoreError) { try self.openTrees() } catch {
          self.closeHandle()
          throw error
        }
      }
      isFailed = false
    }

    /// The same for the next reader.
    func recover(_ deadline: Date) throws(StoreError) {
      guard writing.lock(before: deadline) else {
        throw StoreError(.busy, "The store is being reopened; try again.", context: ["path": path])
      }
      defer { writing.unlock() }
      if isFailed { try reopen(deadline) }
    }

    /// Finds out the outcome of a failed commit; nobody has written since.
    ///
    /// LMDB writes one page last, which makes the commit valid. Where that page is missing, the commit has not
    /// happened. LMDB then writes another page in its stead, with the number of a former commit and the trees of the
    /// failed one, which looks like damage when the file is opened. So the page is restored.
    func finish(_ commitNumber: UInt64, _ error: StoreError) -> StoreError {
      isFailed = true
      var error = error
      if fsync(file.descriptor) == 0, let metas = try? LMDBMeta.both(of: file), metas.last.commitNumber < commitNumber {
        error.outcome = .notSaved
        if !LMDBMeta.restore(formerMeta, of: file, commitNumber, pageSize) {
          error.context["repair"] = "the page of the failed commit could not be taken back; the next save does so"
        }
      } else {
        error.outcome = .outcomeUnknown
      }
      return error
    }
  }
#endif
