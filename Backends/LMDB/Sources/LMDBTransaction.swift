#if LMDB
  import CLMDB
  import Foundation
  import KeyValueEngine
  import StoreProtocol

  /// A view of a file, bound to no thread.
  final class LMDBReading: KeyValueReading {
    private let environment: LMDBEnvironment
    private let transaction: OpaquePointer
    /// Keeps the environment open.
    private let map: LMDBMap
    let commitNumber: UInt64

    init(_ map: LMDBMap, timeout: Double) throws(StoreError) {
      self.map = map
      environment = map.environment
      transaction = try environment.beginReading(timeout: timeout)
      commitNumber = UInt64(mdb_txn_id(transaction))
    }

    deinit { environment.end(transaction) }

    func value(_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer? {
      return try LMDBAccess.value(transaction, environment.trees[space.rawValue], key, environment.path)
    }

    func scan(
      _ space: KeySpace, from key: UnsafeRawBufferPointer,
      _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
      try LMDBAccess.scan(transaction, environment.trees[space.rawValue], from: key, environment.path, body)
    }
  }

  /// A change of a file, on one thread. The caller alone writes as long as it lives.
  final class LMDBWriting: KeyValueWriting {
    private let map: LMDBMap
    private let environment: LMDBEnvironment
    /// Nil after its end.
    private var transaction: OpaquePointer?
    /// One a part, kept where it was: what is written together mostly lies together.
    private var cursors: [OpaquePointer?] = Array(repeating: nil, count: KeySpace.allCases.count)
    /// The greatest key of a part, or a greater one that has been removed; nil where it is not known.
    private var last: [[UInt8]?] = Array(repeating: nil, count: KeySpace.allCases.count)
    let commitNumber: UInt64

    init(_ map: LMDBMap, bytes: Int, timeout: Double) throws(StoreError) {
      self.map = map
      environment = map.environment
      transaction = try environment.beginWriting(bytes: bytes, timeout: timeout)
      commitNumber = UInt64(mdb_txn_id(transaction))
    }

    deinit {
      guard let transaction, environment.belongsToProcess else { return }
      closeCursors()
      mdb_txn_abort(transaction)
      environment.endWriting()
    }

    func value(_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer? {
      var (found, value) = (LMDBAccess.value(key), MDB_val())
      switch mdb_cursor_get(try cursor(space), &found, &value, MDB_SET_KEY) {
      case MDB_SUCCESS: return LMDBAccess.bytes(value)
      case MDB_NOTFOUND: return nil
      case let other: throw LMDBError.error(other, "The store cannot be read", environment.path)
      }
    }

    func scan(
      _ space: KeySpace, from key: UnsafeRawBufferPointer,
      _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
      try LMDBAccess.scan(try open(), environment.trees[space.rawValue], from: key, environment.path, body)
    }

    func put(_ space: KeySpace, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) {
      let cursor = try cursor(space)
      var (name, data) = (LMDBAccess.value(key), LMDBAccess.value(value))
      // Behind all others pages are filled to their end; elsewhere they are split in halves.
      let flags = isBehind(space, key, cursor) ? UInt32(MDB_APPEND) : 0
      let result = mdb_cursor_put(cursor, &name, &data, flags)
      if flags != 0 { last[space.rawValue] = Array(key) }
      if result != MDB_SUCCESS { throw writeError(result) }
    }

    /// Whether a key is greater than all others. Asked in spaces only that are mostly written in the order of their keys.
    private func isBehind(_ space: KeySpace, _ key: UnsafeRawBufferPointer, _ cursor: OpaquePointer) -> Bool {
      if space != .rows && space != .links { return false }
      if last[space.rawValue] == nil {
        var (name, data) = (MDB_val(), MDB_val())
        let found = mdb_cursor_get(cursor, &name, &data, MDB_LAST)
        if found != MDB_SUCCESS && found != MDB_NOTFOUND { return false }
        last[space.rawValue] = found == MDB_SUCCESS ? Array(LMDBAccess.bytes(name)) : []
      }
      return last[space.rawValue]?.withUnsafeBytes { keyPrecedes($0, key) } ?? false
    }

    func remove(_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
      let cursor = try cursor(space)
      var (found, value) = (LMDBAccess.value(key), MDB_val())
      var result = mdb_cursor_get(cursor, &found, &value, MDB_SET)
      if result == MDB_NOTFOUND { return false }
      if result == MDB_SUCCESS { result = mdb_cursor_del(cursor, 0) }
      if result != MDB_SUCCESS { throw writeError(result) }
      return true
    }

    func removeAll(_ space: KeySpace) throws(StoreError) {
      last[space.rawValue] = nil
      let result = mdb_drop(try open(), environment.trees[space.rawValue], 0)
      if result != MDB_SUCCESS { throw writeError(result) }
    }

    func commit() throws(StoreError) {
      let transaction = try open()
      closeCursors()
      self.transaction = nil
      defer { environment.endWriting() }
      let (result, _) = FileSizeSignal.withoutIt { Int(mdb_txn_commit(transaction)) }
      if result != Int(MDB_SUCCESS) {
        throw environment.settle(
          commitNumber, LMDBError.error(Int32(result), "The store could not be written to its end", environment.path))
      }
    }

    private func writeError(_ result: Int32) -> StoreError {
      LMDBError.error(result, "The store cannot be written", environment.path)
    }

    private func open() throws(StoreError) -> OpaquePointer {
      guard let transaction else { throw StoreError(.closed, "The transaction has ended.") }
      return transaction
    }

    private func cursor(_ space: KeySpace) throws(StoreError) -> OpaquePointer {
      if let cursor = cursors[space.rawValue] { return cursor }
      var cursor: OpaquePointer?
      let result = mdb_cursor_open(try open(), environment.trees[space.rawValue], &cursor)
      guard result == MDB_SUCCESS, let cursor else { throw writeError(result) }
      cursors[space.rawValue] = cursor
      return cursor
    }

    /// Those of a transaction that writes end with it.
    private func closeCursors() {
      for cursor in cursors { if let cursor { mdb_cursor_close(cursor) } }
      cursors = []
    }
  }

  /// What reading and writing transactions share.
  enum LMDBAccess {
    @inline(__always)
    static func value(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
      MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    @inline(__always)
    static func bytes(_ value: MDB_val) -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    }

    @inline(__always)
    static func value(
      _ transaction: OpaquePointer, _ tree: MDB_dbi, _ key: UnsafeRawBufferPointer, _ path: String
    ) throws(StoreError) -> UnsafeRawBufferPointer? {
      var (name, data) = (value(key), MDB_val())
      switch mdb_get(transaction, tree, &name, &data) {
      case MDB_SUCCESS: return bytes(data)
      case MDB_NOTFOUND: return nil
      case let other: throw LMDBError.error(other, "The store cannot be read", path)
      }
    }

    static func scan(
      _ transaction: OpaquePointer, _ tree: MDB_dbi, from start: UnsafeRawBufferPointer, _ path: String,
      _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
      var cursor: OpaquePointer?
      try LMDBError.check(mdb_cursor_open(transaction, tree, &cursor), "The store cannot be read", path)
      defer { mdb_cursor_close(cursor) }
      var (key, data) = (value(start), MDB_val())
      var result = mdb_cursor_get(cursor, &key, &data, MDB_SET_RANGE)
      while result == MDB_SUCCESS {
        if try !body(bytes(key), bytes(data)) { return }
        result = mdb_cursor_get(cursor, &key, &data, MDB_NEXT)
      }
      if result != MDB_NOTFOUND { throw LMDBError.error(result, "The store cannot be read", path) }
    }
  }
#endif
