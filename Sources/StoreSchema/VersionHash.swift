import Foundation

/// The version hashes of entities, and the checksum and digest that are computed from them.
///
/// The rules were found by comparing real models with the hashes that Apple's tools wrote for them. They reproduce
/// every known hash of an entity without derived or composite attributes (`Documentation/VersionHashes.md`). How these
/// two affect a hash is unknown: see ``inexactEntities(in:)``.
public enum VersionHash {
  /// The 32-byte hash of every entity, by name. `definitions` must be complete: parents included.
  public static func hashes(of definitions: [EntityDefinition]) -> [String: [UInt8]] {
    let byName = Dictionary(definitions.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let declared = byName.mapValues(DeclaredProperties.init)
    var known: [String: [UInt8]] = [:]
    for definition in definitions {
      // From the root entity down, so that each parent's hash exists when it is needed.
      for entity in lineage(of: definition, in: byName) where known[entity.name] == nil {
        let properties = lineage(of: entity, in: byName).compactMap { declared[$0.name] }
        known[entity.name] = hash(of: entity, properties: properties, known: known)
      }
    }
    return known
  }

  /// The names of the entities whose hashes may differ from Apple's: those with a derived or a composite attribute, own
  /// or inherited.
  public static func inexactEntities(in definitions: [EntityDefinition]) -> Set<String> {
    let odd = Set(definitions.filter(isOdd).map(\.name))
    if odd.isEmpty { return [] }
    let byName = Dictionary(definitions.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return Set(
      definitions.filter { lineage(of: $0, in: byName).contains { odd.contains($0.name) } }.map(\.name))
  }

  private static func isOdd(_ entity: EntityDefinition) -> Bool {
    entity.attributes.contains { $0.derivation != nil || $0.type == .composite }
  }

  /// Whether entities of two models are equal in everything that version hashes cover, including derivations and
  /// elements of composites. For entities whose hash cannot be computed.
  public static func haveSameStructure(
    _ a: [EntityDefinition], _ b: [EntityDefinition], entities: Set<String>
  ) -> Bool {
    let (own, other) = (hashes(of: a), hashes(of: b))
    let byName = Dictionary(b.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return a.filter { entities.contains($0.name) }.allSatisfy { entity in
      own[entity.name] == other[entity.name] && leaves(entity) == byName[entity.name].map(leaves)
    }
  }

  /// The parts of an entity's own derived and composite attributes that its hash does not cover.
  private static func leaves(_ entity: EntityDefinition) -> Set<String> {
    var result: Set<String> = []
    var pending = entity.attributes.map { (path: $0.name, attribute: $0) }
    while let (path, attribute) = pending.popLast() {
      if let derivation = attribute.derivation { result.insert("\(path) = \(derivation)") }
      for element in attribute.elements {
        let path = path + "." + element.name
        result.insert("\(path): \(hash(of: element))")
        pending.append((path, element))
      }
    }
    return result
  }

  /// `NSManagedObjectModel.versionChecksum`: base64 of SHA-256 over the hashes in byte order of the entity names.
  public static func checksum(of hashes: [String: [UInt8]]) -> String {
    Data(SHA2.sha256(sorted(hashes).flatMap(\.value))).base64EncodedString()
  }

  /// `NSStoreModelVersionHashesDigest`: base64 of SHA-512 over name and hash of each entity, in byte order of the
  /// names.
  public static func digest(of hashes: [String: [UInt8]]) -> String {
    Data(SHA2.sha512(sorted(hashes).flatMap { Array($0.key.utf8) + $0.value })).base64EncodedString()
  }

  private static func sorted(_ hashes: [String: [UInt8]]) -> [(key: String, value: [UInt8])] {
    hashes.sorted { UTF8Order.isLess($0.key, $1.key) }
  }

  /// The entity and its ancestors, the root first. A cycle of parents is cut at its first repetition.
  private static func lineage(
    of definition: EntityDefinition, in byName: [String: EntityDefinition]
  ) -> [EntityDefinition] {
    var result = [definition]
    var names: Set<String> = [definition.name]
    while let parent = result.last?.superentity.flatMap({ byName[$0] }), names.insert(parent.name).inserted {
      result.append(parent)
    }
    return result.reversed()
  }

  /// The hashes of the properties that an entity declares. Each is computed once, not again for each subentity.
  private struct DeclaredProperties {
    var hashes: [(name: String, hash: [UInt8])]
    /// Their hashes depend on the entity that is hashed.
    var ownInverses: [RelationshipDefinition]

    init(_ entity: EntityDefinition) {
      hashes = entity.attributes.map { ($0.name, VersionHash.hash(of: $0)) }
      ownInverses = entity.relationships.filter { $0.inverse == $0.name }
      hashes += entity.relationships.filter { $0.inverse != $0.name }
        .map { ($0.name, VersionHash.hash(of: $0, hashing: entity.name)) }
    }
  }

  /// The hash of one entity. `lineage` is the entity with its ancestors, the root first; `known` has the parent's hash.
  static func hash(
    of entity: EntityDefinition, lineage: [EntityDefinition], known: [String: [UInt8]]
  ) -> [UInt8] {
    hash(of: entity, properties: lineage.map(DeclaredProperties.init), known: known)
  }

  private static func hash(
    of entity: EntityDefinition, properties lineage: [DeclaredProperties], known: [String: [UInt8]]
  ) -> [UInt8] {
    var input = Array(entity.name.utf8) + flag(entity.isAbstract)
    if let parent = entity.superentity { input += known[parent] ?? [] }
    // A property that a sub-entity redefines counts once, in the redefinition.
    var properties: [String: [UInt8]] = [:]
    for declared in lineage {
      for (name, hash) in declared.hashes { properties[name] = hash }
      for relationship in declared.ownInverses {
        properties[relationship.name] = hash(of: relationship, hashing: entity.name)
      }
    }
    input += sorted(properties).flatMap(\.value)
    input += Array((entity.versionHashModifier ?? "").utf8)
    let constraints = entity.uniquenessConstraints.map { $0.joined(separator: ".") }
    input += constraints.sorted(by: UTF8Order.isLess).flatMap { Array($0.utf8) }
    return SHA2.sha256(input)
  }

  /// The contribution of an attribute to the hash of its entity: 32 bytes.
  public static func hash(of attribute: AttributeDefinition) -> [UInt8] {
    var input = base(attribute.name, attribute.isOptional, attribute.derivation != nil, attribute.versionHashModifier)
    input += integer(attribute.type.rawValue)
    if attribute.allowsExternalBinaryDataStorage { input.append(1) }
    if attribute.preservesValueInHistoryOnDeletion { input.append(1) }
    return SHA2.sha256(input)
  }

  /// The contribution of a relationship to the hash of the entity with that name: 32 bytes.
  public static func hash(of relationship: RelationshipDefinition, hashing entity: String) -> [UInt8] {
    let isOwnInverse = relationship.inverse == relationship.name && relationship.destination == entity
    var input = base(relationship.name, relationship.isOptional, false, relationship.versionHashModifier)
    input += Array(relationship.destination.utf8)
    input += Array((isOwnInverse ? "" : relationship.inverse ?? "").utf8)
    input += integer(Int32(clamping: relationship.maxCount)) + integer(Int32(clamping: relationship.minCount))
    if relationship.isOrdered { input += [1, 0] }
    return SHA2.sha256(input)
  }

  private static func base(_ name: String, _ isOptional: Bool, _ isReadOnly: Bool, _ modifier: String?) -> [UInt8] {
    SHA2.sha256(Array(name.utf8) + flag(isOptional) + flag(isReadOnly) + Array((modifier ?? "").utf8))
  }

  private static func flag(_ value: Bool) -> [UInt8] { [value ? 1 : 0] }

  private static func integer(_ value: Int32) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
}
