import AtomicEngine
import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema

/// Makes the archive of all objects: a dictionary from keys to nodes.
struct BinaryGraphWriter {
  private let graph: AtomicGraph
  private let shapes: [BinaryShape]
  private var archive = KeyedArchiveWriter()
  private let null: KeyedArchiveWriter.Reference
  private static let nodeClasses = ["NSDictionaryMapNode", "NSStoreMapNode", "NSObject"]

  init(_ graph: AtomicGraph) {
    self.graph = graph
    shapes = graph.schema.entities.map(BinaryShape.init)
    null = archive.add(classes: ["NSNull", "NSObject"], values: [:])
  }

  consuming func bytes() throws(StoreError) -> Data {
    var (keys, nodes) = ([PropertyList](), [PropertyList]())
    let root = archive.reserve()
    try graph.forEachRow { (row) throws(StoreError) in
      keys.append(archive.add(.integer(graph.number(of: row.key, in: row.entity))).value)
      nodes.append(node(row).value)
    }
    archive.fill(
      root, classes: ["NSMutableDictionary", "NSDictionary", "NSObject"],
      values: ["NS.keys": .array(keys), "NS.objects": .array(nodes)])
    return archive.archive(top: ["mapData": root])
  }

  private mutating func node(_ row: Row) -> KeyedArchiveWriter.Reference {
    let shape = shapes[row.entity]
    let node = archive.reserve()
    var values: [String: PropertyList] = [
      "NSPrimaryKey64": .integer(graph.number(of: row.key, in: row.entity)),
      "NSEntityName": archive.add(.string(shape.entity.name)).value,
    ]
    let attributes = shape.columns.map { value(row, $0.slot, $0.kind) }
    values["NSAttributeValues"] = archive.add(array: attributes).value
    if let related = related(row, shape.entity) { values["NSRelatedNodes"] = related.value }
    archive.fill(node, classes: Self.nodeClasses, values: values)
    return node
  }

  private mutating func related(_ row: Row, _ entity: Entity) -> KeyedArchiveWriter.Reference? {
    var lists: [String: KeyedArchiveWriter.Reference] = [:]
    for relationship in entity.relationships {
      let keys: [Int64]
      if let slot = relationship.slot {
        keys = row.isNull(slot) ? [] : [row.int(slot)]
      } else {
        keys = graph.destinations(of: relationship, row.key)
      }
      if keys.isEmpty { continue }
      lists[relationship.name] = archive.add(
        array: keys.map { archive.add(.integer(graph.number(of: $0, in: relationship.destination))) },
        isMutable: relationship.isToMany)
    }
    return lists.isEmpty ? nil : archive.add(dictionary: lists, isMutable: true)
  }

  private mutating func value(_ row: Row, _ slot: Int, _ kind: SlotKind) -> KeyedArchiveWriter.Reference {
    if row.isNull(slot) { return null }
    switch kind {
    case .int16, .int32, .int64, .reference, .referenceEntity: return archive.add(.integer(row.int(slot)))
    case .bool: return archive.add(.bool(row.int(slot) != 0))
    case .double, .float: return archive.add(.real(row.double(slot)))
    case .date: return archive.add(date: row.double(slot))
    case .decimal:
      let text = row.withBytes(slot) { DecimalText.parse($0) }
      return archive.add(text ?? 0)
    case .string: return archive.add(.string(row.string(slot)))
    case .uri: return archive.add(url: row.string(slot))
    case .uuid: return archive.add(row.uuid(slot))
    case .data: return archive.add(.data(row.data(slot)))
    case .externalData: return archive.add(.data(Data(row.data(slot).dropFirst())))
    case .transformable: return transformed(row.data(slot))
    }
  }

  /// The archived object itself, where it can be archived again to the same bytes; else the bytes.
  private mutating func transformed(_ data: Data) -> KeyedArchiveWriter.Reference {
    guard let reader = try? KeyedArchiveReader(data), let root = reader.root(), root.data == nil,
      KeyedArchiveWriter.archive(copyOf: root) == data
    else { return archive.add(.data(data)) }
    return archive.add(copyOf: root)
  }
}
