import Foundation
import StoreSchema
import TestSupport
import Testing

@testable import CoreData

/// Feature section 1: the model as a whole.
@Suite struct ModelTests {
  @Test func subentitiesComeWithTheirParents() throws {
    let (parent, child) = (Describing.entity("Parent"), Describing.entity("Child"))
    parent.subentities = [child]
    let model = Describing.model([parent])
    #expect(Set(model.entitiesByName.keys) == ["Parent", "Child"])
    #expect(model.entities.count == 2 && child.managedObjectModel === model)
    model.entities = [parent, child]
    #expect(model.entities.map(\.name) == ["Parent", "Child"])
  }

  @Test func aCopyIsDeepAndLinkedWithinItself() throws {
    let model = Describing.library()
    _ = try model.freeze()
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    let (book, author) = (try #require(copy.entitiesByName["Book"]), try #require(copy.entitiesByName["Author"]))
    #expect(book !== model.entitiesByName["Book"] && book.managedObjectModel === copy)
    let (there, back) = (author.relationshipsByName["books"], book.relationshipsByName["author"])
    #expect(there?.destinationEntity === book && back?.destinationEntity === author)
    #expect(there?.inverseRelationship === back && back?.inverseRelationship === there)
    #expect(copy.entitiesByName["Comic"]?.superentity === book && book.subentities.first?.managedObjectModel === copy)
    #expect(book.indexes.first?.elements.first?.property === book.propertiesByName["title"])
    #expect(book.indexes.first?.entity === book)
    #expect(copy.entities(forConfigurationName: "People")?.first === author)
    #expect(copy.fetchRequestTemplate(forName: "books")?.entity === book)
    let (own, others) = (
      book.propertiesByName["namesakes"], model.entitiesByName["Book"]?.propertiesByName["namesakes"]
    )
    let request = (own as? NSFetchedPropertyDescription)?.fetchRequest
    #expect(request != nil && request !== (others as? NSFetchedPropertyDescription)?.fetchRequest)
    #expect(copy.versionIdentifiers == ["1"] && copy.localizationDictionary == ["Entity/Book": "Buch"])
    #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName)
  }

  @Test func aCopyServesAStoreOfItsOwn() throws {
    let model = Describing.library()
    let first = try Describing.context(model)
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    copy.entitiesByName["Author"]?.properties += [Describing.attribute("born", .date)]
    let second = try Describing.context(copy)
    try first.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "Author", into: first).setValue("A", forKey: "name")
      try first.save()
    }
    try second.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "Author", into: second).setValue(Date(), forKey: "born")
      try second.save()
    }
  }

  @Test func modelsAreEqualWhenTheySayTheSame() throws {
    let model = Describing.library()
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    #expect(model == copy && model.hash == copy.hash)
    copy.versionIdentifiers = ["2"]
    #expect(model != copy)
    copy.versionIdentifiers = ["1"]
    #expect(model == copy)
    copy.entitiesByName["Comic"]?.attributesByName["artist"]?.isOptional = false
    #expect(model != copy)
    #expect(NSManagedObjectModel() != model && !model.isEqual("model"))
  }

  @Test func aModelInUseGivesItsChecksum() throws {
    let model = Describing.model([Describing.entity("A", [Describing.attribute("x")])])
    #expect(model.versionChecksum == (model.copy() as? NSManagedObjectModel)?.versionChecksum)
    #expect(Data(base64Encoded: model.versionChecksum)?.count == 32)
    #expect(model.entityVersionHashesByName["A"]?.count == 32)
    let other = Describing.model([Describing.entity("A", [Describing.attribute("y")])])
    #expect(model.versionChecksum != other.versionChecksum)
  }

  @Test func mergingLinksRelationshipsByName() throws {
    let (a, b) = (Describing.entity("A"), Describing.entity("B"))
    Describing.relate(a, "bs", toMany: true, b, "a", toManyBack: false)
    let one = Describing.model([a, b])
    let two = Describing.model([Describing.entity("C", [Describing.attribute("x")])])
    two.versionIdentifiers = ["two"]
    one.versionIdentifiers = ["one"]
    let merged = try #require(NSManagedObjectModel(byMerging: [one, two, one]))
    #expect(Set(merged.entitiesByName.keys) == ["A", "B", "C"])
    let relationship = merged.entitiesByName["A"]?.relationshipsByName["bs"]
    #expect(relationship?.destinationEntity === merged.entitiesByName["B"])
    #expect(relationship?.inverseRelationship === merged.entitiesByName["B"]?.relationshipsByName["a"])
    #expect(merged.versionIdentifiers == ["one", "two"])
    #expect(NSManagedObjectModel(byMerging: []) == nil)
    #expect(a.relationshipsByName["bs"]?.destinationEntity === b)
  }

  @Test func differentEntitiesOfOneNameCannotBeMerged() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let models = ["x", "y"].map { Describing.model([Describing.entity("A", [Describing.attribute($0)])]) }
      _ = NSManagedObjectModel(byMerging: models)
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("two different entities named 'A'"))
  }

  @Test func mergingForAStoreTakesTheVersionsItWasMadeWith() throws {
    let (old, new) = (
      Describing.model([Describing.entity("A", [Describing.attribute("x")])]),
      Describing.model([Describing.entity("A", [Describing.attribute("y")])])
    )
    let metadata = [NSStoreModelVersionHashesKey: old.entityVersionHashesByName]
    let merged = NSManagedObjectModel(byMerging: [new, old], forStoreMetadata: metadata)
    #expect(merged?.entitiesByName["A"]?.attributesByName.keys.sorted() == ["x"])
    #expect(NSManagedObjectModel(byMerging: [new], forStoreMetadata: metadata) == nil)
    #expect(NSManagedObjectModel(byMerging: [new, old], forStoreMetadata: [:]) == nil)
  }

  @Test func oneModelServesManyCoordinators() throws {
    let model = Describing.library()
    for _ in 0..<2 {
      let context = try Describing.context(model)
      try context.performAndWait {
        NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
        try context.save()
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Author")) == 1)
      }
    }
  }
}
