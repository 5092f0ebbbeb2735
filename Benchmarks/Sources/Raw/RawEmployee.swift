import Foundation

/// An employee as a program without an object graph would hold it.
final class RawEmployee {
  let key: Int64
  let name: String
  let email: String
  let age: Int16
  let active: Bool
  var version: Int32
  var salary: Double
  let hireDate: Date
  let uuid: UUID
  let blob: Data
  let department: Int64

  init(_ data: EmployeeData, key: Int64) {
    self.key = key
    version = 1
    name = data.name
    email = data.email
    age = data.age
    salary = data.salary
    hireDate = data.hireDate
    active = data.active
    uuid = data.uuid
    blob = data.blob
    department = data.department
  }

  init(
    key: Int64, version: Int32, name: String, email: String, age: Int16, active: Bool, salary: Double, hireDate: Date,
    uuid: UUID, blob: Data, department: Int64
  ) {
    (self.key, self.version, self.name, self.email) = (key, version, name, email)
    (self.age, self.active, self.salary, self.hireDate) = (age, active, salary, hireDate)
    (self.uuid, self.blob, self.department) = (uuid, blob, department)
  }

  /// The row at hand of a statement whose columns begin with ``RawSQL/employeeColumns``.
  @inline(__always)
  init(_ row: RawStatement) {
    _ = row.int(0)
    key = row.int(1)
    version = Int32(truncatingIfNeeded: row.int(2))
    active = row.int(3) != 0
    age = Int16(truncatingIfNeeded: row.int(4))
    blob = row.data(5)
    email = row.text(6)
    hireDate = Date(timeIntervalSinceReferenceDate: row.double(7))
    name = row.text(8)
    salary = row.double(9)
    uuid = row.uuid(10)
    department = row.int(11)
  }

  /// A sum over every property; exact, because all terms are whole numbers.
  @inline(__always)
  var checksum: Double {
    var sum = Double(name.utf8.count) + Double(email.utf8.count)
    sum += Double(age) + salary + hireDate.timeIntervalSinceReferenceDate
    sum += (active ? 1 : 0) + Double(uuid.uuid.0) + Double(blob.count)
    sum += department > 0 ? 1 : 0
    return sum
  }

  /// Binds and runs ``RawSQL/insertEmployee``.
  @inline(__always)
  func insert(_ statement: RawStatement) -> Bool {
    statement.bind(key, 1)
    statement.bind(RawSQL.employeeNumber, 2)
    statement.bind(Int64(version), 3)
    statement.bind(active ? 1 : 0, 4)
    statement.bind(Int64(age), 5)
    statement.bind(double: hireDate.timeIntervalSinceReferenceDate, 8)
    statement.bind(double: salary, 10)
    statement.bind(department, 12)
    var (name, email, uuid) = (name, email, uuid.uuid)
    return name.withUTF8 { nameBytes in
      email.withUTF8 { emailBytes in
        withUnsafeBytes(of: &uuid) { uuidBytes in
          blob.withUnsafeBytes { blobBytes in
            statement.bind(blob: blobBytes, 6)
            statement.bind(text: emailBytes, 7)
            statement.bind(text: nameBytes, 9)
            statement.bind(blob: uuidBytes, 11)
            return statement.run()
          }
        }
      }
    }
  }
}
