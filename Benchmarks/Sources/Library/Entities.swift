import CoreData
import Foundation

/// An employee as an application of the library declares it.
final class Employee: NSManagedObject {
  static let name = ManagedProperty<String>("name")
  static let email = ManagedProperty<String>("email")
  static let age = ManagedProperty<Int16>("age")
  static let salary = ManagedProperty<Double>("salary")
  static let hireDate = ManagedProperty<Date>("hireDate")
  static let active = ManagedProperty<Bool>("active")
  static let uuid = ManagedProperty<UUID>("uuid")
  static let blob = ManagedProperty<Data?>("blob")
  static let department = ManagedProperty<Department?>("department")
  static let tags = ManagedProperty<Set<Tag>>("tags")

  var name: String {
    get { self[Self.name] }
    set { self[Self.name] = newValue }
  }
  var email: String {
    get { self[Self.email] }
    set { self[Self.email] = newValue }
  }
  var age: Int16 {
    get { self[Self.age] }
    set { self[Self.age] = newValue }
  }
  var salary: Double {
    get { self[Self.salary] }
    set { self[Self.salary] = newValue }
  }
  var hireDate: Date {
    get { self[Self.hireDate] }
    set { self[Self.hireDate] = newValue }
  }
  var active: Bool {
    get { self[Self.active] }
    set { self[Self.active] = newValue }
  }
  var uuid: UUID {
    get { self[Self.uuid] }
    set { self[Self.uuid] = newValue }
  }
  var blob: Data? {
    get { self[Self.blob] }
    set { self[Self.blob] = newValue }
  }
  var department: Department? {
    get { self[Self.department] }
    set { self[Self.department] = newValue }
  }
  var tags: Set<Tag> {
    get { self[Self.tags] }
    set { self[Self.tags] = newValue }
  }
  func addToTags(_ tag: Tag) { add(tag, to: Self.tags) }

  /// The same sum as ``RawEmployee/checksum``.
  var checksum: Double {
    var sum = Double(name.utf8.count) + Double(email.utf8.count)
    sum += Double(age) + salary + hireDate.timeIntervalSinceReferenceDate
    sum += (active ? 1 : 0) + Double(uuid.uuid.0) + Double(blob?.count ?? 0)
    sum += department?.objectID.isTemporaryID == false ? 1 : 0
    return sum
  }
}

/// A department with its employees.
final class Department: NSManagedObject {
  static let name = ManagedProperty<String>("name")
  static let employees = ManagedProperty<Set<Employee>>("employees")

  var name: String {
    get { self[Self.name] }
    set { self[Self.name] = newValue }
  }
  var employees: Set<Employee> {
    get { self[Self.employees] }
    set { self[Self.employees] = newValue }
  }
}

/// A tag that any number of employees carry.
final class Tag: NSManagedObject {
  static let name = ManagedProperty<String>("name")
  static let employees = ManagedProperty<Set<Employee>>("employees")

  var name: String {
    get { self[Self.name] }
    set { self[Self.name] = newValue }
  }
  var employees: Set<Employee> {
    get { self[Self.employees] }
    set { self[Self.employees] = newValue }
  }
}
