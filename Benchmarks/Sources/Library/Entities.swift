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
    get { value(of: Self.name) }
    set { setValue(newValue, of: Self.name) }
  }
  var email: String {
    get { value(of: Self.email) }
    set { setValue(newValue, of: Self.email) }
  }
  var age: Int16 {
    get { value(of: Self.age) }
    set { setValue(newValue, of: Self.age) }
  }
  var salary: Double {
    get { value(of: Self.salary) }
    set { setValue(newValue, of: Self.salary) }
  }
  var hireDate: Date {
    get { value(of: Self.hireDate) }
    set { setValue(newValue, of: Self.hireDate) }
  }
  var active: Bool {
    get { value(of: Self.active) }
    set { setValue(newValue, of: Self.active) }
  }
  var uuid: UUID {
    get { value(of: Self.uuid) }
    set { setValue(newValue, of: Self.uuid) }
  }
  var blob: Data? {
    get { value(of: Self.blob) }
    set { setValue(newValue, of: Self.blob) }
  }
  var department: Department? {
    get { value(of: Self.department) }
    set { setValue(newValue, of: Self.department) }
  }
  var tags: Set<Tag> {
    get { value(of: Self.tags) }
    set { setValue(newValue, of: Self.tags) }
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
    get { value(of: Self.name) }
    set { setValue(newValue, of: Self.name) }
  }
  var employees: Set<Employee> {
    get { value(of: Self.employees) }
    set { setValue(newValue, of: Self.employees) }
  }
}

/// A tag that any number of employees carry.
final class Tag: NSManagedObject {
  static let name = ManagedProperty<String>("name")
  static let employees = ManagedProperty<Set<Employee>>("employees")

  var name: String {
    get { value(of: Self.name) }
    set { setValue(newValue, of: Self.name) }
  }
  var employees: Set<Employee> {
    get { value(of: Self.employees) }
    set { setValue(newValue, of: Self.employees) }
  }
}
