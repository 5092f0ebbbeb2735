#if LMDB
  import CLMDB
  import Foundation
  import KeyValueEngine
  import StoreProtocol
  import StoreSupport

  /// A view of a file, not bound to a thread.
  final class LMDBReading: KeyValueReading {
    private let environment: LMDBEnvironment
    private let transaction: OpaquePointer
    private let cursors: LMDBCursors
    /// Keeps the environment open.
    private let map: LMDBMap
    let commitNumber: UInt64
    private let timeout: Double
    /// When the lock file was last seen, in nanoseconds.
    private var lockFileSeen = 0

    init(_ map: LMDBMap, timeout: Double) throws(StoreError) {
      (self.map, self.timeout) = (map, timeout)
      environment = map.environment
      transaction = try environment.beginReading(timeout: timeout)
      cursors = LMDBCursors(transaction, environment)
      commitNumber = UInt64(mdb_txn_id(transaction))
    }

    deinit {
      if environment.belongsToProcess { cursors.close() }
      environment.end(transaction)
    }

    func check() throws(StoreError) {
      // A process with another lock file overwrites pages that this transaction reads, but only after it has opened the
      // file and checked it.
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      let now = time.tv_sec &* 1_000_000_000 &+ time.tv_nsec
      if now &- lockFileSeen > 500_000 {
        try environment.checkLockFile()
        lockFileSeen = now
      }
      try environment.checkSize()
    }

    /// Verifies the last state, while nobody writes.
    func verify() throws(StoreError) {
      // Not by the descriptor of the environment, which may hold the lock of a save.
      guard let file = try LMDBFile.open(environment.path, isReadOnly: true) else {
        throw StoreError(
          .notFound, "The store file was removed. Put it back, or open another store.",
          context: ["path": environment.path])
      }
      try LMDBPages.last(of: file, until: Date(timeIntervalSinceNow: timeout)) { (pages, _) throws(StoreError) in
        try LMDBVerification(pages).run()
      }
    }

    func value(_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer? {
      try cursors.lookUp(space, key)
    }

    func first(
      _ space: KeySpace, from key: UnsafeRawBufferPointer
    ) throws(StoreError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
      try cursors.first(space, from: key)
    }

    func scan(
      _ space: KeySpace, from key: UnsafeRawBufferPointer,
      _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
      try cursors.scan(space, from: key, body)
    }

    func scanBackwards(
      _ space: KeySpace, before key: UnsafeRawBufferPointer,
      _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
      try cursors.scanBackwards(space, before: key, body)
    }
  }

  /// A change of a file, on one thread. It is the only writer while it lives.
  final class LMDBWriting: KeyValueWriting {
    private let map: LMDBMap
    private let environment: LMDBEnvironment
    /// Nil after its end.
    private var transaction: OpaquePointer?
    /// Cursors keep their positions, because entries written together are mostly adjacent.
    private let cursors: LMDBCursors
    /// The number of bytes of each part's greatest key, or of a greater key that has been removed; nil where it is
    /// unknown.
    private let lastCounts: UnsafeMutableBufferPointer<Int?>
    private let lastKeys: UnsafeMutableRawBufferPointer
    /// Memory for a value that LMDB copies.
    private var scratch = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    let commitNumber: UInt64

    private static let longestKey = 512

    init(_ map: LMDBMap, bytes: Int, timeout: Double) throws(StoreError) {
      self.map = map
      environment = map.environment
      let transaction = try environment.beginWriting(bytes: bytes, timeout: timeout)
      self.transaction = transaction
      cursors = LMDBCursors(transaction, environment)
      lastKeys = .allocate(byteCount: Self.longestKey * KeySpace.allCases.count, alignment: 8)
      lastCounts = .allocate(capacity: KeySpace.allCases.count)
      lastCounts.initialize(repeating: nil)
      commitNumber = UInt64(mdb_txn_id(transaction))
    }

    deinit {
      lastKeys.deallocate()
      lastCounts.deallocate()
      scratch.deallocate()
      guard let transaction, environment.belongsToProcess else { return }
      cursors.close()
      mdb_txn_abort(transaction)
      environment.endWriting()
    }

    func check() throws(StoreError) { try environment.checkSize() }

    func value(_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer? {
      try cursors.value(space, key)
    }

    func first(
      _ space: KeySpace, from key: UnsafeRawBufferPointer
    ) throws(StoreError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
      if let last = last(space), keyPrecedes(last, key) { return nil }
      return try cursors.first(space, from: key)
    }

    func scan(
      _ space: KeySpace, from key: UnsafeRawBufferPointer,
      _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
      try cursors.scan(space, from: key, body)
    }

    func scanBackwards(
      _ space: KeySpace, before key: UnsafeRawBufferPointer,
      _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
      try cursors.scanBackwards(space, before: key, body)
    }

    func put(
      _ space: KeySpace, _ key: UnsafeRawBufferPointer, count: Int, isAtHand: Bool,
      _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(StoreError) {
      let cursor = try cursors.cursor(space)
      if isAtHand { return try replace(cursor, key, count, fill) }
      var (name, data) = (LMDBCursors.value(key), MDB_val(mv_size: count, mv_data: nil))
      // Pages are filled completely where keys are added at the end, and split in halves elsewhere.
      let isBehind = isBehind(space, key, cursor)
      let flags = MDB_RESERVE | (isBehind ? MDB_APPEND : 0)
      let result = mdb_cursor_put(cursor, &name, &data, UInt32(flags))
      guard result == MDB_SUCCESS, let start = data.mv_data else { throw writeError(result) }
      fill(UnsafeMutableRawBufferPointer(start: start, count: count))
      if isBehind { setLast(space, key) }
    }

    /// Gives the key at a cursor another value. LMDB saves the search only if it gets the value itself: with any flag
    /// besides the one for the current key it searches again.
    private func replace(
      _ cursor: OpaquePointer, _ key: UnsafeRawBufferPointer, _ count: Int,
      _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(StoreError) {
      if scratch.count < count {
        scratch.deallocate()
        scratch = .allocate(byteCount: max(count, 2 * scratch.count, 1024), alignment: 16)
      }
      let bytes = UnsafeMutableRawBufferPointer(rebasing: scratch[..<count])
      fill(bytes)
      var (name, data) = (LMDBCursors.value(key), MDB_val(mv_size: count, mv_data: bytes.baseAddress))
      let result = mdb_cursor_put(cursor, &name, &data, UInt32(MDB_CURRENT))
      if result != MDB_SUCCESS { throw writeError(result) }
    }

    /// Whether a key is greater than all others. Looked up only in spaces that are mostly written in key order.
    private func isBehind(_ space: KeySpace, _ key: UnsafeRawBufferPointer, _ cursor: OpaquePointer) -> Bool {
      if space != .rows && space != .links { return false }
      if lastCounts[space.rawValue] == nil {
        var (name, data) = (MDB_val(), MDB_val())
        let found = mdb_cursor_get(cursor, &name, &data, MDB_LAST)
        if found != MDB_SUCCESS && found != MDB_NOTFOUND { return false }
        setLast(space, found == MDB_SUCCESS ? LMDBCursors.bytes(name) : UnsafeRawBufferPointer(start: nil, count: 0))
      }
      return last(space).map { keyPrecedes($0, key) } ?? false
    }

    private func last(_ space: KeySpace) -> UnsafeRawBufferPointer? {
      lastCounts[space.rawValue].map { count in
        let start = space.rawValue * Self.longestKey
        return UnsafeRawBufferPointer(rebasing: lastKeys[start..<(start + count)])
      }
    }

    private func setLast(_ space: KeySpace, _ key: UnsafeRawBufferPointer) {
      guard key.count <= Self.longestKey else { return }
      let start = space.rawValue * Self.longestKey
      UnsafeMutableRawBufferPointer(rebasing: lastKeys[start..<(start + key.count)]).copyMemory(from: key)
      lastCounts[space.rawValue] = key.count
    }

    func remove(_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
      let cursor = try cursors.cursor(space)
      var (found, value) = (LMDBCursors.value(key), MDB_val())
      var result = mdb_cursor_get(cursor, &found, &value, MDB_SET)
      if result == MDB_NOTFOUND { return false }
      if result == MDB_SUCCESS { result = mdb_cursor_del(cursor, 0) }
      if result != MDB_SUCCESS { throw writeError(result) }
      return true
    }

    func removeAll(_ space: KeySpace) throws(StoreError) {
      lastCounts[space.rawValue] = nil
      let result = mdb_drop(try open(), environment.trees[space.rawValue], 0)
      if result != MDB_SUCCESS { throw writeError(result) }
    }

    func commit() throws(StoreError) {
      let transaction = try open()
      try putCommitNumber(transaction)
      cursors.close()
      self.transaction = nil
      defer { environment.endWriting() }
      let (result, _) = FileSizeSignal.withoutIt { Int(mdb_txn_commit(transaction)) }
      if result != Int(MDB_SUCCESS) {
        throw environment.finish(
          commitNumber, LMDBError.error(Int32(result), "The store could not be written to its end", environment.path))
      }
    }

    /// Writes the number of the commit to a page that LMDB's first page leads to and that each commit writes anew. So
    /// each of the two numbers confirms the other.
    private func putCommitNumber(_ transaction: OpaquePointer) throws(StoreError) {
      var number = commitNumber.littleEndian
      var name = LMDBPages.commitKey
      let result = name.withUTF8 { name in
        withUnsafeMutableBytes(of: &number) { bytes in
          var key = LMDBCursors.value(UnsafeRawBufferPointer(name))
          var value = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
          return mdb_put(transaction, environment.listOfTrees, &key, &value, 0)
        }
      }
      if result != MDB_SUCCESS { throw writeError(result) }
    }

    private func writeError(_ result: Int32) -> StoreError {
      LMDBError.error(result, "The store cannot be written", environment.path)
    }

    private func open() throws(StoreError) -> OpaquePointer {
      guard let transaction else {
        throw StoreError(.closed, "The snapshot or transaction has ended. Begin a new one.")
      }
      return transaction
    }
  }
#endif
