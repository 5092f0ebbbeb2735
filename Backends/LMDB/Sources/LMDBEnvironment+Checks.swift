#if LMDB
  import CLMDB
  import Foundation
  import StoreProtocol

  /// Checks for files that another program has removed or truncated while the file is open.
  extension LMDBEnvironment {
    /// Throws `corrupt` where the file was truncated below what a transaction would read through the map, which would
    /// end the process. Truncation between this check and the read is not found.
    func checkSize() throws(StoreError) {
      let size = try file.size()
      // LMDB reads the two pages that name the last state.
      if size < 2 * Int64(pageSize) { throw LMDBMeta.damaged("It is cut off", file) }
      var info = MDB_envinfo()
      mdb_env_info(handle, &info)
      // The number of the last page is read from the map, so it may be any number.
      let last = Int64(info.me_last_pgno)
      func ends(before last: Int64, _ size: Int64) -> Bool { last < 0 || size / Int64(pageSize) <= last }
      // A commit may have made the file grow between the two looks.
      let isShort = if ends(before: last, size) { try ends(before: last, file.size()) } else { false }
      if isShort { throw LMDBMeta.damaged("It is shorter than it says", file) }
    }

    /// Throws where the lock file was removed, in which writers see the readers.
    func checkLockFile() throws(StoreError) {
      if isReadOnly || handle == nil { return }
      if LMDBFile.hasName(lockFile) { return }
      throw StoreError(
        .io, "The lock file beside the store was removed while the store was in use. Open the store again.",
        context: ["path": path + Self.lockSuffix])
    }
  }
#endif
