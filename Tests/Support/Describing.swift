import CoreData
import Foundation

/// Short functions to build models in tests.
package enum Describing {
  package static func attribute(
    _ name: String, _ type: NSAttributeDescription.AttributeType = .string, default value: Any? = nil
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.type = type
    attribute.defaultValue = value
    return attribute
  }

  package static func entity(_ name: String, _ properties: [NSPropertyDescription] = []) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = properties
    return entity
  }

  package static func derived(
    _ name: String, _ type: NSAttributeDescription.AttributeType, _ expression: String
  ) -> NSDerivedAttributeDescription {
    let attribute = NSDerivedAttributeDescription()
    (attribute.name, attribute.type) = (name, type)
    attribute.derivationExpression = NSExpression(format: expression)
    return attribute
  }

  package static func composite(_ name: String, _ elements: [NSAttributeDescription]) -> NSCompositeAttributeDescription
  {
    let composite = NSCompositeAttributeDescription()
    composite.name = name
    composite.elements = elements
    return composite
  }

  package static func fetched(_ name: String, _ entity: String, _ predicate: NSPredicate?)
    -> NSFetchedPropertyDescription
  {
    let property = NSFetchedPropertyDescription()
    property.name = name
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
    request.predicate = predicate
    property.fetchRequest = request
    return property
  }

  /// Makes two relationships that are the inverse of each other.
  package static func relate(
    _ a: NSEntityDescription, _ name: String, toMany: Bool, _ b: NSEntityDescription, _ inverse: String,
    toManyBack: Bool
  ) {
    let (there, back) = (NSRelationshipDescription(), NSRelationshipDescription())
    (there.name, there.destinationEntity, there.maxCount) = (name, b, toMany ? 0 : 1)
    (back.name, back.destinationEntity, back.maxCount) = (inverse, a, toManyBack ? 0 : 1)
    (there.inverseRelationship, back.inverseRelationship) = (back, there)
    a.properties += [there]
    b.properties += [back]
  }

  package static func model(_ entities: [NSEntityDescription]) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  /// A context on a store that leaves no files.
  package static func context(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: URL(filePath: "/dev/null"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// An entity with all features of a model, in a model with a configuration and a template.
  package static func library() -> NSManagedObjectModel {
    let title = attribute("title")
    title.setValidationPredicates([NSPredicate(format: "length > 0")], withValidationWarnings: ["no title"])
    let derived = NSDerivedAttributeDescription()
    (derived.name, derived.type) = ("folded", .string)
    derived.derivationExpression = NSExpression(format: "canonical:(title)")
    let book = entity(
      "Book",
      [
        title, derived, composite("size", [attribute("width", .double), attribute("height", .double)]),
        fetched("namesakes", "Book", NSPredicate(format: "title == $FETCH_SOURCE.title")),
      ])
    let comic = entity("Comic", [attribute("artist")])
    let author = entity("Author", [attribute("name")])
    book.subentities = [comic]
    relate(author, "books", toMany: true, book, "author", toManyBack: false)
    let element = NSFetchIndexElementDescription(property: title, collationType: .binary)
    book.indexes = [NSFetchIndexDescription(name: "byTitle", elements: [element])]
    book.uniquenessConstraints = [["title"]]
    book.userInfo = ["note": "x"]
    let model = model([book, comic, author])
    model.setEntities([author], forConfigurationName: "People")
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = book
    request.predicate = NSPredicate(format: "title == $TITLE AND author.name == $NAME")
    model.setFetchRequestTemplate(request, forName: "books")
    model.versionIdentifiers = ["1"]
    model.localizationDictionary = ["Entity/Book": "Buch"]
    return model
  }
}
