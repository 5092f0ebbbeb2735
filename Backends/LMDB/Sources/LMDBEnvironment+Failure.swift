#if LMDB
  import Foundation
  import StoreProtocol

  /// After a commit that failed at its end LMDB takes no further transactions: the file is opened again.
  extension LMDBEnvironment {
    /// Called by who holds `writing`.
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

    /// The same for whoever reads next.
    func recover(_ deadline: Date) throws(StoreError) {
      guard writing.lock(before: deadline) else {
        throw StoreError(.busy, "The store is being opened anew; try again.", context: ["path": path])
      }
      defer { writing.unlock() }
      if isFailed { try reopen(deadline) }
    }

    /// What became of a commit that failed: nobody has written since.
    ///
    /// LMDB writes one page at the very end, which makes the commit valid. Where that page is not there, nothing has
    /// happened. What LMDB writes in its place then, the number of a former commit with the trees of the failed one,
    /// looks like damage to whoever opens the file: the page becomes what it was.
    func settle(_ commitNumber: UInt64, _ error: StoreError) -> StoreError {
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
