#if LMDB
  import CLMDB
  import Foundation
  import StoreProtocol
  import StoreSupport

  /// Maps LMDB's result codes to store errors.
  enum LMDBError {
    static func check(_ code: Int32, _ what: @autoclosure () -> String, _ path: String) throws(StoreError) {
      if code != MDB_SUCCESS { throw error(code, what(), path) }
    }

    static func error(_ code: Int32, _ what: String, _ path: String) -> StoreError {
      StoreError(
        self.code(code), what + ".", context: ["path": path, "lmdb": String(code)],
        cause: mdb_strerror(code).map { String(cString: $0) })
    }

    /// The error for a file that was checked and does not open: LMDB did not read it completely, or the lock file is
    /// damaged.
    static func opening(_ code: Int32, _ path: String) -> StoreError {
      let error = error(code, "The store file cannot be opened", path)
      if code != MDB_INVALID { return error }
      return StoreError(
        .io,
        "The store file or the lock file beside it cannot be read. If no program uses the store, remove the lock file.",
        context: error.context, cause: error.cause)
    }

    private static func code(_ code: Int32) -> StoreError.Code {
      switch code {
      case MDB_CORRUPTED, MDB_PAGE_NOTFOUND: .corrupt
      case MDB_INVALID: .notAStore
      case MDB_VERSION_MISMATCH: .newerFormat
      case MDB_MAP_FULL, MDB_TXN_FULL: .full
      case MDB_READERS_FULL, MDB_MAP_RESIZED, EAGAIN, EBUSY: .busy
      case MDB_BAD_VALSIZE: .invalidArgument
      default: .init(systemError: code)
      }
    }

    /// The error for a call of the system that has just failed.
    static func system(_ what: String, _ path: String) -> StoreError { error(errno, what, path) }
  }
#endif
