/// The workloads that change rows which were fetched before.
extension RawSide {
  /// W5.
  func changeSalaries(_ employees: [RawEmployee]) throws -> Double {
    for employee in employees { employee.salary *= 1.1 }
    try database.execute(RawSQL.beginWriting)
    let statement = try database.prepare(RawSQL.updateSalary)
    for employee in employees {
      statement.bind(Int64(employee.version) + 1, 1)
      statement.bind(double: employee.salary, 2)
      statement.bind(employee.key, 3)
      statement.bind(Int64(employee.version), 4)
      guard statement.run(), database.changedRows == 1 else { throw database.error("updating \(employee.key)") }
      employee.version += 1
    }
    try database.execute(RawSQL.commit)
    return Double(employees.count)
  }

  /// W7.
  func delete(_ employees: [RawEmployee]) throws -> Double {
    try database.execute(RawSQL.beginWriting)
    let row = try database.prepare(RawSQL.deleteEmployee)
    let pairs = try database.prepare(RawSQL.deletePairs)
    for employee in employees {
      row.bind(employee.key, 1)
      row.bind(Int64(employee.version), 2)
      guard row.run(), database.changedRows == 1 else { throw database.error("deleting \(employee.key)") }
      pairs.bind(employee.key, 1)
      guard pairs.run() else { throw database.error("deleting the pairs of \(employee.key)") }
    }
    try database.execute(RawSQL.commit)
    return Double(employees.count)
  }

  /// The departments that W7r deletes.
  func insertDepartments() throws -> ClosedRange<Int64> {
    let keys = 1...Int64(max(1, scale.employees / 10))
    try database.execute(RawSQL.beginWriting)
    let insert = try database.prepare(RawSQL.insertDepartment)
    for key in keys {
      insert.bind(key, 1)
      insert.bind(RawSQL.departmentNumber, 2)
      insert.bind(1, 3)
      var name = EmployeeData.departmentName(key)
      let isWritten = name.withUTF8 { bytes in
        insert.bind(text: bytes, 4)
        return insert.run()
      }
      guard isWritten else { throw database.error("inserting the department \(key)") }
    }
    let highest = try database.prepare(RawSQL.setHighestKey)
    highest.bind(keys.upperBound, 1)
    highest.bind(RawSQL.departmentNumber, 2)
    guard highest.run() else { throw database.error("recording the highest key") }
    try database.execute(RawSQL.commit)
    return keys
  }

  /// W7r: whoever refers to a department lets go of it.
  func deleteDepartments(_ keys: ClosedRange<Int64>) throws -> Double {
    try database.execute(RawSQL.beginWriting)
    let row = try database.prepare(RawSQL.deleteDepartment)
    let leaving = try RawSQL.leaveDepartment.map { try database.prepare($0) }
    for key in keys {
      for leave in leaving {
        leave.bind(key, 1)
        guard leave.run() else { throw database.error("leaving the department \(key)") }
      }
      row.bind(key, 1)
      row.bind(1, 2)
      guard row.run(), database.changedRows == 1 else { throw database.error("deleting the department \(key)") }
    }
    try database.execute(RawSQL.commit)
    return Double(keys.count)
  }
}
