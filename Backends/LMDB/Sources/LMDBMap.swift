#if LMDB
  import CLMDB
  import Foundation
  import KeyValueEngine
  import StoreProtocol

  /// A use of an environment, which is open as long as one of them lives.
  final class LMDBMap: KeyValueMap {
    let environment: LMDBEnvironment

    /// Opens the file at `path`, nil where there is none. The whole file is verified where this process does not have
    /// it open and it is not sealed.
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
          try Self.requireOwnLockFile(environment, deadline, timeout)
          try Self.verify(environment, timeout)
        } catch {
          environment.close()
          throw error
        }
        return environment
      }
    }

    /// Throws `busy` where the lock file is that of another file, which had the name before and which a process has
    /// open. LMDB takes the number of the last commit from the lock file, and would go on from an earlier commit of
    /// this file.
    private static func requireOwnLockFile(
      _ environment: LMDBEnvironment, _ deadline: Date, _ timeout: Double
    ) throws(StoreError) {
      if environment.isReadOnly { return }
      // Nobody commits meanwhile.
      try environment.file.share(until: deadline)
      defer { environment.file.unshare() }
      let transaction = try environment.beginReading(timeout: timeout)
      defer { environment.end(transaction) }
      let number = UInt64(mdb_txn_id(transaction))
      let metas = try LMDBMeta.both(of: environment.file)
      // The former one where a writer was killed before it had told others of its commit.
      if [metas.last, metas.former].contains(where: { $0.commitNumber == number }) { return }
      throw StoreError(
        .busy,
        "Another process has the store open that was here before; this one can be opened when it has closed that.",
        context: ["path": environment.path])
    }

    /// Of a file that this process alone knows of, and has just made.
    init(making file: LMDBFile, mapSize: Int) throws(StoreError) {
      let key = LMDBOpenFiles.Key(identity: file.identity, isReadOnly: false)
      environment = try LMDBOpenFiles.environment(key) { () throws(StoreError) in
        try LMDBEnvironment(file, key, mapSize: mapSize)
      }
    }

    deinit { LMDBOpenFiles.release(environment) }

    /// Looks at all pages of a state that cannot change meanwhile, because a transaction holds it; nothing to do where
    /// the seal holds.
    private static func verify(_ environment: LMDBEnvironment, _ timeout: Double) throws(StoreError) {
      if LMDBSeal.holds(environment.file) { return }
      let mark = environment.isReadOnly ? nil : LMDBSeal.mark(environment.file)
      let transaction = try environment.beginReading(timeout: timeout)
      defer { environment.end(transaction) }
      let number = UInt64(mdb_txn_id(transaction))
      let metas = try LMDBMeta.bothWhileOthersWrite(of: environment.file)
      guard let meta = [metas.last, metas.former].first(where: { $0.commitNumber == number }) else {
        // Others have written twice since; who writes has looked at the file.
        return
      }
      try LMDBVerification(LMDBPages(environment.file, meta)).run()
      if let mark { LMDBSeal.set(environment.file, markedBy: mark) }
    }

    var longestKey: Int { Int(mdb_env_get_maxkeysize(environment.handle)) }

    func read(timeout: Double) throws(StoreError) -> LMDBReading { try LMDBReading(self, timeout: timeout) }

    func write(bytes: Int, timeout: Double) throws(StoreError) -> LMDBWriting {
      try LMDBWriting(self, bytes: bytes, timeout: timeout)
    }
  }
#endif
