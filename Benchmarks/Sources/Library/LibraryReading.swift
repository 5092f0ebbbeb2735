import CoreData
import Foundation

/// The workloads that read.
extension LibrarySide {
  /// W2.
  func fetchAll() throws -> Double {
    var sum = 0.0
    for employee in try employees() { sum += employee.checksum }
    return sum
  }

  func employees() throws -> [Employee] { try context.fetch(NSFetchRequest<Employee>(entityName: "Employee")) }

  /// All employees in key order, none of them a fault.
  func filledEmployees() throws -> [Employee] {
    let request = NSFetchRequest<Employee>(entityName: "Employee")
    request.returnsObjectsAsFaults = false
    return try context.fetch(request)
  }

  /// W3.
  func query() throws -> Double {
    var sum = 0.0
    for _ in 0..<200 {
      let request = NSFetchRequest<Employee>(entityName: "Employee")
      request.predicate = NSPredicate(format: "age > %d AND name BEGINSWITH %@", 40, "A")
      request.sortDescriptors = [NSSortDescriptor(key: "salary", ascending: false)]
      request.fetchLimit = 100
      for (rank, employee) in try context.fetch(request).enumerated() { sum += employee.salary * Double(rank + 1) }
    }
    return sum
  }

  /// W8.
  func group() throws -> Double {
    let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [
      "department", Self.function("count", "count:", .expressionForEvaluatedObject(), .integer64AttributeType),
      Self.function("mean", "average:", NSExpression(forKeyPath: "salary"), .doubleAttributeType),
    ]
    request.propertiesToGroupBy = ["department"]
    var sum = 0.0
    for _ in 0..<20 {
      for (rank, row) in try context.fetch(request).enumerated() {
        guard let mean = row["mean"] as? Double, let count = row["count"] as? Int else { continue }
        sum += (mean + Double(count)) * Double(rank & 7 + 1)
      }
    }
    return sum
  }

  /// W8d.
  func fetchDictionaries() throws -> Double {
    let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["name", "age", "salary"]
    var sum = 0.0
    for row in try context.fetch(request) {
      guard let name = row["name"] as? String, let age = row["age"] as? Int, let salary = row["salary"] as? Double
      else { continue }
      sum += salary + Double(age + name.utf8.count)
    }
    return sum
  }

  private static func function(
    _ name: String, _ function: String, _ argument: NSExpression, _ type: NSAttributeType
  ) -> NSExpressionDescription {
    let description = NSExpressionDescription()
    description.name = name
    description.expression = NSExpression(forFunction: function, arguments: [argument])
    description.expressionResultType = type
    return description
  }

  /// W4 and W4h.
  func lookUp(_ ids: [NSManagedObjectID]) -> Double {
    var sum = 0.0
    for (index, id) in ids.enumerated() {
      guard let employee = context.object(with: id) as? Employee else { continue }
      sum += employee.salary * Double(index & 7 + 1)
    }
    return sum
  }

  /// W6 and W6p.
  func walkDepartments(prefetches: Bool) throws -> Double {
    let request = NSFetchRequest<Department>(entityName: "Department")
    if prefetches { request.relationshipKeyPathsForPrefetching = ["employees"] }
    var sum = 0.0
    for (index, department) in try context.fetch(request).enumerated() {
      var salaries = 0.0
      for employee in department.employees { salaries += employee.salary }
      sum += salaries * Double(index + 1)
    }
    return sum
  }
}
