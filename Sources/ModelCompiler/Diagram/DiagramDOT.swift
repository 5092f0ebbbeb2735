/// A diagram as a graph in the DOT language. Each entity is a table with a port for each relationship.
struct DiagramDOT {
  private(set) var text = ""

  init(_ content: DiagramContent) {
    text = """
      // \(ModelDiagram.mark)
      digraph {
        graph [label=<\(Self.escaped(content.title))>, labelloc=t, rankdir=LR, nodesep=0.4, ranksep=1.2, fontname="sans-serif"]
        node [shape=plain, fontname="sans-serif", fontsize=12]

      """
    for (index, box) in content.boxes.enumerated() { write(box, index) }
    for link in content.links { text += "  \(Self.line(link, content))\n" }
    text += "}\n"
  }

  /// A text in a table. Graphviz takes an empty one for an error.
  private static func escaped(_ text: String) -> String { text.isEmpty ? " " : DiagramText.xml(text) }

  private mutating func write(_ box: DiagramContent.Box, _ index: Int) {
    func cells(_ left: String, _ right: String, port: Int? = nil) {
      let (first, last) = (port.map { #" port="l\#($0)""# } ?? "", port.map { #" port="r\#($0)""# } ?? "")
      text += #"<tr><td align="left"\#(first)>\#(Self.escaped(left))</td>"#
      text += #"<td align="right"\#(last)>\#(Self.escaped(right))</td></tr>"#
    }
    text += #"  e\#(index) [label=<<table border="1" cellborder="0" cellspacing="0" cellpadding="4">"#
    let name = "<b>\(box.isAbstract ? "<i>\(Self.escaped(box.name))</i>" : Self.escaped(box.name))</b>"
    let remark = box.remark.isEmpty ? "" : "<br/>\(Self.escaped(box.remark))"
    text += #"<tr><td colspan="2" port="h">\#(name)\#(remark)</td></tr>"#
    let lines = box.attributes + box.fetched
    if !lines.isEmpty { text += "<hr/>" }
    for line in lines { cells(String(repeating: "· ", count: min(line.level, 8)) + line.name, line.detail) }
    if !box.rows.isEmpty { text += "<hr/>" }
    for (number, row) in box.rows.enumerated() { cells("\(row.name) → \(row.target)", row.detail, port: number) }
    text += "</table>>]\n"
  }

  private static func line(_ link: DiagramContent.Link, _ content: DiagramContent) -> String {
    let (from, to) = (content.boxes[link.from.box], content.boxes[link.to.box])
    guard let number = link.from.row else {
      return "e\(link.to.box):h -> e\(link.from.box):h [dir=back, arrowtail=empty]"
    }
    let start = "e\(link.from.box):r\(number)"
    let head = "arrowhead=\(arrow(from.rows[number]))"
    guard let inverse = link.to.row else {
      return "\(start) -> e\(link.to.box):h [\(head)\(link.kind == .oneWay ? ", style=dashed" : "")]"
    }
    return "\(start) -> e\(link.to.box):l\(inverse) [dir=both, \(head), arrowtail=\(arrow(to.rows[inverse]))]"
  }

  private static func arrow(_ row: DiagramContent.Row) -> String { row.isToMany ? "normalnormal" : "normal" }
}
