import StoreQuery
import StoreSchema

/// The values of one group on their way through an aggregate of a connection (``SQLFunction/isAggregate``).
public struct SQLAggregation {
  private enum Content {
    case collector(Aggregate.Collector)
    /// What looks at all values together.
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

  /// The same as ``add(_:)`` of the value, without making one.
  public mutating func add(real: Double) {
    guard case .collector(var collector) = content else { return add(.double(real)) }
    content = .values(.size, [])
    collector.add(real: real)
    content = .collector(collector)
  }

  /// What the aggregate makes of the values that were added.
  public var value: Value {
    switch content {
    case .collector(let collector): collector.value
    case .values(let aggregate, let values): aggregate.evaluate(values)
    }
  }
}
