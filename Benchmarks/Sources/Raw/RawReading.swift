import Foundation

/// The workloads that read.
extension RawSide {
  /// W2.
  func fetchAll() throws -> Double {
    var sum = 0.0
    for employee in try employees() { sum += employee.checksum }
    return sum
  }

  func employees() throws -> [RawEmployee] {
    let statement = try database.prepare(RawSQL.allEmployees)
    var result: [RawEmployee] = []
    result.reserveCapacity(scale.employees)
    while statement.step() { result.append(RawEmployee(statement)) }
    return result
  }

  /// W3.
  func query() throws -> Double {
    let statement = try database.prepare(RawSQL.query)
    var (prefix, successor) = ("A", "B")
    return prefix.withUTF8 { prefixBytes in
      successor.withUTF8 { successorBytes in
        var sum = 0.0
        for _ in 0..<200 {
          statement.bind(40, 1)
          statement.bind(text: prefixBytes, 2)
          statement.bind(text: successorBytes, 3)
          statement.bind(100, 4)
          statement.bind(0, 5)
          var found: [RawEmployee] = []
          while statement.step() { found.append(RawEmployee(statement)) }
          statement.reset()
          for (rank, employee) in found.enumerated() { sum += employee.salary * Double(rank + 1) }
        }
        return sum
      }
    }
  }

  /// W8.
  func group() throws -> Double {
    let statement = try database.prepare(RawSQL.salariesOfDepartments)
    var sum = 0.0
    for _ in 0..<20 {
      var found: [(department: Int64, count: Int64, mean: Double)] = []
      while statement.step() { found.append((statement.int(0), statement.int(1), statement.double(2))) }
      statement.reset()
      for (rank, row) in found.enumerated() { sum += (row.mean + Double(row.count)) * Double(rank & 7 + 1) }
    }
    return sum
  }

  /// W8d.
  func fetchDictionaries() throws -> Double {
    let statement = try database.prepare(RawSQL.valuesOfEmployees)
    let keys: [NSObject] = [NSString(string: "name"), NSString(string: "age"), NSString(string: "salary")]
    var found: [NSDictionary] = []
    found.reserveCapacity(scale.employees)
    while statement.step() {
      let values: [AnyObject] = [
        NSString(string: statement.text(0)), NSNumber(value: statement.int(1)), NSNumber(value: statement.double(2)),
      ]
      found.append(NSDictionary(objects: values, forKeys: keys, count: 3))
    }
    statement.reset()
    var sum = 0.0
    for row in found {
      guard let name = row["name"] as? String, let age = row["age"] as? Int, let salary = row["salary"] as? Double
      else { continue }
      sum += salary + Double(age + name.utf8.count)
    }
    return sum
  }

  /// W4 and W4h.
  func lookUp(_ keys: [Int64]) throws -> Double {
    try database.execute(RawSQL.begin)
    let statement = try database.prepare(RawSQL.employee)
    var sum = 0.0
    for (index, key) in keys.enumerated() {
      statement.bind(key, 1)
      guard statement.step() else { throw database.error("looking up \(key)") }
      let employee = RawEmployee(statement)
      statement.reset()
      sum += employee.salary * Double(index & 7 + 1)
    }
    try database.execute(RawSQL.commit)
    return sum
  }

  /// W6: the weights make the sum depend on who is in which department.
  func walkDepartments() throws -> Double {
    try database.execute(RawSQL.begin)
    let statement = try database.prepare(RawSQL.employeesOfDepartment)
    var sum = 0.0
    for (index, department) in try departments().enumerated() {
      statement.bind(department, 1)
      var employees: [RawEmployee] = []
      while statement.step() { employees.append(RawEmployee(statement)) }
      statement.reset()
      var salaries = 0.0
      for employee in employees { salaries += employee.salary }
      sum += salaries * Double(index + 1)
    }
    try database.execute(RawSQL.commit)
    return sum
  }

  /// W6p: all employees at once, grouped by their department.
  func walkPrefetched() throws -> Double {
    try database.execute(RawSQL.begin)
    let departments = try departments()
    var groups: [Int64: [RawEmployee]] = [:]
    for employee in try employees() { groups[employee.department, default: []].append(employee) }
    var sum = 0.0
    for (index, department) in departments.enumerated() {
      var salaries = 0.0
      for employee in groups[department] ?? [] { salaries += employee.salary }
      sum += salaries * Double(index + 1)
    }
    try database.execute(RawSQL.commit)
    return sum
  }

  private func departments() throws -> [Int64] {
    let statement = try database.prepare(RawSQL.allDepartments)
    var result: [Int64] = []
    while statement.step() {
      _ = (statement.int(0), statement.int(2), statement.text(3))
      result.append(statement.int(1))
    }
    return result
  }
}
