import BenchmarkSupport
import CoreData
import Foundation

/// One workload by the library, as an application would write it.
struct LibrarySide {
  let cell: Cell
  let stack: LibraryStack
  let context: NSManagedObjectContext
  var scale: Scale { cell.scale }

  static func run(_ cell: Cell) throws -> CellResult {
    let model = BenchmarkModel.make()
    switch cell.workload {
    case .w10: return try open(cell, model)
    case .w1t, .w1bt: return try insertAndRelease(cell, model)
    case .w14, .w14m: return try save(cell, model)
    case .w15, .w15m: return try load(cell, model)
    default: break
    }
    let stack = try LibraryStack(model, cell.path, synchronous: cell.synchronous, type: cell.store)
    // A store in memory begins with nothing, so that its objects are made here.
    if cell.store == "InMemory" && !cell.workload.startsEmpty {
      let context = stack.context()
      let side = LibrarySide(cell: cell, stack: stack, context: context)
      try context.performAndWait { try side.insert(EmployeeData.all(cell.scale), batch: cell.scale.employees) }
    }
    let context = stack.context()
    let side = LibrarySide(cell: cell, stack: stack, context: context)
    let result = try context.performAndWait { try side.run() }
    try stack.close()
    return result
  }

  private func run() throws -> CellResult {
    switch cell.workload {
    case .w1: return try insert(batch: scale.employees)
    case .w1b: return try insert(batch: scale.batch)
    case .w2: return try measure { try fetchAll() }
    case .w3: return try measure { try query() }
    case .w4:
      let ids = try stack.employeeIDs(scale.permutation)
      return measure { lookUp(ids) }
    case .w4h: return try lookUpCached()
    case .w4s:
      let ids = try stack.employeeIDs(scale.sparseKeys)
      return measure { lookUp(ids) }
    case .w5, .w5u:
      let all = try filledEmployees()
      if cell.workload == .w5u { context.undoManager = UndoManager() }
      return try measure { try changeSalaries(all) }
    case .w6: return try measure { try walkDepartments(prefetches: false) }
    case .w6p: return try measure { try walkDepartments(prefetches: true) }
    case .w7:
      let all = try filledEmployees()
      // Keys count from 1, so every second object from the second on has an even one.
      let half = all.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
      return try measure { try delete(half) }
    case .w7r:
      let departments = try insertDepartments()
      return try measure { try delete(departments) }
    case .w8: return try measure { try group() }
    case .w8d: return try measure { try fetchDictionaries() }
    case .w16: return try RowPredicates(scale).run(.library)
    case .w11: return try weigh()
    case .w12: return try saveWhileOthersRead()
    case .w13: return try saveOneByOne()
    case .w10, .w1t, .w1bt, .w14, .w14m, .w15, .w15m:
      throw BenchmarkError("\(cell.workload.rawValue) opens the store itself.")
    }
  }

  private func insert(batch: Int) throws -> CellResult {
    let data = EmployeeData.all(scale)
    return try measure {
      try insert(data, batch: batch)
      return Double(data.count)
    }
  }

  /// W1t and W1bt.
  private static func insertAndRelease(_ cell: Cell, _ model: NSManagedObjectModel) throws -> CellResult {
    let stack = try LibraryStack(model, cell.path, synchronous: cell.synchronous, type: cell.store)
    let data = EmployeeData.all(cell.scale)
    let batch = cell.workload == .w1t ? cell.scale.employees : cell.scale.batch
    let result = try measure {
      let side = LibrarySide(cell: cell, stack: stack, context: stack.context())
      try side.context.performAndWait { try side.insert(data, batch: batch) }
      return Double(data.count)
    }
    try stack.close()
    return result
  }

  /// W4h: another context has read every object and keeps it.
  private func lookUpCached() throws -> CellResult {
    let ids = try stack.employeeIDs(scale.permutation)
    let other = stack.context()
    let kept = try other.performAndWait {
      let request = NSFetchRequest<Employee>(entityName: "Employee")
      request.returnsObjectsAsFaults = false
      return try other.fetch(request)
    }
    return withExtendedLifetime(kept) { measure { lookUp(ids) } }
  }

  /// W10: the first opening warms the process, the second is measured.
  private static func open(_ cell: Cell, _ model: NSManagedObjectModel) throws -> CellResult {
    func firstObject() throws -> (LibraryStack, Double) {
      let stack = try LibraryStack(model, cell.path, synchronous: cell.synchronous, type: cell.store)
      let context = stack.context()
      let checksum = try context.performAndWait {
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        request.fetchLimit = 1
        guard let employee = try context.fetch(request).first else { throw BenchmarkError("There is no employee.") }
        return employee.checksum
      }
      return (stack, checksum)
    }
    try firstObject().0.close()
    var opened: LibraryStack?
    let result = try measure {
      let (stack, checksum) = try firstObject()
      opened = stack
      return checksum
    }
    try opened?.close()
    return result.withMilliseconds
  }

  /// W11.
  private func weigh() throws -> CellResult {
    let request = NSFetchRequest<Employee>(entityName: "Employee")
    request.fetchLimit = 1
    _ = try context.fetch(request)
    let before = bench_heap_bytes()
    var all: [Employee] = []
    var result = try measure {
      all = try employees()
      var sum = 0.0
      for employee in all { sum += employee.checksum }
      return sum
    }
    result.measurement.value = Double(bench_heap_bytes() - before) / Double(max(1, all.count))
    withExtendedLifetime(all) {}
    return result
  }
}
