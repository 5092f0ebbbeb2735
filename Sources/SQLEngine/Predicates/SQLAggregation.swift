import StoreQuery
import StoreSchema

/// The state of an aggregate of a connection (``SQLFunction/isAggregate``) over one group.
public struct SQLAggregation {
  private enum Content {
    case collector(Aggregate.Collector)
    /// Collects all values, for aggregates that need them together.
    case values(ResolvedAggregate, [Value])
  }

  private var content: Content

  /// Nil for a function that is no aggregate.
  public init?(_ function: SQLFunction) {
    guard let aggregate = function.aggregate else { return nil }
    if case .aggregate(let aggregate) = aggregate {
      content = .collector(Aggregate.Collector(aggregate))
    } else {
      content = .values(aggregate, [])
    }
  }

  /// Adds the value of a row.
  public mutating func add(_ value: Value) {
    switch content {
    case .collector(var collector):
      content = .values(.size, [])
      collector.add(value)
      content = .collector(collector)
    case .values(let aggregate, var values):
      content = .values(aggregate, [])
      values.append(value)
      content = .values(aggregate, values)
    }
  }

  /// The same as ``add(_:)``, without making a value.
  public mutating func add(real: Double) {
    guard case .collector(var collector) = content else { return add(.double(real)) }
    content = .values(.size, [])
    collector.add(real: real)
    content = .collector(collector)
  }

  /// The result of the aggregate over the added values.
  public var value: Value {
    switch content {
    case .collector(let collector): collector.value
    case .values(let aggregate, let values): aggregate.evaluate(values)
    }
  }
}
