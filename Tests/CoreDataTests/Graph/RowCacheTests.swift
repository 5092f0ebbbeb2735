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

  /// A view that shows `commitNumber` commits.
  private func view(_ commitNumber: UInt64, _ start: UInt64 = 1, _ end: UInt64? = nil) -> ViewStamp {
    ViewStamp(commitNumber: commitNumber, start: start, end: end ?? start)
  }

  private func cached(_ cache: RowCache) -> Int64? { cache.row(0, 1)?.int(0) }

  @Test func equalRowsAreShared() throws {
    let cache = RowCache(roots: 1)
    let first = row(7, version: 1)
    _ = cache.merge(0, first, view: view(0))
    #expect(cache.merge(0, row(7, version: 1), view: view(0)).isIdentical(to: first))
  }

  @Test func anOlderRowIsGivenBackAndNotKept() {
    let cache = RowCache(roots: 1)
    _ = cache.merge(0, row(8, version: 2), view: view(0))
    // Reads from an older view get the rows of that view, because they must agree with each other.
    #expect(cache.merge(0, row(7, version: 1), view: view(0)).int(0) == 7)
    #expect(cached(cache) == 8)
  }

  @Test func aRowChangedWithoutItsVersionReplacesTheKnownOne() {
    let cache = RowCache(roots: 1)
    _ = cache.merge(0, row(7, version: 1), view: view(0))
    #expect(cache.merge(0, row(9, version: 1), view: view(0)).int(0) == 9)
    #expect(cached(cache) == 9)
  }

  @Test func anOldViewDoesNotBringBackADeletedRow() throws {
    let cache = RowCache(roots: 1)
    let stored = row(7, version: 1)
    _ = cache.merge(0, stored, view: view(0))
    let company = try CompanyStore()
    var changes = ChangeSet(time: 0)
    changes.deletions = [.init(stored.reference, versionRead: 1, row: stored)]
    let schema = try company.store.requireEngine().schema
    cache.publish(try changes.sealed(keys: [], schema), Receipt(keys: [], commitNumber: 1, touched: []), schema)
    #expect(cached(cache) == nil)
    #expect(cache.merge(0, stored, view: view(0)).int(0) == 7)
    #expect(cached(cache) == nil)
    _ = cache.merge(0, stored, view: view(1))
    #expect(cached(cache) == 7)
  }

  /// A store that moved has other rows with the same keys and versions. Rows that are still read from its former URL
  /// are not kept.
  @Test func rowsOfAFormerEngineAreNotKept() {
    let cache = RowCache(roots: 1)
    let former = view(7, cache.nextView())
    _ = cache.merge(0, row(7, version: 1), view: former)
    cache.begin()
    #expect(cache.merge(0, row(7, version: 1), view: former).int(0) == 7)
    #expect(cached(cache) == nil)
    let now = view(0, cache.nextView())
    _ = cache.merge(0, row(8, version: 1), view: now)
    #expect(cache.merge(0, row(7, version: 2), view: former).int(0) == 7)
    #expect(cached(cache) == 8)
    #expect(!cache.isOfEngine(former) && cache.isOfEngine(now))
  }

  @Test func onlyRowsOfALaterViewMayBeNewerThanAView() {
    let cache = RowCache(roots: 1)
    let (first, second) = (view(0, cache.nextView()), view(0, cache.nextView()))
    _ = cache.merge(0, row(7, version: 1), view: first)
    #expect(!cache.hasRows(after: first))
    _ = cache.merge(0, row(8, version: 2), view: second)
    #expect(cache.hasRows(after: first) && !cache.hasRows(after: second))
    // A view whose start is before that of the second view, and whose end is after it.
    _ = cache.merge(0, row(9, version: 3), view: view(0, first.start, cache.nextView()))
    #expect(cache.hasRows(after: second))
  }

  /// Unused rows are dropped only when there are very many: until then all stay, however large they are.
  @Test func unusedRowsStayUntilThereAreMany() {
    let cache = RowCache(roots: 1)
    let text = String(repeating: "x", count: 1 << 20)
    for key in 1...Int64(70) {
      builder.begin(slots: 1)
      builder.setString(0, text)
      _ = cache.merge(0, builder.finish(key: key, entity: 0, version: 1), view: view(0))
    }
    for key in 1...Int64(70) { #expect(cache.row(0, key) != nil, "\(key)") }
  }
}
