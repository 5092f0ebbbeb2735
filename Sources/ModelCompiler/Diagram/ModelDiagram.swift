import ModelFiles

/// A diagram of a model: a box for each entity, with its attributes, fetched properties and relationships, and lines
/// for relationships and inheritance.
///
/// Equal models with equal titles give equal texts. Nothing in a diagram is said by colour alone. Any model has a
/// diagram: what a relationship or an entity names and the model does not have is said in words, and cycles of
/// inheritance are drawn as they are.
public struct ModelDiagram: Sendable {
  /// The sentence of the comment at the beginning of each text.
  public static let mark = "This diagram was automatically generated and should not be edited."

  let content: DiagramContent

  /// A diagram with a title, such as the name of the model.
  public init(_ model: ModelRecord, title: String) {
    content = DiagramContent(model, title: title)
  }

  /// The diagram as a picture: an SVG document that needs no other file, for light and dark surroundings.
  ///
  /// A relationship and its inverse are one line between their rows. An arrowhead points to the destination: one for
  /// to-one, two for to-many. A dashed line is a relationship without an inverse, and a hollow triangle points to the
  /// parent entity. The texts are at least 12 pixels high. Names of more than 48 columns are shortened; elements have
  /// the whole name as their title. The time grows with the square of the number of entities.
  public func svg() -> String { DiagramSVG(content).text }

  /// The diagram as the text of a Mermaid class diagram, which GitHub and other readers of Markdown draw.
  public func mermaid() -> String { DiagramMermaid(content).text }

  /// The diagram as a graph in the DOT language, which Graphviz draws.
  public func dot() -> String { DiagramDOT(content).text }
}
