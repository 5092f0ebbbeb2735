import AtomicEngine
import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema

/// Writes a document, object by object.
final class XMLStoreWriter {
  private let graph: AtomicGraph
  private let writer: AtomicFileWriter
  private let shapes: [XMLEntityShape]
  /// For each entity what is before its objects' identifiers, and before the values of its properties.
  private let openings: [Openings]
  private var output: [UInt8] = []

  private struct Openings {
    let object: [UInt8]
    /// By the shape's columns.
    let attributes: [[UInt8]]
    /// By the entity's relationships.
    let relationships: [[UInt8]]
  }

  init(_ graph: AtomicGraph, _ writer: AtomicFileWriter) {
    self.graph = graph
    self.writer = writer
    shapes = graph.schema.entities.map(XMLEntityShape.init)
    openings = zip(graph.schema.entities, shapes).map { Self.openings($0, $1, graph.schema) }
  }

  private static func openings(_ entity: Entity, _ shape: XMLEntityShape, _ schema: Schema) -> Openings {
    Openings(
      object: Array("    <object type=\"\(entity.name.uppercased())\" id=\"z".utf8),
      attributes: shape.columns.map {
        Array("        <attribute name=\"\($0.name)\" type=\"\(XMLValue.typeName($0.kind))\">".utf8)
      },
      relationships: entity.relationships.map {
        let counts = "\($0.definition.minCount)/\($0.definition.maxCount)"
        let destination = schema.entities[$0.destination].name.uppercased()
        return Array(
          "        <relationship name=\"\($0.name.lowercased())\" type=\"\(counts)\" destination=\"\(destination)\""
            .utf8)
      })
  }

  func write(_ metadata: StoreMetadata) throws(StoreError) {
    try writer.writeMetadata(Data(try XMLHead.text(metadata, graph.highestNumber).utf8))
    try graph.forEachRow { (row) throws(StoreError) in
      append(row)
      if output.count > 1 << 16 { try flush() }
    }
    output += "</database>\n".utf8
    try flush()
  }

  private func flush() throws(StoreError) {
    try writer.write(Data(output))
    output.removeAll(keepingCapacity: true)
  }

  private func append(_ row: Row) {
    let (entity, shape) = (graph.schema.entities[row.entity], shapes[row.entity])
    let openings = openings[row.entity]
    output += openings.object
    output += "\(graph.number(of: row.key, in: row.entity))\">\n".utf8
    for (column, opening) in zip(shape.columns, openings.attributes) where !row.isNull(column.slot) {
      output += opening
      XMLValue.append(row, column.slot, column.kind, to: &output)
      output += "</attribute>\n".utf8
    }
    for (relationship, opening) in zip(entity.relationships, openings.relationships) {
      output += opening
      append(keys(relationship, row).map { graph.number(of: $0, in: relationship.destination) })
      output += "></relationship>\n".utf8
    }
    output += "    </object>\n".utf8
  }

  private func keys(_ relationship: Relationship, _ row: Row) -> [Int64] {
    guard let slot = relationship.slot else { return graph.destinations(of: relationship, row.key) }
    return row.isNull(slot) ? [] : [row.int(slot)]
  }

  private func append(_ keys: [Int64]) {
    if keys.isEmpty { return }
    output += " idrefs=\"".utf8
    for (index, key) in keys.enumerated() { output += "\(index == 0 ? "" : " ")z\(key)".utf8 }
    output.append(UInt8(ascii: "\""))
  }
}
