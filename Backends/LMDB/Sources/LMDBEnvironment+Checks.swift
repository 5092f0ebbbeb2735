#if LMDB
  import CLMDB
  import Foundation
  import StoreProtocol

  /// What somebody may have taken away while the file is open.
  extension LMDBEnvironment {
    /// Throws `corrupt` where somebody has cut off what a transaction would read through the map: that would end the
    /// process. What is cut off between this and the reading is not met by anything.
    func checkSize() throws(StoreError) {
      let size = try file.size()
      // LMDB reads the two pages that say what the last state is.
      if size < 2 * Int64(pageSize) { throw LMDBMeta.damaged("It is cut off", file) }
      var info = MDB_envinfo()
      mdb_env_info(handle, &info)
      // The number of the last page is read from the map, and so may be any number by now.
      let last = Int64(info.me_last_pgno)
      func ends(before last: Int64, _ size: Int64) -> Bool { last < 0 || size / Int64(pageSize) <= last }
      // A commit may have let the file grow between the two looks.
      let isShort = if ends(before: last, size) { try ends(before: last, file.size()) } else { false }
      if isShort { throw LMDBMeta.damaged("It is shorter than it says", file) }
    }

    /// Throws where somebody has taken away the lock file, in which those who write see who reads.
    func checkLockFile() throws(StoreError) {
      if isReadOnly || handle == nil { return }
      if LMDBFile.hasName(lockFile) { return }
      throw StoreError(
        .io, "Somebody has removed the lock file beside the store while it was in use; open the store again.",
        context: ["path": path + Self.lockSuffix])
    }
  }
#endif
