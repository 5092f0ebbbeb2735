/// Chooses a column for each box of a connected part of a diagram: so that lines are short, parents are on the left of
/// the entities that inherit from them, and columns are of similar height.
struct DiagramColumns {
  /// A line between two boxes. For inheritance `to` is the parent.
  struct Edge {
    var from: Int
    var to: Int
    var isInheritance: Bool
  }

  private let edges: [Edge]
  private let heights: [Int]
  /// The edges of each box.
  private let incident: [[Int]]
  private let count: Int
  private let limit: Int
  private var columns: [Int] = []
  private var filled: [Int] = []

  /// The best columns found, and the order in which the boxes were visited: neighbours are near each other in it.
  static func assign(_ edges: [Edge], heights: [Int], count: Int) -> (columns: [Int], order: [Int]) {
    var best: (cost: Int, columns: [Int], order: [Int])?
    let search = DiagramColumns(edges, heights, count)
    for start in search.starts {
      var attempt = search
      let order = attempt.visit(from: start)
      attempt.fill(order)
      attempt.improve()
      let cost = attempt.cost
      if best.map({ cost < $0.cost }) ?? true { best = (cost, attempt.columns, order) }
    }
    let columns = best?.columns ?? []
    let used = Set(columns).sorted()
    let numbers = Dictionary(uniqueKeysWithValues: used.enumerated().map { ($1, $0) })
    return (columns.map { numbers[$0] ?? 0 }, best?.order ?? [])
  }

  private init(_ edges: [Edge], _ heights: [Int], _ count: Int) {
    (self.edges, self.heights, self.count) = (edges, heights, max(1, count))
    var incident = [[Int]](repeating: [], count: heights.count)
    for (index, edge) in edges.enumerated() {
      incident[edge.from].append(index)
      incident[edge.to].append(index)
    }
    self.incident = incident
    limit = max(heights.max() ?? 0, heights.reduce(0, +) / max(1, count) * 11 / 10)
  }

  private func other(_ edge: Int, _ box: Int) -> Int {
    edges[edge].from == box ? edges[edge].to : edges[edge].from
  }

  /// Boxes to begin with: the one with the most lines, the one that is farthest from it, and the first parent.
  private var starts: [Int] {
    guard let first = heights.indices.max(by: { incident[$0].count < incident[$1].count }) else { return [] }
    var result = [first]
    if let last = visit(from: first).last { result.append(last) }
    let children = Set(edges.filter(\.isInheritance).map(\.from))
    if let parent = edges.first(where: { $0.isInheritance && !children.contains($0.to) })?.to { result.append(parent) }
    return result
  }

  /// All boxes, by their distance from the first one.
  private func visit(from start: Int) -> [Int] {
    var order = [start]
    var seen: Set<Int> = [start]
    var next = 0
    while next < order.count {
      let box = order[next]
      for edge in incident[box] where seen.insert(other(edge, box)).inserted { order.append(other(edge, box)) }
      next += 1
    }
    return order
  }

  private mutating func fill(_ order: [Int]) {
    columns = [Int](repeating: 0, count: heights.count)
    filled = [Int](repeating: 0, count: count)
    let share = heights.reduce(0, +) / count
    var (column, height) = (0, 0)
    for box in order {
      if height > 0, height + heights[box] / 2 > share, column < count - 1 { (column, height) = (column + 1, 0) }
      height += heights[box]
      columns[box] = column
      filled[column] += heights[box]
    }
  }

  // MARK: Cost

  private func cost(_ edge: Edge, from: Int, to: Int) -> Int {
    let distance = edge.isInheritance ? from - to : abs(from - to)
    return switch distance {
    case ..<0: 14 - 6 * distance
    case 0: edge.isInheritance ? 5 : 4
    default: 5 * distance - 3
    }
  }

  private func excess(_ column: Int, adding height: Int = 0) -> Int { max(0, filled[column] + height - limit) / 10 }

  private var cost: Int {
    edges.reduce(0) { $0 + cost($1, from: columns[$1.from], to: columns[$1.to]) }
      + filled.indices.reduce(0) { $0 + excess($1) }
  }

  /// The cost of the lines of a box, but for those to another one.
  private func cost(of box: Int, without other: Int? = nil) -> Int {
    incident[box].reduce(0) { sum, index in
      let edge = edges[index]
      if let other, edge.from == other || edge.to == other { return sum }
      return sum + cost(edge, from: columns[edge.from], to: columns[edge.to])
    }
  }

  // MARK: Improvement

  /// Moves and exchanges boxes while that lowers the cost.
  private mutating func improve() {
    let passes = heights.count > 200 ? 4 : 16
    for _ in 0..<passes {
      var isBetter = false
      for box in heights.indices {
        if moveToBest(box) { isBetter = true }
        if heights.count <= 100, exchangeWithBest(box) { isBetter = true }
      }
      if !isBetter { return }
    }
  }

  private mutating func moveToBest(_ box: Int) -> Bool {
    let (column, height) = (columns[box], heights[box])
    let before = cost(of: box) + excess(column)
    var best = (gain: 0, column: column)
    for other in 0..<count where other != column {
      columns[box] = other
      let after = cost(of: box) + excess(column, adding: -height) + excess(other, adding: height) - excess(other)
      if before - after > best.gain { best = (before - after, other) }
    }
    columns[box] = best.column
    filled[column] -= height
    filled[best.column] += height
    return best.gain > 0
  }

  private mutating func exchangeWithBest(_ box: Int) -> Bool {
    let column = columns[box]
    var best = (gain: 0, box: box)
    for other in heights.indices where columns[other] != column {
      let (target, difference) = (columns[other], heights[other] - heights[box])
      let before = cost(of: box) + cost(of: other, without: box) + excess(column) + excess(target)
      (columns[box], columns[other]) = (target, column)
      let after =
        cost(of: box) + cost(of: other, without: box) + excess(column, adding: difference)
        + excess(target, adding: -difference)
      (columns[box], columns[other]) = (column, target)
      if before - after > best.gain { best = (before - after, other) }
    }
    guard best.gain > 0 else { return false }
    let difference = heights[best.box] - heights[box]
    filled[column] += difference
    filled[columns[best.box]] -= difference
    columns.swapAt(box, best.box)
    return true
  }
}
