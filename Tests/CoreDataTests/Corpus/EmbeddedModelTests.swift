import Foundation
import TestSupport
import Testing

@testable import CoreData

/// The models in real stores.
@Suite(Corpus.condition) struct EmbeddedModelTests {
  @Test(arguments: Corpus.stores)
  func aModelEmbeddedInAStoreLoadsAndSurvivesWriting(_ store: CorpusStore) throws {
    let url = try store.copy()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let model = try NSPersistentStoreCoordinator.cachedModel(forPersistentStoreAt: url)
    #expect((model != nil) == (store.facts.modelCacheMatchesHashes != nil))
    guard let model else { return }
    #expect(Set(model.entitiesByName.keys) == Set(store.facts.entities.map(\.name)))
    if store.facts.modelCacheMatchesHashes == true {
      // Hashes of entities with derived or composite attributes cannot be computed.
      for (name, entity) in model.entitiesByName
      where !entity.properties.contains(where: {
        $0 is NSDerivedAttributeDescription || $0 is NSCompositeAttributeDescription
      }) {
        let hash = entity.versionHash.map { String(format: "%02x", $0) }.joined()
        #expect(hash == store.facts.versionHashes[name], "\(name)")
      }
    }
    let written = try #require(ModelArchive.data(of: model))
    let again = try ModelArchive.model(written)
    #expect(again.isEqual(model))
    #expect(ModelArchive.data(of: again) == written)
  }
}
