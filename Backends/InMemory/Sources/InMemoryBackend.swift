import AtomicEngine
import Foundation
import StoreProtocol
import StoreSchema

/// Stores in memory. Their content is lost when they are closed.
public struct InMemoryBackend: StoreBackend {
  /// The backend of stores in memory.
  public init() {}

  public var storeType: String { "InMemory" }
  public var capabilities: Capabilities {
    [.concurrentReads, .rowVersions, .uniqueness, .grouping, .derivedAttributes, .objectValues]
  }

  /// Makes an empty store each time. The URL has no meaning.
  public func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    let metadata = StoreMetadata(
      identifier: UUID().uuidString, storeType: storeType, versionHashes: schema.versionHashes,
      versionIdentifiers: options.versionIdentifiers, additional: [:])
    return AtomicStore(AtomicGraph(schema), metadata, capabilities, isReadOnly: options.isReadOnly)
  }

  public func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
    throw StoreError(.notFound, "A store in memory has metadata only while it is open.")
  }

  /// There is nothing to remove.
  public func destroy(at url: URL, options: StoreOptions) throws(StoreError) {}

  public func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {
    throw StoreError(.unsupported, "A store in memory has no file to replace. Migrate it instead.")
  }
}
