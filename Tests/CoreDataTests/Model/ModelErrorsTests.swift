import Foundation
import StoreSchema
import TestSupport
import Testing

@testable import CoreData

/// A fault of a model is a typed error when the model is first used. The error names the entity and the property.
@Suite struct ModelErrorsTests {
  private func error(_ entities: NSEntityDescription...) throws -> SchemaError {
    try error(Describing.model(entities))
  }

  private func error(_ model: NSManagedObjectModel) throws -> SchemaError {
    try #require(throws: SchemaError.self) { try model.freeze() }
  }

  @Test func entitiesOfOneNameAreRefused() throws {
    let found = try error(Describing.entity("A"), Describing.entity("A"))
    #expect(found.entity == "A" && found.message.contains("unique"))
    #expect(try error(Describing.entity("")).message.contains("no name"))
    #expect(try error(NSEntityDescription()).message.contains("no name"))
  }

  @Test func namesThatDifferOnlyByCaseAreRefusedAndBothAreNamed() throws {
    let entities = try error(Describing.entity("Item"), Describing.entity("ITEM"))
    #expect(Set([entities.entity, "Item", "ITEM"]) == ["Item", "ITEM"] && entities.description.contains("Item"))
    #expect(entities.description.contains("ITEM"))
    let properties = try error(
      Describing.entity("A", [Describing.attribute("title"), Describing.attribute("Title")]))
    #expect(properties.entity == "A" && properties.property == "Title" && properties.message.contains("title"))
    let transient = Describing.attribute("TITLE")
    transient.isTransient = true
    #expect(try error(Describing.entity("A", [Describing.attribute("title"), transient])).property == "TITLE")
    let (parent, child) = (
      Describing.entity("P", [Describing.attribute("x")]), Describing.entity("C", [Describing.fetched("X", "P", nil)])
    )
    parent.subentities = [child]
    #expect(try error(parent, child).description.contains("C.X"))
  }

  @Test func propertiesOfOneNameAreRefused() throws {
    let transient = Describing.attribute("x")
    transient.isTransient = true
    #expect(try error(Describing.entity("A", [Describing.attribute("x"), transient])).message.contains("twice"))
    #expect(try error(Describing.entity("A", [Describing.attribute("")])).message.contains("without a name"))
  }

  @Test(arguments: [
    "description", "objectID", "self", "SELF", "managedObjectContext", "isDeleted", "hash", "copy", "willSave",
    "retain",
  ])
  func namesOfManagedObjectsOwnMethodsAreRefused(_ name: String) throws {
    #expect(try error(Describing.entity("A", [Describing.attribute(name)])).property == name)
  }

  @Test func aPropertyBelongsToOneEntity() throws {
    let shared = Describing.attribute("x")
    let (a, b) = (Describing.entity("A", [shared]), Describing.entity("B", [shared]))
    #expect(try error(a, b).message.contains("B too"))
  }

  @Test func anEntityBelongsToOneModel() throws {
    let entity = Describing.entity("A")
    let first = Describing.model([entity])
    let second = Describing.model([entity])
    #expect(try error(first).message.contains("another model"))
    #expect(throws: Never.self) { try second.freeze() }
    let lent = Describing.entity("B")
    let lender = Describing.model([lent])
    _ = Describing.model([lent])
    #expect(throws: Never.self) { try lender.freeze() }
  }

  @Test func aSubentityMayNotChangeATypeOrACardinality() throws {
    let (parent, child) = (
      Describing.entity("P", [Describing.attribute("x", .string)]),
      Describing.entity("C", [Describing.attribute("x", .date)])
    )
    parent.subentities = [child]
    let found = try error(parent, child)
    #expect(found.entity == "C" && found.property == "x" && found.message.contains("another type"))
  }

  @Test func anInheritedPropertyMayBeNarrowed() throws {
    let own = Describing.attribute("x")
    own.isOptional = false
    let (parent, child) = (Describing.entity("P", [Describing.attribute("x")]), Describing.entity("C", [own]))
    parent.subentities = [child]
    let model = Describing.model([parent, child])
    _ = try model.freeze()
    #expect(child.propertiesByName["x"] === own && parent.propertiesByName["x"] !== own)
  }

  @Test(arguments: [NSAttributeDescription.AttributeType.undefined, .objectID])
  func typesThatCannotBeStoredAreForTransientAttributes(_ type: NSAttributeDescription.AttributeType) throws {
    #expect(try error(Describing.entity("A", [Describing.attribute("x", type)])).property == "x")
    let transient = Describing.attribute("x", type)
    transient.isTransient = true
    #expect(throws: Never.self) { try Describing.model([Describing.entity("A", [transient])]).freeze() }
  }

  @Test func relationshipsNeedADestinationInTheModel() throws {
    let relationship = NSRelationshipDescription()
    relationship.name = "other"
    relationship.destinationEntity = Describing.entity("Elsewhere")
    #expect(try error(Describing.entity("A", [relationship])).property == "other")
    let aimless = NSRelationshipDescription()
    aimless.name = "nowhere"
    #expect(try error(Describing.entity("A", [aimless])).property == "nowhere")
    let a = Describing.entity("A")
    Describing.relate(a, "bs", toMany: true, a, "b", toManyBack: false)
    a.relationshipsByName["bs"]?.minCount = 3
    a.relationshipsByName["bs"]?.maxCount = 2
    #expect(try error(a).message.contains("at least 3 and at most 2"))
  }

  @Test func constraintsAreOnStoredAttributesAndToOneRelationships() throws {
    func constrained(_ constraint: [Any]) -> NSEntityDescription {
      let transient = Describing.attribute("t")
      transient.isTransient = true
      let entity = Describing.entity("A", [Describing.attribute("x"), transient])
      Describing.relate(entity, "many", toMany: true, entity, "one", toManyBack: false)
      entity.uniquenessConstraints = [constraint]
      return entity
    }
    for wrong in ["none", "t", "many"] { #expect(try error(constrained([wrong])).property == wrong) }
    // An empty constraint has no effect.
    let nothing = try Describing.model([constrained([])]).freeze()
    #expect(nothing.schema.entity(named: "A")?.uniquenessConstraints == [])
    #expect(try error(constrained([1])).message.contains("uniqueness constraint"))
    let right = constrained(["x", "one"])
    #expect(throws: Never.self) { try Describing.model([right]).freeze() }
  }

  @Test func fetchedPropertiesNeedARequestForAnEntityOfTheModel() throws {
    let property = NSFetchedPropertyDescription()
    property.name = "f"
    #expect(try error(Describing.entity("A", [property])).message.contains("without a fetch request"))
    #expect(try error(Describing.entity("A", [Describing.fetched("f", "None", nil)])).message.contains("None"))
  }

  @Test func compositesAndTheirTypeGoTogether() throws {
    let named = Describing.attribute("c", .composite)
    #expect(try error(Describing.entity("A", [named])).property == "c")
    let doubled = Describing.composite("c", [Describing.attribute("x"), Describing.attribute("x")])
    #expect(try error(Describing.entity("A", [doubled])).message.contains("two elements"))
    let transient = Describing.attribute("x")
    transient.isTransient = true
    #expect(try error(Describing.entity("A", [Describing.composite("c", [transient])])).message.contains("transient"))
  }

  @Test func derivedAttributesNeedAnExpressionWithTheOperatorLast() throws {
    let derived = NSDerivedAttributeDescription()
    (derived.name, derived.type) = ("d", .integer64)
    #expect(try error(Describing.entity("A", [derived])).message.contains("without a derivation"))
    let other = try #require(derived.copy() as? NSDerivedAttributeDescription)
    other.derivationExpression = NSExpression(forKeyPath: "articles.@sum.wordCount")
    #expect(try error(Describing.entity("A", [other])).message.contains("last key"))
  }

  @Test(arguments: [
    ("integer16", "text" as any Sendable), ("integer64", Date()), ("string", 5), ("date", "2020"), ("boolean", "yes"),
    ("uuid", "x"), ("uri", "x"), ("binaryData", "x"), ("decimal", "1.5"), ("double", Data()),
  ])
  func defaultsMustFitTheirType(_ type: String, _ value: any Sendable) throws {
    let types: [String: NSAttributeDescription.AttributeType] = [
      "integer16": .integer16, "integer64": .integer64, "string": .string, "date": .date, "boolean": .boolean,
      "uuid": .uuid, "uri": .uri, "binaryData": .binaryData, "decimal": .decimal, "double": .double,
    ]
    let attribute = Describing.attribute("x", try #require(types[type]), default: value)
    #expect(try error(Describing.entity("A", [attribute])).message.contains("default value"))
    let transient = try #require(attribute.copy() as? NSAttributeDescription)
    transient.isTransient = true
    #expect(try error(Describing.entity("A", [transient])).message.contains("default value"))
  }

  @Test func indexesAreOnPropertiesThatCanBeIndexed() throws {
    func indexed(_ elements: [(String, NSFetchIndexElementType)], count: Int = 1) -> NSEntityDescription {
      let entity = Describing.entity("A", [Describing.attribute("s"), Describing.attribute("n", .double)])
      Describing.relate(entity, "many", toMany: true, entity, "one", toManyBack: false)
      entity.indexes = (0..<count).map { _ in
        NSFetchIndexDescription(
          name: "i",
          elements: elements.map { name, type in
            NSFetchIndexElementDescription(
              property: entity.propertiesByName[name] ?? Describing.attribute(name), collationType: type)
          })
      }
      return entity
    }
    #expect(try error(indexed([("s", .binary)], count: 2)).message.contains("two fetch indexes"))
    #expect(try error(indexed([("s", .binary), ("n", .rTree)])).message.contains("all be binary"))
    #expect(try error(indexed([("none", .binary)])).property == "none")
    #expect(try error(indexed([("s", .rTree)])).message.contains("numbers and dates"))
    let right = indexed([("s", .binary), ("one", .binary), ("many", .binary)])
    #expect(throws: Never.self) { try Describing.model([right]).freeze() }
  }

  @Test func addingAStoreReportsTheErrorAndLeavesNothingBehind() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "model-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = Describing.model([Describing.entity("Item"), Describing.entity("ITEM")])
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    for _ in 0..<2 {
      let error = try #require(throws: CocoaError.self) {
        try coordinator.addPersistentStore(type: .sqlite, at: folder.appending(path: "a.sqlite"))
      }
      #expect(error.code == .persistentStoreIncompatibleSchema)
      #expect(error.userInfo[NSUnderlyingErrorKey] is SchemaError)
      #expect(error.localizedDescription.contains("Item") && error.localizedDescription.contains("ITEM"))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    #expect(coordinator.persistentStores.isEmpty)
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    copy.entities = [copy.entities[0]]
    #expect(throws: Never.self) { try Describing.context(copy) }
  }

  /// "By default, the provided name value … is used to look up the name of the NSManagedObjectModel object":
  /// https://developer.apple.com/documentation/coredata/nspersistentcontainer/init(name:)
  @Test func aModelThatIsNowhereIsNamedWithAllThatWasLookedFor() {
    guard case .failure(let error as CocoaError) = ModelSearch.model(named: "NoModelHasThisName") else {
      Issue.record("there is no such model")
      return
    }
    #expect(error.code == .fileReadNoSuchFile)
    for suffix in ["momd", "mom", "xcdatamodeld", "xcdatamodel"] {
      #expect(error.localizedDescription.contains("NoModelHasThisName.\(suffix)"))
    }
  }
}
