import Foundation

/// A file as a program of its own would pack it: for each employee numbers at fixed places, then the bytes of name,
/// email and blob.
enum PackedFile {
  static func write(_ graph: RawGraph, _ path: String) throws {
    let bytes = encode(graph)
    try WholeFile.replace(path) { file in try bytes.withUnsafeBytes { try WholeFile.write($0, to: file) } }
  }

  private static func encode(_ graph: RawGraph) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(graph.employees.count * 200)
    func add<T: BitwiseCopyable>(_ value: T) { withUnsafeBytes(of: value) { output.append(contentsOf: $0) } }
    for count in [graph.employees.count, graph.departments, graph.tagCount] { add(count) }
    for (employee, tags) in zip(graph.employees, graph.tags) {
      add(employee.key)
      add(employee.department)
      add(tags.0)
      add(tags.1)
      add(employee.salary)
      add(employee.hireDate.timeIntervalSinceReferenceDate)
      add(employee.uuid.uuid)
      add(employee.version)
      add(employee.age)
      add(UInt16(employee.name.utf8.count))
      add(UInt16(employee.email.utf8.count))
      add(UInt16(employee.blob.count))
      add(employee.active ? UInt16(1) : 0)
      var (name, email) = (employee.name, employee.email)
      name.withUTF8 { output.append(contentsOf: $0) }
      email.withUTF8 { output.append(contentsOf: $0) }
      employee.blob.withUnsafeBytes { output.append(contentsOf: $0) }
    }
    for key in 1...graph.departments { output.append(contentsOf: EmployeeData.departmentName(Int64(key)).utf8) }
    for key in 1...graph.tagCount { output.append(contentsOf: EmployeeData.tagName(Int64(key)).utf8) }
    return output
  }

  static func read(_ path: String) throws -> RawGraph {
    try WholeFile.read(path).withUnsafeBytes { bytes in
      var place = 0
      func next<T: BitwiseCopyable>(_: T.Type) -> T {
        defer { place += MemoryLayout<T>.size }
        return bytes.loadUnaligned(fromByteOffset: place, as: T.self)
      }
      func text(_ count: Int) -> String {
        defer { place += count }
        return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[place..<place + count]), as: UTF8.self)
      }
      let count = next(Int.self)
      var graph = RawGraph(departments: next(Int.self), tagCount: next(Int.self))
      graph.employees.reserveCapacity(count)
      graph.tags.reserveCapacity(count)
      for _ in 0..<count {
        let (key, department) = (next(Int64.self), next(Int64.self))
        graph.tags.append((next(Int64.self), next(Int64.self)))
        let (salary, hireDate, uuid) = (next(Double.self), next(Double.self), next(uuid_t.self))
        let (version, age) = (next(Int32.self), next(Int16.self))
        let (names, emails) = (Int(next(UInt16.self)), Int(next(UInt16.self)))
        let (blobs, active) = (Int(next(UInt16.self)), next(UInt16.self) != 0)
        let (name, email) = (text(names), text(emails))
        let blob = Data(bytes[place..<place + blobs])
        place += blobs
        graph.employees.append(
          RawEmployee(
            key: key, version: version, name: name, email: email, age: age, active: active, salary: salary,
            hireDate: Date(timeIntervalSinceReferenceDate: hireDate), uuid: UUID(uuid: uuid), blob: blob,
            department: department))
      }
      return graph
    }
  }
}
