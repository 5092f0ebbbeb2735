import CoreData

/// What a store holds by what is read from it, to compare sides whose files are not of one form.
enum ValueDigest {
  /// How many employees there are, and a sum over all of their properties, each weighed by its place in the order of
  /// keys: sides may count their keys from other numbers on.
  static func digest(_ cell: Cell) throws -> String {
    let all = try cell.side == .raw ? RawStore.employees(cell) : stored(cell)
    let ordered = all.sorted { $0.key < $1.key }.enumerated()
    let sum = ordered.reduce(0) { $0 + $1.element.checksum * Double($1.offset & 1023 + 1) }
    return "\(all.count):\(sum)"
  }

  private static func stored(_ cell: Cell) throws -> [(key: Int64, checksum: Double)] {
    let stack = try LibraryStack(BenchmarkModel.make(), cell.path, synchronous: cell.synchronous, type: cell.store)
    let context = stack.context()
    return try context.performAndWait {
      let request = NSFetchRequest<Employee>(entityName: "Employee")
      return try context.fetch(request).map { employee in
        let name = employee.objectID.uriRepresentation().lastPathComponent
        guard let key = Int64(name.dropFirst()) else { throw BenchmarkError("The object \(name) has no key.") }
        return (key, employee.checksum)
      }
    }
  }
}
