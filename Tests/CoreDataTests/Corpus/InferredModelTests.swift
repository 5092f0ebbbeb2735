import CoreData
import Foundation
import TestSupport
import Testing

/// Models inferred from the tables of real stores.
@Suite(Corpus.condition) struct InferredModelTests {
  @Test(arguments: Corpus.stores) func everyStoreCanBeReadWithoutItsModel(_ store: CorpusStore) throws {
    let url = store.folder.appending(path: store.mainFile)
    let model = try NSPersistentStoreCoordinator.inferredModel(forPersistentStoreAt: url)
    #expect(model.isInferred)
    #expect(model.versionIdentifiers.contains("inferred"))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(type: .sqlite, at: url)
    #expect(opened.isReadOnly)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for facts in store.facts.entities {
        let request = NSFetchRequest<NSManagedObject>(entityName: facts.storedName ?? facts.name)
        request.includesSubentities = false
        let objects = try context.fetch(request)
        #expect(objects.count == facts.rows, "\(facts.name)")
        for object in objects {
          for name in object.entity.propertiesByName.keys { _ = object.value(forKey: name) }
        }
      }
      if let entity = model.entities.first {
        _ = NSManagedObject(entity: entity, insertInto: context)
        #expect(throws: CocoaError.self) { try context.save() }
      }
    }
    try coordinator.remove(opened)
  }

  /// The tables contain more information where a store uses more of the format.
  @Test func relationshipsAreFoundWhereTheTablesTellThem() throws {
    let model = { (name: String) in
      try NSPersistentStoreCoordinator.inferredModel(forPersistentStoreAt: Fixture(name).store)
    }
    let links = try model("links").entitiesByName
    let songs = try #require(links["Playlist"]?.relationshipsByName["SONGS"])
    #expect(songs.isToMany && songs.isOrdered && songs.destinationEntity?.name == "Song")
    #expect(songs.inverseRelationship?.name == "PLAYLISTS")
    let items = try #require(links["Box"]?.relationshipsByName["ITEMS"])
    #expect(items.isToMany && items.inverseRelationship == nil && items.destinationEntity?.name == "Thing")
    let friends = try #require(links["Person"]?.relationshipsByName["FRIENDS"])
    #expect(friends.inverseRelationship === friends)
    let city = try #require(links["Person"]?.relationshipsByName["CITY"])
    #expect(!city.isToMany && city.destinationEntity?.name == "City")
    let family = try model("family").entitiesByName
    #expect(family["Image"]?.superentity?.superentity?.name == "Item")
    #expect(family["Comment"]?.relationshipsByName["SUBJECT"]?.destinationEntity?.name == "Item")
    let blobs = try model("blobs").entities.flatMap { $0.attributesByName.values }
    #expect(blobs.contains { $0.allowsExternalBinaryDataStorage })
    let types = try model("types").entities.flatMap { $0.attributesByName.values }
    let kinds = Set(types.map(\.attributeType))
    #expect(
      kinds.isSuperset(of: [.integer64AttributeType, .doubleAttributeType, .dateAttributeType, .stringAttributeType]))
    #expect(kinds.contains(.UUIDAttributeType) && kinds.contains(.decimalAttributeType))
  }
}
