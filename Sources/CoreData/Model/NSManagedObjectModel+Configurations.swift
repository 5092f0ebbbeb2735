import Foundation

/// Configurations: the objects that a store of a configuration holds, and the model that it contains.
extension NSManagedObjectModel {
  /// See ``entities(forConfigurationName:)``.
  final func members(ofConfiguration configuration: String?) -> [NSEntityDescription]? {
    guard let configuration, configuration != Self.defaultConfiguration else { return entities }
    return members[configuration]?.filter { $0.managedObjectModelIfAny === self }
  }

  /// The names of the entities that a store of the configuration is made for: the entities of the configuration and
  /// their superentities, because objects are kept in the tables of their root entities. Nil for an unknown name.
  final func storedNames(ofConfiguration configuration: String?) -> Set<String>? {
    guard let members = members(ofConfiguration: configuration) else { return nil }
    var names: Set<String> = []
    for member in members {
      var next: NSEntityDescription? = member
      while let entity = next, names.insert(entity.name ?? "").inserted { next = entity.parentEntity }
    }
    return names
  }

  /// The model in a store of the configuration: a copy with its stored entities and only that configuration.
  ///
  /// Destinations of relationships are included, because no model is valid without them. Where they are not in the
  /// configuration, a store matches the copy only under the configuration's name. Fetched properties and templates of
  /// other entities are left out.
  final func part(ofConfiguration configuration: String) -> NSManagedObjectModel? {
    guard let stored = storedNames(ofConfiguration: configuration), let copy = copy(with: nil) as? NSManagedObjectModel
    else { return nil }
    let kept = copy.reached(from: stored)
    func isKept(_ entity: NSEntityDescription) -> Bool { kept.contains(entity.name ?? "") }
    func fetchesKept(_ request: NSFetchRequest<any NSFetchRequestResult>?) -> Bool {
      request?.entityName.map(kept.contains) ?? false
    }
    let entities = copy.entities.filter(isKept)
    for entity in entities {
      if !entity.subentities.allSatisfy(isKept) { entity.subentities = entity.subentities.filter(isKept) }
      let properties = entity.ownProperties.filter { property in
        (property as? NSFetchedPropertyDescription).map { fetchesKept($0.fetchRequest) } ?? true
      }
      if properties.count < entity.ownProperties.count { entity.properties = properties }
    }
    copy.members = [configuration: copy.members[configuration] ?? []]
    copy.entities = entities
    for (name, request) in copy.fetchRequestTemplatesByName where !fetchesKept(request) {
      copy.setFetchRequestTemplate(nil, forName: name)
    }
    return copy
  }

  /// The named entities and all entities that they need: their superentities, and destinations of relationships.
  private func reached(from names: Set<String>) -> Set<String> {
    var reached = names
    var pending = Array(names)
    let byName = entitiesByName
    while let entity = pending.popLast().flatMap({ byName[$0] }) {
      let destinations = entity.ownProperties.compactMap { property in
        (property as? NSRelationshipDescription).flatMap { $0.destination?.name ?? $0.destinationName }
      }
      for name in destinations + [entity.parentEntity?.name].compactMap({ $0 }) where reached.insert(name).inserted {
        pending.append(name)
      }
    }
    return reached
  }
}
