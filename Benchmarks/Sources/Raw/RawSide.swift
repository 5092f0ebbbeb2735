import BenchmarkSupport

/// One workload by the C API of SQLite.
struct RawSide {
  let cell: Cell
  let database: RawDatabase
  var scale: Scale { cell.scale }

  static func run(_ cell: Cell) throws -> CellResult {
    if cell.workload == .w10 { return try open(cell) }
    let side = RawSide(
      cell: cell,
      database: try RawDatabase(
        cell.path, synchronous: cell.synchronous, cache: cell.workload.writes ? Scale.writerCache : nil))
    return try side.run()
  }

  private func run() throws -> CellResult {
    switch cell.workload {
    case .w1, .w1t: return try insert(batch: scale.employees)
    case .w1b, .w1bt: return try insert(batch: scale.batch)
    case .w2: return try measure { try fetchAll() }
    case .w3: return try measure { try query() }
    case .w4, .w4h:
      let keys = scale.permutation
      if cell.workload == .w4h { _ = try lookUp(keys) }
      return try measure { try lookUp(keys) }
    case .w4s:
      let keys = scale.sparseKeys
      return try measure { try lookUp(keys) }
    case .w5, .w5u:
      let all = try employees()
      return try measure { try changeSalaries(all) }
    case .w6: return try measure { try walkDepartments() }
    case .w6p: return try measure { try walkPrefetched() }
    case .w7:
      let all = try employees()
      let half = all.filter { $0.key.isMultiple(of: 2) }
      return try measure { try delete(half) }
    case .w7r:
      let keys = try insertDepartments()
      return try measure { try deleteDepartments(keys) }
    case .w8: return try measure { try group() }
    case .w8d: return try measure { try fetchDictionaries() }
    case .w16: return try RowPredicates(scale).run(.raw)
    case .w10: return try Self.open(cell)
    case .w11: return try weigh()
    case .w12: return try saveWhileOthersRead()
    case .w13: return try saveOneByOne()
    case .w14, .w14m, .w15, .w15m: throw BenchmarkError("SQLite's file is not written as a whole.")
    }
  }

  private func insert(batch: Int) throws -> CellResult {
    let data = EmployeeData.all(scale)
    return try measure {
      try RawInsertion(database).insert(data, scale, batch: batch)
      return Double(data.count)
    }
  }

  /// W10: the first opening warms the process, the second is measured.
  private static func open(_ cell: Cell) throws -> CellResult {
    func firstObject() throws -> Double {
      let database = try RawDatabase(cell.path, synchronous: cell.synchronous)
      let statement = try database.prepare(RawSQL.firstEmployees)
      statement.bind(1, 1)
      statement.bind(0, 2)
      guard statement.step() else { throw database.error("fetching the first object") }
      return RawEmployee(statement).checksum
    }
    _ = try firstObject()
    return try measure { try firstObject() }.withMilliseconds
  }

  /// W11.
  private func weigh() throws -> CellResult {
    _ = try database.prepare(RawSQL.firstEmployees).step()
    let before = bench_heap_bytes()
    var all: [RawEmployee] = []
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
