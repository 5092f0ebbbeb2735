import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Features 1.15 and 2.15: models, entities and properties in keyed archives.
@Suite struct DescriptionCodingTests {
  private func roundTrip<T: NSObject & NSSecureCoding>(_ object: T) throws -> T {
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: T.self, from: data))
  }

  @Test func aModelComesBackAndCanBeChanged() throws {
    let model = Describing.library()
    _ = try model.freeze()
    let read = try roundTrip(model)
    #expect(read == model && read.entityVersionHashesByName == model.entityVersionHashesByName)
    #expect(read.localizationDictionary == ["Entity/Book": "Buch"])
    read.entities = []
    #expect(try roundTrip(NSManagedObjectModel()) == NSManagedObjectModel())
  }

  @Test func anEntityComesBackOutsideOfItsModel() throws {
    let model = Describing.library()
    let book = try #require(model.entitiesByName["Book"])
    let read = try roundTrip(book)
    #expect(read.managedObjectModelIfAny == nil && read.subentities.isEmpty)
    // Only its own properties, and related entities by name.
    #expect(Set(read.properties.map(\.name)) == ["author", "folded", "namesakes", "size", "title"])
    #expect(read.properties.sorted { $0.name < $1.name } == book.properties.sorted { $0.name < $1.name })
    #expect(read.indexes == book.indexes && read.uniquenessConstraints as? [[String]] == [["title"]])
    #expect(read.userInfo?["note"] as? String == "x")
    // In a model with its destination, the relationship is connected again.
    let author = try roundTrip(try #require(model.entitiesByName["Author"]))
    let other = Describing.model([read, author])
    #expect(read.relationshipsByName["author"]?.destinationEntity === author)
    #expect(author.relationshipsByName["books"]?.inverseRelationship === read.relationshipsByName["author"])
    _ = try other.freeze()
  }

  @Test func propertiesOfEveryKindComeBack() throws {
    let model = Describing.library()
    let book = try #require(model.entitiesByName["Book"])
    func check<T: NSPropertyDescription>(_ name: String, _: T.Type) throws {
      let property = try #require(book.propertiesByName[name] as? T)
      let read = try roundTrip(property)
      #expect(read == property && type(of: read) == T.self && read.entityIfAny == nil, "\(name)")
    }
    try check("title", NSAttributeDescription.self)
    try check("folded", NSDerivedAttributeDescription.self)
    try check("size", NSCompositeAttributeDescription.self)
    try check("author", NSRelationshipDescription.self)
    try check("namesakes", NSFetchedPropertyDescription.self)
  }

  @Test func whatHasNoFormInAnArchiveStopsTheProgram() async throws {
    let block = Describing.attribute("a")
    block.setValidationPredicates([NSPredicate { _, _ in true }], withValidationWarnings: ["x"])
    #expect(ModelArchive.data(of: Describing.model([Describing.entity("A", [block])])) == nil)
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let block = Describing.attribute("a")
      block.setValidationPredicates([NSPredicate { _, _ in true }], withValidationWarnings: ["x"])
      _ = try NSKeyedArchiver.archivedData(withRootObject: block, requiringSecureCoding: true)
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("is validated by a block, which a model file cannot hold"))
  }

  @Test func damagedArchivesGiveNoModel() throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.encode(Data("no archive".utf8) as NSData, forKey: "archive")
    archiver.finishEncoding()
    let reader = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    #expect(NSManagedObjectModel(coder: reader) == nil)
    let empty = NSKeyedArchiver(requiringSecureCoding: true)
    empty.finishEncoding()
    #expect(NSEntityDescription(coder: try NSKeyedUnarchiver(forReadingFrom: empty.encodedData)) == nil)
  }
}
