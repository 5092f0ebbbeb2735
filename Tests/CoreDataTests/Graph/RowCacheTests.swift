import StoreProtocol
import StoreSchema
import Testing

@testable import CoreData

/// Which of two rows the shared cache keeps.
@Suite struct RowCacheTests {
  private let builder = RowBuilder()

  private func row(_ value: Int64, version: Int64, key: Int64 = 1) -> Row {
    builder.begin(slots: 1)
    builder.setInt(0, value)
    return builder.finish(key: key, entity: 0, version: version)
  }

  private func cached(_ cache: RowCache) -> Int64? { cache.row(0, 1)?.int(0) }

  @Test func equalRowsAreShared() throws {
    let cache = RowCache(roots: 1)
    let first = row(7, version: 1)
    _ = cache.merge(0, first, view: 0)
    #expect(cache.merge(0, row(7, version: 1), view: 0).isIdentical(to: first))
  }

  @Test func anOlderRowIsGivenBackAndNotKept() {
    let cache = RowCache(roots: 1)
    _ = cache.merge(0, row(8, version: 2), view: 0)
    // Who reads from an older view gets what that view has: its rows must agree with each other.
    #expect(cache.merge(0, row(7, version: 1), view: 0).int(0) == 7)
    #expect(cached(cache) == 8)
  }

  @Test func aRowChangedWithoutItsVersionReplacesTheKnownOne() {
    let cache = RowCache(roots: 1)
    _ = cache.merge(0, row(7, version: 1), view: 0)
    #expect(cache.merge(0, row(9, version: 1), view: 0).int(0) == 9)
    #expect(cached(cache) == 9)
  }

  @Test func anOldViewDoesNotBringBackADeletedRow() throws {
    let cache = RowCache(roots: 1)
    let stored = row(7, version: 1)
    _ = cache.merge(0, stored, view: 0)
    let company = try CompanyStore()
    var changes = ChangeSet(time: 0)
    changes.deletions = [.init(stored.reference, versionRead: 1, row: stored)]
    let schema = try company.store.requireEngine().schema
    cache.publish(changes, Receipt(keys: [], commitNumber: 1, touched: []), schema)
    #expect(cached(cache) == nil)
    #expect(cache.merge(0, stored, view: 0).int(0) == 7)
    #expect(cached(cache) == nil)
    _ = cache.merge(0, stored, view: 1)
    #expect(cached(cache) == 7)
  }
}
