/// A diagram in sentences, for those who cannot see it.
enum DiagramWords {
  /// The whole diagram.
  static func description(_ content: DiagramContent) -> String {
    var sentences = ["A diagram of a Core Data model with \(content.summary)."]
    var parents: [Int: String] = [:]
    for link in content.links where link.kind == .inheritance {
      parents[link.from.box] = content.boxes[link.to.box].name
    }
    for (index, box) in content.boxes.enumerated() {
      let count = box.attributes.count { $0.level == 0 }
      let parent = parents[index].map { ", inherits from \($0)" } ?? ""
      let remark = box.remark.isEmpty ? "" : ", \(box.remark)"
      sentences.append("\(box.name)\(remark)\(parent): \(count) \(count == 1 ? "attribute" : "attributes").")
      sentences += box.rows.map { "\(box.name).\(words($0))." }
    }
    return sentences.joined(separator: " ")
  }

  /// A link.
  static func sentence(_ link: DiagramContent.Link, _ content: DiagramContent) -> String {
    let (from, to) = (content.boxes[link.from.box], content.boxes[link.to.box])
    guard let row = link.from.row else { return "\(from.name) inherits from \(to.name)" }
    let first = "\(from.name).\(words(from.rows[row]))"
    if let inverse = link.to.row { return "\(first); inverse \(to.name).\(words(to.rows[inverse]))" }
    return first + (link.kind == .oneWay ? "; no inverse" : "; its own inverse")
  }

  private static func words(_ row: DiagramContent.Row) -> String { "\(row.name) to \(row.target), \(row.detail)" }
}
