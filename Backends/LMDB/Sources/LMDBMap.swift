#if LMDB
  import CLMDB
  import Foundation
  import KeyValueEngine
  import StoreProtocol
  import StoreSupport

  /// A use of an environment, which stays open while it has uses.
  final class LMDBMap: KeyValueMap {
    let environment: LMDBEnvironment

    /// Opens the file at `path`, nil where there is none. Where this process does not have it open, the structure of
    /// its pages is checked first; see ``LMDBVerification/checkStructure()``.
    init?(_ path: String, isReadOnly: Bool, mapSize: Int, timeout: Double) throws(StoreError) {
      guard let file = try LMDBFile.open(path, isReadOnly: isReadOnly) else { return nil }
      let deadline = Date(timeIntervalSinceNow: timeout)
      let key = LMDBOpenFiles.Key(identity: file.identity, isReadOnly: isReadOnly)
      environment = try LMDBOpenFiles.environment(key) { () throws(StoreError) in
        if !isReadOnly && access(path, W_OK) != 0 {
          throw LMDBError.system("The store file cannot be written; open it read-only", path)
        }
        try LMDBPages.last(of: file, until: deadline) { (_, _) throws(StoreError) in }
        let environment = try LMDBEnvironment(file, key, mapSize: mapSize)
        do throws(StoreError) {
          try Self.checkStructure(environment, deadline, timeout)
          try environment.openTrees()
        } catch {
          environment.close()
          throw error
        }
        return environment
      }
    }

    /// Checks the pages of the state that LMDB begins with. A transaction holds the state, so that none of its pages
    /// changes.
    ///
    /// Throws `busy` where the lock file belongs to another file that had the name before and that a process has open.
    /// LMDB takes the number of the last commit from the lock file, and would go on from an earlier commit of this
    /// file.
    private static func checkStructure(
      _ environment: LMDBEnvironment, _ deadline: Date, _ timeout: Double
    ) throws(StoreError) {
      // Nobody commits between the beginning of the transaction and the read of the first pages.
      try environment.file.share(until: deadline)
      let begun: Result<(LMDBMeta, LMDBMeta, OpaquePointer), StoreError> = Result { () throws(StoreError) in
        let (last, former) = try LMDBMeta.both(of: environment.file)
        return (last, former, try environment.beginReading(timeout: timeout))
      }
      environment.file.unshare()
      let (last, former, transaction) = try begun.get()
      defer { environment.end(transaction) }
      let number = UInt64(mdb_txn_id(transaction))
      // The former state, where a writer was killed before it announced its commit.
      guard let meta = [last, former].first(where: { $0.commitNumber == number }) else {
        throw StoreError(
          .busy,
          "Another process still has the replaced store open. This store can be opened when that process has closed the other one.",
          context: ["path": environment.path])
      }
      try LMDBVerification(LMDBPages(environment.file, meta, isMapped: true)).checkStructure()
    }

    /// The map of a file that this process has just made and no other process knows.
    init(making file: LMDBFile, mapSize: Int) throws(StoreError) {
      let key = LMDBOpenFiles.Key(identity: file.identity, isReadOnly: false)
      environment = try LMDBOpenFiles.environment(key) { () throws(StoreError) in
        let environment = try LMDBEnvironment(file, key, mapSize: mapSize)
        do throws(StoreError) { try environment.openTrees() } catch {
          environment.close()
          throw error
        }
        return environment
      }
    }

    deinit { LMDBOpenFiles.release(environment) }

    var longestKey: Int { Int(mdb_env_get_maxkeysize(environment.handle)) }

    func read(timeout: Double) throws(StoreError) -> LMDBReading { try LMDBReading(self, timeout: timeout) }

    func write(bytes: Int, timeout: Double) throws(StoreError) -> LMDBWriting {
      try LMDBWriting(self, bytes: bytes, timeout: timeout)
    }
  }
#endif
