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
}
