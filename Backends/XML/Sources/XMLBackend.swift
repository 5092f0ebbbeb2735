import AtomicEngine
import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Stores in Core Data's XML format, one whole file each.
public typealias XMLBackend = AtomicFileBackend<XMLFormat>

extension AtomicFileBackend<XMLFormat> {
  /// The backend of XML stores.
  public init() { self.init(XMLFormat()) }
}

/// The format: a `database` element with `databaseInfo` and one `object` element per object. The backend's README has
/// the details.
public struct XMLFormat: AtomicFormat {
  public var storeType: String { "XML" }
  public var capabilities: Capabilities { .xmlFile }
  public var metadataIsLast: Bool { false }

  /// A document begins with `<`, possibly after a byte order mark.
  public func accepts(_ beginning: Data) -> Bool {
    beginning.drop { [0x09, 0x0A, 0x0D, 0x20, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF, 0x00].contains($0) }.first
      == UInt8(ascii: "<")
  }

  public func metadata(_ file: AtomicFileContent) throws(StoreError) -> StoreMetadata {
    let reader = XMLInfoReader()
    try XMLScan.run(file, reader)
    return try reader.metadata(storeType)
  }

  public func graph(
    _ file: AtomicFileContent, _ schema: Schema, _ numbering: AtomicNumbering
  ) throws(StoreError) -> AtomicGraph {
    let reader = XMLGraphReader(schema, numbering)
    try XMLScan.run(file, reader)
    return try reader.graph()
  }

  public func write(
    _ graph: AtomicGraph, _ metadata: StoreMetadata, to writer: AtomicFileWriter
  ) throws(StoreError) {
    try XMLStoreWriter(graph, writer).write(metadata)
  }

  public func rewrite(
    _ file: AtomicFileContent, _ metadata: StoreMetadata, to writer: AtomicFileWriter
  ) throws(StoreError) {
    let reader = XMLInfoReader()
    try XMLScan.run(file, reader)
    try writer.writeMetadata(Data(try XMLHead.text(metadata, reader.highestNumber).utf8))
    try writer.write("    ")
    try writer.write(try XMLHead.rest(file.data()))
  }

  public func salvage(
    _ file: AtomicFileContent, _ numbering: AtomicNumbering, into salvage: Salvage
  ) throws(StoreError) {
    var objects = XMLSalvage(salvage, numbering)
    objects.run(try file.data())
  }

  public func inferredModel(_ file: AtomicFileContent) throws(StoreError) -> [EntityDefinition] {
    let reader = XMLModelReader()
    try XMLScan.run(file, reader)
    return try reader.definitions()
  }
}
