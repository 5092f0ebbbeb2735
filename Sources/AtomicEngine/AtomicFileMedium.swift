import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema

/// The file of an open store.
final class AtomicFileMedium<Format: AtomicFormat>: AtomicMedium, @unchecked Sendable {
  private let format: Format
  private let file: AtomicFile
  let externalFiles: ExternalDataFiles?
  private let timeout: Double
  private let schema: Schema
  private let identifier: String
  private let place: AtomicPlace
  /// Of the content that was read or written last. Calls to write come one at a time.
  private var generation: AtomicFile.Generation?

  init(
    _ format: Format, _ file: AtomicFile, _ generation: AtomicFile.Generation?, _ schema: Schema, _ identifier: String,
    _ options: StoreOptions
  ) {
    self.schema = schema
    self.identifier = identifier
    self.format = format
    self.file = file
    place = AtomicPlace.of(file)
    externalFiles = ExternalDataFiles(ExternalDataFolder(beside: file.path), ofStore: identifier, schema, options)
    self.generation = generation
    timeout = options.timeout
  }

  func reread() throws(StoreError) -> (graph: AtomicGraph, metadata: StoreMetadata)? {
    try place.require()
    // Where the file is gone nothing takes its place; whoever saves is told.
    guard let now = try file.generation(), now != generation, let file = try file.content(format.accepts) else {
      return nil
    }
    let content = try format.checkedContent(file, schema) { (metadata) throws(StoreError) in
      guard metadata.identifier == identifier,
        schema.compatibility(withVersionHashes: metadata.versionHashes) != .different
      else { throw .replaced(self.file.path) }
    }
    // Who replaces the store may have been faster than the look at it.
    try place.require()
    generation = file.generation
    return content
  }

  func write(_ graph: AtomicGraph, _ metadata: StoreMetadata) throws(StoreError) {
    do {
      generation = try file.replace(generation, timeout: timeout) { (writer) throws(StoreError) in
        try place.require()
        try format.writeSealed(graph, metadata, to: writer)
      }
    } catch {
      // Of an unknown outcome the next look tells: whose file is there now, this writer's or another's, is read then.
      if error.outcome != .outcomeUnknown { try place.require() }
      throw error
    }
  }

  func requirePlace() throws(StoreError) { try place.require() }

  func close() {}
}
