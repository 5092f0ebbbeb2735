import Foundation

/// One workload of a store that is a whole file, without the library.
enum FileSide {
  static func run(_ cell: Cell) throws -> CellResult {
    switch cell.workload {
    case .w14, .w14m: try save(cell)
    case .w15, .w15m: try load(cell)
    default: throw BenchmarkError("The raw side of \(cell.store) has no \(cell.workload.rawValue).")
    }
  }

  private static func save(_ cell: Cell) throws -> CellResult {
    let graph = RawGraph(EmployeeData.all(cell.scale), cell.scale)
    graph.employees[0].salary += 1
    if cell.store == "Binary" {
      return try measure {
        try PackedFile.write(graph, cell.path)
        return 1
      }
    }
    let source = XMLFile.Source(graph)
    return try measure {
      try XMLFile.write(source, cell.path)
      return 1
    }
  }

  /// The checksum is the sum over all employees; a bare pass over a document keeps none, so that it is made afterwards.
  private static func load(_ cell: Cell) throws -> CellResult {
    if cell.store == "Binary" {
      var graph = RawGraph(departments: 0, tagCount: 0)
      var result = try measure {
        graph = try PackedFile.read(cell.path)
        return 0
      }
      result.checksum = "\(graph.employees.reduce(0) { $0 + $1.checksum })"
      return result
    }
    var result = try measure { Double(try XMLFile.parse(cell.path)) }
    result.checksum = "\(try XMLFile.sums(cell.path).reduce(0) { $0 + $1.checksum })"
    return result
  }
}
