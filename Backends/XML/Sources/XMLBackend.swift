import AtomicEngine
import Foundation
import StoreProtocol
import StoreSchema

/// Stores in Core Data's XML format, whole files.
public struct XMLBackend: StoreBackend {
  private let base = AtomicFileBackend(XMLFormat())

  public init() {}

  public var storeType: String { base.storeType }
  public var capabilities: Capabilities { base.capabilities }

  public func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    try base.open(at: url, schema: schema, options: options)
  }

  public func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
    try base.metadata(at: url, options: options)
  }

  public func inferredModel(at url: URL, options: StoreOptions) throws(StoreError) -> [EntityDefinition] {
    try base.inferredModel(at: url, options: options)
  }

  public func destroy(at url: URL, options: StoreOptions) throws(StoreError) {
    try base.destroy(at: url, options: options)
  }

  public func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {
    try base.replace(at: destination, with: source, options: options)
  }
}

/// The format: `database` with `databaseInfo` and an `object` for each object
/// (Documentation/Formats.md says what is known of it).
struct XMLFormat: AtomicFormat {
  var storeType: String { "XML" }
  var metadataIsLast: Bool { false }

  func metadata(_ file: Data) throws(StoreError) -> StoreMetadata {
    let reader = XMLInfoReader()
    try XMLScan.run(file, reader)
    return try reader.metadata(storeType)
  }

  func graph(_ file: Data, _ schema: Schema) throws(StoreError) -> AtomicGraph {
    let reader = XMLGraphReader(schema)
    try XMLScan.run(file, reader)
    return try reader.graph()
  }

  func write(
    _ graph: AtomicGraph, _ metadata: StoreMetadata, to writer: AtomicFileWriter
  ) throws(StoreError) {
    try XMLStoreWriter(graph, writer).write(metadata)
  }

  func inferredModel(_ file: Data) throws(StoreError) -> [EntityDefinition] {
    let reader = XMLModelReader()
    try XMLScan.run(file, reader)
    return try reader.definitions()
  }
}
