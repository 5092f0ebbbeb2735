import BenchmarkSupport
import CoreData

/// The workloads of stores that are whole files.
extension LibrarySide {
  /// W14: the first employee earns more.
  static func save(_ cell: Cell, _ model: NSManagedObjectModel) throws -> CellResult {
    let heap = bench_heap_bytes()
    let stack = try LibraryStack(model, cell.path, synchronous: cell.synchronous, type: cell.store)
    let live = bench_heap_bytes() - heap
    let context = stack.context()
    var result = try context.performAndWait {
      let request = NSFetchRequest<Employee>(entityName: "Employee")
      request.fetchLimit = 1
      guard let employee = try context.fetch(request).first else { throw BenchmarkError("There is no employee.") }
      employee.salary += 1
      return try measure {
        try context.save()
        return 1
      }
    }
    result.measurement.value = Double(result.measurement.peak) / Double(live)
    try stack.close()
    return result
  }

  /// W15: what the opening gives back is what it took too much.
  static func load(_ cell: Cell, _ model: NSManagedObjectModel) throws -> CellResult {
    // Another store first, so that what is made once is there.
    let first = try LibraryStack(model, cell.path + "-first", synchronous: cell.synchronous, type: cell.store)
    try first.close()
    let heap = bench_heap_bytes()
    var opened: LibraryStack?
    var result = try measure {
      opened = try LibraryStack(model, cell.path, synchronous: cell.synchronous, type: cell.store)
      return 0
    }
    let live = Double(bench_heap_bytes() - heap)
    result.measurement.value = max(0, Double(result.measurement.peak) - live) / live
    guard let stack = opened else { return result }
    let context = stack.context()
    let sum = try context.performAndWait {
      try context.fetch(NSFetchRequest<Employee>(entityName: "Employee")).reduce(0) { $0 + $1.checksum }
    }
    result.checksum = "\(sum)"
    try stack.close()
    return result
  }
}
