/// Inserts everything with statements that are prepared once.
final class RawInsertion {
  private let database: RawDatabase
  private let employee: RawStatement
  private let department: RawStatement
  private let tag: RawStatement
  private let pair: RawStatement
  private let highestKey: RawStatement
  private let setHighestKey: RawStatement
  private let updateTag: RawStatement
  /// By key, from 1.
  private var tagVersions: [Int64] = []

  init(_ database: RawDatabase) throws {
    self.database = database
    employee = try database.prepare(RawSQL.insertEmployee)
    department = try database.prepare(RawSQL.insertDepartment)
    tag = try database.prepare(RawSQL.insertTag)
    pair = try database.prepare(RawSQL.insertPair)
    highestKey = try database.prepare(RawSQL.highestKey)
    setHighestKey = try database.prepare(RawSQL.setHighestKey)
    updateTag = try database.prepare(RawSQL.updateTag)
  }

  /// Writes all `employees` in transactions of `batch`, the departments and tags with the first.
  func insert(_ employees: [EmployeeData], _ scale: Scale, batch: Int) throws {
    for start in stride(from: 0, to: employees.count, by: batch) {
      try database.execute(RawSQL.beginWriting)
      let slice = employees[start..<min(start + batch, employees.count)]
      if start == 0 {
        tagVersions = Array(repeating: 1, count: scale.tags + 1)
        try insert(scale.departments, RawSQL.departmentNumber, department, EmployeeData.departmentName)
        try insert(scale.tags, RawSQL.tagNumber, tag, EmployeeData.tagName)
      }
      if start > 0 { try updateTags(of: slice) }
      try insert(slice)
      try database.execute(RawSQL.commit)
    }
  }

  private func insert(_ slice: ArraySlice<EmployeeData>) throws {
    var next = try takeKeys(slice.count, RawSQL.employeeNumber)
    var objects: [RawEmployee] = []
    objects.reserveCapacity(slice.count)
    for data in slice {
      objects.append(RawEmployee(data, key: next))
      next += 1
    }
    for object in objects where !object.insert(employee) { throw database.error("inserting an employee") }
    for (data, object) in zip(slice, objects) {
      try insertPair(object.key, data.tags.0)
      try insertPair(object.key, data.tags.1)
    }
  }

  private func updateTags(of slice: ArraySlice<EmployeeData>) throws {
    for tag in Set(slice.lazy.flatMap { [$0.tags.0, $0.tags.1] }).sorted() {
      let version = tagVersions[Int(tag)]
      updateTag.bind(version + 1, 1)
      updateTag.bind(tag, 2)
      updateTag.bind(version, 3)
      guard updateTag.run(), database.changedRows == 1 else { throw database.error("updating a tag") }
      tagVersions[Int(tag)] = version + 1
    }
  }

  @inline(__always)
  private func insertPair(_ employee: Int64, _ tag: Int64) throws {
    pair.bind(employee, 1)
    pair.bind(tag, 2)
    if !pair.run() { throw database.error("inserting a pair") }
  }

  private func insert(
    _ count: Int, _ number: Int64, _ statement: RawStatement, _ name: (Int64) -> String
  ) throws {
    var key = try takeKeys(count, number)
    for index in 1...Int64(count) {
      statement.bind(key, 1)
      statement.bind(number, 2)
      statement.bind(1, 3)
      var text = name(index)
      let isWritten = text.withUTF8 { bytes in
        statement.bind(text: bytes, 4)
        return statement.run()
      }
      if !isWritten { throw database.error("inserting a named row") }
      key += 1
    }
  }

  /// The first of `count` fresh keys of an entity.
  private func takeKeys(_ count: Int, _ number: Int64) throws -> Int64 {
    highestKey.bind(number, 1)
    let highest = highestKey.step() ? highestKey.int(0) : 0
    highestKey.reset()
    setHighestKey.bind(highest + Int64(count), 1)
    setHighestKey.bind(number, 2)
    if !setHighestKey.run() { throw database.error("taking keys") }
    return highest + 1
  }
}
