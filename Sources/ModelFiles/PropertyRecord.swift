import PropertyLists
import StoreQuery
import StoreSchema

/// One property of an entity, or one element of a composite attribute.
public struct PropertyRecord: Hashable, Sendable {
  /// The parts that differ between the kinds of properties.
  public enum Kind: Hashable, Sendable {
    /// A value of the object itself.
    case attribute(AttributeRecord)
    /// A reference to other objects.
    case relationship(RelationshipRecord)
    /// The result of a fetch request.
    case fetchedProperty(FetchRequestRecord)
  }

  /// The name, unique in the entity and its superentities.
  public var name: String
  /// The kind of the property.
  public var kind: Kind
  /// Whether an object can be saved without a value.
  public var isOptional: Bool
  /// Whether the property is transient: stores do not keep it.
  public var isTransient: Bool
  /// Whether there is an index on this property alone. Such an index is also among the entity's fetch indexes.
  public var isIndexed: Bool
  /// Whether the property is computed: derived attributes and fetched properties.
  public var isReadOnly: Bool
  /// The name by which a migration recognises the property in an older model; `name` unless the model sets another.
  public var renamingIdentifier: String
  /// A text that changes the version hash when nothing else does.
  public var versionHashModifier: String?
  /// Notes of the model's author. The library does not interpret them.
  public var userInfo: [String: PropertyList]
  /// Conditions that a value must meet to be saved, in the order in which they are checked.
  public var validations: [ValidationRecord]
  /// Whether Spotlight indexes the property. It is not known where Apple's compiled models keep this.
  public var isIndexedBySpotlight: Bool
  /// It is not known where Apple's compiled models keep this.
  public var isStoredInExternalRecord: Bool

  /// A property. Its name is the default renaming identifier.
  public init(
    name: String, kind: Kind, isOptional: Bool = false, isTransient: Bool = false, isIndexed: Bool = false,
    isReadOnly: Bool = false, renamingIdentifier: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: PropertyList] = [:], validations: [ValidationRecord] = [], isIndexedBySpotlight: Bool = false,
    isStoredInExternalRecord: Bool = false
  ) {
    self.name = name
    self.kind = kind
    self.isOptional = isOptional
    self.isTransient = isTransient
    self.isIndexed = isIndexed
    self.isReadOnly = isReadOnly
    self.renamingIdentifier = renamingIdentifier ?? name
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
    self.validations = validations
    self.isIndexedBySpotlight = isIndexedBySpotlight
    self.isStoredInExternalRecord = isStoredInExternalRecord
  }
}

/// One condition on a property's value.
public struct ValidationRecord: Hashable, Sendable {
  /// The report of a condition that does not hold.
  public enum Warning: Hashable, Sendable {
    /// A text of the application.
    case text(String)
    /// An error number of Core Data, such as 1670 for a string that is too short.
    case code(Int64)
  }

  /// The condition. It is evaluated with the property's value as `SELF`.
  public var predicate: Predicate
  /// The report of a failure; nil for the framework's own message.
  public var warning: Warning?

  /// A condition with the report of its failure.
  public init(_ predicate: Predicate, warning: Warning? = nil) {
    self.predicate = predicate
    self.warning = warning
  }
}

/// The part of an attribute that other properties do not have.
public struct AttributeRecord: Hashable, Sendable {
  /// The raw value of the attribute type, for example 700 for a string; see ``AttributeTypeName``.
  public var type: Int
  /// The class of the values: the class that the model names, otherwise that of the type.
  public var valueClassName: String?
  /// The value of new objects. For a transformable attribute it is `data`: a keyed archive of the default object.
  public var defaultValue: Value
  /// The registered name of the transformer of a transformable attribute; nil for the default one.
  public var valueTransformerName: String?
  /// Whether a store may keep large data in files of their own.
  public var allowsExternalBinaryDataStorage: Bool
  /// Whether the value stays in the history after the object is deleted.
  public var preservesValueInHistoryOnDeletion: Bool
  /// It is not known where Apple's compiled models keep this.
  public var allowsCloudEncryption: Bool
  /// The expression that a derived attribute's value comes from. `x.@count` is written `count:(x)`.
  public var derivation: Expression?
  /// The elements of a composite attribute, all of them attributes, in the order of the model; nil for all other types.
  public var elements: [PropertyRecord]?

  /// An attribute without default, transformer or flags unless given.
  public init(
    type: Int, valueClassName: String? = nil, defaultValue: Value = .null, valueTransformerName: String? = nil,
    allowsExternalBinaryDataStorage: Bool = false, preservesValueInHistoryOnDeletion: Bool = false,
    allowsCloudEncryption: Bool = false, derivation: Expression? = nil, elements: [PropertyRecord]? = nil
  ) {
    self.type = type
    self.valueClassName = valueClassName
    self.defaultValue = defaultValue
    self.valueTransformerName = valueTransformerName
    self.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
    self.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
    self.allowsCloudEncryption = allowsCloudEncryption
    self.derivation = derivation
    self.elements = elements
  }
}

/// The part of a relationship that other properties do not have.
public struct RelationshipRecord: Hashable, Sendable {
  /// The entity of the objects referred to.
  public var destinationEntity: String
  /// The name of the inverse relationship, which the destination entity has.
  public var inverseName: String?
  /// The least number of objects.
  public var minCount: Int
  /// The greatest number of objects: 1 for a to-one relationship only, 0 or -1 for a to-many relationship without
  /// limit.
  public var maxCount: Int
  /// 0 no action, 1 nullify, 2 cascade, 3 deny.
  public var deleteRule: Int
  /// Whether the objects are ordered. Has no meaning for a to-one relationship.
  public var isOrdered: Bool

  /// A relationship that nullifies, to one object unless stated otherwise.
  public init(
    destinationEntity: String, inverseName: String? = nil, minCount: Int = 0, maxCount: Int = 1, deleteRule: Int = 1,
    isOrdered: Bool = false
  ) {
    self.destinationEntity = destinationEntity
    self.inverseName = inverseName
    self.minCount = minCount
    self.maxCount = maxCount
    self.deleteRule = deleteRule
    self.isOrdered = isOrdered
  }
}
