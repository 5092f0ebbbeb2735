/// The measures of a box, in pixels.
struct DiagramShape: Sendable {
  static let pitch = 20
  static let padding = 5
  /// Between the border and the texts of a box.
  static let inset = 12
  static let nameSize = 15
  static let textSize = 13
  static let smallSize = 12

  var width: Int
  private(set) var header: Int
  private let sections: [Int]

  init(_ box: DiagramContent.Box) {
    let name = DiagramText.width(DiagramText.shortened(box.name), size: Self.nameSize, isBold: true)
    let remark = DiagramText.width(DiagramText.shortened(box.remark), size: Self.smallSize)
    var width = max(name, remark, 96)
    for (text, detail, level) in Self.texts(box) {
      let left = DiagramText.width(text, size: Self.textSize) + Self.indent(level)
      let right = DiagramText.width(DiagramText.shortened(detail), size: Self.smallSize)
      width = max(width, left + 24 + right)
    }
    self.width = (width + 2 * Self.inset + 9) / 10 * 10
    header = 40
    sections = [box.attributes.count, box.fetched.count, box.rows.count]
  }

  static func indent(_ level: Int) -> Int { 16 * min(level, 8) }

  /// The text of a relationship on the left of its row.
  static func text(_ row: DiagramContent.Row) -> String {
    "\(DiagramText.shortened(row.name)) → \(DiagramText.shortened(row.target))"
  }

  private static func texts(_ box: DiagramContent.Box) -> [(String, String, Int)] {
    (box.attributes + box.fetched).map { (DiagramText.shortened($0.name), $0.detail, $0.level) }
      + box.rows.map { (text($0), $0.detail, 0) }
  }

  /// Makes room for lines that end at the header, so many on one side.
  mutating func reserve(headerEnds: Int) { header = max(40, headerEnds * Self.pitch) }

  /// The distance of a line's end from the top of the box, of so many on one side of the header.
  func headerEnd(_ index: Int, of count: Int) -> Int {
    count == 1 ? 20 : (header - count * Self.pitch) / 10 * 5 + index * Self.pitch + 10
  }

  var height: Int { header + sections.reduce(0) { $0 + Self.height($1) } }

  /// The tops of the attributes, the fetched properties and the relationships; each may be empty.
  var tops: [Int] {
    var top = header
    return sections.map { count in
      defer { top += Self.height(count) }
      return top
    }
  }

  /// The distance of a row's middle from the top of the box.
  func middle(_ row: Int) -> Int { tops[2] + Self.padding + Self.pitch / 2 + row * Self.pitch }

  private static func height(_ count: Int) -> Int { count == 0 ? 0 : count * pitch + 2 * padding }
}
