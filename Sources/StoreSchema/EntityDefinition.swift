import Foundation

/// An entity as a model states it, before it is numbered and laid out by ``Schema``.
///
/// Only what a store can hold or must compare is here: transient attributes, fetched properties, classes,
/// defaults and validation belong to the layers above.
public struct EntityDefinition: Sendable, Hashable {
  /// The entity's name, unique within its model.
  public var name: String
  /// Whether the entity has no objects of its own.
  public var isAbstract = false
  /// The name of the parent entity, nil for a root.
  public var superentity: String?
  /// The entity's own attributes, inherited ones left out.
  public var attributes: [AttributeDefinition] = []
  /// The entity's own relationships, inherited ones left out.
  public var relationships: [RelationshipDefinition] = []
  /// Each inner array names the attributes or to-one relationships whose values must be unique together.
  public var uniquenessConstraints: [[String]] = []
  /// The entity's own fetch indexes. They are not part of the version hash.
  public var fetchIndexes: [FetchIndexDefinition] = []
  /// The name this entity is looked up by in older stores; equal to `name` when never renamed.
  public var renamingIdentifier: String
  /// A text that enters the version hash; nil for none.
  public var versionHashModifier: String?

  /// A root entity without properties.
  public init(name: String) {
    self.name = name
    renamingIdentifier = name
  }
}

/// A persistent attribute as a model states it.
public struct AttributeDefinition: Sendable, Hashable {
  /// The attribute's name, unique within its entity.
  public var name: String
  /// The type of the values.
  public var type: AttributeType
  /// Whether a stored object may be without a value.
  public var isOptional = true
  /// Whether large binary values may be kept outside the row. Part of the version hash.
  public var allowsExternalBinaryDataStorage = false
  /// Whether persistent history keeps the value of a deleted object. Part of the version hash.
  public var preservesValueInHistoryOnDeletion = false
  /// The name by which the attribute is found in older stores; equal to `name` when never renamed.
  public var renamingIdentifier: String
  /// A text that enters the version hash; nil for none.
  public var versionHashModifier: String?
  /// How the store computes the value, nil for ordinary attributes.
  public var derivation: Derivation?
  /// The elements of a composite attribute, in the model's order.
  public var elements: [AttributeDefinition] = []

  /// An optional attribute.
  public init(name: String, type: AttributeType) {
    self.name = name
    self.type = type
    renamingIdentifier = name
  }
}

/// A persistent relationship as a model states it.
public struct RelationshipDefinition: Sendable, Hashable {
  /// The relationship's name, unique within its entity.
  public var name: String
  /// The name of the destination entity.
  public var destination: String
  /// The name of the inverse on the destination, nil for a one-way relationship.
  public var inverse: String?
  /// Whether a stored object may be without destinations.
  public var isOptional = true
  /// Whether the destinations of a to-many relationship have an order.
  public var isOrdered = false
  /// The fewest destinations. Stores do not check it.
  public var minCount = 0
  /// 1 exactly for to-one; 0 or negative for an unbounded to-many.
  public var maxCount = 0
  /// What becomes of the destinations when an object of this side is deleted. No part of the version hash.
  public var deleteRule = DeleteRule.noAction
  /// The name by which the relationship is found in older stores; equal to `name` when never renamed.
  public var renamingIdentifier: String
  /// A text that enters the version hash; nil for none.
  public var versionHashModifier: String?

  /// An optional, unordered to-many relationship without an inverse.
  public init(name: String, destination: String) {
    self.name = name
    self.destination = destination
    renamingIdentifier = name
  }

  /// Whether there may be several destinations: true unless ``maxCount`` is 1.
  public var isToMany: Bool { maxCount != 1 }
}

/// What becomes of a relationship's destinations when its object is deleted
/// ([NSDeleteRule](https://developer.apple.com/documentation/coredata/nsdeleterule)).
///
/// The layers above follow the rule. A store only makes sure at commit that nobody else has undone that meanwhile: see
/// ``Entity/guardedMembers`` and ``Entity/guardedLinks``.
public enum DeleteRule: Sendable, Hashable {
  /// What the rule does with the destinations: nothing; empties their inverse; deletes them too; refuses the deletion
  /// while there are any.
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
  /// The name of the index, unique within its entity.
  public var name: String
  /// The indexed properties, the most significant first.
  public var elements: [Element]
  /// The partial-index predicate in the predicate format language.
  public var partialPredicate: String?

  /// An index on properties; on all objects without a predicate.
  public init(name: String, elements: [Element], partialPredicate: String? = nil) {
    self.name = name
    self.elements = elements
    self.partialPredicate = partialPredicate
  }

  /// One property of an index.
  public struct Element: Sendable, Hashable {
    /// A property name, or `self` and `entity` for the object's key and entity number.
    public var property: String
    /// Whether the index is in ascending order of the property.
    public var isAscending: Bool
    /// Whether the property is in an R-tree, for ranges, in place of an ordered index.
    public var isRTree: Bool

    /// An element on a property.
    public init(property: String, isAscending: Bool = true, isRTree: Bool = false) {
      self.property = property
      self.isAscending = isAscending
      self.isRTree = isRTree
    }
  }
}
