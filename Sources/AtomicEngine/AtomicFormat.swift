import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema
import StoreSupport

/// A format that stores a whole graph in one file. Implementations do not recurse over the content of a file, and no
/// file may trap them. They throw `corrupt` for content that breaks the format, and `notAStore` for files of another
/// kind.
public protocol AtomicFormat: Sendable {
  /// The name of the store type of files of this format.
  var storeType: String { get }

  /// Capabilities that stores of this format have beyond those of every whole-file store, and the kind of their file.
  var capabilities: Capabilities { get }

  /// Whether the metadata stands behind the objects in a file. Otherwise it stands before them.
  var metadataIsLast: Bool { get }

  /// Whether a file with this beginning can be of this format. `beginning` has 512 bytes, or the whole file if it is
  /// shorter.
  func accepts(_ beginning: Data) -> Bool

  /// The metadata of the file.
  func metadata(_ file: AtomicFileContent) throws(StoreError) -> StoreMetadata

  /// All objects of the file.
  func graph(
    _ file: AtomicFileContent, _ schema: Schema, _ numbering: AtomicNumbering
  ) throws(StoreError) -> AtomicGraph

  /// Writes a whole file. The metadata must be written in one piece with ``AtomicFileWriter/writeMetadata(_:)``.
  func write(_ graph: AtomicGraph, _ metadata: StoreMetadata, to writer: AtomicFileWriter) throws(StoreError)

  /// Writes the file again with other metadata. The bytes of its objects are copied.
  func rewrite(_ file: AtomicFileContent, _ metadata: StoreMetadata, to writer: AtomicFileWriter) throws(StoreError)

  /// Adds the objects of a damaged file that can be read to `salvage`, and reports the others there.
  func salvage(
    _ file: AtomicFileContent, _ numbering: AtomicNumbering, into salvage: Salvage
  ) throws(StoreError)

  /// A model inferred from the file. Throws `unsupported` where the format does not name properties.
  func inferredModel(_ file: AtomicFileContent) throws(StoreError) -> [EntityDefinition]
}

extension AtomicFormat {
  public var capabilities: Capabilities { [] }

  /// Verifies the checksum, if the file has one, and reads the metadata. Entries about the file itself are left out.
  func checkedMetadata(_ file: AtomicFileContent) throws(StoreError) -> StoreMetadata {
    try checkedHead(file).metadata
  }

  /// Verifies the checksum, if the file has one, and reads the metadata and the graph. `check` gets the metadata before
  /// the graph is read.
  func checkedContent(
    _ file: AtomicFileContent, _ schema: Schema, _ check: (StoreMetadata) throws(StoreError) -> Void
  ) throws(StoreError) -> (graph: AtomicGraph, metadata: StoreMetadata) {
    try file.findSeal(isLast: metadataIsLast)
    var (result, headerFields): ((graph: AtomicGraph, metadata: StoreMetadata), AtomicHeaderFields)
    do {
      let head = try head(file)
      try check(head.metadata)
      headerFields = head.headerFields
      result = (try graph(file, schema, AtomicNumbering(headerFields.roots, schema)), head.metadata)
    } catch {
      // A wrong checksum explains every other error, so it is reported instead.
      try file.verify()
      throw error
    }
    try file.verify()
    try headerFields.external.mark(&result.graph)
    return result
  }

  fileprivate func checkedHead(
    _ file: AtomicFileContent
  ) throws(StoreError) -> (metadata: StoreMetadata, headerFields: AtomicHeaderFields) {
    try file.findSeal(isLast: metadataIsLast)
    try file.verify()
    return try head(file)
  }

  private func head(
    _ file: AtomicFileContent
  ) throws(StoreError) -> (metadata: StoreMetadata, headerFields: AtomicHeaderFields) {
    var metadata = try metadata(file)
    // A key without a checksum means that the checksum itself is damaged. The caller gets the application's metadata
    // without this key.
    if metadata.additional.removeValue(forKey: AtomicChecksum.key) != nil && !file.isSealed {
      throw AtomicChecksum.damaged
    }
    let headerFields = try AtomicHeaderFields(takingFrom: &metadata)
    return (metadata, headerFields)
  }

  /// The metadata, read without a look at the checksum.
  fileprivate func readableHead(
    _ file: AtomicFileContent
  ) throws(StoreError) -> (metadata: StoreMetadata, headerFields: AtomicHeaderFields) {
    var metadata = try metadata(file)
    metadata.additional[AtomicChecksum.key] = nil
    let headerFields = try AtomicHeaderFields(takingFrom: &metadata)
    return (metadata, headerFields)
  }

  /// Writes a whole file with its checksum and the other entries about the file itself.
  func writeSealed(
    _ graph: AtomicGraph, _ metadata: StoreMetadata, to writer: AtomicFileWriter
  ) throws(StoreError) {
    try write(graph, sealed(metadata, AtomicHeaderFields(of: graph)), to: writer)
    try writer.seal()
  }

  /// Writes a file again with other metadata, a new checksum and the same objects.
  func rewriteSealed(
    _ file: AtomicFileContent, _ metadata: StoreMetadata, to writer: AtomicFileWriter
  ) throws(StoreError) {
    try rewrite(file, sealed(metadata, try checkedHead(file).headerFields), to: writer)
    try writer.seal()
  }

  private func sealed(_ metadata: StoreMetadata, _ headerFields: AtomicHeaderFields) -> StoreMetadata {
    var metadata = metadata
    metadata.additional[AtomicChecksum.key] = .string(AtomicChecksum.placeholder)
    headerFields.add(to: &metadata)
    return metadata
  }
}

/// The backend of stores that are one file each, of one format.
public struct AtomicFileBackend<Format: AtomicFormat>: StoreBackend, ModelInferringBackend, SalvagingBackend {
  private let format: Format

  /// The backend of stores of a format.
  public init(_ format: Format) { self.format = format }

  public var storeType: String { format.storeType }
  public var capabilities: Capabilities {
    let every: Capabilities = [
      .persistent, .localFiles, .wholeFile, .readOnlyOpen, .multipleOpens, .detectsOtherWriters, .concurrentReads,
      .fileVersions, .uniqueness, .grouping, .migrationByCopy, .externalData, .derivedAttributes, .checksums,
      .powerLossDurability, .salvage,
    ]
    return every.union(format.capabilities)
  }

  public func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    let file = try Self.file(url)
    guard let content = try file.content(format.accepts) else { return try make(file, schema, options) }
    let (graph, metadata) = try format.checkedContent(content, schema) { (metadata) throws(StoreError) in
      if !options.ignoresModelVersion, schema.compatibility(withVersionHashes: metadata.versionHashes) == .different {
        throw .modelMismatch(metadata, schema)
      }
    }
    let isReadOnly = options.isReadOnly || !file.isWritable
    if !isReadOnly { file.sweep() }
    let medium = AtomicFileMedium(
      format, file, content.generation, schema, metadata.identifier, options)
    return AtomicStore(graph, metadata, capabilities, isReadOnly: isReadOnly, medium: medium)
  }

  private static func file(_ url: URL) throws(StoreError) -> AtomicFile {
    guard url.isFileURL else {
      throw StoreError(
        .invalidArgument, "The URL of the store is not a file URL. Use a file URL.",
        context: ["url": url.absoluteString])
    }
    return try AtomicFile(url.path)
  }

  private func make(
    _ file: AtomicFile, _ schema: Schema, _ options: StoreOptions
  ) throws(StoreError) -> any Store {
    if options.isReadOnly {
      throw StoreError(
        .notFound, "There is no store at the URL, and a read-only store is not made. Check the URL.",
        context: ["path": file.path])
    }
    let metadata = StoreMetadata(
      identifier: UUID().uuidString, storeType: storeType, versionHashes: schema.versionHashes,
      versionIdentifiers: options.versionIdentifiers,
      additional: ["NSPersistenceFrameworkVersion": .integer(1344), "NSStoreModelVersionHashesVersion": .integer(3)])
    let graph = AtomicGraph(schema)
    let medium = AtomicFileMedium(
      format, file, nil, schema, metadata.identifier, options)
    try medium.write(graph, metadata)
    return AtomicStore(graph, metadata, capabilities, medium: medium)
  }

  public func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
    try format.checkedMetadata(existing(url))
  }

  public func setMetadata(_ metadata: StoreMetadata, at url: URL, options: StoreOptions) throws(StoreError) {
    let file = try Self.file(url)
    guard let content = try file.content(format.accepts) else { throw missing(file) }
    _ = try file.replace(content.generation, timeout: options.timeout) { (writer) throws(StoreError) in
      try format.rewriteSealed(content, metadata, to: writer)
    }
  }

  public func inferredModel(at url: URL, options: StoreOptions) throws(StoreError) -> [EntityDefinition] {
    let content = try existing(url)
    let external = try format.checkedHead(content).headerFields.external
    var definitions = try format.inferredModel(content)
    for entity in definitions.indices {
      for attribute in definitions[entity].attributes.indices {
        let names = external.names(definitions[entity].name, definitions[entity].attributes[attribute].name)
        if names { definitions[entity].attributes[attribute].allowsExternalBinaryDataStorage = true }
      }
    }
    return definitions
  }

  private func existing(_ url: URL) throws(StoreError) -> AtomicFileContent {
    let file = try Self.file(url)
    guard let content = try file.content(format.accepts) else { throw missing(file) }
    return content
  }

  private func missing(_ file: AtomicFile) -> StoreError {
    StoreError(.notFound, "There is no store at the URL.", context: ["path": file.path])
  }

  public func salvage(at url: URL, into salvage: Salvage, options: StoreOptions) throws(StoreError) {
    let file = try Self.file(url)
    // The beginning may be the damaged part, so any beginning is accepted.
    guard let content = try file.content({ _ in true }) else { throw missing(file) }
    var headerFields: AtomicHeaderFields?
    salvage.take { () throws(StoreError) in
      let head = try format.readableHead(content)
      headerFields = head.headerFields
      return head.metadata
    }
    let external = ExternalDataFolder(beside: file.path)
    salvage.externalData = { (name) throws(StoreError) in try external.read(name) }
    let numbering = AtomicNumbering(headerFields?.roots ?? [], salvage.schema)
    try format.salvage(content, numbering, into: salvage)
    headerFields?.external.mark(salvage, numbering)
    // A file with a wrong checksum may have damaged values that still look valid.
    do throws(StoreError) { _ = try format.checkedHead(content) } catch {
      if !Salvage.isDamage(error) { throw error }
      salvage.lose(StoreFinding(.integrity, error.message))
      AtomicExternalValues.guess(salvage, external)
    }
  }

  public func destroy(at url: URL, options: StoreOptions) throws(StoreError) {
    let file = try Self.file(url)
    // Without `forceDestroy` only stores of this format are removed.
    if !options.forceDestroy {
      guard let content = try file.content(format.accepts) else { return }
      _ = try format.metadata(content)
    }
    let external = ExternalDataFolder(beside: file.path)
    try external.requireOwn()
    try file.remove(timeout: options.timeout) { () throws(StoreError) in try external.removeAll() }
  }

  public func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {
    let target = try Self.file(destination)
    let (theirs, own) = try (
      ExternalDataFolder(beside: Self.file(source).path), ExternalDataFolder(beside: target.path)
    )
    try ExternalDataFolder.copying { () throws(StoreError) in
      // The view keeps the external files that the source's rows name now, also if a save makes them obsolete
      // meanwhile.
      let files = theirs.view()
      defer { withExtendedLifetime(files) {} }
      let content = try existing(source)
      _ = try format.checkedMetadata(content)
      // Without `forceDestroy` only stores of this format are overwritten.
      if !options.forceDestroy, let old = try target.content(format.accepts) { _ = try format.metadata(old) }
      try own.replace(with: theirs, isNew: FileStatus(target.path) == nil) { () throws(StoreError) in
        _ = try target.replace(target.generation(), timeout: options.timeout, isOther: true) {
          (writer) throws(StoreError) in
          try writer.write(0..<content.count, of: content)
        }
      }
    }
  }
}
