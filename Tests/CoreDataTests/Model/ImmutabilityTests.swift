import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Feature 1.1: a model in use cannot be changed by any setter of its parts.
@Suite(.serialized) struct ImmutabilityTests {
  typealias Change = (name: String, make: (NSManagedObjectModel) -> Void)

  static func book(_ model: NSManagedObjectModel) -> NSEntityDescription {
    model.entitiesByName["Book"] ?? NSEntityDescription()
  }
  static func property<T: NSPropertyDescription>(_ name: String, _ model: NSManagedObjectModel, _ other: T) -> T {
    book(model).propertiesByName[name] as? T ?? other
  }
  static func index(_ model: NSManagedObjectModel) -> NSFetchIndexDescription { book(model).indexes[0] }

  static func change<Root: AnyObject, Value>(
    _ name: String, _ path: ReferenceWritableKeyPath<Root, Value>, _ value: Value,
    _ root: @escaping (NSManagedObjectModel) -> Root
  ) -> Change { (name, { root($0)[keyPath: path] = value }) }

  nonisolated(unsafe) static let modelChanges: [Change] = [
    ("entities", { $0.entities = [] }),
    ("configuration", { $0.setEntities([], forConfigurationName: "X") }),
    ("template", { $0.setFetchRequestTemplate(nil, forName: "books") }),
    ("versionIdentifiers", { $0.versionIdentifiers = [] }),
    ("localizationDictionary", { $0.localizationDictionary = nil }),
    ("template's limit", { $0.fetchRequestTemplate(forName: "books")?.fetchLimit = 1 }),
    ("template's predicate", { $0.fetchRequestTemplatesByName["books"]?.predicate = nil }),
  ]

  nonisolated(unsafe) static let entityChanges: [Change] = [
    change("entity name", \.name, "X", book), change("class", \.managedObjectClassName, "X", book),
    change("abstract", \.isAbstract, true, book),
    change("entity modifier", \.versionHashModifier, "x", book),
    change("entity renaming", \.renamingIdentifier, "x", book),
    change("display name", \.coreSpotlightDisplayNameExpression, nil, book),
    change("subentities", \.subentities, [], book), change("properties", \.properties, [], book),
    change("constraints", \.uniquenessConstraints, [], book), change("indexes", \.indexes, [], book),
    ("compound indexes", { book($0).compoundIndexes = [] }),
    change("index name", \.name, "x", index), change("index elements", \.elements, [], index),
    change("index predicate", \.partialIndexPredicate, nil, index),
    ("collation", { index($0).elements[0].collationType = .rTree }),
    ("ascending", { index($0).elements[0].isAscending = false }),
  ]

  static func title(_ model: NSManagedObjectModel) -> NSAttributeDescription {
    property("title", model, NSAttributeDescription())
  }
  static func author(_ model: NSManagedObjectModel) -> NSRelationshipDescription {
    property("author", model, NSRelationshipDescription())
  }
  static func size(_ model: NSManagedObjectModel) -> NSCompositeAttributeDescription {
    property("size", model, NSCompositeAttributeDescription())
  }
  static func folded(_ model: NSManagedObjectModel) -> NSDerivedAttributeDescription {
    property("folded", model, NSDerivedAttributeDescription())
  }
  static func namesakes(_ model: NSManagedObjectModel) -> NSFetchedPropertyDescription {
    property("namesakes", model, NSFetchedPropertyDescription())
  }

  nonisolated(unsafe) static let propertyChanges: [Change] = [
    change("name", \.name, "x", title), change("optional", \.isOptional, false, title),
    change("transient", \.isTransient, true, title),
    change("modifier", \.versionHashModifier, "x", title), change("renaming", \.renamingIdentifier, "x", title),
    ("indexed", { title($0).isIndexed = true }), change("spotlight", \.isIndexedBySpotlight, true, title),
    ("external record", { title($0).isStoredInExternalRecord = true }),
    ("validation", { title($0).setValidationPredicates(nil, withValidationWarnings: nil) }),
    change("attributeType", \.attributeType, .dateAttributeType, title), change("type", \.type, .date, title),
    change("value class", \.attributeValueClassName, "X", title), change("default", \.defaultValue, nil, title),
    change("transformer", \.valueTransformerName, "X", title),
    change("external data", \.allowsExternalBinaryDataStorage, true, title),
    change("preserves", \.preservesValueInHistoryOnDeletion, true, title),
    change("cloud", \.allowsCloudEncryption, true, title),
    change("destination", \.destinationEntity, nil, author), change("inverse", \.inverseRelationship, nil, author),
    change("max", \.maxCount, 0, author), change("min", \.minCount, 1, author),
    change("delete rule", \.deleteRule, .denyDeleteRule, author), change("ordered", \.isOrdered, true, author),
    change("derivation", \.derivationExpression, nil, folded), change("filter", \.filteringPredicate, nil, folded),
    change("elements", \.elements, [], size), ("element name", { size($0).elements[0].name = "x" }),
    change("fetch request", \.fetchRequest, nil, namesakes),
    ("fetch request's limit", { namesakes($0).fetchRequest?.fetchLimit = 1 }),
  ]

  static func model() throws -> NSManagedObjectModel {
    let model = Describing.library()
    _ = try model.freeze()
    return model
  }

  /// Runs the chosen change on a model in use. Does not return unless the change succeeded.
  static func run(_ changes: [Change]) {
    guard let model = try? model(), changes.indices.contains(ExitTestChoice.current) else { return }
    changes[ExitTestChoice.current].make(model)
  }

  @Test(arguments: modelChanges.indices) func aModelInUseIsImmutable(_ index: Int) async {
    ExitTestChoice.set(index)
    await #expect(processExitsWith: .failure, "\(Self.modelChanges[index].name)") {
      ImmutabilityTests.run(ImmutabilityTests.modelChanges)
    }
  }

  @Test(arguments: entityChanges.indices) func anEntityInUseIsImmutable(_ index: Int) async {
    ExitTestChoice.set(index)
    await #expect(processExitsWith: .failure, "\(Self.entityChanges[index].name)") {
      ImmutabilityTests.run(ImmutabilityTests.entityChanges)
    }
  }

  @Test(arguments: propertyChanges.indices) func aPropertyInUseIsImmutable(_ index: Int) async {
    ExitTestChoice.set(index)
    await #expect(processExitsWith: .failure, "\(Self.propertyChanges[index].name)") {
      ImmutabilityTests.run(ImmutabilityTests.propertyChanges)
    }
  }

  @Test func allTheseChangesCanBeMadeBeforeUseAndOnACopy() throws {
    for change in Self.modelChanges + Self.entityChanges + Self.propertyChanges {
      change.make(Describing.library())
      let copy = try #require(try Self.model().copy() as? NSManagedObjectModel)
      change.make(copy)
    }
  }

  @Test func theSentenceSaysWhatToDo() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      (try? ImmutabilityTests.model())?.entities = []
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("Can't modify an immutable model"))
  }
}
