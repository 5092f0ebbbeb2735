#if LMDB
  import CLMDBRaw
  import Foundation

  /// One workload by the C API of LMDB.
  struct LMDBSide {
    let scale: Scale
    let database: LMDBDatabase

    static let workloads: [Workload] = [.w1, .w1b, .w2, .w3, .w4, .w5, .w6, .w7, .w10, .w12, .w13]

    static func run(_ cell: Cell) throws -> CellResult {
      if cell.workload == .w10 { return try open(cell) }
      let side = LMDBSide(scale: cell.scale, database: try LMDBDatabase(cell.path))
      switch cell.workload {
      case .w1, .w1b:
        let data = EmployeeData.all(cell.scale)
        return try measure {
          try side.insert(data, batch: cell.workload == .w1 ? cell.scale.employees : cell.scale.batch)
          return Double(data.count)
        }
      case .w2: return try measure { try side.employees().reduce(0) { $0 + $1.checksum } }
      case .w3: return try measure { try side.query() }
      case .w4:
        let keys = cell.scale.permutation
        return try measure { try side.lookUp(keys) }
      case .w5:
        let all = try side.employees()
        return try measure { try side.changeSalaries(all) }
      case .w6: return try measure { try side.walkDepartments() }
      case .w7:
        let half = try side.employees().filter { $0.key.isMultiple(of: 2) }
        return try measure { try side.delete(half) }
      case .w12: return try side.saveWhileOthersRead()
      case .w13: return try side.saveOneByOne()
      default: throw BenchmarkError("The raw side of LMDB has no \(cell.workload.rawValue).")
      }
    }

    /// W10: as the library's side does it.
    private static func open(_ cell: Cell) throws -> CellResult {
      func first() throws -> Double {
        let database = try LMDBDatabase(cell.path)
        let transaction = try database.begin(isReadOnly: true)
        defer { mdb_txn_abort(transaction) }
        let cursor = try database.cursor(transaction, database.employees)
        defer { mdb_cursor_close(cursor) }
        var (key, value) = (MDB_val(), MDB_val())
        try database.check(mdb_cursor_get(cursor, &key, &value, MDB_FIRST))
        return RawEmployee(UnsafeRawPointer(value.mv_data), key: key.mv_data.loadUnaligned(as: Int64.self)).checksum
      }
      _ = try first()
      return try measure { try first() }.withMilliseconds
    }

    // MARK: Writing

    func insert(_ data: [EmployeeData], batch: Int) throws {
      for start in stride(from: 0, to: data.count, by: batch) {
        let transaction = try database.begin(isReadOnly: false)
        if start == 0 {
          try insert(transaction, database.departments, scale.departments, EmployeeData.departmentName)
          try insert(transaction, database.tags, scale.tags, EmployeeData.tagName)
        }
        try insert(data[start..<min(start + batch, data.count)], from: Int64(start) + 1, transaction)
        try database.check(mdb_txn_commit(transaction))
      }
    }

    private func insert(
      _ transaction: OpaquePointer, _ tree: MDB_dbi, _ count: Int, _ name: (Int64) -> String
    ) throws {
      for key in 1...Int64(count) {
        try withNumber(key) { key in
          try withText(name(key.pointee.mv_data.load(as: Int64.self))) {
            try database.check(mdb_put(transaction, tree, key, $0, 0))
          }
        }
      }
    }

    private func insert(_ slice: ArraySlice<EmployeeData>, from key: Int64, _ transaction: OpaquePointer) throws {
      var key = key
      var objects: [RawEmployee] = []
      objects.reserveCapacity(slice.count)
      for data in slice {
        objects.append(RawEmployee(data, key: key))
        key += 1
      }
      let cursor = try database.cursor(transaction, database.employees)
      for object in objects { try database.check(object.put(cursor, MDB_APPEND)) }
      mdb_cursor_close(cursor)
      for (data, object) in zip(slice, objects) {
        try withNumber(object.key) { key in
          try withNumber(object.department) { try put(transaction, database.employeesOfDepartment, $0, key) }
          try withText(object.name) { try put(transaction, database.employeesByName, $0, key) }
          for tag in [data.tags.0, data.tags.1] {
            try withNumber(tag) { tag in
              try put(transaction, database.tagsOfEmployee, key, tag)
              try put(transaction, database.employeesOfTag, tag, key)
            }
          }
        }
      }
    }

    @inline(__always)
    private func put(
      _ transaction: OpaquePointer, _ tree: MDB_dbi, _ key: UnsafeMutablePointer<MDB_val>,
      _ value: UnsafeMutablePointer<MDB_val>
    ) throws {
      var (name, data) = (key.pointee, value.pointee)
      try database.check(mdb_put(transaction, tree, &name, &data, 0))
    }

    /// W5.
    func changeSalaries(_ employees: [RawEmployee]) throws -> Double {
      for employee in employees {
        employee.salary *= 1.1
        employee.version += 1
      }
      let transaction = try database.begin(isReadOnly: false)
      let cursor = try database.cursor(transaction, database.employees)
      for employee in employees { try database.check(employee.put(cursor, 0)) }
      mdb_cursor_close(cursor)
      try database.check(mdb_txn_commit(transaction))
      return Double(employees.count)
    }

    /// W7.
    func delete(_ employees: [RawEmployee]) throws -> Double {
      let transaction = try database.begin(isReadOnly: false)
      for employee in employees {
        try withNumber(employee.key) { key in
          for tag in try tags(of: key, transaction) {
            try withNumber(tag) { try remove(transaction, database.employeesOfTag, $0, key) }
          }
          try database.check(mdb_del(transaction, database.tagsOfEmployee, key, nil))
          try withNumber(employee.department) { try remove(transaction, database.employeesOfDepartment, $0, key) }
          try withText(employee.name) { try remove(transaction, database.employeesByName, $0, key) }
          try database.check(mdb_del(transaction, database.employees, key, nil))
        }
      }
      try database.check(mdb_txn_commit(transaction))
      return Double(employees.count)
    }

    private func tags(of key: UnsafeMutablePointer<MDB_val>, _ transaction: OpaquePointer) throws -> [Int64] {
      let cursor = try database.cursor(transaction, database.tagsOfEmployee)
      defer { mdb_cursor_close(cursor) }
      var (name, value) = (key.pointee, MDB_val())
      var (tags, result) = ([Int64](), mdb_cursor_get(cursor, &name, &value, MDB_SET_KEY))
      while result == MDB_SUCCESS {
        tags.append(value.mv_data.loadUnaligned(as: Int64.self))
        result = mdb_cursor_get(cursor, &name, &value, MDB_NEXT_DUP)
      }
      return tags
    }

    @inline(__always)
    private func remove(
      _ transaction: OpaquePointer, _ tree: MDB_dbi, _ key: UnsafeMutablePointer<MDB_val>,
      _ value: UnsafeMutablePointer<MDB_val>
    ) throws {
      var (name, data) = (key.pointee, value.pointee)
      try database.check(mdb_del(transaction, tree, &name, &data))
    }

    // MARK: Reading

    func employees() throws -> [RawEmployee] {
      let transaction = try database.begin(isReadOnly: true)
      defer { mdb_txn_abort(transaction) }
      let cursor = try database.cursor(transaction, database.employees)
      defer { mdb_cursor_close(cursor) }
      var (key, value) = (MDB_val(), MDB_val())
      var all: [RawEmployee] = []
      all.reserveCapacity(scale.employees)
      while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS {
        all.append(RawEmployee(UnsafeRawPointer(value.mv_data), key: key.mv_data.loadUnaligned(as: Int64.self)))
      }
      return all
    }

    /// W3: by the tree of names.
    func query() throws -> Double {
      let transaction = try database.begin(isReadOnly: true)
      defer { mdb_txn_abort(transaction) }
      let cursor = try database.cursor(transaction, database.employeesByName)
      defer { mdb_cursor_close(cursor) }
      var sum = 0.0
      for _ in 0..<200 {
        var found: [RawEmployee] = []
        var (name, key, row) = (MDB_val(), MDB_val(), MDB_val())
        var result = withText("A") { start in
          name = start.pointee
          return mdb_cursor_get(cursor, &name, &key, MDB_SET_RANGE)
        }
        while result == MDB_SUCCESS && name.mv_data.load(as: UInt8.self) == 0x41 {
          let employee = key.mv_data.loadUnaligned(as: Int64.self)
          try withNumber(employee) { try database.check(mdb_get(transaction, database.employees, $0, &row)) }
          if row.mv_data.loadUnaligned(fromByteOffset: 40, as: Int16.self) > 40 {
            found.append(RawEmployee(UnsafeRawPointer(row.mv_data), key: employee))
          }
          result = mdb_cursor_get(cursor, &name, &key, MDB_NEXT)
        }
        found.sort { $0.salary != $1.salary ? $0.salary > $1.salary : $0.key < $1.key }
        for (rank, employee) in found.prefix(100).enumerated() { sum += employee.salary * Double(rank + 1) }
      }
      return sum
    }

    /// W4.
    func lookUp(_ keys: [Int64]) throws -> Double {
      let transaction = try database.begin(isReadOnly: true)
      defer { mdb_txn_abort(transaction) }
      var sum = 0.0
      for (index, key) in keys.enumerated() {
        var value = MDB_val()
        try withNumber(key) { try database.check(mdb_get(transaction, database.employees, $0, &value)) }
        sum += RawEmployee(UnsafeRawPointer(value.mv_data), key: key).salary * Double(index & 7 + 1)
      }
      return sum
    }

    /// W6.
    func walkDepartments() throws -> Double {
      let transaction = try database.begin(isReadOnly: true)
      defer { mdb_txn_abort(transaction) }
      let cursor = try database.cursor(transaction, database.employeesOfDepartment)
      defer { mdb_cursor_close(cursor) }
      var sum = 0.0
      for department in 1...scale.departments {
        var employees: [RawEmployee] = []
        try withNumber(Int64(department)) { number in
          var (key, value, row) = (number.pointee, MDB_val(), MDB_val())
          var result = mdb_cursor_get(cursor, &key, &value, MDB_SET_KEY)
          while result == MDB_SUCCESS {
            let employee = value.mv_data.loadUnaligned(as: Int64.self)
            try withNumber(employee) { try database.check(mdb_get(transaction, database.employees, $0, &row)) }
            employees.append(RawEmployee(UnsafeRawPointer(row.mv_data), key: employee))
            result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT_DUP)
          }
        }
        var salaries = 0.0
        for employee in employees { salaries += employee.salary }
        sum += salaries * Double(department)
      }
      return sum
    }
  }
#endif
