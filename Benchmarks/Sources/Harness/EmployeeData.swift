import Foundation

/// The values of one employee, as an application holds them before it stores them. The same for every run.
struct EmployeeData {
  let name: String
  let email: String
  let age: Int16
  let salary: Double
  let hireDate: Date
  let active: Bool
  let uuid: UUID
  let blob: Data
  /// Key of the department, from 1.
  let department: Int64
  /// Keys of the two tags, from 1.
  let tags: (Int64, Int64)

  /// The values of the employee with the key `index + 1`.
  init(_ index: Int, _ scale: Scale) {
    let hash = UInt64(truncatingIfNeeded: (index &+ 1) &* 2_654_435_761) & 0xffff_ffff
    let first = Self.firstNames[Int(hash >> 3) % Self.firstNames.count]
    let last = Self.lastNames[Int(hash >> 11) % Self.lastNames.count]
    let a = hash &* 0x9E37_79B9_7F4A_7C15
    let b = a ^ (a >> 29) &* 0xBF58_476D_1CE4_E5B9
    name = "\(first) \(last)"
    email = "\(first.lowercased()).\(last.lowercased())\(index)@example.com"
    age = Int16(18 + hash % 50)
    salary = 30000 + Double((hash >> 8) % 90000)
    hireDate = Date(timeIntervalSinceReferenceDate: Double(hash % 600_000_000))
    active = hash & 1 == 1
    uuid = Self.uuid(a, b)
    blob = Self.blob(a, b)
    department = Int64(index % scale.departments) + 1
    let count = UInt64(scale.tags)
    let tag = Int64(hash % count) + 1
    let other = Int64((hash >> 6) % count) + 1
    tags = (tag, other == tag ? tag % Int64(count) + 1 : other)
  }

  static func all(_ scale: Scale) -> [EmployeeData] { (0..<scale.employees).map { EmployeeData($0, scale) } }

  static func departmentName(_ key: Int64) -> String { "Department \(key)" }
  static func tagName(_ key: Int64) -> String { "tag\(key)" }

  private static func uuid(_ a: UInt64, _ b: UInt64) -> UUID {
    var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &bytes) {
      $0.storeBytes(of: a, as: UInt64.self)
      $0.storeBytes(of: b, toByteOffset: 8, as: UInt64.self)
    }
    return UUID(uuid: bytes)
  }

  private static func blob(_ a: UInt64, _ b: UInt64) -> Data {
    var result = Data(count: 64)
    result.withUnsafeMutableBytes { bytes in
      for k in 0..<8 { bytes.storeBytes(of: a &+ UInt64(k) &* b, toByteOffset: k * 8, as: UInt64.self) }
    }
    return result
  }

  private static let firstNames = [
    "Alice", "Aaron", "Brian", "Bella", "Carla", "Chris", "Diana", "David", "Elena", "Ethan", "Fiona", "Frank", "Grace",
    "Gavin", "Helen", "Henry", "Irene", "Isaac", "Julia", "James", "Karen", "Kevin", "Laura", "Lewis", "Maria", "Mason",
    "Nadia", "Nolan", "Olive", "Oscar", "Paula", "Peter", "Quinn", "Quent", "Rosie", "Roger", "Sarah", "Simon", "Tania",
    "Tyler", "Ursul", "Umber", "Vanya", "Vince", "Wendy", "Wayne", "Xenia", "Xaver", "Yvonne", "Yusuf", "Zelda",
    "Zachary",
  ]
  private static let lastNames = [
    "Smith", "Johnson", "Williams", "Brown", "Jones", "Garcia", "Miller", "Davis", "Martinez", "Lopez", "Wilson",
    "Anderson", "Thomas", "Taylor", "Moore", "Jackson",
  ]
}
