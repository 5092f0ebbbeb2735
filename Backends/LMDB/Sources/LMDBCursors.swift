#if LMDB
  import CLMDB
  import Foundation
  import KeyValueEngine
  import StoreProtocol

  /// The cursors of a transaction, one for each part of the map, and the entries read with them.
  final class LMDBCursors {
    private let transaction: OpaquePointer
    private let trees: [MDB_dbi]
    private let path: String
    private let cursors: UnsafeMutableBufferPointer<OpaquePointer?>
    private var isClosed = false
    /// The key of the object whose row was looked up last.
    private var lastObject: UInt64 = 0
    /// The same for the cursor of rows.
    private var lastValue: UInt64 = 0

    init(_ transaction: OpaquePointer, _ environment: LMDBEnvironment) {
      self.transaction = transaction
      trees = environment.trees
      path = environment.path
      cursors = .allocate(capacity: trees.count)
      cursors.initialize(repeating: nil)
    }

    deinit { cursors.deallocate() }

    /// Called before the transaction ends. The cursors of a write transaction end with it.
    func close() {
      for cursor in cursors { if let cursor { mdb_cursor_close(cursor) } }
      cursors.update(repeating: nil)
      isClosed = true
    }

    @inline(__always)
    func cursor(_ space: KeySpace) throws(StoreError) -> OpaquePointer {
      if !isClosed, let cursor = cursors[space.rawValue] { return cursor }
      return try openCursor(space)
    }

    @inline(never)
    private func openCursor(_ space: KeySpace) throws(StoreError) -> OpaquePointer {
      if isClosed { throw StoreError(.closed, "The snapshot or transaction has ended. Begin a new one.") }
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
        // In key order the next key is mostly the next entry, which needs no search.
        if object == lastValue &+ 1, mdb_cursor_get(cursor, &found, &value, MDB_NEXT) == MDB_SUCCESS,
          found.mv_size == 10, let name = found.mv_data, let required = key.baseAddress, memcmp(name, required, 10) == 0
        {
          return Self.bytes(value)
        }
        found = Self.value(key)
      }
      switch mdb_cursor_get(cursor, &found, &value, MDB_SET_KEY) {
      case MDB_SUCCESS: return Self.bytes(value)
      case MDB_NOTFOUND: return try absent(space, key)
      case let other: throw readError(other)
      }
    }

    /// The same for transactions that only read. It uses the cursor near the key that was looked up last. Elsewhere it
    /// searches without the cursor, which would first read its own page, by then out of the processor's cache.
    func lookUp(_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer? {
      if space == .rows && key.count == 10 {
        let object = Self.object(key)
        let distance = object &- lastObject
        lastObject = object
        if distance < 16 { return try value(space, key) }
      }
      if isClosed { throw StoreError(.closed, "The snapshot or transaction has ended. Begin a new one.") }
      var (name, value) = (Self.value(key), MDB_val())
      switch mdb_get(transaction, trees[space.rawValue], &name, &value) {
      case MDB_SUCCESS: return Self.bytes(value)
      case MDB_NOTFOUND: return try absent(space, key)
      case let other: throw readError(other)
      }
    }

    /// The number of the object in a row's key of ten bytes.
    private static func object(_ key: UnsafeRawBufferPointer) -> UInt64 {
      UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
    }

    // MARK: Searches

    /// Nil for a key that a search has not found. Throws `corrupt` where damage may hide the entry.
    @inline(never)
    private func absent(
      _ space: KeySpace, _ key: UnsafeRawBufferPointer
    ) throws(StoreError) -> UnsafeRawBufferPointer? {
      if let next = try seek(try cursor(space), space, key) {
        // The entry exists, behind the page that the first search has led to.
        if !keyPrecedes(key, next.key) { throw damaged }
        try check(space, next.key, next.value)
      }
      return nil
    }

    /// Moves a cursor to the first entry with a key of at least `key`, and returns it; nil where there is none.
    ///
    /// The checksum of an entry reveals a damaged key where the entry is read. But a search does not read an entry that
    /// its damaged key misdirects. It ends beside that entry, or beside the page that a damaged key above leads away
    /// from. So the entry before the found position must be less than `key`, and have its own key. A caller that reads
    /// on checks the entry at the position.
    private func seek(
      _ cursor: OpaquePointer, _ space: KeySpace, _ key: UnsafeRawBufferPointer
    ) throws(StoreError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
      var (found, value) = (Self.value(key), MDB_val())
      let result = mdb_cursor_get(cursor, &found, &value, MDB_SET_RANGE)
      if result != MDB_SUCCESS && result != MDB_NOTFOUND { throw readError(result) }
      let isThere = result == MDB_SUCCESS
      if isThere {
        if keyPrecedes(Self.bytes(found), key) { throw damaged }
        // The key itself was found, so no entry before it matters.
        if !keyPrecedes(key, Self.bytes(found)) { return (Self.bytes(found), Self.bytes(value)) }
      }
      var (before, other) = (MDB_val(), MDB_val())
      switch mdb_cursor_get(cursor, &before, &other, isThere ? MDB_PREV : MDB_LAST) {
      case MDB_SUCCESS:
        if !keyPrecedes(Self.bytes(before), key) { throw damaged }
        try check(space, Self.bytes(before), Self.bytes(other))
        if isThere {
          let result = mdb_cursor_get(cursor, &found, &value, MDB_NEXT)
          if result != MDB_SUCCESS { throw readError(result) }
        }
      case MDB_NOTFOUND: break
      case let other: throw readError(other)
      }
      return isThere ? (Self.bytes(found), Self.bytes(value)) : nil
    }

    /// Throws `corrupt` for an entry that does not have its own key.
    private func check(
      _ space: KeySpace, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(StoreError) {
      if !KeyValueEntry.hasOwnKey(space, key, value) { throw damaged }
    }

    private var damaged: StoreError {
      StoreError(
        .corrupt, "The file was damaged: its keys are out of order. Work on a copy, or on a backup.",
        context: ["path": path])
    }

    /// The first entry from `key` on, for saves. The entry before it is not checked, because that would make saves
    /// slower. A read of an entry that a damaged key hides still throws after the save.
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
      guard let first = try seek(cursor, space, start) else { return }
      try scan(space, cursor, first, MDB_NEXT, body)
    }

    func scanBackwards(
      _ space: KeySpace, before end: UnsafeRawBufferPointer,
      _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
      let cursor = try take(space)
      defer { putBack(space, cursor) }
      let next = try seek(cursor, space, end)
      if let next { try check(space, next.key, next.value) }
      var (key, value) = (MDB_val(), MDB_val())
      switch mdb_cursor_get(cursor, &key, &value, next == nil ? MDB_LAST : MDB_PREV) {
      case MDB_SUCCESS: try scan(space, cursor, (Self.bytes(key), Self.bytes(value)), MDB_PREV, body)
      case MDB_NOTFOUND: return
      case let other: throw readError(other)
      }
    }

    private func scan(
      _ space: KeySpace, _ cursor: OpaquePointer, _ first: (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer),
      _ step: MDB_cursor_op, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
      var (key, value) = (Self.value(first.key), Self.value(first.value))
      var result = MDB_SUCCESS
      while result == MDB_SUCCESS {
        // A damaged key may have ended the scan.
        if try !body(Self.bytes(key), Self.bytes(value)) {
          return try check(space, Self.bytes(key), Self.bytes(value))
        }
        result = mdb_cursor_get(cursor, &key, &value, step)
      }
      if result != MDB_NOTFOUND { throw readError(result) }
    }

    /// The cursor of a scan whose body may read the same part.
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
