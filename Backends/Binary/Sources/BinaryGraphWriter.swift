import AtomicEngine
import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema
import StoreSupport

/// Writes the archive of all objects, a dictionary from keys to nodes, while it visits them.
final class BinaryGraphWriter {
  private typealias Reference = KeyedArchiveStream.Reference

  private let graph: AtomicGraph
  private let writer: AtomicFileWriter
  private let shapes: [BinaryShape]
  private let archive = KeyedArchiveStream()
  /// The number of bytes written.
  private var count = 0

  private let null: Reference
  private let array: Reference
  private let mutableArray: Reference
  private let mutableDictionary: Reference
  private let node: Reference
  private lazy var date = archive.addClass(["NSDate", "NSObject"])
  private lazy var uuid = archive.addClass(["NSUUID", "NSObject"])
  private lazy var url = archive.addClass(["NSURL", "NSObject"])
  /// Has the class name of Apple's own archives.
  private lazy var decimal = archive.addClass([
    "NSDecimalNumberPlaceholder", "NSDecimalNumber", "NSNumber", "NSValue", "NSObject",
  ])
  private let names: [Names]

  /// The references to the names in nodes of an entity.
  private struct Names {
    let entity: Reference
    /// In the order of the shape's relationships.
    let relationships: [Reference]
    let tables: [Int?]
  }

  /// Buffers that are reused for each object.
  private struct Buffers {
    var values: [Reference] = []
    var keys: [Reference] = []
    var relatedNames: [Reference] = []
    var relatedLists: [Reference] = []
  }

  init(_ graph: AtomicGraph, _ writer: AtomicFileWriter) {
    self.graph = graph
    self.writer = writer
    let shapes = graph.schema.entities.map(BinaryShape.init)
    self.shapes = shapes
    let archive = archive
    array = archive.addClass(["NSArray", "NSObject"])
    mutableArray = archive.addClass(["NSMutableArray", "NSArray", "NSObject"])
    mutableDictionary = archive.addClass(["NSMutableDictionary", "NSDictionary", "NSObject"])
    node = archive.addClass(["NSDictionaryMapNode", "NSStoreMapNode", "NSObject"])
    null = archive.add(instanceOf: archive.addClass(["NSNull", "NSObject"]))
    names = shapes.map { shape in
      Names(
        entity: archive.add(name: shape.entity.name),
        relationships: shape.relationships.map { archive.add(name: $0.name) },
        tables: shape.relationships.map { graph.linkTable(of: $0) })
    }
  }

  /// Writes the archive. Returns its size in bytes.
  func write() throws(StoreError) -> Int {
    var (keys, nodes, buffers) = ([Reference](), [Reference](), Buffers())
    try graph.forEachRow { (row) throws(StoreError) in
      let (key, node) = add(row, &buffers)
      keys.append(key)
      nodes.append(node)
      if archive.byteCount >= 1 << 18 { try archive.takeBytes(take) }
      if archive.isFull {
        throw StoreError(.unsupported, "A binary file cannot have so many objects. Use another type of store.")
      }
    }
    let root = archive.add(keys: keys, values: nodes, of: mutableDictionary)
    try archive.finish("mapData", root, take)
    return count
  }

  private func take(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    count += bytes.count
    try writer.write(bytes)
  }

  private func add(_ row: Row, _ buffers: inout Buffers) -> (key: Reference, node: Reference) {
    let shape = shapes[row.entity]
    buffers.values.removeAll(keepingCapacity: true)
    for (slot, kind) in shape.columns { buffers.values.append(value(row, slot, kind)) }
    let list = archive.add(list: buffers.values, of: array)
    return archive.add(
      node: graph.number(of: row.key, in: row.entity), entity: names[row.entity].entity, values: list,
      related: related(row, shape, &buffers), of: node)
  }

  private func related(_ row: Row, _ shape: BinaryShape, _ buffers: inout Buffers) -> Reference? {
    buffers.relatedNames.removeAll(keepingCapacity: true)
    buffers.relatedLists.removeAll(keepingCapacity: true)
    let names = names[row.entity]
    for index in shape.relationships.indices {
      let relationship = shape.relationships[index]
      buffers.keys.removeAll(keepingCapacity: true)
      if let slot = relationship.slot {
        if let key = graph.destination(of: row, relationship, slot: slot) {
          buffers.keys.append(add(key, relationship))
        }
      } else if let table = names.tables[index] {
        for key in graph.destinations(table, row.key) { buffers.keys.append(add(key, relationship)) }
      }
      if buffers.keys.isEmpty { continue }
      buffers.relatedNames.append(names.relationships[index])
      buffers.relatedLists.append(archive.add(list: buffers.keys, of: relationship.isToMany ? mutableArray : array))
    }
    if buffers.relatedNames.isEmpty { return nil }
    return archive.add(keys: buffers.relatedNames, values: buffers.relatedLists, of: mutableDictionary)
  }

  private func add(_ key: Int64, _ relationship: Relationship) -> Reference {
    archive.add(graph.number(of: key, in: relationship.destination))
  }

  /// The archive refers to the bytes of rows. They stay valid as long as the graph exists.
  private func value(_ row: Row, _ slot: Int, _ kind: SlotKind) -> Reference {
    let view = row.view
    if view.isNull(slot) { return null }
    switch kind {
    case .int16, .int32, .int64, .reference, .referenceEntity: return archive.add(view.int(slot))
    case .bool: return archive.add(view.int(slot) != 0)
    case .double, .float: return archive.add(view.double(slot))
    case .date: return archive.add(date: view.double(slot), of: date)
    case .decimal: return archive.add(DecimalText.parse(view.bytes(slot)) ?? 0, of: decimal)
    case .string: return archive.add(text: view.bytes(slot))
    case .uri: return archive.add(url: view.bytes(slot), of: url)
    case .uuid: return archive.add(uuid: view.bytes(slot), of: uuid)
    case .data: return archive.add(data: view.bytes(slot))
    case .externalData: return archive.add(data: UnsafeRawBufferPointer(rebasing: view.bytes(slot).dropFirst()))
    case .transformable: return transformed(view.bytes(slot))
    }
  }

  /// The archived object itself, if archiving it again gives the same bytes. Otherwise the bytes as data.
  private func transformed(_ bytes: UnsafeRawBufferPointer) -> Reference {
    let data = Data(bytes)
    guard let reader = try? KeyedArchiveReader(data), let root = reader.root(), root.data == nil,
      KeyedArchiveWriter.archive(copyOf: root) == data, let copy = archive.add(copyOf: root)
    else { return archive.add(data: bytes) }
    return copy
  }
}
