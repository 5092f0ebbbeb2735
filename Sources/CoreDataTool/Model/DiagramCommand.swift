import CoreData
import Foundation
import ModelCompiler
import ModelFiles

/// `coredata model diagram`: a model as a picture, or as the text of a diagram.
enum DiagramCommand {
  static let command = Command(
    words: ["model", "diagram"], operands: ["PATH"],
    options: [
      .output(
        "a file whose name ends in .svg (a picture), .mmd (Mermaid) or .dot (Graphviz); otherwise Mermaid on the standard output"
      )
    ],
    summary:
      "Draws a model: entities, attributes, inheritance, and relationships with their numbers and deletion rules",
    discussion: """
      PATH is a model or a store, as for `model describe`; of several versions the current one is drawn. In the picture a line joins
      a relationship and its inverse. An arrowhead points to the destination: one for to-one, two for to-many. A dashed line is a
      relationship without an inverse, and a hollow triangle points to the parent entity. The picture suits light and dark
      surroundings. A file is replaced only where it says that it was generated.
      """
  ) { invocation, output in
    let path = invocation.operands[0]
    let form = try form(invocation.value("-o"))
    let model = try ModelArchive.record(of: ToolModel.shown(path).model)
    let title = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
    let text = form(ModelDiagram(model, title: title))
    guard let target = invocation.value("-o") else {
      output.write(text)
      return true
    }
    try write(text, to: target)
    output.line(target)
    return true
  }

  private static func form(_ target: String?) throws -> (ModelDiagram) -> String {
    guard let target else { return { $0.mermaid() } }
    switch URL(fileURLWithPath: target).pathExtension {
    case "svg": return { $0.svg() }
    case "mmd": return { $0.mermaid() }
    case "dot": return { $0.dot() }
    default:
      throw UsageError(
        message: "-o \(target) says no format; give a name that ends in .svg, .mmd or .dot.", command: command)
    }
  }

  /// A file of the user is not replaced.
  private static func write(_ text: String, to path: String) throws {
    if FileManager.default.fileExists(atPath: path) {
      let known = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      guard known.contains(ModelDiagram.mark) else {
        throw ToolError(message: "\(path) was not generated, so it is not replaced; move it or give another name.")
      }
    }
    do { try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic) } catch {
      throw ToolError(message: "\(path) cannot be written: \(error.localizedDescription)")
    }
  }
}
