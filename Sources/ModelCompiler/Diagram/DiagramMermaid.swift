/// A diagram as the text of a Mermaid class diagram.
///
/// Classes have numbers, and the names of entities as their labels, because Mermaid takes few characters in names.
struct DiagramMermaid {
  private(set) var text = "---\n"

  init(_ content: DiagramContent) {
    // The title is YAML, the rest is not.
    let title = content.title.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    text += "title: \"\(title)\"\n---\n%% \(ModelDiagram.mark)\nclassDiagram\n  direction LR\n"
    for (index, box) in content.boxes.enumerated() { write(box, index) }
    for link in content.links { text += "  \(Self.line(link, content))\n" }
  }

  private mutating func write(_ box: DiagramContent.Box, _ index: Int) {
    text += "  class e\(index)[\"\(Self.label(box.name))\"] {\n"
    if !box.remark.isEmpty { text += "    <<\(DiagramText.mermaid(box.remark))>>\n" }
    for line in box.attributes {
      let indent = String(repeating: "· ", count: min(line.level, 8))
      text += "    \(indent)\(Self.member(line.name, line.detail))\n"
    }
    for line in box.fetched { text += "    \(Self.member(line.name, line.detail))\n" }
    for row in box.rows { text += "    \(Self.member("\(row.name) → \(row.target)", row.detail))\n" }
    text += "  }\n"
  }

  private static func member(_ name: String, _ detail: String) -> String {
    "\(DiagramText.mermaid(name)): \(DiagramText.mermaid(detail))"
  }

  /// Mermaid takes an empty label for an error.
  private static func label(_ name: String) -> String { name.isEmpty ? "no name" : DiagramText.mermaid(name) }

  private static func line(_ link: DiagramContent.Link, _ content: DiagramContent) -> String {
    let (from, to) = (content.boxes[link.from.box], content.boxes[link.to.box])
    let (one, other) = ("e\(link.from.box)", "e\(link.to.box)")
    guard let row = link.from.row.map({ from.rows[$0] }) else { return "\(other) <|-- \(one)" }
    // The number at an end is that of the objects there.
    let end = "\"\(row.cardinality)\" \(other)"
    guard let inverse = link.to.row.map({ to.rows[$0] }) else {
      return "\(one) \(link.kind == .oneWay ? "..>" : "-->") \(end) : \(label(row.name))"
    }
    let label = DiagramText.mermaid("\(row.name) / \(inverse.name)")
    return "\(one) \"\(inverse.cardinality)\" <--> \(end) : \(label)"
  }
}
