import Foundation
import StoreSchema
import Synchronization

/// The entities of an application: what its objects are and how they hang together.
///
/// Mutable until a coordinator or context first uses it. From then on it is immutable and may be used from any thread,
/// which is why it is Sendable; changing it then stops the program. A copy can be changed again.
open class NSManagedObjectModel: NSObject, NSCopying, @unchecked Sendable {
  private var list: [NSEntityDescription] = []
  private var configurationNames: [String: [String]] = [:]
  private var templates: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
  private let freezing = NSRecursiveLock()
  private var freezeResult: Result<FrozenModel, SchemaError>?

  public override init() { super.init() }

  // MARK: Entities

  /// All entities, sub-entities included.
  open var entities: [NSEntityDescription] {
    get { list }
    set {
      requireEditable()
      for entity in newValue where entity.frozen != nil {
        misuse("The entity \(entity.name ?? "?") belongs to a model that is in use; add a copy of it to another model.")
      }
      for entity in list { entity.managedObjectModelIfAny = nil }
      list = newValue
      for entity in list { entity.managedObjectModelIfAny = self }
      link()
    }
  }

  private var byName: [String: NSEntityDescription]?

  open var entitiesByName: [String: NSEntityDescription] {
    if let byName { return byName }
    return Dictionary(list.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Connects relationships whose destination or inverse is known by name only.
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

  open var configurations: [String] { configurationNames.keys.sorted() }

  static let defaultConfiguration = "PF_DEFAULT_CONFIGURATION_NAME"

  /// The entities of a configuration; all for nil and for the default configuration, nil for an unknown name.
  open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
    guard let configuration, configuration != Self.defaultConfiguration else { return entities }
    let byName = entitiesByName
    return configurationNames[configuration]?.compactMap { byName[$0] }
  }

  /// Names a set of entities. Each must belong to the model.
  open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
    requireEditable()
    for entity in entities where entity.managedObjectModelIfAny !== self {
      misuse("The entity \(entity.name ?? "?") of the configuration \(configuration) does not belong to this model.")
    }
    configurationNames[configuration] = entities.compactMap(\.name)
  }

  // MARK: Fetch request templates

  open var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] { templates }

  open func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? { templates[name] }

  open func setFetchRequestTemplate(
    _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
  ) {
    requireEditable()
    templates[name] = fetchRequestTemplate
  }

  // MARK: Versions

  open var versionIdentifiers: Set<AnyHashable> = [] { willSet { requireEditable() } }

  /// The version hash of each entity.
  open var entityVersionHashesByName: [String: Data] {
    VersionHash.hashes(of: definitions()).mapValues { Data($0) }
  }

  /// Identifies the whole model: base64 of a digest over all version hashes.
  open var versionChecksum: String { VersionHash.checksum(of: VersionHash.hashes(of: definitions())) }

  /// Whether a store with this metadata was made with exactly the entities of the configuration.
  open func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data],
      let entities = entities(forConfigurationName: configuration)
    else { return false }
    let definitions = definitions()
    let own = VersionHash.hashes(of: definitions)
    let inexact = Set(definitions.filter { !VersionHash.isExact(for: $0, in: definitions) }.map(\.name))
    return entities.count == hashes.count
      && entities.allSatisfy { entity in
        guard let name = entity.name, let stored = hashes[name] else { return false }
        return Array(stored) == own[name] || inexact.contains(name)
      }
  }

  open var localizationDictionary: [String: String]?

  // MARK: Copying

  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSManagedObjectModel()
    var copies: [ObjectIdentifier: NSEntityDescription] = [:]
    for entity in list { copies[ObjectIdentifier(entity)] = entity.copy() as? NSEntityDescription }
    for entity in list {
      copies[ObjectIdentifier(entity)]?.subentities = entity.subentities.compactMap { copies[ObjectIdentifier($0)] }
    }
    copy.entities = list.compactMap { copies[ObjectIdentifier($0)] }
    for entity in copy.list { relink(entity, in: copy) }
    copy.configurationNames = configurationNames
    copy.templates = templates.compactMapValues { $0.copy() as? NSFetchRequest<any NSFetchRequestResult> }
    copy.versionIdentifiers = versionIdentifiers
    copy.localizationDictionary = localizationDictionary
    return copy
  }

  /// Makes the copied relationships and index elements of an entity point at its own model.
  private func relink(_ entity: NSEntityDescription, in model: NSManagedObjectModel) {
    let byName = entity.propertiesByName
    entity.indexes = entity.indexes.map { index in
      let elements = index.elements.map { element in
        let made = NSFetchIndexElementDescription(
          property: element.property.flatMap { byName[$0.name] } ?? element.property ?? NSPropertyDescription(),
          collationType: element.collationType)
        made.isAscending = element.isAscending
        return made
      }
      let made = NSFetchIndexDescription(name: index.name, elements: elements)
      made.partialIndexPredicate = index.partialIndexPredicate
      return made
    }
  }

  // MARK: Freezing

  final var isFrozen: Bool { freezeResult != nil }

  private func requireEditable() {
    if isFrozen { misuse("Can't modify an immutable model: change it before a coordinator uses it, or change a copy.") }
  }

  func definitions() -> [EntityDefinition] { list.map { $0.definition() } }

  /// Makes the model immutable and lays it out for stores, once.
  ///
  /// Throws what is wrong with the model; it is immutable all the same then.
  func freeze() throws(SchemaError) -> FrozenModel {
    freezing.lock()
    defer { freezing.unlock() }
    if let freezeResult { return try freezeResult.get() }
    link()
    let result: Result<FrozenModel, SchemaError>
    do {
      let schema = try Schema(definitions())
      result = .success(FrozenModel(schema, self))
    } catch { result = .failure(error) }
    freezeResult = result
    byName = entitiesByName
    return try result.get()
  }
}
