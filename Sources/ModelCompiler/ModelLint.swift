import ModelFiles
import StoreQuery
import StoreSchema

/// Checks a source model for what cannot work, and for what its author probably did not intend.
public enum ModelLint {
  /// The findings about a model: errors and warnings in the order of the source. `path` is its `.xcdatamodel` folder.
  public static func check(_ source: ModelSource, path: String) -> [ModelDiagnostic] {
    var lint = Lint(source, path: path)
    for entity in source.entities {
      guard let record = lint.entities[entity.name] else { continue }
      lint.check(record)
      for property in entity.properties { lint.check(property, of: record) }
    }
    lint.checkComposites()
    lint.checkRequests()
    return lint.diagnostics
  }
}

/// One check of one model.
struct Lint {
  let source: ModelSource
  let path: String
  let entities: [String: EntityRecord]
  private let parents: Set<String>
  /// The properties that each entity declares, by name.
  private let declared: [String: [String: PropertyRecord]]
  private let cloudEntities: Set<String>
  private(set) var diagnostics: [ModelDiagnostic] = []

  init(_ source: ModelSource, path: String) {
    (self.source, self.path) = (source, path)
    entities = Dictionary(source.record.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    parents = Set(source.record.entities.compactMap(\.superentity))
    declared = entities.mapValues { entity in
      Dictionary(entity.properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
    let configurations = source.cloudKitConfigurations.flatMap { source.record.configurations[$0] ?? [] }
    cloudEntities = source.isUsedWithCloudKit ? Set(entities.keys) : Set(configurations)
  }

  mutating func add(_ rule: LintRule, _ element: String, _ message: String) {
    diagnostics.append(ModelDiagnostic(rule.severity, message, rule: rule, path: path, element: element))
  }

  /// The entity and those that it inherits from. The reader has checked that there is no cycle.
  func lineage(_ entity: String) -> [EntityRecord] {
    var result: [EntityRecord] = []
    var next = entities[entity]
    while let current = next {
      result.append(current)
      next = current.superentity.flatMap { entities[$0] }
    }
    return result
  }

  /// A property that an entity declares or inherits.
  func property(_ name: String, of entity: String) -> PropertyRecord? {
    lineage(entity).lazy.compactMap { self.declared[$0.name]?[name] }.first
  }

  // MARK: Entities

  mutating func check(_ entity: EntityRecord) {
    let name = entity.name
    checkNames(entity)
    if lineage(name).reduce(0, { $0 + $1.properties.count }) > 100 {
      add(
        .propertyCount, name, "\(name) has more than 100 properties; move those that are rarely used to another entity")
    }
    if entity.isAbstract, !parents.contains(name) {
      add(.abstractLeaf, name, "\(name) is abstract and has no subentities, so it can have no objects")
    }
    var indexes: Set<String> = []
    for index in entity.fetchIndexes {
      if !indexes.insert(index.name).inserted {
        add(.doubleIndex, name, "Entity \(name) already has an index with name \(index.name)")
      }
      for property in index.elements.compactMap(\.propertyName) where self.property(property, of: name) == nil {
        add(.indexProperty, name, "The index \(index.name) of \(name) is for \(property), which \(name) does not have")
      }
    }
    for property in entity.uniquenessConstraints.joined() where self.property(property, of: name) == nil {
      add(
        .constraintProperty, name, "A uniqueness constraint of \(name) is for \(property), which \(name) does not have")
    }
    if isForCloudKit(name), entity.uniquenessConstraints.contains(where: { !$0.isEmpty }) {
      add(.cloud, name, "\(name) has a uniqueness constraint, which CloudKit does not support; remove it")
    }
  }

  private mutating func checkNames(_ entity: EntityRecord) {
    if entity.name.first?.isLowercase == true {
      add(
        .entityCase, entity.name,
        "\(entity.name) begins with a lower-case letter; in Xcode the names of entities begin with an upper-case one")
    }
    var names: [String: String] = [:]
    for name in lineage(entity.name).dropFirst().flatMap({ $0.properties.map(\.name) }) {
      names[name.lowercased()] = name
    }
    for property in entity.properties {
      let element = "\(entity.name).\(property.name)"
      if ReservedNames.all.contains(property.name) {
        add(
          .reservedName, element,
          "\(element) has the name of something that every managed object has; rename the property")
      }
      if property.name.first?.isUppercase == true {
        add(
          .propertyCase, element,
          "\(element) begins with an upper-case letter; in Xcode the names of properties begin with a lower-case one")
      }
      checkRedefinition(of: property, in: entity, element)
      // A subentity may define an inherited property anew.
      let other = names.updateValue(property.name, forKey: property.name.lowercased())
      if let other, other != property.name {
        add(.doubleName, element, "\(element) differs from \(other) by case alone; rename one of them")
      }
    }
  }

  /// A subentity may define an inherited property anew, but values of one type cannot become those of another.
  private mutating func checkRedefinition(of property: PropertyRecord, in entity: EntityRecord, _ element: String) {
    let superentities = lineage(entity.name).dropFirst()
    guard let owner = superentities.first(where: { declared[$0.name]?[property.name] != nil }),
      let other = declared[owner.name]?[property.name]
    else { return }
    if let (destination, inherited) = widened(property, other) {
      add(
        .redefinition, element,
        """
        \(element) is a relationship to \(destination), but \(owner.name).\(property.name), which it redefines, is one \
        to \(inherited); make \(destination) a subentity of \(inherited), or rename one of the relationships
        """)
    }
    guard property.contradicts(other) else { return }
    add(
      .redefinition, element,
      """
      \(element) is \(property.typeName), but \(owner.name).\(property.name), which it redefines, is \(other.typeName); \
      give both one type, or rename one of them
      """)
  }

  /// The destinations of a relationship that is defined anew and of the inherited one, where the first is no subentity
  /// of the second.
  private func widened(_ property: PropertyRecord, _ other: PropertyRecord) -> (String, String)? {
    guard case .relationship(let one) = property.kind, case .relationship(let other) = other.kind,
      entities[one.destinationEntity] != nil, entities[other.destinationEntity] != nil,
      !lineage(one.destinationEntity).contains(where: { $0.name == other.destinationEntity })
    else { return nil }
    return (one.destinationEntity, other.destinationEntity)
  }

  /// Whether objects of the entity are in a database of CloudKit.
  func isForCloudKit(_ entity: String) -> Bool { cloudEntities.contains(entity) }

  // MARK: Requests and configurations

  mutating func checkRequests() {
    for request in source.record.fetchRequestTemplates where entities[request.entityName] == nil {
      let name = request.name ?? ""
      add(
        .requestEntity, name,
        "The fetch request \(name) is for the entity \(request.entityName), which the model does not have")
    }
    for (name, members) in source.record.configurations.sorted(by: { UTF8Order.isLess($0.key, $1.key) }) {
      for member in members where entities[member] == nil {
        add(
          .configurationEntity, name,
          "The configuration \(name) has the entity \(member), which the model does not have")
      }
    }
  }
}

extension PropertyRecord {
  /// Whether no store can have both, where a subentity defines one anew. Destinations are not compared.
  fileprivate func contradicts(_ other: PropertyRecord) -> Bool {
    switch (kind, other.kind) {
    case (.attribute(let one), .attribute(let other)): one.type != other.type
    case (.relationship(let one), .relationship(let other)): (one.maxCount == 1) != (other.maxCount == 1)
    case (.fetchedProperty, .fetchedProperty): false
    default: true
    }
  }

  /// The kind of the property in words, with the type of an attribute.
  fileprivate var typeName: String {
    switch kind {
    case .attribute(let attribute):
      "an attribute of the type \(AttributeTypeName(rawValue: attribute.type)?.sourceName ?? "\(attribute.type)")"
    case .relationship(let relationship):
      "a \(relationship.maxCount == 1 ? "to-one" : "to-many") relationship to \(relationship.destinationEntity)"
    case .fetchedProperty: "a fetched property"
    }
  }
}
