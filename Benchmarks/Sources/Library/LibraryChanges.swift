import CoreData
import Foundation

/// The workloads that save.
extension LibrarySide {
  /// W1 and W1b.
  func insert(_ employees: [EmployeeData], batch: Int) throws {
    let departments = (1...Int64(scale.departments)).map { key in
      let department = Department(context: context)
      department.name = EmployeeData.departmentName(key)
      return department
    }
    let tags = (1...Int64(scale.tags)).map { key in
      let tag = Tag(context: context)
      tag.name = EmployeeData.tagName(key)
      return tag
    }
    for start in stride(from: 0, to: employees.count, by: batch) {
      for data in employees[start..<min(start + batch, employees.count)] {
        let employee = Employee(context: context)
        employee.name = data.name
        employee.email = data.email
        employee.age = data.age
        employee.salary = data.salary
        employee.hireDate = data.hireDate
        employee.active = data.active
        employee.uuid = data.uuid
        employee.blob = data.blob
        employee.department = departments[Int(data.department) - 1]
        employee.addToTags(tags[Int(data.tags.0) - 1])
        employee.addToTags(tags[Int(data.tags.1) - 1])
      }
      try context.save()
    }
  }

  /// W5.
  func changeSalaries(_ employees: [Employee]) throws -> Double {
    for employee in employees { employee.salary *= 1.1 }
    try context.save()
    return Double(employees.count)
  }

  /// The departments that W7r deletes.
  func insertDepartments() throws -> [Department] {
    let departments = (1...Int64(max(1, scale.employees / 10))).map { key in
      let department = Department(context: context)
      department.name = EmployeeData.departmentName(key)
      return department
    }
    try context.save()
    return departments
  }

  /// W7r.
  func delete(_ departments: [Department]) throws -> Double {
    for department in departments { context.delete(department) }
    try context.save()
    return Double(departments.count)
  }

  /// W7.
  func delete(_ employees: [Employee]) throws -> Double {
    for employee in employees { context.delete(employee) }
    try context.save()
    return Double(employees.count)
  }
}
