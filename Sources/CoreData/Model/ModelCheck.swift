import Foundation
import ModelFiles
import StoreSchema

/// Checks a model before its first use, as far as ``Schema`` does not: names of properties that no store keeps,
/// defaults, composites, fetched properties and indexes.
enum ModelCheck {
  static func check(_ model: NSManagedObjectModel) throws(SchemaError) {
    for entity in model.entities {
      if entity.managedObjectModelIfAny !== model {
        throw error(entity, nil, "belongs to another model too; add a copy of it to one of them")
      }
      try checkNames(entity)
      for property in entity.ownProperties { try check(property, of: entity, in: model) }
      try checkConstraints(entity)
      try IndexCheck.check(entity)
    }
  }

  private static func checkNames(_ entity: NSEntityDescription) throws(SchemaError) {
    var seen: [String: String] = [:]
    // Inherited names come first: the schema checks redefinitions.
    let inherited = entity.parentEntity?.propertiesByName.keys.map { $0 } ?? []
    for name in inherited { seen[name.uppercased()] = name }
    var own: Set<String> = []
    for property in entity.ownProperties {
      let name = property.name
      if name.isEmpty { throw error(entity, nil, "has a property without a name") }
      if ReservedNames.all.contains(name) {
        throw error(entity, name, "has the name of something that every managed object has; rename the property")
      }
      if !own.insert(name).inserted { throw error(entity, name, "is defined twice") }
      if let other = seen.updateValue(name, forKey: name.uppercased()), !UTF8Order.areEqual(other, name) {
        throw error(entity, name, "differs from \(other) only by case; rename one of them")
      }
    }
  }

  private static func check(
    _ property: NSPropertyDescription, of entity: NSEntityDescription, in model: NSManagedObjectModel
  ) throws(SchemaError) {
    if property.entityIfAny !== entity {
      throw error(entity, property.name, "is a property of \(property.entityIfAny?.name ?? "?") too; give each a copy")
    }
    switch property {
    case let attribute as NSAttributeDescription: try check(attribute, of: entity)
    case let relationship as NSRelationshipDescription:
      if relationship.maxCount > 0 && relationship.minCount > relationship.maxCount {
        throw error(
          entity, property.name,
          "must have at least \(relationship.minCount) and at most \(relationship.maxCount) destinations")
      }
    case let fetched as NSFetchedPropertyDescription:
      guard let request = fetched.fetchRequest else {
        throw error(entity, property.name, "is a fetched property without a fetch request")
      }
      if request.entityName.flatMap({ model.entitiesByName[$0] }) == nil {
        throw error(
          entity, property.name, "fetches the entity \(request.entityName ?? "nil"), which is not in the model")
      }
    default: throw error(entity, property.name, "is neither attribute, relationship nor fetched property")
    }
  }

  private static func check(_ attribute: NSAttributeDescription, of entity: NSEntityDescription) throws(SchemaError) {
    if let derived = attribute as? NSDerivedAttributeDescription {
      guard let derivation = derived.derivation else {
        throw error(entity, attribute.name, "is a derived attribute without a derivation expression")
      }
      if case .keyPath(let keys) = derivation, keys.contains(where: { $0.hasPrefix("@") }) {
        throw error(
          entity, attribute.name,
          "has the derivation \(keys.joined(separator: ".")); the collection operator must be the last key")
      }
    }
    var pending = [attribute]
    while let next = pending.popLast() {
      let composite = next as? NSCompositeAttributeDescription
      if (next.attributeType == .compositeAttributeType) != (composite != nil) {
        throw error(
          entity, attribute.name,
          "must be both an NSCompositeAttributeDescription and of the composite type, or neither")
      }
      guard let composite else { continue }
      var names: Set<String> = []
      for element in composite.elements {
        if element.name.isEmpty || !names.insert(element.name).inserted {
          throw error(entity, attribute.name, "has two elements named \(element.name); each needs a name of its own")
        }
        if element.isTransient || element is NSDerivedAttributeDescription {
          throw error(entity, attribute.name, "has the element \(element.name), which is transient or derived")
        }
        pending.append(element)
      }
    }
  }

  private static func checkConstraints(_ entity: NSEntityDescription) throws(SchemaError) {
    for constraint in entity.uniquenessConstraints {
      // An empty constraint has no effect: libraries that build models in code set it for entities without constraints.
      if constraint.contains(where: { !($0 is String) && !($0 is NSPropertyDescription) }) {
        throw error(entity, nil, "has a uniqueness constraint that does not consist of names or property descriptions")
      }
    }
  }

  // MARK: Defaults

  /// Each default must be a value that its attribute can have.
  static func checkDefaults(_ model: NSManagedObjectModel, _ schema: Schema) throws(SchemaError) {
    for entity in model.entities {
      for case let description as NSAttributeDescription in entity.ownProperties {
        let stored = description.isTransient ? nil : schema.entity(named: entity.name ?? "")
        if description is NSCompositeAttributeDescription {
          if let attribute = stored?.attribute(named: description.name) {
            try checkDefaults(description, attribute, entity)
          }
          continue
        }
        guard let value = description.defaultValue, isChecked(description.attributeType),
          let attribute = stored?.attribute(named: description.name) ?? alone(description)
        else { continue }
        if AttributeCoding.encode(value, attribute) == nil {
          throw wrongDefault(entity, description.name, attribute.type, given: "\(Swift.type(of: value))")
        }
      }
    }
  }

  /// The defaults of a composite's elements, and of the composite itself.
  private static func checkDefaults(
    _ composite: NSAttributeDescription, _ attribute: Attribute, _ entity: NSEntityDescription
  ) throws(SchemaError) {
    do { _ = try CompositeCoding.leaves(composite.defaultValue, attribute) } catch {
      throw wrongDefault(entity, error.key, error.desired, given: error.given)
    }
    for element in attribute.elements {
      guard let value = composite.element(element.name)?.defaultValue else { continue }
      if AttributeCoding.encode(value, element) == nil {
        throw wrongDefault(
          entity, attribute.name + "." + element.name, element.type, given: "\(Swift.type(of: value))")
      }
    }
  }

  private static func wrongDefault(
    _ entity: NSEntityDescription, _ key: String, _ type: AttributeType, given: String
  ) -> SchemaError {
    error(entity, key, "is of the type \(type), but its default value is of the type \(given)")
  }

  private static func isChecked(_ type: NSAttributeType) -> Bool {
    switch type {
    case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType, .compositeAttributeType: false
    default: true
    }
  }

  private static func alone(_ description: NSAttributeDescription) -> Attribute? {
    (try? Schema([ModelRecordCoding.single(description)]))?.entities.first?.attributes.first
  }

  static func error(_ entity: NSEntityDescription, _ property: String?, _ message: String) -> SchemaError {
    SchemaError(entity: entity.name ?? "", property: property, message: message)
  }
}

/// Fetch indexes: names, and elements that can be indexed together.
private enum IndexCheck {
  static func check(_ entity: NSEntityDescription) throws(SchemaError) {
    if entity.indexes.isEmpty { return }
    let properties = entity.propertiesByName
    var names: Set<String> = []
    for index in entity.indexes {
      if !names.insert(index.name).inserted {
        throw ModelCheck.error(entity, nil, "has two fetch indexes named \(index.name); rename one of them")
      }
      if Set(index.elements.map(\.collationType)).count > 1 {
        throw ModelCheck.error(
          entity, nil, "has the fetch index \(index.name), whose elements must all be binary or all be R-tree elements")
      }
      for element in index.elements { try check(element, index, entity, properties) }
    }
  }

  private static func check(
    _ element: NSFetchIndexElementDescription, _ index: NSFetchIndexDescription, _ entity: NSEntityDescription,
    _ properties: [String: NSPropertyDescription]
  ) throws(SchemaError) {
    if element.indexedProperty is NSExpressionDescription { return }
    let name = element.propertyName ?? ""
    guard let property = properties[name] else {
      throw ModelCheck.error(entity, name, "is in the fetch index \(index.name), but the entity has no such property")
    }
    // Models of Apple's tools have indexes on to-many relationships; stores make no index for them.
    if element.collationType == .rTree, !isOrderedNumber(property) {
      throw ModelCheck.error(
        entity, name, "is in the R-tree index \(index.name), which takes numbers and dates only")
    }
  }

  private static func isOrderedNumber(_ property: NSPropertyDescription) -> Bool {
    guard let attribute = property as? NSAttributeDescription else { return false }
    switch attribute.attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
      .doubleAttributeType, .floatAttributeType, .dateAttributeType:
      return true
    default: return false
    }
  }
}
