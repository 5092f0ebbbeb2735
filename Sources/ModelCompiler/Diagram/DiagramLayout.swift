/// The positions of everything in the picture of a diagram.
struct DiagramLayout {
  private(set) var frames: [DiagramFrame]
  private(set) var shapes: [DiagramShape]
  /// The position of each row of each box.
  private(set) var positions: [[Int]]
  /// The points of each link, from its first end to the other one.
  private(set) var lines: [[DiagramPoint]]
  private(set) var width = 0
  private(set) var height = 0

  /// Between two parts.
  private static let gap = 40

  init(_ content: DiagramContent) {
    shapes = content.boxes.map { DiagramShape($0) }
    frames = shapes.map { DiagramFrame(width: $0.width, height: $0.height) }
    positions = content.boxes.map { Array($0.rows.indices) }
    lines = content.links.map { _ in [] }
    let members = Self.parts(content)
    var links = [[Int]](repeating: [], count: members.count)
    var numbers = [(part: Int, box: Int)](repeating: (0, 0), count: content.boxes.count)
    for (part, boxes) in members.enumerated() {
      for (number, box) in boxes.enumerated() { numbers[box] = (part, number) }
    }
    for (index, link) in content.links.enumerated() { links[numbers[link.from.box].part].append(index) }
    let parts = members.indices.map { part in
      arrange(
        members[part].map { shapes[$0] }, rows: members[part].map { content.boxes[$0].rows.count },
        links: links[part].map { index in
          var link = content.links[index]
          link.from.box = numbers[link.from.box].box
          link.to.box = numbers[link.to.box].box
          return link
        })
    }
    let corners = pack(parts)
    for (part, corner) in zip(parts.indices, corners) {
      for (number, box) in members[part].enumerated() {
        frames[box] = parts[part].frames[number]
        frames[box].x += corner.x
        frames[box].y += corner.y
        shapes[box] = parts[part].shape(number)
        positions[box] = parts[part].positions(number)
      }
      for (line, index) in zip(parts[part].lines, links[part]) {
        lines[index] = line.map { DiagramPoint(x: $0.x + corner.x, y: $0.y + corner.y) }
      }
    }
  }

  /// The boxes of each connected part, the first one that of the first box.
  private static func parts(_ content: DiagramContent) -> [[Int]] {
    var neighbours = content.boxes.map { _ in [Int]() }
    for link in content.links {
      neighbours[link.from.box].append(link.to.box)
      neighbours[link.to.box].append(link.from.box)
    }
    var seen: Set<Int> = []
    return content.boxes.indices.compactMap { start in
      guard seen.insert(start).inserted else { return nil }
      var part = [start]
      var next = 0
      while next < part.count {
        part += neighbours[part[next]].filter { seen.insert($0).inserted }
        next += 1
      }
      return part.sorted()
    }
  }

  /// Tries some numbers of columns, and takes the best result.
  private func arrange(_ shapes: [DiagramShape], rows: [Int], links: [DiagramContent.Link]) -> DiagramPart {
    let height = shapes.reduce(0) { $0 + $1.height + 50 }
    let width = shapes.reduce(0) { $0 + $1.width } / max(1, shapes.count) + 140
    var likely = 1
    while 2 * width * likely * likely < 3 * height { likely += 1 }
    let counts = shapes.count > 100 ? likely...likely : max(1, likely - 1)...min(likely + 2, max(shapes.count, likely))
    let parts = counts.map { DiagramPart(shapes: shapes, rows: rows, links: links, columns: $0) }
    return parts.dropFirst().reduce(parts[0]) { $1.cost < $0.cost ? $1 : $0 }
  }

  // MARK: Packing

  /// Gives each part its top left corner, in the best of some widths.
  private mutating func pack(_ parts: [DiagramPart]) -> [DiagramPoint] {
    let area = parts.reduce(0) { $0 + ($1.width + Self.gap) * ($1.height + Self.gap) }
    let widest = parts.map { $0.width + Self.gap }.max() ?? 0
    var limit = widest
    while limit * limit < area { limit += 20 }
    let results = (0..<8).map { Self.pack(parts, limit: limit + $0 * limit / 10) }
    func cost(_ frame: DiagramFrame) -> Int { max(frame.width * 2, frame.height * 3) }
    let best = results.dropFirst().reduce(results[0]) { cost($1.frame) < cost($0.frame) ? $1 : $0 }
    (width, height) = (best.frame.width, best.frame.height)
    return best.corners
  }

  /// The higher parts first, each as high as it can be.
  private static func pack(_ parts: [DiagramPart], limit: Int) -> (frame: DiagramFrame, corners: [DiagramPoint]) {
    var frame = DiagramFrame(width: 0, height: 0)
    var corners = parts.map { _ in DiagramPoint(x: 0, y: 0) }
    // The lower border of what is there already: each section from an x on.
    var skyline = [DiagramPoint(x: 0, y: 0)]
    for part in parts.indices.sorted(by: { (-parts[$0].height, $0) < (-parts[$1].height, $1) }) {
      let (width, height) = (parts[part].width + gap, parts[part].height + gap)
      let candidates = skyline.map(\.x).filter { $0 == 0 || $0 + width <= limit }.map { x in
        let covered = skyline.indices.filter {
          skyline[$0].x < x + width && ($0 + 1 == skyline.count || skyline[$0 + 1].x > x)
        }
        return DiagramPoint(x: x, y: covered.map { skyline[$0].y }.max() ?? 0)
      }
      guard let corner = candidates.min(by: { ($0.y, $0.x) < ($1.y, $1.x) }) else { continue }
      corners[part] = corner
      let end = corner.x + width
      let after = skyline.last { $0.x <= end }?.y ?? 0
      let isSection = end >= limit || skyline.contains { $0.x == end }
      skyline =
        skyline.filter { $0.x < corner.x } + [DiagramPoint(x: corner.x, y: corner.y + height)]
        + (isSection ? [] : [DiagramPoint(x: end, y: after)]) + skyline.filter { $0.x >= end }
      frame.width = max(frame.width, corner.x + parts[part].width)
      frame.height = max(frame.height, corner.y + parts[part].height)
    }
    return (frame, corners)
  }
}
