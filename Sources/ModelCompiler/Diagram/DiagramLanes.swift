/// Gives each net in a channel a lane: a distance from the channel's left side, at which its line goes up or down.
///
/// Lines cross as seldom as can be found, and never run on one another: where a line from the left and one to the right
/// have the same height, the first one turns earlier.
struct DiagramLanes {
  /// The heights of a net's ports on both sides of the channel.
  struct Span {
    var left: [Int]
    var right: [Int]
    var low: Int { min(left.min() ?? Int.max, right.min() ?? Int.max) }
    var high: Int { max(left.max() ?? 0, right.max() ?? 0) }
    var isStraight: Bool { low == high }
  }

  /// The heights, in the order in which they were given. Some on the right may be other ones: see `separate`.
  private(set) var spans: [Span]
  /// The lane of each net.
  private(set) var lanes: [Int]
  private(set) var count = 0
  private(set) var crossings = 0

  /// A line and another one that run on one another count as so many crossings.
  private static let overlap = 1000

  init(_ spans: [Span]) {
    self.spans = spans
    lanes = [Int](repeating: 0, count: spans.count)
    var order = Array(spans.indices)
    // Below the number, all pairs are looked at.
    if spans.count <= 500 {
      let costs = spans.map { one in spans.map { Self.cost(one, before: $0) } }
      order = Self.order(costs)
      Self.exchangeNeighbours(&order, costs)
    } else {
      order.sort { (spans[$0].high - spans[$0].low, $0) < (spans[$1].high - spans[$1].low, $1) }
    }
    separate(order)
    assign(order)
    for (index, one) in order.enumerated() {
      for other in order[(index + 1)...] { crossings += Self.cost(self.spans[one], before: self.spans[other]) }
    }
  }

  /// The crossings of two lines of which the first turns on the left of the other.
  private static func cost(_ one: Span, before other: Span) -> Int {
    var cost = 0
    for y in other.left where one.low < y && y < one.high { cost += 1 }
    for y in one.right where other.low < y && y < other.high { cost += 1 }
    for y in one.right where other.left.contains(y) { cost += overlap }
    return cost
  }

  /// Takes again and again the net that crosses the fewest lines if it is the next one.
  private static func order(_ costs: [[Int]]) -> [Int] {
    var rest = Array(costs.indices)
    var scores = rest.map { one in rest.reduce(0) { $0 + costs[one][$1] - costs[$1][one] } }
    var result: [Int] = []
    while let next = rest.min(by: { (scores[$0], $0) < (scores[$1], $1) }) {
      rest.removeAll { $0 == next }
      result.append(next)
      for one in rest { scores[one] -= costs[one][next] - costs[next][one] }
    }
    return result
  }

  private static func exchangeNeighbours(_ order: inout [Int], _ costs: [[Int]]) {
    for _ in 0..<order.count {
      var isBetter = false
      for index in order.indices.dropLast() {
        let (one, next) = (order[index], order[index + 1])
        if costs[next][one] < costs[one][next] {
          order.swapAt(index, index + 1)
          isBetter = true
        }
      }
      if !isBetter { return }
    }
  }

  /// Moves a port on the right by 5 pixels where its line would run on another one in any order.
  private mutating func separate(_ order: [Int]) {
    var used = Set(spans.flatMap { $0.left + $0.right })
    for (index, one) in order.enumerated() {
      for (position, y) in spans[one].right.enumerated()
      where order[(index + 1)...].contains(where: { spans[$0].left.contains(y) }) {
        guard let free = [y + 5, y - 5].first(where: { !used.contains($0) }) else { continue }
        used.insert(free)
        spans[one].right[position] = free
      }
    }
  }

  /// The first lane that is on the right of all lanes of earlier nets beside which the net goes up or down.
  private mutating func assign(_ order: [Int]) {
    for (index, one) in order.enumerated() where !spans[one].isStraight {
      let (low, high) = (spans[one].low - 12, spans[one].high + 12)
      for other in order[..<index]
      where !spans[other].isStraight && spans[other].low <= high && low <= spans[other].high {
        lanes[one] = max(lanes[one], lanes[other] + 1)
      }
      count = max(count, lanes[one] + 1)
    }
  }
}
