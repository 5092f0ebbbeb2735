import CoreData
import Foundation

extension Step {
  /// Does the work and measures it. Call it once in a process.
  func run(rows: Int, path: String) throws -> Reading {
    try warmUp("\(path)-\(UUID())")
    if work == .contexts { return try LiveContexts.reading(max(10_000, rows / 100), store, path) }
    let memory = ResidentMemory(withoutMaps: store == "LMDB")
    let context = try MemoryModel.context(store, path)
    try context.performAndWait {
      switch work {
      case .insert: try insert(rows, context)
      case .walk: try walk(rows, context)
      case .cascade: try cascade(context)
      case .saveBlob: try saveBlob(blob(rows), context)
      case .readBlob: try readBlob(blob(rows), context)
      case .changeFile: try change(rows, context)
      case .contexts: break
      }
    }
    let peak = memory.peak()
    let size = work == .changeFile ? try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int : blob(rows)
    return Reading(peak: peak, start: memory.start, size: size ?? 0)
  }

  /// Uses a small store, so that one-time allocations are not measured.
  private func warmUp(_ path: String) throws {
    let context = try MemoryModel.context(store, path)
    try context.performAndWait {
      try insert(10, context)
      try walk(10, context)
      try saveBlob(10, context)
      try readBlob(10, context)
    }
  }

  /// A hundred bytes for each row: 100 MB with a million.
  private func blob(_ rows: Int) -> Int { rows * 100 }

  private func insert(_ rows: Int, _ context: NSManagedObjectContext) throws {
    let owner = Owner(context: context)
    for start in stride(from: 0, to: rows, by: 10_000) {
      for index in start..<min(rows, start + 10_000) { Row(context: context).fill(index, owner) }
      try context.save()
      // Otherwise the owner keeps a set of all rows.
      context.refresh(owner, mergeChanges: false)
    }
  }

  private func walk(_ rows: Int, _ context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<Row>(entityName: "Row")
    request.fetchBatchSize = 100
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    let found = try context.fetch(request)
    let sum = found.reduce(0) { $0 + $1.sum }
    guard found.count == rows, sum > 0 else { throw MemoryError("\(found.count) of \(rows) rows were found.") }
  }

  private func cascade(_ context: NSManagedObjectContext) throws {
    guard let owner = try context.fetch(NSFetchRequest<Owner>(entityName: "Owner")).first else {
      throw MemoryError("There is no owner.")
    }
    context.delete(owner)
    try context.save()
    let left = try context.count(for: NSFetchRequest<Row>(entityName: "Row"))
    guard left == 0 else { throw MemoryError("\(left) rows are left.") }
  }

  private func saveBlob(_ count: Int, _ context: NSManagedObjectContext) throws {
    // The application's own copy of the value counts, too.
    Large(context: context)[Large.bytes] = Data(repeating: 0x5A, count: count)
    try context.save()
  }

  private func readBlob(_ count: Int, _ context: NSManagedObjectContext) throws {
    let bytes = try context.fetch(NSFetchRequest<Large>(entityName: "Large")).first?[Large.bytes]
    guard bytes?.count == count, bytes?.last == 0x5A else { throw MemoryError("The value is not what was saved.") }
  }

  private func change(_ rows: Int, _ context: NSManagedObjectContext) throws {
    let found = try context.fetch(NSFetchRequest<Row>(entityName: "Row"))
    let sum = found.reduce(0) { $0 + $1.sum }
    guard found.count == rows, sum > 0 else { throw MemoryError("\(found.count) of \(rows) rows were found.") }
    found[0][Row.amount] += 1
    try context.save()
  }
}
