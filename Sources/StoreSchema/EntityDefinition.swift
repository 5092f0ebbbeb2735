import Foundation

/// An entity as a model declares it, before ``Schema`` gives it an index and slots.
///
/// It contains only what a store holds or compares. Transient attributes, fetched properties, classes, defaults and
/// validation belong to the layers above.
public struct EntityDefinition: Sendable, Hashable {
  /// The entity's name, unique within its model.
  public var name: String
  /// Whether the entity has no objects of its own.
  public var isAbstract = false
  /// The name of the parent entity, nil for a root entity.
  public var superentity: String?
  /// The entity's own attributes, without inherited ones.
  public var attributes: [AttributeDefinition] = []
  /// The entity's own relationships, without inherited ones.
  public var relationships: [RelationshipDefinition] = []
  /// Each inner array names the attributes or to-one relationships whose values must be unique together.
  public var uniquenessConstraints: [[String]] = []
  /// The entity's own fetch indexes. They are not part of the version hash.
  public var fetchIndexes: [FetchIndexDefinition] = []
  /// The name by which the entity is found in older stores; equal to `name` unless it was renamed.
  public var renamingIdentifier: String
  /// A text that enters the version hash; nil for none.
  public var versionHashModifier: String?

  /// A root entity without properties.
  public init(name: String) {
    self.name = name
    renamingIdentifier = name
  }
}

/// A persistent attribute as a model declares it.
public struct AttributeDefinition: Sendable, Hashable {
  /// The attribute's name, unique within its entity.
  public var name: String
  /// The type of the values.
  public var type: AttributeType
  /// Whether a stored object may have no value.
  public var isOptional = true
  /// Whether large binary values may be kept outside the row. Part of the version hash.
  public var allowsExternalBinaryDataStorage = false
  /// Whether persistent history keeps the value of a deleted object. Part of the version hash.
  public var preservesValueInHistoryOnDeletion = false
  /// The name by which the attribute is found in older stores; equal to `name` unless it was renamed.
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

/// A persistent relationship as a model declares it.
public struct RelationshipDefinition: Sendable, Hashable {
  /// The relationship's name, unique within its entity.
  public var name: String
  /// The name of the destination entity.
  public var destination: String
  /// The name of the inverse on the destination, nil for a one-way relationship.
  public var inverse: String?
  /// Whether a stored object may have no destinations.
  public var isOptional = true
  /// Whether the destinations of a to-many relationship have an order.
  public var isOrdered = false
  /// The fewest destinations. Stores do not check it.
  public var minCount = 0
  /// 1 for a to-one relationship; 0 or negative for a to-many relationship without a limit.
  public var maxCount = 0
  /// What happens to the destinations when an object of this side is deleted. Not part of the version hash.
  public var deleteRule = DeleteRule.noAction
  /// The name by which the relationship is found in older stores; equal to `name` unless it was renamed.
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

/// What happens to a relationship's destinations when its object is deleted
/// ([NSDeleteRule](https://developer.apple.com/documentation/coredata/nsdeleterule)).
///
/// The layers above apply the rule. A store only checks at commit that no other save has undone its effects: see
/// ``Entity/guardedMembers`` and ``Entity/guardedLinks``.
public enum DeleteRule: Sendable, Hashable {
  /// The effect on the destinations: none; removal from their inverse; deletion; rejection of the deletion while there
  /// are any.
  case noAction, nullify, cascade, deny
}

/// How the store computes a derived attribute at save
/// ([NSDerivedAttributeDescription](https://developer.apple.com/documentation/coredata/nsderivedattributedescription)).
public enum Derivation: Sendable, Hashable {
  /// A property of the same entity, or one reached over to-one relationships.
  case keyPath([String])
  /// `canonical:`, `uppercase:` or `lowercase:` of a key path.
  case function(String, [String])
  /// `rel.@count`.
  case count(relationship: String)
  /// `rel.attribute.@sum` and similar, by the name of the function without the colon: `sum`, `average`, `min`, `max`.
  case aggregate(String, relationship: String, attribute: String)
  /// `now()`: the time of the save.
  case now
  /// Any other derivation, as text. It is kept, but never computed here.
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

  /// An index on properties. Without a predicate it covers all objects.
  public init(name: String, elements: [Element], partialPredicate: String? = nil) {
    self.name = name
    self.elements = elements
    self.partialPredicate = partialPredicate
  }

  /// One property of an index.
  public struct Element: Sendable, Hashable {
    /// The name of a property; or `self` and `entity` for the object's key and entity number.
    public var property: String
    /// Whether the index is in ascending order of the property.
    public var isAscending: Bool
    /// Whether the property is in an R-tree, for ranges, instead of an ordered index.
    public var isRTree: Bool

    /// An element on a property.
    public init(property: String, isAscending: Bool = true, isRTree: Bool = false) {
      self.property = property
      self.isAscending = isAscending
      self.isRTree = isRTree
    }
  }
}
