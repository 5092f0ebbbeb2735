import AtomicEngine
import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema
import StoreSupport

/// Writes a document object by object.
final class XMLStoreWriter {
  private let graph: AtomicGraph
  private let writer: AtomicFileWriter
  private let shapes: [XMLEntityShape]
  /// For each entity the text before the identifiers of its objects, and before the values of its properties.
  private let openings: [Openings]
  private var output: [UInt8] = []

  private struct Openings {
    let object: [UInt8]
    /// In the order of the shape's columns.
    let attributes: [[UInt8]]
    /// In the order of the entity's relationships.
    let relationships: [[UInt8]]
    /// The link tables of to-many relationships; nil for to-one relationships.
    let tables: [Int?]
  }

  init(_ graph: AtomicGraph, _ writer: AtomicFileWriter) {
    self.graph = graph
    self.writer = writer
    shapes = graph.schema.entities.map { XMLEntityShape($0, graph.linkTable) }
    openings = zip(graph.schema.entities, shapes).map { Self.openings($0, $1, graph) }
  }

  private static func openings(_ entity: Entity, _ shape: XMLEntityShape, _ graph: AtomicGraph) -> Openings {
    Openings(
      object: Array("    <object type=\"\(entity.name.uppercased())\" id=\"z".utf8),
      attributes: shape.columns.map {
        Array("        <attribute name=\"\($0.name)\" type=\"\(XMLValue.typeName($0.kind))\">".utf8)
      },
      relationships: entity.relationships.map {
        let counts = "\($0.definition.minCount)/\($0.definition.maxCount)"
        let destination = graph.schema.entities[$0.destination].name.uppercased()
        return Array(
          "        <relationship name=\"\($0.name.lowercased())\" type=\"\(counts)\" destination=\"\(destination)\""
            .utf8)
      },
      tables: entity.relationships.map { graph.linkTable(of: $0) })
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
    // The closure would lose the type of the error; a `Result` keeps it.
    try output.withUnsafeBytes { bytes in Result { () throws(StoreError) in try writer.write(bytes) } }.get()
    output.removeAll(keepingCapacity: true)
  }

  private func append(_ row: Row) {
    let (entity, shape) = (graph.schema.entities[row.entity], shapes[row.entity])
    let openings = openings[row.entity]
    output += openings.object
    XMLNumber.append(graph.number(of: row.key, in: row.entity), to: &output)
    output += Self.tagEnd
    for (column, opening) in zip(shape.columns, openings.attributes) where !row.isNull(column.slot) {
      output += opening
      XMLValue.append(row, column.slot, column.kind, to: &output)
      output += Self.attributeEnd
    }
    for (index, relationship) in entity.relationships.enumerated() {
      output += openings.relationships[index]
      if let slot = relationship.slot {
        let key = graph.destination(of: row, relationship, slot: slot)
        if let key { append(key: key, relationship, isFirst: true) }
        output += key == nil ? Self.relationshipEnd : Self.referencesEnd
      } else {
        let keys = openings.tables[index].map { graph.destinations($0, row.key) } ?? []
        for (position, key) in keys.enumerated() { append(key: key, relationship, isFirst: position == 0) }
        output += keys.isEmpty ? Self.relationshipEnd : Self.referencesEnd
      }
    }
    output += Self.objectEnd
  }

  private func append(key: Int64, _ relationship: Relationship, isFirst: Bool) {
    output += isFirst ? Self.firstReference : Self.nextReference
    XMLNumber.append(graph.number(of: key, in: relationship.destination), to: &output)
  }

  private static let tagEnd = Array("\">\n".utf8)
  private static let attributeEnd = Array("</attribute>\n".utf8)
  private static let relationshipEnd = Array("></relationship>\n".utf8)
  private static let referencesEnd = Array("\"></relationship>\n".utf8)
  private static let firstReference = Array(" idrefs=\"z".utf8)
  private static let nextReference = Array(" z".utf8)
  private static let objectEnd = Array("    </object>\n".utf8)
}
