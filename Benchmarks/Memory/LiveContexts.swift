import CoreData
import Foundation
import Synchronization

/// Many contexts at a time, of three levels, on one coordinator.
enum LiveContexts {
  /// ``Reading/peak`` are the bytes in use when all contexts are idle.
  static func reading(_ count: Int, _ type: String, _ path: String) throws -> Reading {
    let root = try MemoryModel.context(type, path)
    try root.performAndWait {
      Row(context: root).fill(1, Owner(context: root))
      try root.save()
      root.reset()
    }
    // The memory of threads and connections is measured by itself: they are there before.
    let others = make(count / 10, root)
    _ = try work(in: others)
    let start = ResidentMemory.bytes("VmRSS:")
    let contexts = make(count, root)
    let threads = try work(in: contexts)
    let end = ResidentMemory.bytes("VmRSS:")
    return withExtendedLifetime((others, contexts)) { Reading(peak: end, start: start, size: count, threads: threads) }
  }

  /// Of three, one is on the coordinator, one its child, and one the child of that.
  private static func make(_ count: Int, _ root: NSManagedObjectContext) -> [NSManagedObjectContext] {
    var contexts: [NSManagedObjectContext] = []
    while contexts.count < count {
      let context = NSManagedObjectContext(.privateQueue)
      if contexts.count % 3 > 0 {
        context.parent = contexts.last
      } else {
        context.persistentStoreCoordinator = root.persistentStoreCoordinator
      }
      contexts.append(context)
    }
    return contexts
  }

  /// All contexts read a value at the same time. Gives the most threads meanwhile.
  private static func work(in contexts: [NSManagedObjectContext]) throws -> Int {
    let group = DispatchGroup()
    let failures = Mutex(0)
    for context in contexts {
      group.enter()
      context.perform {
        let rows = try? context.fetch(NSFetchRequest<Row>(entityName: "Row"))
        if rows?.first?.sum ?? 0 <= 0 { failures.withLock { $0 += 1 } }
        context.reset()
        group.leave()
      }
    }
    var most = ResidentMemory.number("Threads:")
    while group.wait(timeout: .now() + .milliseconds(1)) == .timedOut {
      most = max(most, ResidentMemory.number("Threads:"))
    }
    let failed = failures.withLock { $0 }
    if failed > 0 { throw MemoryError("\(failed) contexts read nothing.") }
    return most
  }
}
