import Foundation

/// An entity as a model states it, before it is numbered and laid out by ``Schema``.
///
/// Only what a store can hold or must compare is here: transient attributes, fetched properties, classes,
/// defaults and validation belong to the layers above.
public struct EntityDefinition: Sendable, Hashable {
  public var name: String
  public var isAbstract = false
  /// The name of the parent entity, nil for a root.
  public var superentity: String?
  /// The entity's own attributes, inherited ones left out.
  public var attributes: [AttributeDefinition] = []
  /// The entity's own relationships, inherited ones left out.
  public var relationships: [RelationshipDefinition] = []
  /// Each inner array names the attributes or to-one relationships whose values must be unique together.
  public var uniquenessConstraints: [[String]] = []
  public var fetchIndexes: [FetchIndexDefinition] = []
  /// The name this entity is looked up by in older stores; equal to `name` when never renamed.
  public var renamingIdentifier: String
  public var versionHashModifier: String?

  public init(name: String) {
    self.name = name
    renamingIdentifier = name
  }
}

/// A persistent attribute as a model states it.
public struct AttributeDefinition: Sendable, Hashable {
  public var name: String
  public var type: AttributeType
  public var isOptional = true
  public var allowsExternalBinaryDataStorage = false
  public var preservesValueInHistoryOnDeletion = false
  public var renamingIdentifier: String
  public var versionHashModifier: String?
  /// How the store computes the value, nil for ordinary attributes.
  public var derivation: Derivation?
  /// The elements of a composite attribute, in the model's order.
  public var elements: [AttributeDefinition] = []

  public init(name: String, type: AttributeType) {
    self.name = name
    self.type = type
    renamingIdentifier = name
  }
}

/// A persistent relationship as a model states it.
public struct RelationshipDefinition: Sendable, Hashable {
  public var name: String
  public var destination: String
  /// The name of the inverse on the destination, nil for a one-way relationship.
  public var inverse: String?
  public var isOptional = true
  public var isOrdered = false
  public var minCount = 0
  /// 1 exactly for to-one; 0 or negative for an unbounded to-many.
  public var maxCount = 0
  /// What becomes of the destinations when an object of this side is deleted. No part of the version hash.
  public var deleteRule = DeleteRule.noAction
  public var renamingIdentifier: String
  public var versionHashModifier: String?

  public init(name: String, destination: String) {
    self.name = name
    self.destination = destination
    renamingIdentifier = name
  }

  public var isToMany: Bool { maxCount != 1 }
}

/// What becomes of a relationship's destinations when its object is deleted
/// ([NSDeleteRule](https://developer.apple.com/documentation/coredata/nsdeleterule)).
///
/// The layers above follow the rule. A store only makes sure at commit that nobody else has undone that meanwhile: see
/// ``Entity/guardedMembers`` and ``Entity/guardedLinks``.
public enum DeleteRule: Sendable, Hashable {
  case noAction, nullify, cascade, deny
}

/// How a derived attribute is computed by the store at save
/// ([NSDerivedAttributeDescription](https://developer.apple.com/documentation/coredata/nsderivedattributedescription)).
public enum Derivation: Sendable, Hashable {
  /// A property of the same entity, or one reached over to-one relationships.
  case keyPath([String])
  /// `canonical:`, `uppercase:` or `lowercase:` of a key path.
  case function(String, [String])
  /// `rel.@count`.
  case count(relationship: String)
  /// `rel.attribute.@sum` and its like, by the name of its function without the colon: `sum`, `average`, `min`, `max`.
  case aggregate(String, relationship: String, attribute: String)
  /// `now()`: the time of the save.
  case now
  /// Anything else, as text: carried, and never computed here.
  case unsupported(String)
}

/// A fetch index of an entity.
public struct FetchIndexDefinition: Sendable, Hashable {
  public var name: String
  public var elements: [Element]
  /// The partial-index predicate in the predicate format language.
  public var partialPredicate: String?

  public init(name: String, elements: [Element], partialPredicate: String? = nil) {
    self.name = name
    self.elements = elements
    self.partialPredicate = partialPredicate
  }

  public struct Element: Sendable, Hashable {
    /// A property name, or `self` and `entity` for the object's key and entity number.
    public var property: String
    public var isAscending: Bool
    public var isRTree: Bool

    public init(property: String, isAscending: Bool = true, isRTree: Bool = false) {
      self.property = property
      self.isAscending = isAscending
      self.isRTree = isRTree
    }
  }
}
