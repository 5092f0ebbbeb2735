import Foundation
import StoreSchema
import TestSupport
import Testing

@testable import CoreData

/// Every store of the corpus opens through the whole stack, and every value in it equals the value that an independent
/// reader finds.
@Suite(Corpus.condition) struct CorpusReadingTests {
  @Test func thereAre25Stores() { #expect(Corpus.stores.count == 25) }

  @Test(arguments: Corpus.stores)
  func everyObjectReadsAsTheReferenceReaderSays(_ store: CorpusStore) throws {
    let url = try store.copy()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let model = try store.model(at: url)
    let expected = try store.reference([url.path] + store.referenceModelArgument)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(type: .sqlite, at: url)
    #expect(opened.identifier == store.facts.storeUUID)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for facts in store.facts.entities {
        let request = NSFetchRequest<NSManagedObject>(entityName: facts.name)
        request.includesSubentities = false
        #expect(try context.count(for: request) == facts.rows, "\(facts.name)")
        let objects = try context.fetch(request)
        #expect(objects.count == facts.rows)
        for object in objects { object.willAccessValue(forKey: nil) }
        #expect(objects.allSatisfy { !$0.isFault })
      }
      let found = try CanonicalDump.dump(context, model)
      #expect(found == expected)
      #expect(context.core.faultError == nil)
      if found == expected { print("corpus-store \(store.id) ok") }
    }
    try coordinator.remove(opened)
  }

  /// Copies to and from memory; `ConvertTests` covers the pairs of files.
  @Test(arguments: Corpus.stores)
  func everyStoreGoesThroughMemoryToEveryType(_ store: CorpusStore) throws {
    let url = try store.copy()
    let folder = url.deletingLastPathComponent()
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = try store.model(at: url)
    let expected = try store.reference([url.path] + store.referenceModelArgument)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    var current = try coordinator.addPersistentStore(type: .sqlite, at: url)
    for type in StoreMigrationTests.persistentTypes.flatMap({ [.inMemory, $0] }) + [.inMemory, .inMemory] {
      let target = folder.appending(path: UUID().uuidString)
      current = try coordinator.migratePersistentStore(current, to: target, options: nil, type: type)
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        let found = try CanonicalDump.dump(context, model)
        #expect(found == expected ? "equal" == "equal" : "\(type.rawValue)" == "")
      }
    }
    try coordinator.remove(current)
  }
}
