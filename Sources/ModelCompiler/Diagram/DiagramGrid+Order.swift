/// The order of the items in a column, of the rows in a box, and the heights of both.
extension DiagramGrid {
  /// Orders the items so that few lines cross, and moves them so that many lines are straight.
  mutating func arrange() {
    stack()
    sortEnds()
    var best = (cost: measure(), columns: columns)
    for pass in 0..<10 {
      let numbers = pass % 2 == 0 ? Array(columns.indices) : columns.indices.reversed()
      for column in numbers { sort(column) }
      stack()
      sortEnds()
      let cost = measure()
      if cost < best.cost { best = (cost, columns) }
    }
    columns = best.columns
    stack()
    sortEnds()
    exchangeNeighbours()
    for pass in 0..<8 {
      let numbers = pass % 2 == 0 ? Array(columns.indices) : columns.indices.reversed()
      for column in numbers { straighten(column) }
      if pass == 3 { sortEnds() }
    }
    let top = items.map(\.y).min() ?? 0
    for index in items.indices { items[index].y -= top }
  }

  /// Puts the items of each column below each other, without space, around a common middle.
  private mutating func stack() {
    let heights = columns.indices.map(height)
    let tallest = heights.max() ?? 0
    for column in columns.indices {
      stack(column, from: (tallest - heights[column]) / 20 * 10)
    }
  }

  private mutating func stack(_ column: Int, from top: Int) {
    var y = top
    var above: Int?
    for item in columns[column] {
      if let above { y += gap(above, item) }
      items[item].y = y
      y += items[item].height
      above = item
    }
  }

  /// Orders the items of a column by the middle of what they are connected with.
  private mutating func sort(_ column: Int) {
    var sums: [Int: (sum: Int, count: Int)] = [:]
    for channel in [column, column + 1] {
      for part in channels[channel] {
        let own = channel == column ? part.right : part.left
        for port in own {
          for other in part.ports where other.item != port.item {
            sums[port.item, default: (0, 0)].sum += y(other, part.net) + drift(port, other, part)
            sums[port.item, default: (0, 0)].count += 1
          }
        }
      }
    }
    let keys = columns[column].enumerated().map { index, item in
      let (sum, count) = sums[item] ?? (0, 0)
      return (count == 0 ? items[item].y + items[item].height / 2 : sum / count, index, item)
    }
    columns[column] = keys.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    stack(column, from: items[columns[column].first ?? 0].y)
  }

  /// A parent should be above the entities of its column that inherit from it.
  private func drift(_ port: Port, _ other: Port, _ part: Part) -> Int {
    guard let first = nets[part.net].ends.first, first.row == nil,
      items[port.item].box.map({ columnOfBox[$0] }) == items[other.item].box.map({ columnOfBox[$0] })
    else { return 0 }
    return port.end == first ? -items[port.item].height : other.end == first ? items[first.box].height : 0
  }

  /// Orders the rows of each box, and the ends at its header, by the heights that their lines lead to.
  private mutating func sortEnds() {
    var rows = positions.map { [Int?](repeating: nil, count: $0.count) }
    var headers: [[Int]: Int] = [:]
    for part in channels.joined() {
      for port in part.ports {
        guard let end = port.end else { continue }
        let others = part.ports.filter { $0.end != end }.map { y($0, part.net) }
        let key = others.isEmpty ? y(port, part.net) : others.reduce(0, +) / others.count
        if let row = end.row { rows[end.box][row] = key } else { headers[[end.box, part.net]] = key }
      }
    }
    for box in positions.indices {
      let order = rows[box].indices.sorted { (rows[box][$0] ?? Int.max, $0) < (rows[box][$1] ?? Int.max, $1) }
      for (position, row) in order.enumerated() { positions[box][row] = position }
      for side in 0...1 {
        headerNets[box][side].sort { (headers[[box, $0]] ?? 0, $0) < (headers[[box, $1]] ?? 0, $1) }
      }
    }
  }

  // MARK: Crossings

  /// How far the lines go up and down, and how often they cross: a crossing counts as much as 60 pixels.
  private func measure() -> Int { channels.indices.reduce(0) { $0 + measure($1) } }

  private func measure(_ channel: Int) -> Int {
    var lines: [(Int, Int)] = []
    var length = 0
    for part in channels[channel] {
      let (left, right) = (part.left.map { y($0, part.net) }, part.right.map { y($0, part.net) })
      if left.isEmpty || right.isEmpty {
        length += ((left + right).max() ?? 0) - ((left + right).min() ?? 0)
      }
      if nets[part.net].ends[0].row == nil {
        for (ports, heights) in [(part.left, left), (part.right, right)]
        where ports.first?.end == nets[part.net].ends[0] {
          // Entities that are above their parent.
          length += 400 * heights.count { $0 < heights[0] }
        }
      }
      for one in left {
        for other in right {
          lines.append((one, other))
          length += abs(one - other)
        }
      }
    }
    // The number of crossings takes time that grows with the square.
    guard lines.count <= 400 else { return length }
    var crossings = 0
    for (index, line) in lines.enumerated() {
      for other in lines[..<index] where (line.0 < other.0) != (line.1 < other.1) { crossings += 1 }
    }
    return length + 60 * crossings
  }

  /// Exchanges items that are below each other while that makes lines better.
  private mutating func exchangeNeighbours() {
    guard items.count <= 160 else { return }
    for _ in 0..<6 {
      var isBetter = false
      for column in columns.indices {
        for index in columns[column].indices.dropLast() {
          let before = measure(column) + measure(column + 1)
          let top = items[columns[column][0]].y
          columns[column].swapAt(index, index + 1)
          stack(column, from: top)
          if measure(column) + measure(column + 1) < before {
            isBetter = true
          } else {
            columns[column].swapAt(index, index + 1)
            stack(column, from: top)
          }
        }
      }
      sortEnds()
      if !isBetter { return }
    }
  }

  // MARK: Heights

  /// Items that touch, and the tops that the first of them would need for each of their lines to be straight.
  private struct Block {
    var first: Int
    var tops: [Int]
    var top: Int { tops[(tops.count - 1) / 2] }
  }

  /// Moves the items of a column, in their order, to where the sum of the heights that their lines go up and down is
  /// the least.
  private mutating func straighten(_ column: Int) {
    let list = columns[column]
    let room = (columns.indices.map(height).max() ?? 0) - height(column)
    let desired = desiredTops(column)
    var distance = 0
    var distances: [Int] = []
    var blocks: [Block] = []
    for (index, item) in list.enumerated() {
      if index > 0 { distance += items[list[index - 1]].height + gap(list[index - 1], item) }
      distances.append(distance)
      let tops = (desired[item] ?? [items[item].y]).map { min(max($0 - distance, 0), room) }
      blocks.append(Block(first: index, tops: tops.sorted()))
      while blocks.count > 1, blocks[blocks.count - 2].top > blocks[blocks.count - 1].top {
        let last = blocks.removeLast()
        blocks[blocks.count - 1].tops = (blocks[blocks.count - 1].tops + last.tops).sorted()
      }
    }
    for (index, block) in blocks.enumerated() {
      let end = index + 1 < blocks.count ? blocks[index + 1].first : list.count
      for item in block.first..<end { items[list[item]].y = block.top + distances[item] }
    }
  }

  /// The tops with which the lines of each item would be straight.
  private func desiredTops(_ column: Int) -> [Int: [Int]] {
    var result: [Int: [Int]] = [:]
    for (channel, isLeft) in [(column, true), (column + 1, false)] {
      for part in channels[channel] {
        let (own, others) = isLeft ? (part.right, part.left) : (part.left, part.right)
        for port in own {
          for other in others {
            let top = y(other, part.net) - offset(port, part.net)
            // A line that passes should rather be straight than one that ends.
            result[port.item, default: []] += [Int](repeating: top, count: port.end == nil ? 3 : 1)
          }
        }
      }
    }
    return result
  }
}
