/// A position in the picture, in pixels from its left and top.
struct DiagramPoint: Hashable, Sendable {
  var x: Int
  var y: Int
}

/// A box in the picture, or a part of the picture.
struct DiagramFrame: Hashable, Sendable {
  var x = 0
  var y = 0
  var width: Int
  var height: Int
}

/// A connected part of a diagram with all positions, from 0, 0 on.
struct DiagramPart {
  /// Between the border of a box and the first lane: room for arrowheads.
  private static let margin = 26
  /// Between two lanes.
  private static let pitch = 10

  /// By the part's own numbers of boxes.
  private(set) var frames: [DiagramFrame] = []
  /// The points of each link, from its first end to the other one.
  private(set) var lines: [[DiagramPoint]]
  private(set) var width = 0
  private(set) var height = 0
  private var crossings = 0
  private var grid: DiagramGrid
  /// The lanes of each channel, and the left side of the first of them.
  private var channels: [(lanes: DiagramLanes, x: Int)] = []

  /// Arranges the boxes in so many columns, or fewer. `rows` are the numbers of rows of the boxes.
  init(shapes: [DiagramShape], rows: [Int], links: [DiagramContent.Link], columns count: Int) {
    let edges = links.filter { $0.from.box != $0.to.box }.map {
      DiagramColumns.Edge(from: $0.from.box, to: $0.to.box, isInheritance: $0.kind == .inheritance)
    }
    let (columns, order) = DiagramColumns.assign(edges, heights: shapes.map { $0.height + 30 }, count: count)
    lines = links.map { _ in [] }
    grid = DiagramGrid(shapes: shapes, rows: rows, nets: Self.nets(links, columns), columns: columns, order: order)
    grid.arrange()
    for channel in grid.channels.indices { assignLanes(channel) }
    let lefts = layOutColumns()
    for (box, column) in columns.enumerated() {
      let (item, left) = (grid.items[box], lefts[column])
      frames.append(DiagramFrame(x: left.x, y: item.y, width: left.width, height: item.height))
      height = max(height, item.y + item.height)
    }
    for net in grid.nets.indices { draw(net) }
    height = max(height, (lines.joined().map(\.y).max() ?? 0) + Self.pitch)
  }

  /// Less is better: the size of a picture of three to two that it fits in, and crossings.
  var cost: Int { max(width * 2, height * 3) + 12 * crossings }

  /// The measures of a box, whose header has room for its lines.
  func shape(_ box: Int) -> DiagramShape { grid.shapes[box] }

  /// The position of each row of a box.
  func positions(_ box: Int) -> [Int] { grid.positions[box] }

  /// Each relationship, and for each parent the inheritance on its left and on its right.
  private static func nets(_ links: [DiagramContent.Link], _ columns: [Int]) -> [DiagramGrid.Net] {
    var nets: [DiagramGrid.Net] = []
    var numbers: [[Int]: Int] = [:]
    for (index, link) in links.enumerated() {
      if link.kind == .inheritance {
        let key = [link.to.box, columns[link.from.box] < columns[link.to.box] ? 0 : 1]
        if let number = numbers[key] {
          nets[number].ends.append(link.from)
          nets[number].links.append(index)
          continue
        }
        numbers[key] = nets.count
        nets.append(DiagramGrid.Net(ends: [link.to, link.from], links: [index]))
      } else {
        nets.append(DiagramGrid.Net(ends: [link.from, link.to], links: [index]))
      }
    }
    return nets
  }

  // MARK: Positions

  private mutating func assignLanes(_ channel: Int) {
    let parts = grid.channels[channel]
    let lanes = DiagramLanes(
      parts.map { part in
        DiagramLanes.Span(
          left: part.left.map { grid.y($0, part.net) }, right: part.right.map { grid.y($0, part.net) })
      })
    for (part, span) in zip(parts, lanes.spans) {
      for (port, y) in zip(part.right, span.right) {
        // A net that passes has the same height in the next channel.
        if port.end == nil { grid.items[port.item].y = y - 5 }
      }
    }
    crossings += lanes.crossings
    channels.append((lanes, 0))
  }

  /// Gives the channels and the columns their left sides. Returns those of the columns, with their widths.
  private mutating func layOutColumns() -> [(x: Int, width: Int)] {
    var lefts: [(x: Int, width: Int)] = []
    var x = 0
    for channel in channels.indices {
      let lanes = channels[channel].lanes.count
      let extent = max(0, lanes - 1) * Self.pitch
      let isOuter = channel == 0 || channel == channels.count - 1
      let space = isOuter ? (lanes == 0 ? 0 : extent + Self.margin + Self.pitch) : max(80, extent + 2 * Self.margin)
      switch channel {
      case 0: channels[channel].x = x + Self.pitch
      case channels.count - 1: channels[channel].x = x + Self.margin
      default: channels[channel].x = x + (space - extent) / 2
      }
      x += space
      guard channel < grid.columns.count else { continue }
      let width = grid.columns[channel].compactMap { grid.items[$0].box }.map { grid.shapes[$0].width }.max() ?? 0
      lefts.append((x, width))
      x += width
    }
    width = x
    return lefts
  }

  // MARK: Lines

  private mutating func draw(_ number: Int) {
    let net = grid.nets[number]
    for (end, link) in zip(net.ends.dropFirst(), net.links) {
      let line = Self.simplified(points(from: net.ends[0], to: end, number))
      // Those of inheritance lead from the entity to its parent.
      lines[link] = net.ends[0].row == nil ? line.reversed() : line
    }
  }

  private func points(from first: DiagramContent.End, to last: DiagramContent.End, _ net: Int) -> [DiagramPoint] {
    let (start, end) = (channel(of: first, net), channel(of: last, net))
    var result = [port(first, net, start)]
    var y = result[0].y
    let step = start <= end ? 1 : -1
    for channel in stride(from: start, through: end, by: step) {
      let x = lane(net, channel)
      let isLast = channel == end
      let next = isLast ? port(last, net, channel).y : pass(net, step > 0 ? channel : channel - 1)
      result += [DiagramPoint(x: x, y: y), DiagramPoint(x: x, y: next)]
      y = next
    }
    return result + [port(last, net, end)]
  }

  private func channel(of end: DiagramContent.End, _ net: Int) -> Int {
    let channels = grid.nets[net].channels
    return grid.nets[net].isLoop || grid.isOnRight(end, net) ? channels.lowerBound : grid.columnOfBox[end.box]
  }

  private func port(_ end: DiagramContent.End, _ net: Int, _ channel: Int) -> DiagramPoint {
    let isRight = grid.isOnRight(end, net)
    let frame = frames[end.box]
    var y = frame.y
    for (part, span) in zip(grid.channels[channel], channels[channel].lanes.spans) where part.net == net {
      for (port, height) in zip(part.ports, span.left + span.right) where port.end == end { y = height }
    }
    return DiagramPoint(x: isRight ? frame.x + frame.width : frame.x, y: y)
  }

  private func pass(_ net: Int, _ column: Int) -> Int { grid.pass(net, column).map { grid.items[$0].y + 5 } ?? 0 }

  private func lane(_ net: Int, _ channel: Int) -> Int {
    let index = grid.channels[channel].firstIndex { $0.net == net } ?? 0
    return channels[channel].x + channels[channel].lanes.lanes[index] * Self.pitch
  }

  /// The points without those that are between two others on a straight line.
  private static func simplified(_ points: [DiagramPoint]) -> [DiagramPoint] {
    var result: [DiagramPoint] = []
    for point in points where point != result.last {
      if result.count > 1, let last = result.last {
        let before = result[result.count - 2]
        if before.x == last.x && last.x == point.x || before.y == last.y && last.y == point.y { result.removeLast() }
      }
      result.append(point)
    }
    return result
  }
}
