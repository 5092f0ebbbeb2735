import CoreData
import Foundation

/// The workloads of many saves.
extension LibrarySide {
  /// W12: each reader has a context of its own, all of them one coordinator.
  func saveWhileOthersRead() throws -> CellResult {
    let all = try filledEmployees()
    return try measure {
      let readers = Workers(Scale.readers) { _ in
        let reader = LibrarySide(cell: cell, stack: stack, context: stack.context())
        try reader.context.performAndWait { _ = try reader.walkDepartments(prefetches: false) }
      }
      for batch in scale.batches(of: all) { _ = try changeSalaries(Array(batch)) }
      try readers.wait()
      return Double(all.count)
    }
  }

  /// W13.
  func saveOneByOne() throws -> CellResult {
    let some = try filledEmployees().prefix(Scale.smallSaves)
    return try measure {
      for employee in some { _ = try changeSalaries([employee]) }
      return Double(some.count)
    }
  }
}
