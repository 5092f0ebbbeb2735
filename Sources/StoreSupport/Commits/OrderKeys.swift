/// The integers by which Core Data keeps the order of an ordered relationship.
///
/// The first key is 2048, and each next one is 1024 more. An insertion in front gets 1024 less than the first.
/// Insertions between two members are spaced evenly in the gap. When a gap is exhausted, or members have moved, all
/// keys are assigned anew.
public enum OrderKeys {
  /// The key of the first member of a new list.
  public static let first: Int64 = 2048
  /// The difference between neighbours in a new list.
  public static let step: Int64 = 1024
  /// No key beyond this limit is assigned.
  public static let limit: Int64 = 1 << 62

  /// The order keys to write so that members sort as in `order`. Members that keep their key are left out.
  public static func assign(_ order: [Int64], existing: [Int64: Int64]) -> [(member: Int64, key: Int64)] {
    var result: [(member: Int64, key: Int64)] = []
    var previous: Int64?
    var index = 0
    while index < order.count {
      if let key = existing[order[index]] {
        if let previous, key <= previous { return renumber(order) }
        previous = key
        index += 1
        continue
      }
      var end = index
      while end < order.count, existing[order[end]] == nil { end += 1 }
      let next = end < order.count ? existing[order[end]] : nil
      guard let keys = gap(end - index, after: previous, before: next) else { return renumber(order) }
      for (offset, key) in keys.enumerated() { result.append((order[index + offset], key)) }
      previous = keys.last
      index = end
    }
    return result
  }

  private static func gap(_ count: Int, after previous: Int64?, before next: Int64?) -> [Int64]? {
    let count64 = Int64(count)
    switch (previous, next) {
    case (nil, nil): return (0..<count64).map { first + $0 * step }
    case (let previous?, nil):
      guard previous.magnitude < limit.magnitude else { return nil }
      return (1...count64).map { previous + $0 * step }
    case (nil, let next?):
      guard next.magnitude < limit.magnitude else { return nil }
      return (1...count64).reversed().map { next - $0 * step }
    case (let previous?, let next?):
      guard previous.magnitude < limit.magnitude, next.magnitude < limit.magnitude, next > previous else { return nil }
      let width = next - previous
      guard width > count64, width < limit / (count64 + 1) else { return nil }
      return (1...count64).map { previous + width * $0 / (count64 + 1) }
    }
  }

  private static func renumber(_ order: [Int64]) -> [(member: Int64, key: Int64)] {
    order.enumerated().map { ($1, first + Int64($0) * step) }
  }
}
