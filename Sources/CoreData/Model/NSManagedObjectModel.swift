import Foundation
import StoreSchema
import Synchronization

/// The entities of an application, with their attributes and relationships.
///
/// A model can be changed until a coordinator or context first uses it. From then on it is immutable, any thread may
/// use it, and changing it stops the program. A copy can be changed again.
open class NSManagedObjectModel: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  private var list: [NSEntityDescription] = []
  /// The entities of each configuration; see ``members(ofConfiguration:)``.
  final var members: [String: [NSEntityDescription]] = [:]
  private var templates: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
  private let freezing = NSRecursiveLock()
  private var freezeResult: Result<FrozenModel, SchemaError>?

  /// A model without entities.
  public override init() { super.init() }

  /// Whether the model was inferred from a store's tables; see
  /// ``NSPersistentStoreCoordinator/inferredModel(forPersistentStoreAt:ofType:options:)``.
  public internal(set) var isInferred = false

  // MARK: Entities

  /// All entities, sub-entities included. Setting it adds the sub-entities of the given entities too.
  ///
  /// Missing names, and names that are equal or differ only by case, are an error when the model is first used.
  open var entities: [NSEntityDescription] {
    get { list }
    set {
      requireEditable()
      let all = Self.withSubentities(newValue)
      for entity in all where entity.frozen != nil {
        misuse("The entity \(entity.name ?? "?") belongs to a model that is in use; add a copy of it to another model.")
      }
      for entity in list where entity.managedObjectModelIfAny === self { entity.managedObjectModelIfAny = nil }
      list = all
      for entity in list { entity.managedObjectModelIfAny = self }
      link()
    }
  }

  private static func withSubentities(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
    var result: [NSEntityDescription] = []
    var known: Set<ObjectIdentifier> = []
    // The given entities keep their order; sub-entities that were not given come after all of them.
    for entity in entities where known.insert(ObjectIdentifier(entity)).inserted { result.append(entity) }
    var index = 0
    while index < result.count {
      for entity in result[index].subentities where known.insert(ObjectIdentifier(entity)).inserted {
        result.append(entity)
      }
      index += 1
    }
    return result
  }

  private var byName: [String: NSEntityDescription]?

  /// All entities by name, sub-entities included.
  open var entitiesByName: [String: NSEntityDescription] {
    if let byName { return byName }
    return Dictionary(list.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Connects relationships whose destination or inverse is only known by name.
  func link() {
    let byName = entitiesByName
    for entity in list {
      for property in entity.ownProperties {
        guard let relationship = property as? NSRelationshipDescription else { continue }
        let known = relationship.destination?.name ?? relationship.destinationName
        if let known, let destination = byName[known] {
          if relationship.destination !== destination { relationship.destination = destination }
          let inverse = relationship.inverse?.name ?? relationship.inverseName
          if let inverse, let found = destination.propertiesByName[inverse] as? NSRelationshipDescription {
            relationship.inverse = found
          }
        }
      }
    }
  }

  // MARK: Configurations

  /// The names of the configurations that were set, in ascending order. The default configuration is not among them.
  open var configurations: [String] { members.keys.sorted() }

  static let defaultConfiguration = "PF_DEFAULT_CONFIGURATION_NAME"

  /// The entities of a configuration; all for nil and for the default configuration, nil for an unknown name.
  open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
    members(ofConfiguration: configuration)
  }

  /// Sets the entities of a configuration. Each must belong to the model. Sub-entities are in the configuration only
  /// where they are given too.
  open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
    requireEditable()
    for entity in entities where entity.managedObjectModelIfAny !== self {
      misuse("The entity \(entity.name ?? "?") of the configuration \(configuration) does not belong to this model.")
    }
    members[configuration] = entities
  }

  // MARK: Fetch request templates

  /// The fetch request templates by name. Templates of a model in use cannot be changed; copies of them can.
  open var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] { templates }

  /// The template with a name; nil where there is none. It cannot be changed once the model is in use; a copy of it
  /// can.
  open func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? { templates[name] }

  /// A copy of the template with the `$variables` of its predicate replaced by values; `NSNull` stands for nil. Nil for
  /// an unknown name.
  ///
  /// A variable without a value stops the program: there must be one for each
  /// ([Apple's
  /// documentation](https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel/fetchrequestfromtemplate(withname:substitutionvariables:))).
  open func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    guard let request = templates[name]?.copy() as? NSFetchRequest<any NSFetchRequestResult> else { return nil }
    guard let predicate = request.predicate, let tree = PredicateTree.of(predicate) else { return request }
    if let missing = PredicateWalk.variables(of: tree).subtracting(variables.keys).min() {
      misuse("The fetch request template '\(name)' has the variable $\(missing); give it a value, NSNull for nil.")
    }
    request.predicate = predicate.withSubstitutionVariables(variables)
    return request
  }

  /// Keeps a fetch request under a name; nil removes it. Stops the program once the model is in use.
  open func setFetchRequestTemplate(
    _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
  ) {
    requireEditable()
    templates[name] = fetchRequestTemplate
  }

  // MARK: Versions

  /// Identifiers that the client gives to a version of the model. Stores record those that are strings, but do not
  /// compare them.
  open var versionIdentifiers: Set<AnyHashable> = [] { willSet { requireEditable() } }

  /// The version hash of each entity by its name: 32 bytes.
  open var entityVersionHashesByName: [String: Data] {
    VersionHash.hashes(of: definitions()).mapValues { Data($0) }
  }

  /// Identifies the whole model: base64 of a digest over all version hashes.
  open var versionChecksum: String { VersionHash.checksum(of: VersionHash.hashes(of: definitions())) }

  /// Whether a store with this metadata was made with exactly the entities of the configuration and their
  /// superentities, which are in the same tables. The hash of an entity with derived or composite attributes cannot be
  /// computed: such an entity is compared by name.
  open func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data],
      let names = storedNames(ofConfiguration: configuration)
    else { return false }
    let definitions = definitions()
    let own = VersionHash.hashes(of: definitions)
    let inexact = VersionHash.inexactEntities(in: definitions)
    return names.count == hashes.count
      && names.allSatisfy { name in
        guard let stored = hashes[name] else { return false }
        return Array(stored) == own[name] || inexact.contains(name)
      }
  }

  /// Texts for users, by keys of the forms `Entity/<name>`, `Property/<property>/Entity/<entity>`,
  /// `Property/<property>` and `ErrorString/<text>`. Validation errors use them.
  ///
  /// The texts of a model file `Name.momd` are in `NameModel.strings` beside it, or in a folder `<language>.lproj`
  /// there. They are read when they are first used.
  open var localizationDictionary: [String: String]? {
    get { freezing.withLock { texts.dictionary() } }
    set {
      requireEditable()
      freezing.withLock { texts = ModelTexts(given: newValue) }
    }
  }
  /// Guarded by `freezing`, because a model in use also caches texts that it reads.
  private var texts = ModelTexts()

  /// Adds the texts beside a model's file. Existing texts stay.
  func addTexts(ofModelAt url: URL) { freezing.withLock { texts.merge(ModelTexts(modelAt: url)) } }

  func addTexts(of model: NSManagedObjectModel) {
    let added = model.freezing.withLock { model.texts }
    freezing.withLock { texts.merge(added) }
  }

  // MARK: Copying

  /// A copy that can be changed, with copies of all entities and templates.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSManagedObjectModel()
    var copies: [ObjectIdentifier: NSEntityDescription] = [:]
    for entity in list { copies[ObjectIdentifier(entity)] = entity.copy() as? NSEntityDescription }
    for entity in list {
      copies[ObjectIdentifier(entity)]?.subentities = entity.subentities.compactMap { copies[ObjectIdentifier($0)] }
    }
    copy.entities = list.compactMap { copies[ObjectIdentifier($0)] }
    for entity in copy.list { copy.relink(entity) }
    copy.members = members.mapValues { $0.compactMap { copies[ObjectIdentifier($0)] } }
    copy.templates = templates.compactMapValues { $0.copy() as? NSFetchRequest<any NSFetchRequestResult> }
    for request in copy.templates.values { copy.relink(request) }
    copy.versionIdentifiers = versionIdentifiers
    copy.addTexts(of: self)
    return copy
  }

  // MARK: Coding

  open class var supportsSecureCoding: Bool { true }

  /// Encodes the model as the archive of a `.mom` file, with its texts in addition.
  open func encode(with coder: NSCoder) { DescriptionCoding.encode(self, with: coder) }

  /// The encoded model, which can be changed. Nil where it cannot be read.
  public required convenience init?(coder: NSCoder) {
    guard let record = DescriptionCoding.record(coder) else { return nil }
    self.init(record)
    localizationDictionary = DescriptionCoding.texts(coder)
  }

  /// Connects the index elements and fetched properties of a copied entity with this model.
  func relink(_ entity: NSEntityDescription) {
    for property in entity.ownProperties {
      if let request = (property as? NSFetchedPropertyDescription)?.fetchRequest { relink(request) }
    }
    let byName = entity.propertiesByName
    entity.indexes = entity.indexes.map { index in
      let elements = index.elements.map { element in
        let copy = element.indexedProperty?.copy() as? NSPropertyDescription
        let made = NSFetchIndexElementDescription(
          property: element.indexedProperty.flatMap { byName[$0.name] } ?? copy ?? NSPropertyDescription(),
          collationType: element.collationType)
        made.isAscending = element.isAscending
        return made
      }
      let made = NSFetchIndexDescription(name: index.name, elements: elements)
      made.partialIndexPredicate = index.partialIndexPredicate
      return made
    }
  }

  private func relink(_ request: NSFetchRequest<any NSFetchRequestResult>) {
    guard let name = request.entity?.name, let entity = entitiesByName[name] else { return }
    request.entity = entity
  }

  /// Merges all models of the bundles; nil stands for the main bundle. Two different entities with one name stop the
  /// program. Nil where there is no model.
  open class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? { merged(from: bundles) }

  /// Merges the entity versions that a store with this metadata was made with, from the models of the bundles. Nil
  /// where one is missing.
  open class func mergedModel(
    from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
  ) -> NSManagedObjectModel? { merged(from: bundles, forStoreMetadata: metadata) }

  open override func isEqual(_ object: Any?) -> Bool { DescriptionEquality.areEqual(self, object) }
  open override var hash: Int { list.count }

  // MARK: Freezing

  final var isFrozen: Bool { freezeResult != nil }

  private func requireEditable() {
    if isFrozen { misuse("Can't modify an immutable model: change it before a coordinator uses it, or change a copy.") }
  }

  func definitions() -> [EntityDefinition] { list.map { $0.definition() } }

  /// Checks the whole model as for its first use. The model stays editable.
  package func checked() throws(SchemaError) -> Schema {
    try ModelCheck.check(self)
    let schema = try Schema(definitions())
    try ModelCheck.checkDefaults(self, schema)
    return schema
  }

  /// Makes the model immutable and computes its schema, once.
  ///
  /// Throws the error of an invalid model; the model is immutable nevertheless.
  func freeze() throws(SchemaError) -> FrozenModel {
    freezing.lock()
    defer { freezing.unlock() }
    if let freezeResult { return try freezeResult.get() }
    // Another model that they were added to meanwhile may have been freed.
    for entity in list where entity.managedObjectModelIfAny == nil { entity.managedObjectModelIfAny = self }
    link()
    let result: Result<FrozenModel, SchemaError>
    do { result = .success(FrozenModel(try checked(), self)) } catch { result = .failure(error) }
    freezeResult = result
    byName = entitiesByName
    for request in templates.values { request.makeImmutable() }
    for entity in list {
      for property in entity.ownProperties {
        (property as? NSFetchedPropertyDescription)?.fetchRequest?.makeImmutable()
      }
    }
    return try result.get()
  }
}
