import Foundation
import StoreProtocol
import StoreSchema

/// Stores that are dictionaries, and live as long as they are open: the least that a store can be.
public struct DictionaryBackend: StoreBackend {
  public init() {}

  public var storeType: String { "Dictionary" }

  /// Nothing is declared by default. What is here, the suite checks; what is not, is refused before it gets here.
  public var capabilities: Capabilities { [.concurrentReads, .rowVersions, .uniqueness] }

  public func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    let metadata = StoreMetadata(
      identifier: UUID().uuidString, storeType: storeType, versionHashes: schema.versionHashes,
      versionIdentifiers: options.versionIdentifiers, additional: [:])
    return DictionaryStore(schema, metadata, capabilities)
  }

  public func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
    throw StoreError(.notFound, "A dictionary has metadata only while it is open.")
  }

  public func destroy(at url: URL, options: StoreOptions) throws(StoreError) {}

  public func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {
    throw StoreError(.unsupported, "A dictionary has no file that another could replace.")
  }
}
