import StoreProtocol
import StoreQuery
import StoreSchema
import Testing

/// A store of numbers that executes table plans itself, and counts the rows that it returns.
private final class NumberSnapshot: FetchingSnapshot, @unchecked Sendable {
  let commitNumber: UInt64 = 1
  let numbers: [Int64]
  nonisolated(unsafe) var given = 0

  init(_ numbers: [Int64]) { self.numbers = numbers }

  func canPush(_ plan: TablePlan) -> Bool { true }
  func table(_ plan: TablePlan, _ body: ([Value]) -> Void) throws(StoreError) {
    let sorted = plan.fetch.sort.isEmpty ? numbers : numbers.sorted(by: plan.fetch.sort[0].isAscending ? (<) : (>))
    let tail = sorted.dropFirst(plan.fetch.offset)
    for number in plan.fetch.limit.map({ tail.prefix($0) }) ?? tail {
      given += 1
      body(plan.columns.map { _ in .int(number) })
    }
  }

  func canPush(_ predicate: ResolvedPredicate, of entities: Range<Int>) -> Bool { true }
  func canPush(_ sort: ResolvedSort, of entities: Range<Int>) -> Bool { true }
  func fetch(_ plan: FetchPlan, _ body: (consuming Row) -> Void) throws(StoreError) {}
  func fetchReferences(_ plan: FetchPlan, _ body: (ObjectReference) -> Void) throws(StoreError) {}
  func count(_ plan: FetchPlan) throws(StoreError) -> Int { numbers.count }
  func rows(of entity: Int, keys: [Int64], _ body: (consuming Row) -> Void) throws(StoreError) {}
  func scan(_ entities: Range<Int>, _ body: (consuming Row) -> Void) throws(StoreError) {}
  func destinations(
    of relationship: Relationship, owners: [Int64], _ body: (Int64, consuming Row) -> Void
  ) throws(StoreError) {}
}

/// Table plans over several stores.
@Suite struct TableExecutionTests {
  private static let path = SlotPath(leaf: .attribute(slot: 0, kind: .int64, declaringEntity: 0))

  private func run(
    sort isAscending: Bool?, offset: Int = 0, limit: Int?, isDistinct: Bool = false
  ) throws -> (numbers: [Int64], given: [Int]) {
    let sort = isAscending.map { [ResolvedSort(path: Self.path, isAscending: $0, comparison: .literal)] } ?? []
    let fetch = FetchPlan(entities: 0..<1, sort: sort, offset: offset, limit: limit)
    let stores = [
      NumberSnapshot((0..<1000).map { $0 * 2 }), NumberSnapshot((0..<1000).map { 1999 - $0 * 2 }),
    ]
    var numbers: [Int64] = []
    let plan = TablePlan(fetch, columns: [.value(.path(Self.path))], isDistinct: isDistinct)
    try TableExecution(stores).run(plan) { values, _ in if case .int(let x) = values[0] { numbers.append(x) } }
    return (numbers, stores.map(\.given))
  }

  @Test func eachStoreGivesNoMoreThanTheWindowCanHave() throws {
    let first = try run(sort: true, offset: 3, limit: 5)
    #expect(first.numbers == [3, 4, 5, 6, 7] && first.given == [8, 8])
    let last = try run(sort: false, limit: 2)
    #expect(last.numbers == [1999, 1998] && last.given == [2, 2])
    let unsorted = try run(sort: nil, offset: 1, limit: 2)
    #expect(unsorted.numbers == [2, 4] && unsorted.given == [3, 3])
    // The window may be entirely in the second store.
    let beyond = try run(sort: nil, offset: 1000, limit: 2)
    #expect(beyond.numbers == [1999, 1997] && beyond.given == [1000, 1000])
  }

  @Test func aWindowThatIsTooLargeIsNone() throws {
    let all = try run(sort: true, offset: 1998, limit: .max)
    #expect(all.numbers == [1998, 1999] && all.given == [1000, 1000])
    #expect(try run(sort: true, offset: 1, limit: nil).numbers.count == 1999)
  }

  /// Duplicates of earlier rows do not count, so no single store knows where the window ends.
  @Test func distinctRowsAreCutWhereTheyAreMade() throws {
    let distinct = try run(sort: true, limit: 2, isDistinct: true)
    #expect(distinct.numbers == [0, 1] && distinct.given == [1000, 1000])
  }
}
