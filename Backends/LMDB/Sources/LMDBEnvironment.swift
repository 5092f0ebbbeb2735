#if LMDB
  import CLMDB
  import Foundation
  import KeyValueEngine
  import StoreProtocol
  import StoreSupport

  /// LMDB's environment of a file, one for each file and process, shared by all stores on the file.
  ///
  /// Sendable, unchecked: `gate` guards the mutable state, and `writing` makes writers take turns.
  final class LMDBEnvironment: @unchecked Sendable {
    let file: LMDBFile
    let key: LMDBOpenFiles.Key
    var path: String { file.path }
    var isReadOnly: Bool { key.isReadOnly }
    /// One tree for each part of the map.
    private(set) var trees: [MDB_dbi] = []
    /// LMDB's own tree, which lists the other trees by name.
    private(set) var listOfTrees: MDB_dbi = 0
    private(set) var handle: OpaquePointer?
    private var mapSize: Int
    private let process = ProcessCopy.current
    /// A descriptor of the lock file, to see whether the file still exists. It is closed after LMDB's own, because
    /// closing it releases LMDB's locks.
    private(set) var lockFile: Int32 = -1

    private let gate = NSCondition()
    /// The number of open transactions, and the transactions kept for reuse. Guarded by `gate`.
    private var readers = 0
    private var idle: [OpaquePointer] = []
    /// While the map is changed nobody reads.
    private var isChanging = false
    private var isClosed = false

    let writing = NSLock()
    /// Whether a commit failed in a way that LMDB must open the file anew. Guarded by `writing`.
    var isFailed = false
    private var writes = 0
    /// The former content of the page that the running commit will replace. Guarded by `writing`.
    private(set) var formerMeta: [UInt8] = []

    static let readerSlots: UInt32 = 510

    /// Maps a file whose first pages were checked. LMDB reads no other page before ``openTrees()``. `mapSize` is how
    /// many bytes of addresses, not of memory, are reserved at first.
    init(_ file: LMDBFile, _ key: LMDBOpenFiles.Key, mapSize: Int) throws(StoreError) {
      (self.file, self.key, self.mapSize) = (file, key, mapSize)
      try open()
    }

    // MARK: Opening

    func open() throws(StoreError) {
      let needed = Int(clamping: try file.size()) + 1 << 20
      mapSize = max(mapSize, needed)
      while true {
        let result = try openOnce()
        if result == MDB_SUCCESS { break }
        // Where addresses are scarce, fewer are reserved; the map grows when it must.
        guard result == ENOMEM || result == EINVAL, mapSize / 2 >= needed else {
          throw LMDBError.opening(result, path)
        }
        mapSize /= 2
      }
      do throws(StoreError) {
        if !isReadOnly {
          lockFile = Foundation.open(path + Self.lockSuffix, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
          if lockFile < 0 { throw StoreError.system("The lock file cannot be opened", path + Self.lockSuffix) }
        }
        guard let handle, Self.identity(handle) == file.identity else {
          throw StoreError(
            .busy, "The store file was replaced while it was opened; open it again.", context: ["path": path])
        }
        if !isReadOnly { mdb_reader_check(handle, nil) }
      } catch {
        closeHandle()
        throw error
      }
    }

    static let lockSuffix = "-lock"

    private func openOnce() throws(StoreError) -> Int32 {
      try LMDBError.check(mdb_env_create(&handle), "No environment can be made", path)
      mdb_env_set_mapsize(handle, mapSize)
      mdb_env_set_maxdbs(handle, UInt32(KeySpace.allCases.count))
      mdb_env_set_maxreaders(handle, Self.readerSlots)
      let flags = MDB_NOSUBDIR | MDB_NOTLS | (isReadOnly ? MDB_RDONLY | MDB_NOLOCK : 0)
      // Users who may use the store may use the lock file.
      let result = mdb_env_open(handle, path, UInt32(flags), mode_t(try file.mode() & 0o666))
      if result != MDB_SUCCESS {
        mdb_env_close(handle)
        handle = nil
      }
      return result
    }

    private static func identity(_ handle: OpaquePointer) -> LMDBFile.Identity? {
      var descriptor: mdb_filehandle_t = -1
      var status = stat()
      guard mdb_env_get_fd(handle, &descriptor) == MDB_SUCCESS, fstat(descriptor, &status) == 0 else { return nil }
      return LMDBFile.Identity(FileStatus(status))
    }

    /// Looks up the numbers of the trees. In a new writable file it makes the trees.
    func openTrees() throws(StoreError) {
      var transaction: OpaquePointer?
      if isReadOnly { try file.share(until: Date(timeIntervalSinceNow: 60)) }
      defer { if isReadOnly { file.unshare() } }
      let isNew = trees.isEmpty && isEmpty
      try LMDBError.check(
        mdb_txn_begin(handle, nil, isNew ? 0 : UInt32(MDB_RDONLY), &transaction), "The store cannot be read", path)
      trees = []
      for name in [nil] + KeySpace.allCases.map(\.name) as [String?] {
        var number: MDB_dbi = 0
        let result = mdb_dbi_open(transaction, name, isNew && name != nil ? UInt32(MDB_CREATE) : 0, &number)
        if result != MDB_SUCCESS {
          mdb_txn_abort(transaction)
          throw LMDBError.error(
            result == MDB_NOTFOUND ? MDB_CORRUPTED : result, "The store has not all its parts", path)
        }
        if name == nil {
          listOfTrees = number
        } else {
          mdb_set_compare(transaction, number, cd_lmdb_compare)
          trees.append(number)
        }
      }
      try LMDBError.check(mdb_txn_commit(transaction), "The store's parts cannot be made", path)
    }

    private var isEmpty: Bool {
      var info = MDB_envinfo()
      return !isReadOnly && mdb_env_info(handle, &info) == MDB_SUCCESS && info.me_last_txnid == 0
    }

    /// Called when the last user is gone.
    func close() {
      // A child process must not touch its parent's open files.
      guard belongsToProcess else { return }
      gate.withLock { isClosed = true }
      closeHandle()
    }

    func closeHandle() {
      for transaction in idle { mdb_txn_abort(transaction) }
      idle = []
      if let handle { mdb_env_close(handle) }
      handle = nil
      if lockFile >= 0 { _ = Foundation.close(lockFile) }
      lockFile = -1
    }

    var belongsToProcess: Bool { ProcessCopy.current == process }

    private func requireProcess() throws(StoreError) {
      if !belongsToProcess {
        throw StoreError(
          .closed, "The store was opened by the parent process; a child process must open it itself.",
          context: ["path": path])
      }
    }

    var pageSize: Int {
      var stat = MDB_stat()
      return mdb_env_stat(handle, &stat) == MDB_SUCCESS ? Int(stat.ms_psize) : 4096
    }

    // MARK: Reading

    /// A read transaction, to be returned to ``end(_:)``.
    func beginReading(timeout: Double) throws(StoreError) -> OpaquePointer {
      try requireProcess()
      let deadline = Date(timeIntervalSinceNow: timeout)
      if isReadOnly { try file.share(until: deadline) }
      do throws(StoreError) { return try beginReading(until: deadline) } catch {
        if isReadOnly { file.unshare() }
        throw error
      }
    }

    private func beginReading(until deadline: Date) throws(StoreError) -> OpaquePointer {
      try checkLockFile()
      while true {
        let transaction = try takeSlot(until: deadline)
        let (result, begun) = begin(transaction)
        if result == MDB_SUCCESS, let begun {
          do { try checkSize() } catch {
            leaveSlot(begun, isUsable: false)
            throw error
          }
          return begun
        }
        leaveSlot(nil, isUsable: false)
        if result == MDB_MAP_RESIZED {
          // Another process has made the file grow.
          try changeMap(until: deadline) { (handle) throws(StoreError) in try self.adoptMap(handle) }
        } else if result == MDB_PANIC {
          try recover(deadline)
        } else if result != MDB_READERS_FULL || mdb_reader_check(handle, nil) != MDB_SUCCESS || Date() >= deadline {
          throw LMDBError.error(result, "No view of the store can be had", path)
        } else {
          usleep(1000)
        }
      }
    }

    /// Waits until the map does not change, and counts a reader. Returns a transaction for reuse, where there is one.
    private func takeSlot(until deadline: Date) throws(StoreError) -> OpaquePointer? {
      gate.lock()
      defer { gate.unlock() }
      while isChanging {
        if !gate.wait(until: deadline) {
          throw StoreError(.busy, "The store's memory map is changing; try again.", context: ["path": path])
        }
      }
      if isClosed { throw StoreError(.closed, "The store was closed; open it again.") }
      readers += 1
      return idle.popLast()
    }

    private func begin(_ used: OpaquePointer?) -> (Int32, OpaquePointer?) {
      // The file could not be opened anew after a failed commit.
      guard let handle else { return (MDB_PANIC, nil) }
      if let used {
        let result = mdb_txn_renew(used)
        if result == MDB_SUCCESS { return (result, used) }
        mdb_txn_abort(used)
        return (result, nil)
      }
      var transaction: OpaquePointer?
      let result = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
      return (result, transaction)
    }

    private func leaveSlot(_ transaction: OpaquePointer?, isUsable: Bool) {
      gate.lock()
      defer { gate.unlock() }
      if let transaction {
        if isUsable && idle.count < 8 {
          mdb_txn_reset(transaction)
          idle.append(transaction)
        } else {
          mdb_txn_abort(transaction)
        }
      }
      readers -= 1
      gate.broadcast()
    }

    func end(_ transaction: OpaquePointer) {
      guard belongsToProcess else { return }
      leaveSlot(transaction, isUsable: true)
      if isReadOnly { file.unshare() }
    }

    // MARK: Writing

    /// A write transaction for about `bytes` bytes, ended by ``endWriting(_:)`` on the same thread.
    func beginWriting(bytes: Int, timeout: Double) throws(StoreError) -> OpaquePointer {
      try requireProcess()
      let deadline = Date(timeIntervalSinceNow: timeout)
      guard writing.lock(before: deadline) else {
        throw StoreError(
          .busy, "Another save has taken longer than the timeout; try again.", context: ["path": path])
      }
      do throws(StoreError) {
        try file.lockExclusively(until: deadline)
        do throws(StoreError) { return try beginAlone(bytes, deadline) } catch {
          file.unlock()
          throw error
        }
      } catch {
        writing.unlock()
        throw error
      }
    }

    private func beginAlone(_ bytes: Int, _ deadline: Date) throws(StoreError) -> OpaquePointer {
      if LMDBFile.Identity(path) != file.identity {
        throw StoreError(
          .io, "The store file was moved, removed or replaced since it was opened; open it again.",
          context: ["path": path])
      }
      if isFailed { try reopen(deadline) }
      try checkLockFile()
      try checkSize()
      writes += 1
      if writes & 63 == 0 { mdb_reader_check(handle, nil) }
      var hasGrown = false
      while true {
        var transaction: OpaquePointer?
        let result = mdb_txn_begin(handle, nil, 0, &transaction)
        if result == MDB_MAP_RESIZED {
          try changeMap(until: deadline) { (handle) throws(StoreError) in try self.adoptMap(handle) }
          continue
        }
        guard result == MDB_SUCCESS, let transaction else {
          throw LMDBError.error(result, "The store cannot be written", path)
        }
        let required = self.required(bytes)
        if required <= mapSize || hasGrown {
          formerMeta = try LMDBMeta.bytes(of: file, UInt64(mdb_txn_id(transaction)), pageSize)
          return transaction
        }
        mdb_txn_abort(transaction)
        hasGrown = true
        // Where views do not end in time, the rest of the map must suffice.
        do throws(StoreError) {
          try changeMap(until: deadline) { (handle) throws(StoreError) in try self.grow(handle, to: required) }
        } catch {
          if error.code != .busy { throw error }
        }
      }
    }

    /// The size that the map must have: at most every used page is written anew, and each change takes a path of pages
    /// in each part.
    private func required(_ bytes: Int) -> Int {
      var info = MDB_envinfo()
      mdb_env_info(handle, &info)
      // The number is read from the map and may be damaged; no file has so many pages.
      let inUse = (min(max(0, Int(info.me_last_pgno)), 1 << 40) + 1) * pageSize
      return inUse + min(inUse, bytes * 128) + bytes * 4 + 1 << 20
    }

    private func grow(_ handle: OpaquePointer, to required: Int) throws(StoreError) {
      let size = max(required, mapSize * 2)
      try LMDBError.check(mdb_env_set_mapsize(handle, size), "The store's map cannot grow", path)
      mapSize = size
    }

    private func adoptMap(_ handle: OpaquePointer) throws(StoreError) {
      var info = MDB_envinfo()
      try LMDBError.check(mdb_env_set_mapsize(handle, 0), "The store's map cannot grow", path)
      mdb_env_info(handle, &info)
      // The file may hold more than its header states.
      let needed = Int(clamping: try file.size()) + 1 << 20
      mapSize = max(info.me_mapsize, needed)
      if mapSize > info.me_mapsize {
        try LMDBError.check(mdb_env_set_mapsize(handle, mapSize), "The store's map cannot grow", path)
      }
    }

    private func changeMap(
      until deadline: Date, _ body: (OpaquePointer) throws(StoreError) -> Void
    ) throws(StoreError) {
      try whileNobodyReads(until: deadline) { () throws(StoreError) in
        for transaction in idle { mdb_txn_abort(transaction) }
        idle = []
        guard let handle else { throw StoreError(.closed, "The store was closed; open it again.") }
        try body(handle)
      }
    }

    /// Calls `body` while this process has no view of the file. Throws `busy` where views do not end in time.
    func whileNobodyReads(until deadline: Date, _ body: () throws(StoreError) -> Void) throws(StoreError) {
      gate.lock()
      defer { gate.unlock() }
      isChanging = true
      defer {
        isChanging = false
        gate.broadcast()
      }
      while readers > 0 {
        if !gate.wait(until: deadline) {
          throw StoreError(
            .busy,
            "The store's memory map must change, but snapshots of the store are in use. Release them and try again.",
            context: ["path": path])
        }
      }
      try body()
    }

    /// Ends the write that ``beginWriting(bytes:timeout:)`` began, after the transaction has ended.
    func endWriting() {
      file.unlock()
      writing.unlock()
    }
  }
#endif
