import Foundation
import StoreSchema

/// An entity of a managed object model.
///
/// Mutable until its model is first used by a coordinator; changing it later stops the program.
open class NSEntityDescription: NSObject, NSCopying, NSSecureCoding {
  /// The model this entity belongs to. Stops the program where the entity belongs to none.
  open var managedObjectModel: NSManagedObjectModel {
    guard let model = managedObjectModelIfAny else {
      misuse("The entity \(name ?? "?") belongs to no model yet; add it to NSManagedObjectModel.entities first.")
    }
    return model
  }
  weak var managedObjectModelIfAny: NSManagedObjectModel?
  /// The data about the entity in a frozen model.
  final var frozen: EntityInfo? { didSet { frozenReference = frozen.map(Unmanaged.passUnretained) } }
  /// The same without reference counting: an entity of a used model is never freed.
  private(set) final var frozenReference: Unmanaged<EntityInfo>?

  /// The entity's name, unique within its model. A nil name is an error when the model is first used.
  open var name: String? { willSet { requireEditable() } }
  private var className: String?
  /// The name of the class of this entity's objects, `NSManagedObject` unless set.
  // Implicitly unwrapped, because that is the type that existing code expects.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open var managedObjectClassName: String! {
    get { className ?? "NSManagedObject" }
    set {
      requireEditable()
      className = newValue
    }
  }
  /// Whether the entity has no objects of its own. Inserting one stops the program; a fetch returns objects of its
  /// sub-entities.
  open var isAbstract = false { willSet { requireEditable() } }
  /// Entries that the client keeps with the entity; empty unless set. They are not part of the version hash.
  open var userInfo: [AnyHashable: Any]? = [:]
  /// A text that enters the version hash, so that two versions of an equal entity differ; nil for none.
  open var versionHashModifier: String? { willSet { requireEditable() } }
  /// Kept for model files. It has no effect, because there is no Spotlight here.
  open var coreSpotlightDisplayNameExpression: NSExpression? { willSet { requireEditable() } }

  private var renaming: String?
  /// The name by which a migration finds the entity in an older version of the model; its own name unless set.
  open var renamingIdentifier: String? {
    get { renaming ?? name }
    set {
      requireEditable()
      renaming = newValue
    }
  }

  // MARK: Hierarchy

  private var parent: BackReference<NSEntityDescription>?
  /// The entity from which this one inherits; nil for a root entity. Setting that entity's ``subentities`` sets it.
  open var superentity: NSEntityDescription? { parentEntity }
  /// The value of ``superentity``, even where a subclass overrides that.
  final var parentEntity: NSEntityDescription? {
    get { parent?.target }
    set { parent = newValue?.reference }
  }
  /// The reference by which others refer to this entity without owning it.
  let reference = BackReference<NSEntityDescription>()

  /// The entities that inherit directly from this one. An entity that is a sub-entity of another one is removed from
  /// that one.
  ///
  /// An entity that would become its own sub-entity stops the program.
  open var subentities: [NSEntityDescription] = [] {
    willSet { requireEditable() }
    didSet {
      for entity in oldValue where entity.parentEntity === self { entity.parentEntity = nil }
      for entity in subentities {
        if isKindOf(entity: entity) { misuse("\(entity.name ?? "?") cannot be a sub-entity of itself.") }
        // An entity has one parent, so it is removed from the former one.
        if let parent = entity.parentEntity, parent !== self { parent.subentities.removeAll { $0 === entity } }
        entity.parentEntity = self
      }
      propertiesDidChange()
    }
  }

  /// The direct sub-entities by name.
  open var subentitiesByName: [String: NSEntityDescription] {
    Dictionary(subentities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether this entity is `entity` or one of its descendants.
  open func isKindOf(entity: NSEntityDescription) -> Bool {
    var current: NSEntityDescription? = self
    while let candidate = current {
      if candidate === entity || (candidate.name == entity.name && candidate.name != nil) { return true }
      current = candidate.parentEntity
    }
    return false
  }

  // MARK: Properties

  private var own: [NSPropertyDescription] = []
  /// Own and inherited properties. Setting it sets the own properties; inherited ones in the list are ignored.
  open var properties: [NSPropertyDescription] {
    get { inherited + own }
    set {
      requireEditable()
      for property in own { property.entityIfAny = nil }
      let names = Set(inherited.map(\.name))
      let foreign = Set(inherited.map(ObjectIdentifier.init))
      own = newValue.filter { property in
        !foreign.contains(ObjectIdentifier(property))
          && !(names.contains(property.name) && property.entityIfAny !== self && property.entityIfAny != nil)
      }
      for property in own { property.entityIfAny = self }
      propertiesDidChange()
    }
  }

  /// The entity's own properties, in the order in which they were set.
  var ownProperties: [NSPropertyDescription] { own }

  private var inherited: [NSPropertyDescription] {
    guard let parentEntity else { return [] }
    let names = Set(own.map(\.name))
    return parentEntity.properties.filter { !names.contains($0.name) }
  }

  private var byName: [String: NSPropertyDescription]?

  /// Own and inherited properties by name.
  open var propertiesByName: [String: NSPropertyDescription] {
    if let byName { return byName }
    let made = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    // The dictionary is cached only in a frozen model: before, a parent may change unnoticed.
    if managedObjectModelIfAny?.isFrozen == true { byName = made }
    return made
  }

  /// Own and inherited attributes by name.
  open var attributesByName: [String: NSAttributeDescription] {
    propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
  }

  /// Own and inherited relationships by name.
  open var relationshipsByName: [String: NSRelationshipDescription] {
    propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
  }

  /// The relationships whose declared destination is exactly `entity`.
  open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
    properties.compactMap { $0 as? NSRelationshipDescription }
      .filter { $0.destinationEntity === entity || $0.destinationEntity?.name == entity.name }
  }

  func propertiesDidChange() { byName = nil }

  // MARK: Constraints and indexes

  /// Each inner array lists properties, by name or description, whose values must be unique together. Every store
  /// enforces them.
  open var uniquenessConstraints: [[Any]] = [] { willSet { requireEditable() } }

  /// The fetch indexes of the entity. They are not part of the version hash.
  open var indexes: [NSFetchIndexDescription] = [] {
    willSet { requireEditable() }
    didSet { for index in indexes { index.indexedEntity = self } }
  }

  /// Lists of property names, each of which stands for a fetch index on these properties.
  @available(*, deprecated, message: "Use NSEntityDescription.indexes instead")
  open var compoundIndexes: [[Any]] {
    get { compound }
    set {
      requireEditable()
      compound = newValue
    }
  }
  var compound: [[Any]] = []

  // MARK: Versions

  /// The 32-byte digest by which a store checks whether it matches this entity.
  open var versionHash: Data {
    let definitions = managedObjectModelIfAny?.definitions() ?? [definition()]
    return VersionHash.hashes(of: definitions)[name ?? ""].map { Data($0) } ?? Data()
  }

  // MARK: Finding and making

  /// An entity without a name, properties or model.
  public override init() {
    super.init()
    reference.target = self
  }

  deinit { reference.target = nil }

  /// The entity with a name in the context's model; nil for an unknown name.
  open class func entity(forEntityName entityName: String, in context: NSManagedObjectContext) -> NSEntityDescription? {
    context.model?.entitiesByName[entityName]
  }

  /// Inserts a new object of the entity. An unknown name stops the program.
  @discardableResult
  open class func insertNewObject(
    forEntityName entityName: String, into context: NSManagedObjectContext
  ) -> NSManagedObject {
    guard let entity = entity(forEntityName: entityName, in: context) else {
      misuse(
        "The model has no entity named '\(entityName)'. It has: \(context.model?.entitiesByName.keys.sorted().joined(separator: ", ") ?? "no entities, because the context has no coordinator")."
      )
    }
    return context.core.insertNewObject(entity)
  }

  /// A copy of the entity with its own properties, outside of any model and hierarchy. It can be changed.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSEntityDescription()
    copy.take(from: self)
    return copy
  }

  private func take(from other: NSEntityDescription) {
    name = other.name
    className = other.className
    isAbstract = other.isAbstract
    userInfo = other.userInfo
    versionHashModifier = other.versionHashModifier
    renaming = other.renaming
    uniquenessConstraints = other.uniquenessConstraints.map { $0.map { ($0 as? NSPropertyDescription)?.name ?? $0 } }
    compound = other.compound
    own = other.own.compactMap { $0.copy() as? NSPropertyDescription }
    for property in own { property.entityIfAny = self }
    indexes = other.indexes.compactMap { $0.copy() as? NSFetchIndexDescription }
    coreSpotlightDisplayNameExpression = other.coreSpotlightDisplayNameExpression
  }

  open class var supportsSecureCoding: Bool { true }

  /// Encodes the contents of a copy. A relationship keeps the name of its destination, and is connected again in the
  /// model that the entity is added to.
  open func encode(with coder: NSCoder) { DescriptionCoding.encode(self, with: coder) }

  /// The encoded entity, in no model. Nil where it cannot be read.
  public required convenience init?(coder: NSCoder) {
    guard let entity = DescriptionCoding.entity(coder) else { return nil }
    self.init()
    take(from: entity)
  }

  /// Whether `object` is an entity with equal contents, its own properties included. Related entities are compared by
  /// name.
  open override func isEqual(_ object: Any?) -> Bool { DescriptionEquality.areEqual(self, object) }
  open override var hash: Int { name.hashValue }

  func requireEditable() {
    guard managedObjectModelIfAny?.isFrozen == true else { return }
    misuse("Can't modify an immutable model: change the entity \(name ?? "?") before a coordinator uses its model.")
  }

  /// The entity in the form that stores use: persistent properties only.
  func definition() -> EntityDefinition {
    var result = EntityDefinition(name: name ?? "")
    result.isAbstract = isAbstract
    result.superentity = parentEntity?.name
    for property in own where !property.isTransient {
      if let attribute = property as? NSAttributeDescription { result.attributes.append(attribute.definition()) }
      if let relationship = property as? NSRelationshipDescription {
        result.relationships.append(relationship.definition())
      }
    }
    result.uniquenessConstraints = uniquenessConstraints.filter { !$0.isEmpty }.map { $0.compactMap(Self.propertyName) }
    result.fetchIndexes = indexDefinitions()
    result.renamingIdentifier = renamingIdentifier ?? name ?? ""
    result.versionHashModifier = versionHashModifier
    return result
  }

  /// The fetch indexes, including those that older flags on properties and compound indexes define.
  private func indexDefinitions() -> [FetchIndexDefinition] {
    var result = indexes.map { $0.definition() }
    for property in own where property.indexedFlag && !property.isTransient && property is NSAttributeDescription {
      // Model compilers write the flag in addition to an index of that name.
      if result.contains(where: { $0.name == property.name }) { continue }
      result.append(FetchIndexDefinition(name: property.name, elements: [.init(property: property.name)]))
    }
    for names in compound.map({ $0.compactMap(Self.propertyName) }) {
      let elements = names.map { FetchIndexDefinition.Element(property: $0) }
      result.append(FetchIndexDefinition(name: names.joined(separator: "_"), elements: elements))
    }
    return result
  }

  private static func propertyName(_ item: Any) -> String? {
    (item as? String) ?? (item as? NSPropertyDescription)?.name
  }

  open override var description: String { "<\(Self.self) \(name ?? "?")>" }
}
