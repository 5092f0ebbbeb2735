import Foundation
import SQLiteBackend
import StoreConformance
import StoreProtocol
import Synchronization

/// Fetches with generated predicates from a SQLite store with random objects. A fetch that the store executes must
/// return the same objects as one that is evaluated in memory.
enum FetchPlanTarget {
  private static let plans: Mutex<PlanComparison> = {
    guard let plans = try? PlanComparison(SQLiteHarness(), seed: 1) else { fatalError("the store cannot be made") }
    atexit { FetchPlanTarget.plans.withLock { try? $0.close() } }
    return Mutex(plans)
  }()

  /// The first byte selects the entity, the second the sort order and the window; the others are the format.
  static func run(_ data: Data) {
    let bytes = Array(data)
    guard bytes.count > 2 else { return }
    let text = String(decoding: bytes[2...], as: UTF8.self)
    // The current time and random numbers differ from one evaluation to the next.
    guard !["now", "random"].contains(where: text.lowercased().contains) else { return }
    plans.withLock { plans in
      let (entities, choice) = (plans.entities, Int(bytes[1]))
      let entity = entities[Int(bytes[0]) % entities.count]
      let sort = choice & 1 == 0 ? [] : ["Team": ["title"], "Tag": ["label"]][entity] ?? ["-name"]
      let isWindowed = choice & 2 != 0
      do {
        let divergence = try plans.divergence(
          text, of: entity, sort: sort, offset: isWindowed ? 1 : 0, limit: isWindowed ? 3 : nil)
        if let divergence { fatalError("\(entity) \(text): \(divergence)") }
      } catch { fatalError("\(entity) \(text): \(error)") }
    }
  }
}

private struct SQLiteHarness: StoreHarness {
  let backend: any StoreBackend = SQLiteBackend()
}
