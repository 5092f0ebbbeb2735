/// A connected part of a diagram: boxes in columns, with a channel beside each column for the lines.
///
/// Lines leave a box on its left or right, and run up and down in channels only. A line between columns that are not
/// neighbours passes the columns between them at heights of its own, between two boxes. So no line is in a box.
struct DiagramGrid {
  typealias End = DiagramContent.End

  /// Lines that are drawn together: one relationship, or the inheritance from one parent to entities on one side of it.
  struct Net {
    var ends: [End]
    /// The link between the first end and each other one.
    var links: [Int]
    var channels: ClosedRange<Int> = 0...0
    /// Whether both ends are in one column.
    var isLoop = false
  }

  /// What a column has from top to bottom: a box, or a net that passes.
  struct Item {
    var box: Int?
    var net: Int?
    var y = 0
    var height: Int
  }

  /// The end of a net's part in a channel.
  struct Port: Hashable {
    var item: Int
    /// Nil where the net passes a column.
    var end: End?
  }

  /// The part of a net in a channel, with its ports on both sides.
  struct Part {
    var net: Int
    var left: [Port] = []
    var right: [Port] = []
    var ports: [Port] { left + right }
  }

  var shapes: [DiagramShape]
  let columnOfBox: [Int]
  var nets: [Net]
  var items: [Item] = []
  /// The items of each column, from top to bottom.
  var columns: [[Int]]
  /// Of each channel. Channel 0 is on the left of the first column.
  var channels: [[Part]]
  /// The position of each row in its box.
  var positions: [[Int]]
  /// The nets that end at the header of each box, on the left and on the right, from top to bottom.
  var headerNets: [[[Int]]]
  /// The item of a net that passes a column.
  private var passes: [[Int]: Int] = [:]

  /// Boxes are numbered from 0. `order` is the first order of the boxes within their columns.
  init(shapes: [DiagramShape], rows: [Int], nets: [Net], columns: [Int], order: [Int]) {
    (self.shapes, self.nets, columnOfBox) = (shapes, nets, columns)
    let count = (columns.max() ?? -1) + 1
    self.columns = [[Int]](repeating: [], count: count)
    channels = [[Part]](repeating: [], count: count + 1)
    positions = rows.map { Array(0..<$0) }
    headerNets = shapes.map { _ in [[], []] }
    items = shapes.indices.map { Item(box: $0, height: 0) }
    for box in order { self.columns[columns[box]].append(box) }
    for net in nets.indices { connect(net) }
    for box in shapes.indices {
      self.shapes[box].reserve(headerEnds: headerNets[box].map(\.count).max() ?? 0)
      items[box].height = self.shapes[box].height
    }
  }

  /// Gives a net its parts in the channels, and an item in each column that it passes.
  private mutating func connect(_ index: Int) {
    let ends = nets[index].ends
    let numbers = ends.map { columnOfBox[$0.box] }
    guard let first = numbers.min(), let last = numbers.max() else { return }
    nets[index].isLoop = first == last
    if first == last {
      // A loop is on the side with fewer lines.
      let isRight = channels[first + 1].count <= channels[first].count
      nets[index].channels = isRight ? first + 1...first + 1 : first...first
      let ports = ends.map { Port(item: $0.box, end: $0) }
      let part = isRight ? Part(net: index, left: ports) : Part(net: index, right: ports)
      channels[isRight ? first + 1 : first].append(part)
    } else {
      nets[index].channels = first + 1...last
      var part = Part(
        net: index, left: ends.filter { columnOfBox[$0.box] == first }.map { Port(item: $0.box, end: $0) })
      for column in first + 1...last {
        part.right = ends.filter { columnOfBox[$0.box] == column }.map { Port(item: $0.box, end: $0) }
        var pass: Port?
        if column < last {
          pass = Port(item: items.count)
          passes[[index, column]] = items.count
          columns[column].append(items.count)
          items.append(Item(net: index, height: 10))
        }
        part.right += pass.map { [$0] } ?? []
        channels[column].append(part)
        part = Part(net: index, left: pass.map { [$0] } ?? [])
      }
    }
    for end in ends where end.row == nil { headerNets[end.box][isOnRight(end, index) ? 1 : 0].append(index) }
  }

  /// Whether a net leaves a box on its right.
  func isOnRight(_ end: End, _ net: Int) -> Bool { nets[net].channels.lowerBound == columnOfBox[end.box] + 1 }

  /// The item where a net passes a column.
  func pass(_ net: Int, _ column: Int) -> Int? { passes[[net, column]] }

  /// The distance of a port from the top of its item.
  func offset(_ port: Port, _ net: Int) -> Int {
    guard let end = port.end else { return 5 }
    let shape = shapes[end.box]
    if let row = end.row { return shape.middle(positions[end.box][row]) }
    let nets = headerNets[end.box][isOnRight(end, net) ? 1 : 0]
    return shape.headerEnd(nets.firstIndex(of: net) ?? 0, of: nets.count)
  }

  func y(_ port: Port, _ net: Int) -> Int { items[port.item].y + offset(port, net) }

  /// The distance of two items, one below the other.
  func gap(_ above: Int, _ below: Int) -> Int {
    switch (items[above].box, items[below].box) {
    case (nil, nil): 0
    case (nil, _?), (_?, nil): 10
    case (_?, _?): 30
    }
  }

  /// The height of a column without space.
  func height(_ column: Int) -> Int {
    let list = columns[column]
    return list.reduce(0) { $0 + items[$1].height } + zip(list, list.dropFirst()).reduce(0) { $0 + gap($1.0, $1.1) }
  }
}
