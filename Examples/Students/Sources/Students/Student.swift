import CoreData
import Foundation

/// The classes that the model names. Each property has a key, and an accessor that reads and writes through it.
final class Student: NSManagedObject {
  static let id = ManagedProperty<UUID?>("id")
  static let name = ManagedProperty<String?>("name")
  static let age = ManagedProperty<Int16>("age")
  static let grade = ManagedProperty<Double>("grade")
  static let isActive = ManagedProperty<Bool>("isActive")
  static let enrolledAt = ManagedProperty<Date?>("enrolledAt")
  static let school = ManagedProperty<School?>("school")

  var id: UUID? {
    get { self[Self.id] }
    set { self[Self.id] = newValue }
  }
  var name: String? {
    get { self[Self.name] }
    set { self[Self.name] = newValue }
  }
  var age: Int16 {
    get { self[Self.age] }
    set { self[Self.age] = newValue }
  }
  var grade: Double {
    get { self[Self.grade] }
    set { self[Self.grade] = newValue }
  }
  var isActive: Bool {
    get { self[Self.isActive] }
    set { self[Self.isActive] = newValue }
  }
  var enrolledAt: Date? {
    get { self[Self.enrolledAt] }
    set { self[Self.enrolledAt] = newValue }
  }
  var school: School? {
    get { self[Self.school] }
    set { self[Self.school] = newValue }
  }
}

final class School: NSManagedObject {
  static let name = ManagedProperty<String?>("name")
  static let city = ManagedProperty<String?>("city")
  static let students = ManagedProperty<Set<Student>>("students")

  var name: String? {
    get { self[Self.name] }
    set { self[Self.name] = newValue }
  }
  var city: String? {
    get { self[Self.city] }
    set { self[Self.city] = newValue }
  }
  var students: Set<Student> {
    get { self[Self.students] }
    set { self[Self.students] = newValue }
  }

  func addToStudents(_ student: Student) { add(student, to: Self.students) }
}
