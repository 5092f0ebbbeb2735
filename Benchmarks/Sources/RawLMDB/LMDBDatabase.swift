#if LMDB
  import CLMDBRaw
  import Foundation

  /// An LMDB file with the trees that a program of its own would have, used as directly as Swift allows. Durable as
  /// LMDB is by itself, and as the library is.
  final class LMDBDatabase {
    let environment: OpaquePointer
    private(set) var employees: MDB_dbi = 0
    private(set) var departments: MDB_dbi = 0
    private(set) var tags: MDB_dbi = 0
    private(set) var employeesOfDepartment: MDB_dbi = 0
    private(set) var employeesByName: MDB_dbi = 0
    private(set) var tagsOfEmployee: MDB_dbi = 0
    private(set) var employeesOfTag: MDB_dbi = 0

    init(_ path: String) throws {
      var environment: OpaquePointer?
      mdb_env_create(&environment)
      mdb_env_set_mapsize(environment, 1 << 32)
      mdb_env_set_maxdbs(environment, 8)
      guard mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR | MDB_NOTLS), 0o644) == MDB_SUCCESS, let environment
      else {
        throw BenchmarkError("LMDB cannot open \(path).")
      }
      self.environment = environment
      let transaction = try begin(isReadOnly: false)
      let numbered = UInt32(MDB_CREATE | MDB_INTEGERKEY)
      let sets = UInt32(MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP)
      employees = try open(transaction, "employees", numbered)
      departments = try open(transaction, "departments", numbered)
      tags = try open(transaction, "tags", numbered)
      employeesOfDepartment = try open(transaction, "employees of department", numbered | sets)
      employeesByName = try open(transaction, "employees by name", UInt32(MDB_CREATE) | sets)
      tagsOfEmployee = try open(transaction, "tags of employee", numbered | sets)
      employeesOfTag = try open(transaction, "employees of tag", numbered | sets)
      try check(mdb_txn_commit(transaction))
    }

    deinit { mdb_env_close(environment) }

    private func open(_ transaction: OpaquePointer, _ name: String, _ flags: UInt32) throws -> MDB_dbi {
      var number: MDB_dbi = 0
      try check(mdb_dbi_open(transaction, name, flags, &number))
      return number
    }

    func begin(isReadOnly: Bool) throws -> OpaquePointer {
      var transaction: OpaquePointer?
      let result = mdb_txn_begin(environment, nil, isReadOnly ? UInt32(MDB_RDONLY) : 0, &transaction)
      guard result == MDB_SUCCESS, let transaction else {
        throw BenchmarkError("LMDB begins no transaction: \(result).")
      }
      return transaction
    }

    func cursor(_ transaction: OpaquePointer, _ tree: MDB_dbi) throws -> OpaquePointer {
      var cursor: OpaquePointer?
      guard mdb_cursor_open(transaction, tree, &cursor) == MDB_SUCCESS, let cursor else {
        throw BenchmarkError("LMDB opens no cursor.")
      }
      return cursor
    }

    func check(_ result: Int32) throws {
      if result != MDB_SUCCESS { throw BenchmarkError("LMDB: \(String(cString: mdb_strerror(result)))") }
    }
  }

  /// Calls `body` with a number as LMDB takes it.
  @inline(__always)
  func withNumber<R>(_ number: Int64, _ body: (UnsafeMutablePointer<MDB_val>) throws -> R) rethrows -> R {
    var number = number
    return try withUnsafeMutableBytes(of: &number) { bytes in
      var value = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
      return try body(&value)
    }
  }

  @inline(__always)
  func withText<R>(_ text: String, _ body: (UnsafeMutablePointer<MDB_val>) throws -> R) rethrows -> R {
    var text = text
    return try text.withUTF8 { bytes in
      var value = MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      return try body(&value)
    }
  }
#endif
