import Foundation
import TestSupport
import Testing

@testable import StoreSchema

@Suite struct SHA2Tests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (String(repeating: "a", count: 119), "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
  ])
  func sha256OfKnownMessages(_ message: String, _ digest: String) {
    #expect(hex(SHA2.sha256(Array(message.utf8))) == digest)
  }

  @Test func sha512OfAKnownMessage() {
    #expect(
      hex(SHA2.sha512(Array("abc".utf8)))
        == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    )
  }
}

private func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

/// The hashes that Apple's tools wrote for real entities are reproduced byte for byte.
@Suite(Corpus.condition) struct VersionHashVectorTests {
  @Test func everyEntityWithoutDerivedOrCompositeAttributesIsReproduced() throws {
    let vectors = try VersionHashVectors.load()
    #expect(vectors.entities.count == 128)
    var exact = 0
    for vector in vectors.entities where vector.reproduced {
      let found = VersionHash.hash(
        of: vector.definition, lineage: vector.lineage, known: vector.knownHashes)
      #expect(hex(found) == vector.hash, "vector \(vector.id) \(vector.entity)")
      exact += 1
    }
    #expect(exact == 124)
  }

  @Test func digestsAndChecksumsOfRealModels() throws {
    for model in try VersionHashVectors.load().models {
      let hashes = model.versionHashes.mapValues(bytes)
      if let digest = model.digest { #expect(VersionHash.digest(of: hashes) == digest, "\(model.source)") }
      if let checksum = model.checksum { #expect(VersionHash.checksum(of: hashes) == checksum, "\(model.source)") }
    }
  }
}

private func bytes(_ hex: String) -> [UInt8] {
  stride(from: 0, to: hex.utf8.count, by: 2).compactMap { offset in
    let start = hex.index(hex.startIndex, offsetBy: offset)
    return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)
  }
}

/// `version-hashes.json` of the shared corpus.
struct VersionHashVectors: Decodable {
  let entities: [EntityVector]
  let models: [ModelVector]

  static let file = Corpus.root.appending(path: "version-hashes.json")

  static func load() throws -> VersionHashVectors {
    try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
  }

  struct ModelVector: Decodable {
    let source: String
    let versionHashes: [String: String]
    let digest: String?
    let checksum: String?
  }

  struct EntityVector: Decodable {
    let id: Int
    let entity: String
    let isAbstract: Bool
    let superentity: String?
    let superentityHash: String?
    let versionHashModifier: String?
    let uniquenessConstraints: [[String]]
    let properties: [PropertyVector]
    let hash: String
    let reproduced: Bool

    var knownHashes: [String: [UInt8]] {
      guard let superentity, let superentityHash else { return [:] }
      return [superentity: bytes(superentityHash)]
    }

    /// All properties are declared in a superentity: the hash does not depend on the entity that declares them.
    var lineage: [EntityDefinition] {
      var parent = EntityDefinition(name: "Parent")
      for property in properties {
        if property.kind == "attribute" { parent.attributes.append(property.attribute) }
        if property.kind == "relationship" { parent.relationships.append(property.relationship(of: entity)) }
      }
      return [parent, definition]
    }

    var definition: EntityDefinition {
      var result = EntityDefinition(name: entity)
      result.isAbstract = isAbstract
      result.superentity = superentity
      result.versionHashModifier = versionHashModifier
      result.uniquenessConstraints = uniquenessConstraints
      return result
    }
  }

  struct PropertyVector: Decodable {
    let name: String
    let kind: String
    let isOptional: Bool
    let versionHashModifier: String?
    let attributeType: Int32?
    let allowsExternalBinaryDataStorage: Bool?
    let preservesValueInHistoryOnDeletion: Bool?
    let destinationEntity: String?
    let inverse: String?
    let maxCount: Int?
    let minCount: Int?
    let isOrdered: Bool?

    var attribute: AttributeDefinition {
      var result = AttributeDefinition(name: name, type: AttributeType(rawValue: attributeType ?? 0) ?? .undefined)
      result.isOptional = isOptional
      result.versionHashModifier = versionHashModifier
      result.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage ?? false
      result.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion ?? false
      return result
    }

    func relationship(of entity: String) -> RelationshipDefinition {
      var result = RelationshipDefinition(name: name, destination: destinationEntity ?? "")
      result.inverse = inverse
      result.isOptional = isOptional
      result.versionHashModifier = versionHashModifier
      result.maxCount = maxCount ?? 0
      result.minCount = minCount ?? 0
      result.isOrdered = isOrdered ?? false
      return result
    }
  }
}
