/// An immutable model for stores: entities by index, one slot for each stored value, all names resolved.
///
/// Entities are in the order in which Core Data numbers them: root entities sorted by name, ignoring case, each
/// followed by its sub-entities, sorted the same way. So an entity and its descendants are a contiguous range.
public final class Schema: Sendable {
  /// All entities, by their index.
  public let entities: [Entity]
  /// The definitions of the entities, in no particular order.
  public let definitions: [EntityDefinition]
  /// The 32-byte version hash of each stored entity.
  public let versionHashes: [String: [UInt8]]
  private let indices: [String: Int]
  /// Which entities are stored, by index; nil where all are. See ``part(storing:)``.
  private let stored: [Bool]?

  /// Resolves a model and assigns slots.
  ///
  /// Throws ``SchemaError`` when a name is missing, is used twice or differs from another only by case, when parents
  /// form a cycle, when a property is redefined with another type or cardinality, when a relationship is redefined with
  /// a destination that is no subentity of the inherited one, or when a relationship and its inverse do not match.
  public init(_ definitions: [EntityDefinition]) throws(SchemaError) {
    let numbered = try EntityNumbering.number(definitions)
    var layout = SchemaLayout(numbered)
    entities = try layout.entities()
    self.definitions = definitions
    versionHashes = VersionHash.hashes(of: definitions)
    indices = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0.index) })
    stored = nil
    for entity in entities {
      for relationship in entity.relationships { relationship.link(in: self) }
      entity.guardDeletions()
    }
  }

  private init(_ whole: Schema, stored: [Bool]) {
    (entities, indices, self.stored) = (whole.entities, whole.indices, stored)
    let names = Set(zip(whole.entities, stored).filter { $1 }.map { $0.0.name })
    definitions = whole.definitions.filter { names.contains($0.name) }
    versionHashes = whole.versionHashes.filter { names.contains($0.key) }
  }

  /// The entity with a name; nil where there is none.
  public func entity(named name: String) -> Entity? { indices[name].map { entities[$0] } }

  /// The inverse relationship; nil for a one-way relationship.
  public func inverse(of relationship: Relationship) -> Relationship? {
    relationship.inverse.map { entities[relationship.destination].relationships[$0] }
  }
}

// MARK: - A part of a model

extension Schema {
  /// The same schema for a store that holds only the objects of some entities, those of a configuration.
  ///
  /// Entities and slots are the same, so that rows and keys have the same meaning in all stores of a model. The store's
  /// own description (``versionHashes``, tables, numbers) covers the stored entities only. These are the named entities
  /// and their superentities, whose tables contain their rows, but not their sub-entities. Call it on a whole schema.
  public func part(storing names: Set<String>) -> Schema {
    var stored = Array(repeating: false, count: entities.count)
    for name in names {
      var next = indices[name]
      while let index = next, !stored[index] {
        stored[index] = true
        next = entities[index].superentity
      }
    }
    return stored.allSatisfy { $0 } ? self : Schema(self, stored: stored)
  }

  /// Whether the store holds objects of all entities.
  public var isWhole: Bool { stored == nil }

  /// The entities whose objects the store holds, in the order of their indices.
  public var storedEntities: [Entity] { entities.filter { stores($0.index) } }

  /// Whether the store holds objects of the entity with the index.
  public func stores(_ entity: Int) -> Bool { stored?[entity] ?? true }

  /// Whether the store holds links of the relationship: those between its own objects. Other relationships are always
  /// empty.
  public func stores(_ relationship: Relationship) -> Bool {
    guard stored != nil else { return true }
    return [relationship, inverse(of: relationship)].compactMap { $0 }.allSatisfy {
      stores($0.declaringEntity) && stores($0.destination)
    }
  }

  /// The slots of an entity's rows that belong to relationships without links in the store; mostly none.
  public func emptySlots(of entity: Entity) -> [Int] {
    if isWhole { return [] }
    return entity.relationships.filter { !stores($0) }.flatMap { [$0.slot, $0.entitySlot].compactMap { $0 } }
  }
}

/// An entity of an immutable ``Schema``.
public final class Entity: Sendable {
  /// The entity's index in ``Schema/entities``.
  public let index: Int
  /// The entity's name, unique within its model.
  public let name: String
  /// Whether the entity has no objects of its own.
  public let isAbstract: Bool
  /// Index of the parent; nil for a root entity.
  public let superentity: Int?
  /// Index of the root entity; of this entity itself for a root. Keys are unique within the hierarchy of a root entity.
  public let root: Int
  /// The indices of this entity and all its descendants.
  public let subtree: Range<Int>
  /// All stored attributes: inherited ones first, then own ones by name.
  public let attributes: [Attribute]
  /// All relationships: inherited ones first, then own ones by name.
  public let relationships: [Relationship]
  /// The kind of each slot in a row of this entity. A sub-entity's slots begin with its parent's.
  public let slots: [SlotKind]
  /// The slots that hold the key of a to-one destination.
  public let referenceSlots: [Int]
  /// The entity's own constraints as slots; see also `allUniquenessConstraints`.
  public let uniquenessConstraints: [[Int]]
  /// The definition that the entity was made from.
  public let definition: EntityDefinition
  private let properties: [String: Property]

  /// To-many relationships whose links are in the to-one slots of the members' rows, and whose rule is nullify, cascade
  /// or deny: no row may refer to a deleted object of this entity by their inverse. Set once, while the schema is made.
  nonisolated(unsafe) public private(set) var guardedMembers: [Relationship] = []
  /// To-many relationships whose links are in no to-one slot, and whose rule is cascade or deny: a deleted object of
  /// this entity may not be linked by them to an object that is not deleted. Set once, while the schema is made.
  nonisolated(unsafe) public private(set) var guardedLinks: [Relationship] = []

  /// A property by name.
  public enum Property: Sendable, Hashable {
    /// Index into ``Entity/attributes``.
    case attribute(Int)
    /// Index into ``Entity/relationships``.
    case relationship(Int)
  }

  init(
    index: Int, superentity: Int?, root: Int, subtree: Range<Int>, attributes: [Attribute],
    relationships: [Relationship], slots: [SlotKind], uniquenessConstraints: [[Int]], definition: EntityDefinition
  ) {
    self.index = index
    name = definition.name
    isAbstract = definition.isAbstract
    self.superentity = superentity
    self.root = root
    self.subtree = subtree
    self.attributes = attributes
    self.relationships = relationships
    self.slots = slots
    referenceSlots = slots.indices.filter { slots[$0] == .reference }
    self.uniquenessConstraints = uniquenessConstraints
    self.definition = definition
    var properties: [String: Property] = [:]
    for (i, attribute) in attributes.enumerated() { properties[attribute.name] = .attribute(i) }
    for (i, relationship) in relationships.enumerated() { properties[relationship.name] = .relationship(i) }
    self.properties = properties
  }

  fileprivate func guardDeletions() {
    for relationship in relationships where relationship.isToMany {
      switch (relationship.storage, relationship.definition.deleteRule) {
      case (_, .noAction), (.toOne, _): continue
      case (.inverseToOne, _): guardedMembers = guardedMembers + [relationship]
      // The store itself removes the links of a deleted object.
      case (_, .nullify): continue
      case (.pairs, _), (.destination, _): guardedLinks = guardedLinks + [relationship]
      }
    }
  }

  /// The attribute or relationship with a name, inherited ones included; nil where there is none.
  public func property(named name: String) -> Property? { properties[name] }

  /// The attribute with a name, inherited ones included; nil where there is none.
  public func attribute(named name: String) -> Attribute? {
    if case .attribute(let i)? = properties[name] { return attributes[i] }
    return nil
  }

  /// The relationship with a name, inherited ones included; nil where there is none.
  public func relationship(named name: String) -> Relationship? {
    if case .relationship(let i)? = properties[name] { return relationships[i] }
    return nil
  }

  /// Whether rows of this entity can be of a sub-entity.
  public var hasSubentities: Bool { subtree.count > 1 }
}

/// A stored attribute of an immutable ``Entity``. A class, because it is passed around on hot paths.
public final class Attribute: Sendable {
  /// The attribute's name, unique within its entity; for an element, unique within its composite.
  public let name: String
  /// The type of the values.
  public let type: AttributeType
  /// The slot of its value; for a composite attribute, the first slot of its elements.
  public let slot: Int
  /// Index of the entity that declares it.
  public let declaringEntity: Int
  /// The leaves of a composite attribute, each with its own slot, named by their path (`address.city` is
  /// named `city` under the composite `address`).
  public let elements: [Attribute]
  /// The attribute itself, or the leaves of a composite one.
  public var leaves: [Attribute] { elements.isEmpty ? [self] : elements }
  /// The slots of its value: one, or those of the leaves.
  public var slots: [Int] { elements.isEmpty ? [slot] : elements.map(\.slot) }
  /// The definition that the attribute was made from.
  public let definition: AttributeDefinition
  /// Whether a stored object may have no value.
  public let isOptional: Bool

  /// How the store computes the value, nil for ordinary attributes.
  public var derivation: Derivation? { definition.derivation }

  init(slot: Int, declaringEntity: Int, elements: [Attribute], name: String, _ definition: AttributeDefinition) {
    self.name = name
    type = definition.type
    self.slot = slot
    self.declaringEntity = declaringEntity
    self.elements = elements
    self.definition = definition
    isOptional = definition.isOptional
  }
}

/// A relationship of an immutable ``Entity``. A class, because it is passed around on hot paths. Within one schema, the
/// relationships of an entity and of its sub-entities are equal.
public final class Relationship: Sendable, Hashable {
  /// The relationship's name, unique within its entity.
  public let name: String
  /// Index into the relationships of its entity, the same in every sub-entity.
  public let index: Int
  /// Index of the entity that declares it.
  public let declaringEntity: Int
  /// Index of the declared destination entity.
  public let destination: Int
  /// Index of the inverse in the relationships of the destination, nil for a one-way relationship.
  public let inverse: Int?
  /// Whether there may be several destinations.
  public let isToMany: Bool
  /// Whether the destinations of a to-many relationship have an order.
  public let isOrdered: Bool
  /// The location of the links.
  public let storage: Storage
  /// To-one: the slot of the destination's key.
  public let slot: Int?
  /// To-one whose destination has sub-entities: the slot of the destination's entity index.
  public let entitySlot: Int?
  /// To-many: its index among the entity's to-many relationships.
  public let toManyIndex: Int?
  /// The definition that the relationship was made from.
  public let definition: RelationshipDefinition
  /// Whether a stored object may have no destinations.
  public let isOptional: Bool
  /// The result of ``Schema/inverse(of:)`` for this relationship; valid while the schema exists.
  public var linkedInverse: Relationship? { linked?.takeUnretainedValue() }
  /// ``linkedInverse`` without retaining it, for code that runs for each link of a save.
  public var unretainedInverse: Unmanaged<Relationship>? { linked }
  /// Whether a row may refer to a deleted object: in a to-one relationship without an inverse, or where the inverse has
  /// the rule no action.
  public var mayDangle: Bool { !isToMany && (linkedInverse.map { $0.definition.deleteRule == .noAction } ?? true) }
  /// The indices of the destination entity and all its descendants.
  public var destinations: Range<Int> { subtree }

  // Set once, while the schema is made.
  nonisolated(unsafe) private var linked: Unmanaged<Relationship>?
  nonisolated(unsafe) private var subtree = 0..<0

  fileprivate func link(in schema: Schema) {
    linked = schema.inverse(of: self).map(Unmanaged.passUnretained)
    subtree = schema.entities[destination].subtree
  }

  init(
    _ definition: RelationshipDefinition, index: Int, declaringEntity: Int, destination: Int, inverse: Int?,
    storage: Storage, slot: Int?, entitySlot: Int?, toManyIndex: Int?
  ) {
    name = definition.name
    self.index = index
    self.declaringEntity = declaringEntity
    self.destination = destination
    self.inverse = inverse
    isToMany = definition.isToMany
    isOrdered = definition.isToMany && definition.isOrdered
    self.storage = storage
    self.slot = slot
    self.entitySlot = entitySlot
    self.toManyIndex = toManyIndex
    self.definition = definition
    isOptional = definition.isOptional
  }

  public static func == (a: Relationship, b: Relationship) -> Bool {
    a === b || (a.declaringEntity == b.declaringEntity && a.index == b.index && a.destination == b.destination)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(declaringEntity)
    hasher.combine(index)
  }

  /// The location of a relationship's links.
  public enum Storage: Sendable, Hashable {
    /// In this side's row.
    case toOne
    /// In the to-one slots of the other side's rows.
    case inverseToOne
    /// In link pairs that belong to both sides. `isPrimary` is true for exactly one side. Change sets describe links on
    /// the primary side (on both sides only where both are ordered).
    case pairs(isPrimary: Bool)
    /// One-way to-many: in the rows of the destinations.
    case destination
  }
}

/// The error of an invalid model.
public struct SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the invalid entity; empty where it has none.
  public let entity: String
  /// The name of the invalid property; nil where the error is not about a single one.
  public let property: String?
  /// A sentence that says what is wrong and what to do.
  public let message: String

  /// An error that a layer above has found. `message` is a sentence that says what to do.
  public init(entity: String, property: String?, message: String) { self.init(entity, property, message) }

  init(_ entity: String, _ message: String) { self.init(entity, nil, message) }

  init(_ entity: String, _ property: String?, _ message: String) {
    self.entity = entity
    self.property = property
    self.message = message
  }

  public var description: String {
    "Model error in \(entity)\(property.map { "." + $0 } ?? ""): \(message)"
  }
}

extension Schema {
  /// How a store's version hashes compare with the model's.
  public enum Compatibility: Sendable, Equatable {
    /// The same entities have the same hashes; or not.
    case same, different
    /// Equal except for entities whose hash is not sufficient, because they have derived or composite attributes.
    /// Compare these by structure; see ``VersionHash/haveSameStructure(_:_:entities:)``.
    case sameButFor(Set<String>)
  }

  /// Whether a store with these version hashes was made with this model: the same entities with the same hashes.
  public func compatibility(withVersionHashes hashes: [String: [UInt8]]) -> Compatibility {
    guard hashes.count == versionHashes.count else { return .different }
    let inexact = VersionHash.inexactEntities(in: definitions)
    var open: Set<String> = []
    for definition in definitions {
      guard let stored = hashes[definition.name] else { return .different }
      if inexact.contains(definition.name) {
        open.insert(definition.name)
      } else if stored != versionHashes[definition.name] {
        return .different
      }
    }
    return open.isEmpty ? .same : .sameButFor(open)
  }
}
