import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema

extension ConformanceSuite {
  static let lifecycle: [ConformanceCase] = [
    ConformanceCase("LIF-001", "a new store is empty and says what it is", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.people())
      for entity in s.schema.entities { c.equal(try s.objects(entity.name), [], entity.name) }
      let metadata = s.store.metadata
      c.expect(UUID(uuidString: metadata.identifier) != nil, "the identifier is \(metadata.identifier)")
      c.equal(metadata.identifier, s.store.identifier)
      c.equal(metadata.storeType, c.backend.storeType)
      c.equal(metadata.versionHashes, s.schema.versionHashes)
    }
  ]
}
