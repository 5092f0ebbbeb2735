import Foundation
import StoreProtocol
import StoreSchema

/// Stores that are dictionaries, and live as long as they are open: the least that a store can be.
public struct DictionaryBackend: StoreBackend {
  public init() {}

  /// The greatest number of objects in a store. A commit that would make more throws `full`, and changes nothing.
  public static let capacity = StoreOption("Dictionary.capacity", default: Int.max)

  public var storeType: String { "Dictionary" }

  /// Nothing is declared by default. What is here, the suite checks; what is not, is refused before it gets here.
  public var capabilities: Capabilities { [.concurrentReads, .rowVersions, .uniqueness] }

  /// Options beyond those of every store. Their names begin with the type of the store; others are refused.
  public var ownOptions: [StoreOptionDeclaration] { [Self.capacity.declaration] }

  public func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    let metadata = StoreMetadata(
      identifier: UUID().uuidString, storeType: storeType, versionHashes: schema.versionHashes,
      versionIdentifiers: options.versionIdentifiers, additional: [:])
    return DictionaryStore(schema, metadata, capabilities, capacity: options[Self.capacity])
  }

  public func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
    throw StoreError(.notFound, "A dictionary has metadata only while it is open.")
  }

  public func destroy(at url: URL, options: StoreOptions) throws(StoreError) {}

  public func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {
    throw StoreError(.unsupported, "A dictionary has no file that another could replace.")
  }
}
