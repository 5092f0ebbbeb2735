import StoreProtocol
import StoreQuery
import StoreSchema

/// W16: a predicate over rows in memory, compiled by the library and as a closure by hand.
struct RowPredicates {
  private let rows: [Row]
  private let predicate: ResolvedPredicate
  private let slots: (name: Int, age: Int, salary: Int)

  init(_ scale: Scale) throws {
    var definition = EntityDefinition(name: "Employee")
    definition.attributes = [
      AttributeDefinition(name: "name", type: .string), AttributeDefinition(name: "age", type: .integer16),
      AttributeDefinition(name: "salary", type: .double),
    ]
    let schema = try Schema([definition])
    guard let entity = schema.entity(named: "Employee") else { throw BenchmarkError("There is no entity Employee.") }
    func slot(_ name: String) -> Int { entity.attributes.first { $0.name == name }?.slot ?? 0 }
    let slots = (name: slot("name"), age: slot("age"), salary: slot("salary"))
    let builder = RowBuilder()
    rows = EmployeeData.all(scale).enumerated().map { index, employee in
      builder.begin(slots: entity.slots.count)
      builder.setString(slots.name, employee.name)
      builder.setInt(slots.age, Int64(employee.age))
      builder.setDouble(slots.salary, employee.salary)
      return builder.finish(key: Int64(index + 1), entity: entity.index, version: 1)
    }
    let format = "age > 40 AND name BEGINSWITH 'A' AND (salary < 60000 OR salary >= 90000)"
    predicate = try PredicateResolver(schema, entity).resolve(try Predicate(format: format))
    self.slots = slots
  }

  func run(_ side: Side) -> CellResult {
    measure {
      var found = 0
      for _ in 0..<20 { found += (side == .raw ? byHand() : RowProgram(predicate)?.filter(rows) ?? []).count }
      return Double(found)
    }
  }

  private func byHand() -> [Row] {
    let slots = slots
    return rows.filter { row in
      if row.isNull(slots.age) || row.int(slots.age) <= 40 { return false }
      if row.isNull(slots.name) || !row.withBytes(slots.name, { $0.first == 0x41 }) { return false }
      if row.isNull(slots.salary) { return false }
      let salary = row.double(slots.salary)
      return salary < 60_000 || salary >= 90_000
    }
  }
}
