/// The picture of a diagram.
struct DiagramSVG {
  var text = ""
  let content: DiagramContent
  let layout: DiagramLayout
  /// The position of the layout in the picture.
  static let origin = DiagramPoint(x: 32, y: 104)
  private static let margin = 32
  private static let legendPitch = 28

  init(_ content: DiagramContent) {
    self.content = content
    layout = DiagramLayout(content)
    let title = DiagramText.shortened(content.title)
    let width = max(
      layout.width, DiagramText.width(title, size: 20, isBold: true),
      DiagramText.width(content.summary, size: DiagramShape.textSize), 420)
    let legend = DiagramLegend(content).rows(width)
    let bottom = Self.origin.y + layout.height + Self.margin
    begin(width: width + 2 * Self.margin, height: bottom + legend.count * Self.legendPitch + (legend.isEmpty ? 0 : 16))
    add(#"<text class="title" x="\#(Self.margin)" y="48">\#(DiagramText.xml(title))</text>"#)
    add(#"<text class="detail" x="\#(Self.margin)" y="74">\#(DiagramText.xml(content.summary))</text>"#)
    writeLines()
    for box in content.boxes.indices { write(box) }
    for (row, entries) in legend.enumerated() {
      for (x, entry) in entries { write(entry, x: Self.margin + x, y: bottom + Self.legendPitch * row + 12) }
    }
    add("</svg>")
  }

  mutating func add(_ line: String) {
    text += line
    text += "\n"
  }

  private mutating func begin(width: Int, height: Int) {
    add(
      """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" \
      role="img" aria-labelledby="diagram-title diagram-description">
      """)
    add("<!-- \(ModelDiagram.mark) -->")
    add(#"<title id="diagram-title">\#(DiagramText.xml(content.title))</title>"#)
    add(#"<desc id="diagram-description">\#(DiagramText.xml(DiagramWords.description(content)))</desc>"#)
    add("<style>\n\(Self.style)\n</style>")
    add(#"<rect class="page" width="\#(width)" height="\#(height)"/>"#)
  }

  /// Each colour has a contrast of more than 4.5 to those that it can be seen on.
  private static let style = """
    text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; \
    font-size: 13px; fill: #1b242d; }
    .title { font-size: 20px; font-weight: bold; }
    .name { font-size: 15px; font-weight: bold; }
    .abstract { font-style: italic; }
    .detail { font-size: 12px; fill: #47535f; }
    .end { text-anchor: end; }
    .page, .box { fill: #ffffff; }
    .header { fill: #e4ebf2; }
    .border { fill: none; stroke: #55636f; stroke-width: 1.5; }
    .divider { stroke: #55636f; stroke-width: 0.5; }
    .line { fill: none; stroke-width: 1.5; }
    .halo { fill: none; stroke: #ffffff; stroke-width: 6; }
    .one-way .line { stroke-dasharray: 6 4; }
    .tone0 .line { stroke: #24598c; } .tone0 .head { fill: #24598c; }
    .tone1 .line { stroke: #8a4310; } .tone1 .head { fill: #8a4310; }
    .tone2 .line { stroke: #0a665c; } .tone2 .head { fill: #0a665c; }
    .tone3 .line { stroke: #84337a; } .tone3 .head { fill: #84337a; }
    .inheritance .line { stroke: #1b242d; } .inheritance .head { fill: #ffffff; stroke: #1b242d; stroke-width: 1.5; }
    @media (prefers-color-scheme: dark) {
    text { fill: #e8edf2; }
    .detail { fill: #b4c0cb; }
    .page { fill: #11161b; }
    .box { fill: #171e25; }
    .header { fill: #263340; }
    .border { stroke: #8b9aa8; }
    .divider { stroke: #8b9aa8; }
    .halo { stroke: #11161b; }
    .tone0 .line { stroke: #7fb4e6; } .tone0 .head { fill: #7fb4e6; }
    .tone1 .line { stroke: #eba66d; } .tone1 .head { fill: #eba66d; }
    .tone2 .line { stroke: #5fc9b9; } .tone2 .head { fill: #5fc9b9; }
    .tone3 .line { stroke: #dc97d2; } .tone3 .head { fill: #dc97d2; }
    .inheritance .line { stroke: #e8edf2; } .inheritance .head { fill: #11161b; stroke: #e8edf2; }
    }
    """

  // MARK: Boxes

  private mutating func write(_ index: Int) {
    let (box, shape) = (content.boxes[index], layout.shapes[index])
    var frame = layout.frames[index]
    frame.x += Self.origin.x
    frame.y += Self.origin.y
    let (right, bottom) = (frame.x + frame.width, frame.y + frame.height)
    add(#"<g data-entity="\#(DiagramText.xml(box.name))">"#)
    let rect =
      #"x="\#(frame.x)" y="\#(frame.y)" width="\#(frame.width)" height="\#(frame.height)" rx="6""#
    add(#"<rect class="box" \#(rect)/>"#)
    let head = frame.y + shape.header
    let corner = "\(frame.y + 6) Q \(frame.x) \(frame.y) \(frame.x + 6) \(frame.y) H \(right - 6)"
    let rest = frame.height == shape.header ? bottom - 6 : head
    let closing =
      rest == head
      ? "H \(frame.x)"
      : "Q \(right) \(bottom) \(right - 6) \(bottom) H \(frame.x + 6) "
        + "Q \(frame.x) \(bottom) \(frame.x) \(bottom - 6)"
    add(
      #"<path class="header" d="M \#(frame.x) \#(corner) Q \#(right) \#(frame.y) \#(right) \#(frame.y + 6) V \#(rest) "#
        + #"\#(closing) Z"/>"#)
    write(header: box, frame, shape)
    for (top, lines) in zip(shape.tops, [box.attributes, box.fetched]) where !lines.isEmpty {
      divide(frame, top)
      for (number, line) in lines.enumerated() {
        write(
          line.name, line.detail, frame, y: frame.y + top + DiagramShape.padding + number * DiagramShape.pitch,
          indent: DiagramShape.indent(line.level))
      }
    }
    if !box.rows.isEmpty { divide(frame, shape.tops[2]) }
    for (row, position) in box.rows.indices.map({ ($0, layout.positions[index][$0]) }).sorted(by: { $0.1 < $1.1 }) {
      let relationship = box.rows[row]
      let y = frame.y + shape.middle(position) - DiagramShape.pitch / 2
      let text = DiagramShape.text(relationship)
      write(text, relationship.detail, frame, y: y, whole: "\(relationship.name) → \(relationship.target)")
    }
    add(#"<rect class="border" \#(rect)/>"#)
    add("</g>")
  }

  private mutating func write(header box: DiagramContent.Box, _ frame: DiagramFrame, _ shape: DiagramShape) {
    let middle = frame.y + shape.header / 2
    let name = (DiagramText.shortened(box.name), box.isAbstract ? "name abstract" : "name")
    let x = frame.x + DiagramShape.inset
    write(name.0, name.1, x: x, y: box.remark.isEmpty ? middle + 5 : middle - 2, whole: box.name)
    if box.remark.isEmpty { return }
    write(DiagramText.shortened(box.remark), "detail", x: x, y: middle + 14, whole: box.remark)
  }

  private mutating func divide(_ frame: DiagramFrame, _ top: Int) {
    let y = frame.y + top
    add(#"<line class="divider" x1="\#(frame.x)" y1="\#(y)" x2="\#(frame.x + frame.width)" y2="\#(y)"/>"#)
  }

  /// A line of a box: a name on the left, and words on the right.
  private mutating func write(
    _ name: String, _ detail: String, _ frame: DiagramFrame, y: Int, indent: Int = 0, whole: String? = nil
  ) {
    let (left, right) = (frame.x + DiagramShape.inset, frame.x + frame.width - DiagramShape.inset)
    write(whole == nil ? DiagramText.shortened(name) : name, nil, x: left + indent, y: y + 15, whole: whole ?? name)
    write(DiagramText.shortened(detail), "detail end", x: right, y: y + 14, whole: detail)
  }

  /// A text, with the whole of it as its title where it is shortened.
  mutating func write(_ shown: String, _ name: String?, x: Int, y: Int, whole: String? = nil) {
    let attribute = name.map { #" class="\#($0)""# } ?? ""
    let title = whole.flatMap { $0 == shown ? nil : "<title>\(DiagramText.xml($0))</title>" } ?? ""
    add(#"<text\#(attribute) x="\#(x)" y="\#(y)">\#(title)\#(DiagramText.xml(shown))</text>"#)
  }
}
