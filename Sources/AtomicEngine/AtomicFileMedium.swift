import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema
import StoreSupport
import Synchronization

/// The file of an open store.
final class AtomicFileMedium<Format: AtomicFormat>: AtomicMedium {
  private let format: Format
  private let file: AtomicFile
  let externalFiles: ExternalDataFiles?
  private let timeout: Double
  private let schema: Schema
  private let identifier: String
  private let location: AtomicLocation
  /// The generation that was read or written last. Calls of `write` and `reread` are serialised by the store.
  private let generation: Mutex<AtomicFile.Generation?>

  init(
    _ format: Format, _ file: AtomicFile, _ generation: AtomicFile.Generation?, _ schema: Schema, _ identifier: String,
    _ options: StoreOptions
  ) {
    self.schema = schema
    self.identifier = identifier
    self.format = format
    self.file = file
    location = AtomicLocation.of(file)
    externalFiles = ExternalDataFiles(ExternalDataFolder(beside: file.path), ofStore: identifier, schema, options)
    self.generation = Mutex(generation)
    timeout = options.timeout
  }

  func reread() throws(StoreError) -> (graph: AtomicGraph, metadata: StoreMetadata)? {
    try location.require()
    // If the file is gone, the graph in memory stays as it is. The next save throws `notFound`.
    guard let now = try file.generation(), now != generation.withLock({ $0 }),
      let file = try file.content(format.accepts)
    else { return nil }
    let content = try format.checkedContent(file, schema) { (metadata) throws(StoreError) in
      guard metadata.identifier == identifier,
        schema.compatibility(withVersionHashes: metadata.versionHashes) != .different
      else { throw .replaced(self.file.path) }
    }
    // The store may have been replaced while the file was read.
    try location.require()
    generation.withLock { $0 = file.generation }
    return content
  }

  func write(_ graph: AtomicGraph, _ metadata: StoreMetadata) throws(StoreError) {
    do {
      let written = try file.replace(generation.withLock { $0 }, timeout: timeout) { (writer) throws(StoreError) in
        try location.require()
        try format.writeSealed(graph, metadata, to: writer)
      }
      generation.withLock { $0 = written }
    } catch {
      // After an unknown outcome the next `reread` finds out whether the file is this writer's or another's.
      if error.outcome != .outcomeUnknown { try location.require() }
      throw error
    }
  }

  func requireLocation() throws(StoreError) { try location.require() }

  func close() {}
}
