import PropertyLists

/// The content of a model file as a plain value, with names instead of references.
///
/// A source model and its compiled model give equal records, as far as the compiled form keeps all of the source.
public struct ModelRecord: Hashable, Sendable {
  /// The model's version identifiers in ascending byte order. A source without one gives the empty string, as
  /// Apple's compiler does.
  public var versionIdentifiers: [String]
  /// All entities, in ascending byte order of their names.
  public var entities: [EntityRecord]
  /// Fetch request templates in ascending byte order of their names. Every template has a name.
  public var fetchRequestTemplates: [FetchRequestRecord]
  /// The names of the entities in each configuration, in ascending byte order. The default configuration, which
  /// contains all entities, is listed only if the file lists it.
  public var configurations: [String: [String]]

  /// A model of the given parts. The caller must pass them sorted.
  public init(
    versionIdentifiers: [String] = [], entities: [EntityRecord] = [],
    fetchRequestTemplates: [FetchRequestRecord] = [], configurations: [String: [String]] = [:]
  ) {
    self.versionIdentifiers = versionIdentifiers
    self.entities = entities
    self.fetchRequestTemplates = fetchRequestTemplates
    self.configurations = configurations
  }

  /// The number of composite attributes that can be nested. Readers refuse deeper models, and writers do not write
  /// them.
  static let compositeLimit = 16

  /// Throws `malformed` if an entity inherits from a missing entity, from itself, or from more than 256 superentities.
  /// Each entity has the properties of all its superentities, and real models have a handful of levels.
  func requireInheritance() throws(ModelFileError) {
    let limit = 256
    let parents = Dictionary(entities.map { ($0.name, $0.superentity) }) { first, _ in first }
    var depths: [String: Int] = [:]
    for entity in entities {
      var path: [String] = []
      var next: String? = entity.name
      while let name = next, depths[name] == nil, path.count <= limit {
        guard let parent = parents[name] else {
          throw ModelFileError(
            .malformed, "the model has no entity \(name), which \(path.last ?? name) inherits from",
            element: path.last)
        }
        path.append(name)
        next = parent
      }
      if let next, path.contains(next) {
        throw ModelFileError(.malformed, "the entity \(next) inherits from itself", element: next)
      }
      var depth = next.flatMap { depths[$0] } ?? 0
      for name in path.reversed() {
        depth += 1
        depths[name] = depth
      }
      if depth > limit {
        throw ModelFileError(
          .malformed, "the entity \(entity.name) inherits from more than \(limit) entities", element: entity.name)
      }
    }
  }

  /// The entity with this name. Takes time linear in the number of entities.
  public func entity(named name: String) -> EntityRecord? {
    entities.first { $0.name == name }
  }
}

/// One entity of a model.
public struct EntityRecord: Hashable, Sendable {
  /// The name, unique in the model.
  public var name: String
  /// The class of its objects; nil for NSManagedObject. A leading "." stands for the module that compiles the model.
  public var className: String?
  /// Whether the entity is abstract: objects exist only of its subentities.
  public var isAbstract: Bool
  /// The name of the entity that it inherits from.
  public var superentity: String?
  /// The name by which a migration recognises the entity in an older model; `name` unless the model sets another.
  public var renamingIdentifier: String
  /// A text that changes the version hash when nothing else does.
  public var versionHashModifier: String?
  /// Notes of the model's author. The library does not interpret them.
  public var userInfo: [String: PropertyList]
  /// Uniqueness constraints in the order of the model: one array of attribute names per constraint.
  public var uniquenessConstraints: [[String]]
  /// The indexes, including those of properties that are flagged as indexed.
  public var fetchIndexes: [FetchIndexRecord]
  /// The compound indexes of old models (Xcode 8 and earlier), as property names. Newer models repeat here the fetch
  /// indexes that have several properties.
  public var compoundIndexes: [[String]]
  /// The properties that the entity declares itself, in ascending byte order of their names. Inherited properties are
  /// not listed.
  public var properties: [PropertyRecord]

  /// An entity. Its name is the default renaming identifier.
  public init(
    name: String, className: String? = nil, isAbstract: Bool = false, superentity: String? = nil,
    renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: PropertyList] = [:],
    uniquenessConstraints: [[String]] = [], fetchIndexes: [FetchIndexRecord] = [], compoundIndexes: [[String]] = [],
    properties: [PropertyRecord] = []
  ) {
    self.name = name
    self.className = className
    self.isAbstract = isAbstract
    self.superentity = superentity
    self.renamingIdentifier = renamingIdentifier ?? name
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
    self.uniquenessConstraints = uniquenessConstraints
    self.fetchIndexes = fetchIndexes
    self.compoundIndexes = compoundIndexes
    self.properties = properties
  }

  /// Adds a fetch index for each compound index, unless a fetch index has the same properties.
  public mutating func addCompoundIndexesAsFetchIndexes() {
    let listed = Set(fetchIndexes.map { $0.elements.compactMap(\.propertyName) })
    for names in compoundIndexes where !listed.contains(names) {
      let elements = names.map { FetchIndexElementRecord(propertyName: $0) }
      fetchIndexes.append(FetchIndexRecord(name: names.joined(separator: "_"), elements: elements))
    }
  }

}

extension String {
  /// The order of models and version hashes: by UTF-8 bytes, not by Unicode collation.
  func precedesInBytes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
