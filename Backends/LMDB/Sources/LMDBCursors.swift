#if LMDB
  import CLMDB
  import Foundation
  import KeyValueEngine
  import StoreProtocol

  /// The cursors of a transaction, one a part of the map, and what is read with them.
  final class LMDBCursors {
    private let transaction: OpaquePointer
    private let trees: [MDB_dbi]
    private let path: String
    @exclusivity(unchecked) private var cursors: [OpaquePointer?]
    private var isClosed = false
    /// The key of the object whose row was looked up last.
    @exclusivity(unchecked) private var lastObject: UInt64 = 0
    /// The same, of those by the cursor of rows.
    @exclusivity(unchecked) private var lastValue: UInt64 = 0

    init(_ transaction: OpaquePointer, _ environment: LMDBEnvironment) {
      self.transaction = transaction
      trees = environment.trees
      path = environment.path
      cursors = Array(repeating: nil, count: trees.count)
    }

    /// Called before the transaction ends: those of one that writes end with it.
    func close() {
      for cursor in cursors { if let cursor { mdb_cursor_close(cursor) } }
      cursors = []
      isClosed = true
    }

    @inline(__always)
    func cursor(_ space: KeySpace) throws(StoreError) -> OpaquePointer {
      if !isClosed, let cursor = cursors[space.rawValue] { return cursor }
      return try openCursor(space)
    }

    @inline(never)
    private func openCursor(_ space: KeySpace) throws(StoreError) -> OpaquePointer {
      if isClosed { throw StoreError(.closed, "The transaction has ended.") }
      let cursor = try newCursor(space)
      cursors[space.rawValue] = cursor
      return cursor
    }

    private func newCursor(_ space: KeySpace) throws(StoreError) -> OpaquePointer {
      var cursor: OpaquePointer?
      let result = mdb_cursor_open(transaction, trees[space.rawValue], &cursor)
      guard result == MDB_SUCCESS, let cursor else {
        throw LMDBError.error(result, "The store cannot be read", path)
      }
      return cursor
    }

    func value(_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer? {
      let cursor = try cursor(space)
      var (found, value) = (Self.value(key), MDB_val())
      if space == .rows && key.count == 10 {
        let object = Self.object(key)
        defer { lastValue = object }
        // What comes in the order of the keys is mostly the next one, which needs no search.
        if object == lastValue &+ 1, mdb_cursor_get(cursor, &found, &value, MDB_NEXT) == MDB_SUCCESS,
          found.mv_size == 10, let name = found.mv_data, let wanted = key.baseAddress, memcmp(name, wanted, 10) == 0
        {
          return Self.bytes(value)
        }
        found = Self.value(key)
      }
      switch mdb_cursor_get(cursor, &found, &value, MDB_SET_KEY) {
      case MDB_SUCCESS: return Self.bytes(value)
      case MDB_NOTFOUND: return nil
      case let other: throw readError(other)
      }
    }

    /// The same, for those who only read: near the key that was looked up last by the cursor, which is there; elsewhere
    /// without it, because it would look at its own page first, which is out of the processor's reach by then.
    func lookUp(_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer? {
      if space == .rows && key.count == 10 {
        let object = Self.object(key)
        let distance = object &- lastObject
        lastObject = object
        if distance < 16 { return try value(space, key) }
      }
      if isClosed { throw StoreError(.closed, "The transaction has ended.") }
      var (name, value) = (Self.value(key), MDB_val())
      switch mdb_get(transaction, trees[space.rawValue], &name, &value) {
      case MDB_SUCCESS: return Self.bytes(value)
      case MDB_NOTFOUND: return nil
      case let other: throw readError(other)
      }
    }

    /// The number of the object in a row's key of ten bytes.
    private static func object(_ key: UnsafeRawBufferPointer) -> UInt64 {
      UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
    }

    func first(
      _ space: KeySpace, from key: UnsafeRawBufferPointer
    ) throws(StoreError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
      var (found, value) = (Self.value(key), MDB_val())
      switch mdb_cursor_get(try cursor(space), &found, &value, MDB_SET_RANGE) {
      case MDB_SUCCESS: return (Self.bytes(found), Self.bytes(value))
      case MDB_NOTFOUND: return nil
      case let other: throw readError(other)
      }
    }

    func scan(
      _ space: KeySpace, from start: UnsafeRawBufferPointer,
      _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
      let cursor = try take(space)
      defer { putBack(space, cursor) }
      var (key, data) = (Self.value(start), MDB_val())
      var result = mdb_cursor_get(cursor, &key, &data, MDB_SET_RANGE)
      while result == MDB_SUCCESS {
        if try !body(Self.bytes(key), Self.bytes(data)) { return }
        result = mdb_cursor_get(cursor, &key, &data, MDB_NEXT)
      }
      if result != MDB_NOTFOUND { throw readError(result) }
    }

    func scanBackwards(
      _ space: KeySpace, before end: UnsafeRawBufferPointer,
      _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
      let cursor = try take(space)
      defer { putBack(space, cursor) }
      var (key, data) = (Self.value(end), MDB_val())
      var result = mdb_cursor_get(cursor, &key, &data, MDB_SET_RANGE)
      result = mdb_cursor_get(cursor, &key, &data, result == MDB_NOTFOUND ? MDB_LAST : MDB_PREV)
      while result == MDB_SUCCESS {
        if try !body(Self.bytes(key), Self.bytes(data)) { return }
        result = mdb_cursor_get(cursor, &key, &data, MDB_PREV)
      }
      if result != MDB_NOTFOUND { throw readError(result) }
    }

    /// The cursor of a scan, whose body may read the same part.
    private func take(_ space: KeySpace) throws(StoreError) -> OpaquePointer {
      let cursor = try cursor(space)
      cursors[space.rawValue] = nil
      return cursor
    }

    private func putBack(_ space: KeySpace, _ cursor: OpaquePointer) {
      if !isClosed && cursors[space.rawValue] == nil {
        cursors[space.rawValue] = cursor
      } else {
        mdb_cursor_close(cursor)
      }
    }

    private func readError(_ result: Int32) -> StoreError {
      LMDBError.error(result, "The store cannot be read", path)
    }

    @inline(__always)
    static func value(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
      MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    @inline(__always)
    static func bytes(_ value: MDB_val) -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    }
  }
#endif
