import Foundation
import RawXML

/// The document of the XML store, written and parsed by libxml2.
enum XMLFile {
  /// The employees where C finds them, as a program in C would have them.
  final class Source {
    let employees: [raw_xml_employee]
    let graph: RawGraph
    private let bytes: UnsafeMutableBufferPointer<UInt8>

    init(_ graph: RawGraph) {
      self.graph = graph
      var all: [UInt8] = []
      var places: [(name: Int, email: Int, uuid: Int, blob: Int)] = []
      for employee in graph.employees {
        let name = all.count
        all += Array(employee.name.utf8) + [0]
        let email = all.count
        all += Array(employee.email.utf8) + [0]
        let uuid = all.count
        withUnsafeBytes(of: employee.uuid.uuid) { all += $0 }
        places.append((name, email, uuid, all.count))
        all += employee.blob
      }
      bytes = .allocate(capacity: all.count)
      _ = bytes.initialize(from: all)
      let start = UnsafePointer(bytes.baseAddress ?? .allocate(capacity: 1))
      let keys = Int64(graph.employees.count)
      employees = zip(zip(graph.employees, graph.tags), places).map { pair, place in
        let (employee, tags) = pair
        return raw_xml_employee(
          key: employee.key, department: keys + employee.department,
          tags: (keys + Int64(graph.departments) + tags.0, keys + Int64(graph.departments) + tags.1),
          name: UnsafeRawPointer(start + place.name).assumingMemoryBound(to: CChar.self),
          email: UnsafeRawPointer(start + place.email).assumingMemoryBound(to: CChar.self), age: Int32(employee.age),
          active: employee.active ? 1 : 0, salary: employee.salary,
          hire_date: employee.hireDate.timeIntervalSinceReferenceDate, uuid: start + place.uuid,
          blob: start + place.blob, blob_count: Int32(employee.blob.count))
      }
    }

    deinit { bytes.deallocate() }
  }

  static func write(_ source: Source, _ path: String) throws {
    try WholeFile.replace(path) { file in
      try source.employees.withUnsafeBufferPointer { employees in
        let count = Int64(employees.count)
        var document = raw_xml_graph(
          employees: employees.baseAddress, employee_count: employees.count, first_department: count + 1,
          first_tag: count + 1 + Int64(source.graph.departments), department_count: Int32(source.graph.departments),
          tag_count: Int32(source.graph.tagCount))
        guard raw_xml_write(&document, file) == 0 else { throw BenchmarkError("libxml2 cannot write \(path).") }
      }
    }
  }

  /// One pass that keeps nothing. How many objects there are.
  static func parse(_ path: String) throws -> Int {
    var counts = raw_xml_counts()
    let result = try WholeFile.read(path).withUnsafeBytes {
      raw_xml_parse($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, &counts)
    }
    guard result == 0 else { throw BenchmarkError("libxml2 cannot parse \(path).") }
    return counts.objects
  }

  /// Each employee's key and the sum over its properties.
  static func sums(_ path: String) throws -> [(key: Int64, checksum: Double)] {
    final class Sums { var all: [(key: Int64, checksum: Double)] = [] }
    let sums = Sums()
    let result = try WholeFile.read(path).withUnsafeBytes {
      raw_xml_sums(
        $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, Unmanaged.passUnretained(sums).toOpaque()
      ) { context, key, sum in
        guard let context else { return }
        Unmanaged<Sums>.fromOpaque(context).takeUnretainedValue().all.append((key, sum))
      }
    }
    guard result == 0 else { throw BenchmarkError("libxml2 cannot parse \(path).") }
    return sums.all
  }
}
