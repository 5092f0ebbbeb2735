import Foundation
import PropertyLists
import StoreSchema

/// The description that a store carries of itself.
public struct StoreMetadata: Sendable, Equatable {
  /// The store's UUID in upper-case text: the host part of its object URIs.
  public var identifier: String
  /// The name of the store's type.
  public var storeType: String
  /// The version hash of each stored entity, 32 bytes, by the entity's name.
  public var versionHashes: [String: [UInt8]]
  /// The version identifiers of the model. Nothing compares them.
  public var versionIdentifiers: [String]
  /// Every other entry: the application's own and the format's.
  public var additional: [String: PropertyList]
  /// The model that the store carries, as a keyed archive. ``StoreBackend/metadata(at:options:)`` gives it; an open
  /// store's metadata may leave it out.
  public var archivedModel: Data?

  /// Metadata with these parts.
  public init(
    identifier: String, storeType: String, versionHashes: [String: [UInt8]], versionIdentifiers: [String],
    additional: [String: PropertyList], archivedModel: Data? = nil
  ) {
    self.identifier = identifier
    self.storeType = storeType
    self.versionHashes = versionHashes
    self.versionIdentifiers = versionIdentifiers
    self.additional = additional
    self.archivedModel = archivedModel
  }
}

/// Metadata as the dictionary that every format of Core Data keeps.
extension StoreMetadata {
  private static let typeKey = "NSStoreType"
  private static let hashesKey = "NSStoreModelVersionHashes"
  private static let identifiersKey = "NSStoreModelVersionIdentifiers"
  /// SHA-512 over names and hashes, from iOS 13 on.
  public static let digestKey = "NSStoreModelVersionHashesDigest"
  /// SHA-256 over the hashes, from iOS 17 on.
  public static let checksumKey = "NSStoreModelVersionChecksumKey"

  /// Reads the dictionary. `storeType` is used where the dictionary names no type.
  ///
  /// Throws `corrupt` where it is no dictionary or has no version hashes. An entry of a wrong type counts as absent.
  public init(_ list: PropertyList, identifier: String, storeType: String) throws(StoreError) {
    guard var entries = list.dictionaryValue, let hashes = entries[Self.hashesKey]?.dictionaryValue else {
      throw StoreError(.corrupt, "The store's metadata has no version hashes.")
    }
    let identifiers = entries[Self.identifiersKey]?.arrayValue ?? []
    let type = entries[Self.typeKey]?.stringValue ?? storeType
    for key in [Self.hashesKey, Self.identifiersKey, Self.typeKey] { entries[key] = nil }
    self.init(
      identifier: identifier, storeType: type, versionHashes: hashes.compactMapValues { $0.dataValue.map(Array.init) },
      versionIdentifiers: identifiers.compactMap(\.stringValue), additional: entries)
  }

  /// The dictionary to write. Stores from before iOS 13 have no digest, and from before iOS 17 no checksum. Only a new
  /// store gets entries that it did not have.
  public func propertyList(isNew: Bool) -> [String: PropertyList] {
    var entries = additional
    entries[Self.typeKey] = .string(storeType)
    entries[Self.hashesKey] = .dictionary(versionHashes.mapValues { .data(Data($0)) })
    entries[Self.identifiersKey] = .array(versionIdentifiers.map(PropertyList.string))
    if isNew || entries[Self.digestKey] != nil {
      entries[Self.digestKey] = .string(VersionHash.digest(of: versionHashes))
    }
    if isNew || entries[Self.checksumKey] != nil {
      entries[Self.checksumKey] = .string(VersionHash.checksum(of: versionHashes))
    }
    return entries
  }
}

extension StoreError {
  /// The error for a store of another model.
  public static func modelMismatch(_ metadata: StoreMetadata, _ schema: Schema) -> StoreError {
    var error = StoreError(
      .modelMismatch,
      "The store was made with another version of the model; open it with that version, or migrate it.")
    error.modelHashes = .init(store: metadata.versionHashes, model: schema.versionHashes)
    return error
  }
}
