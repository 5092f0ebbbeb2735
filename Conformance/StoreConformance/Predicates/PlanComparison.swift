import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// One store with random objects, for predicates of any text. A predicate that the store evaluates must select the same
/// objects as evaluation in memory.
public final class PlanComparison {
  private let harness: any StoreHarness
  private let location: StoreLocation
  private let filled: ModelExecution

  /// Fills a store of a harness with the objects that random operations of the seed make.
  public init(_ harness: any StoreHarness, seed: UInt64, operations: Int = 150) throws {
    self.harness = harness
    location = try harness.makeLocation()
    filled = try ModelExecution(
      harness, location, try ModelSchema(), of: ModelOperation.stream(count: operations, seed: seed))
  }

  /// The names of the entities that predicates can be about.
  public var entities: [String] { filled.session.schema.entities.map(\.name) }

  /// How the two ways differ; nil where both select the same objects, or refuse the predicate. Errors must be of the
  /// promised types.
  public func divergence(
    _ format: String, of entity: String, sort: [String] = [], offset: Int = 0, limit: Int? = nil
  ) throws -> String? {
    let plan: FetchPlan
    do {
      plan = try filled.session.plan(entity, format, [], sort: sort, offset: offset, limit: limit, exactly: false)
    } catch is FormatError { return nil } catch is ResolutionError { return nil } catch is StoreError { return nil }
    return try filled.session.read { view in
      let ways = [true, false].map { Self.outcome(plan, FetchExecution(view, pushesDown: $0)) }
      return ways[0] == ways[1] ? nil : "by the store: \(ways[0]), in memory: \(ways[1])"
    }
  }

  private static func outcome(_ plan: FetchPlan, _ execution: FetchExecution) -> String {
    var keys: [ObjectReference] = []
    do throws(StoreError) {
      try execution.fetch(plan) { keys.append($0.reference) }
      return "\(keys.map { "\($0.entity)/\($0.key)" }), \(try execution.count(plan)) counted"
    } catch { return "\(error)" }
  }

  /// Closes and removes the store.
  public func close() throws {
    try filled.close()
    try harness.destroy(location)
  }
}
