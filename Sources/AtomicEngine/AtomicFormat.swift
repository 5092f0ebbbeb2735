import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema

/// A way to write a whole graph into a file and to read it back. Nothing here recurses over what a file holds, and none of it
/// traps: what contradicts the format is `corrupt`, what is of another kind `notAStore`.
public protocol AtomicFormat: Sendable {
  var storeType: String { get }

  /// Whether the metadata comes behind the objects in a file, else before them.
  var metadataIsLast: Bool { get }

  /// Whether a file that begins so, with 512 bytes or all that it has, can be of this format.
  func accepts(_ beginning: Data) -> Bool

  /// What the file says of itself.
  func metadata(_ file: Data) throws(StoreError) -> StoreMetadata

  /// All that the file holds.
  func graph(_ file: Data, _ schema: Schema) throws(StoreError) -> AtomicGraph

  /// Writes a whole file, its metadata in one piece with ``AtomicFileWriter/writeMetadata(_:)``.
  func write(_ graph: AtomicGraph, _ metadata: StoreMetadata, to writer: AtomicFileWriter) throws(StoreError)

  /// A model guessed from the file.
  func inferredModel(_ file: Data) throws(StoreError) -> [EntityDefinition]
}

extension AtomicFormat {
  /// The metadata of a file whose checksum, where it has one, is that of its bytes.
  func checkedMetadata(_ data: Data) throws(StoreError) -> StoreMetadata {
    let isSealed = try AtomicChecksum.verify(data, isLast: metadataIsLast)
    var metadata = try metadata(data)
    // The key without a sum: that is what was damaged. Whoever asks for metadata wants the application's.
    if metadata.additional.removeValue(forKey: AtomicChecksum.key) != nil && !isSealed { throw AtomicChecksum.damaged }
    return metadata
  }
}

/// Stores that are one file each of some format.
public struct AtomicFileBackend<Format: AtomicFormat>: StoreBackend {
  private let format: Format

  public init(_ format: Format) { self.format = format }

  public var storeType: String { format.storeType }
  public var capabilities: Capabilities { [.persistent, .concurrentReads, .derivedAttributes] }

  public func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    let file = try AtomicFile(url.path)
    guard let (data, generation) = try file.read(format.accepts) else { return try make(file, schema, options) }
    let metadata = try format.checkedMetadata(data)
    if !options.ignoresModelVersion, schema.compatibility(withVersionHashes: metadata.versionHashes) == .different {
      throw .modelMismatch(metadata, schema)
    }
    let graph = try format.graph(data, schema)
    if !options.isReadOnly { file.sweep() }
    let medium = AtomicFileMedium(
      format, file, generation, schema, metadata.identifier, timeout: options.timeout)
    return AtomicStore(graph, metadata, capabilities, isReadOnly: options.isReadOnly, medium: medium)
  }

  private func make(
    _ file: AtomicFile, _ schema: Schema, _ options: StoreOptions
  ) throws(StoreError) -> any Store {
    if options.isReadOnly {
      throw StoreError(.notFound, "There is no store to open read-only.", context: ["path": file.path])
    }
    let metadata = StoreMetadata(
      identifier: UUID().uuidString, storeType: storeType, versionHashes: schema.versionHashes,
      versionIdentifiers: options.versionIdentifiers,
      additional: ["NSPersistenceFrameworkVersion": .integer(1344), "NSStoreModelVersionHashesVersion": .integer(3)])
    let graph = AtomicGraph(schema)
    let medium = AtomicFileMedium(
      format, file, nil, schema, metadata.identifier, timeout: options.timeout)
    try medium.write(graph, metadata)
    return AtomicStore(graph, metadata, capabilities, medium: medium)
  }

  public func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
    try format.checkedMetadata(existing(url).data)
  }

  public func inferredModel(at url: URL, options: StoreOptions) throws(StoreError) -> [EntityDefinition] {
    let data = try existing(url).data
    _ = try format.checkedMetadata(data)
    return try format.inferredModel(data)
  }

  private func existing(_ url: URL) throws(StoreError) -> (data: Data, file: AtomicFile) {
    let file = try AtomicFile(url.path)
    guard let content = try file.read(format.accepts) else {
      throw StoreError(.notFound, "There is no store.", context: ["path": file.path])
    }
    return (content.data, file)
  }

  public func destroy(at url: URL, options: StoreOptions) throws(StoreError) {
    let file = try AtomicFile(url.path)
    guard let content = try file.read(format.accepts) else { return }
    // What is no store of this kind is not ours to remove.
    if !options.forceDestroy { _ = try format.metadata(content.data) }
    try file.remove()
  }

  public func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {
    let data = try existing(source).data
    _ = try format.checkedMetadata(data)
    let target = try AtomicFile(destination.path)
    _ = try target.replace(target.generation(), timeout: options.timeout) { (writer) throws(StoreError) in
      try writer.write(data)
    }
  }
}
