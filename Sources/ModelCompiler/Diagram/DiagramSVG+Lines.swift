/// The lines of a picture, and what they end with.
extension DiagramSVG {
  /// An end of a line.
  enum Head {
    case none, one, many, parent
  }

  mutating func writeLines() {
    var tone = 0
    // Inheritance from one parent shares lines, so that all halos of those come first.
    let siblings = Dictionary(grouping: content.links.indices.filter { content.links[$0].kind == .inheritance }) {
      content.links[$0].to.box
    }
    for parent in siblings.keys.sorted() {
      let group = siblings[parent] ?? []
      add(#"<g class="inheritance">"#)
      for index in group { add(#"<path class="halo" d="\#(path(index, .none, .parent))"/>"#) }
      for index in group {
        let (child, name) = (content.boxes[content.links[index].from.box].name, content.boxes[parent].name)
        add(#"<g data-inheritance="\#(DiagramText.xml(child))" data-parent="\#(DiagramText.xml(name))">"#)
        add("<title>\(DiagramText.xml("\(child) inherits from \(name)"))</title>")
        add(#"<path class="line" d="\#(path(index, .none, .parent))"/>"#)
        add("</g>")
      }
      var tips: Set<DiagramPoint> = []
      for index in group { writeHead(.parent, layout.lines[index].reversed(), &tips) }
      add("</g>")
    }
    for (index, link) in content.links.enumerated() where link.kind != .inheritance {
      write(link, index, tone: tone)
      tone = (tone + 1) % 4
    }
  }

  private mutating func write(_ link: DiagramContent.Link, _ index: Int, tone: Int) {
    let (from, to) = (row(link.from), row(link.to))
    let names =
      #"data-relationship="\#(DiagramText.xml(name(link.from)))""#
      + #" \#(to == nil ? "data-destination" : "data-inverse")="\#(DiagramText.xml(name(link.to)))""#
    add(#"<g class="\#(link.kind == .oneWay ? "one-way " : "")tone\#(tone)" \#(names)>"#)
    add("<title>\(DiagramText.xml(DiagramWords.sentence(link, content)))</title>")
    let heads = (to.map(head) ?? .none, from.map(head) ?? .one)
    let path = path(index, heads.0, heads.1)
    add(#"<path class="halo" d="\#(path)"/>"#)
    add(#"<path class="line" d="\#(path)"/>"#)
    var tips: Set<DiagramPoint> = []
    writeHead(heads.0, layout.lines[index], &tips)
    writeHead(heads.1, layout.lines[index].reversed(), &tips)
    add("</g>")
  }

  private func row(_ end: DiagramContent.End) -> DiagramContent.Row? {
    end.row.map { content.boxes[end.box].rows[$0] }
  }

  private func name(_ end: DiagramContent.End) -> String {
    let box = content.boxes[end.box].name
    return row(end).map { "\(box).\($0.name)" } ?? box
  }

  private func head(_ row: DiagramContent.Row) -> Head { row.isToMany ? .many : .one }

  // MARK: Paths

  private func path(_ index: Int, _ start: Head, _ end: Head) -> String {
    Self.path(
      layout.lines[index].map { DiagramPoint(x: $0.x + Self.origin.x, y: $0.y + Self.origin.y) }, start, end)
  }

  /// A line with round corners. It begins and ends where the shapes at its ends do.
  static func path(_ points: [DiagramPoint], _ start: Head, _ end: Head) -> String {
    guard points.count > 1 else { return "" }
    var points = points
    points[0] = shortened(points[0], toward: points[1], start)
    points[points.count - 1] = shortened(points[points.count - 1], toward: points[points.count - 2], end)
    var text = "M \(points[0].x) \(points[0].y)"
    for (index, point) in points.enumerated().dropFirst().dropLast() {
      let (before, after) = (points[index - 1], points[index + 1])
      let radius = min(6, length(before, point) / 2, length(point, after) / 2)
      let (first, last) = (moved(point, toward: before, radius), moved(point, toward: after, radius))
      text += " L \(first.x) \(first.y) Q \(point.x) \(point.y) \(last.x) \(last.y)"
    }
    let last = points[points.count - 1]
    return text + " L \(last.x) \(last.y)"
  }

  private static func shortened(_ point: DiagramPoint, toward other: DiagramPoint, _ head: Head) -> DiagramPoint {
    switch head {
    case .none: point
    case .one, .many: moved(point, toward: other, 4)
    case .parent: moved(point, toward: other, 14)
    }
  }

  private static func length(_ one: DiagramPoint, _ other: DiagramPoint) -> Int {
    abs(one.x - other.x) + abs(one.y - other.y)
  }

  private static func moved(_ point: DiagramPoint, toward other: DiagramPoint, _ distance: Int) -> DiagramPoint {
    DiagramPoint(
      x: point.x + (other.x - point.x).signum() * distance, y: point.y + (other.y - point.y).signum() * distance)
  }

  private mutating func writeHead(_ head: Head, _ points: [DiagramPoint], _ tips: inout Set<DiagramPoint>) {
    guard points.count > 1, head != .none, tips.insert(points[0]).inserted else { return }
    let tip = DiagramPoint(x: points[0].x + Self.origin.x, y: points[0].y + Self.origin.y)
    text += Self.head(head, tip, side: (points[1].x - points[0].x).signum())
  }

  /// The shape at an end. `side` is 1 where the line comes from the right.
  static func head(_ head: Head, _ tip: DiagramPoint, side: Int) -> String {
    func triangle(_ distance: Int, _ length: Int, _ half: Int) -> String {
      let (start, end) = (tip.x + side * distance, tip.x + side * (distance + length))
      return #"<path class="head" d="M \#(start) \#(tip.y) L \#(end) \#(tip.y - half) L \#(end) \#(tip.y + half) Z"/>"#
        + "\n"
    }
    return switch head {
    case .none: ""
    case .one: triangle(1, 9, 4)
    case .many: triangle(1, 9, 4) + triangle(10, 9, 4)
    case .parent: triangle(1, 13, 7)
    }
  }

  // MARK: Legend

  mutating func write(_ entry: DiagramLegend.Entry, x: Int, y: Int) {
    if let sample = entry.sample {
      let (start, end) = (DiagramPoint(x: x, y: y), DiagramPoint(x: x + DiagramLegend.sampleWidth, y: y))
      add(#"<g class="\#(sample.style)">"#)
      add(#"<path class="line" d="\#(Self.path([start, end], .none, sample.head))"/>"#)
      text += Self.head(sample.head, end, side: -1)
      add("</g>")
    }
    write(entry.text, "detail", x: x + entry.indent, y: y + 4)
  }
}

/// What the shapes of a picture mean.
struct DiagramLegend {
  struct Entry {
    var sample: (style: String, head: DiagramSVG.Head)?
    var text: String
    var indent: Int { sample == nil ? 0 : DiagramLegend.sampleWidth + 10 }
    var width: Int { indent + DiagramText.width(text, size: DiagramShape.smallSize) }
  }

  static let sampleWidth = 44
  private var entries: [Entry] = []

  init(_ content: DiagramContent) {
    let rows = content.links.filter { $0.kind != .inheritance }.flatMap { [$0.from, $0.to] }.compactMap { end in
      end.row.map { content.boxes[end.box].rows[$0] }
    }
    if rows.contains(where: { !$0.isToMany }) {
      entries.append(Entry(sample: ("tone0", .one), text: "to-one relationship, points to its destination"))
    }
    if rows.contains(where: \.isToMany) {
      entries.append(Entry(sample: ("tone0", .many), text: "to-many relationship"))
    }
    if content.links.contains(where: { $0.kind == .oneWay }) {
      entries.append(Entry(sample: ("one-way tone0", .one), text: "relationship without an inverse"))
    }
    if content.links.contains(where: { $0.kind == .inheritance }) {
      entries.append(Entry(sample: ("inheritance", .parent), text: "inherits from"))
    }
    if content.boxes.contains(where: { $0.attributes.contains { $0.detail.contains("?") } }) {
      entries.append(Entry(text: "? optional attribute"))
    }
    if rows.count > 1 { entries.append(Entry(text: "The colours of lines only help to follow them.")) }
  }

  /// The entries in rows of at most a width, each with its distance from the left.
  func rows(_ width: Int) -> [[(x: Int, entry: Entry)]] {
    var rows: [[(x: Int, entry: Entry)]] = []
    var x = 0
    for entry in entries {
      if rows.isEmpty || x + entry.width > width {
        rows.append([])
        x = 0
      }
      rows[rows.count - 1].append((x, entry))
      x += entry.width + 28
    }
    return rows
  }
}
