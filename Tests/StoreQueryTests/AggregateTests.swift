import Foundation
import StoreQuery
import StoreSchema
import Testing

@Suite struct AggregateTests {
  private func of(_ aggregate: Aggregate, _ values: [Value]) -> Value {
    var collector = Aggregate.Collector(aggregate)
    for value in values { collector.add(value) }
    return collector.value
  }

  @Test func nilDoesNotCount() {
    for values in [[], [Value.null], [.null, .null]] {
      #expect(of(.count, values) == .int(0))
      #expect(of(.sum, values) == .int(0))
      for aggregate in [Aggregate.average, .minimum, .maximum] { #expect(of(aggregate, values) == .null) }
    }
    #expect(of(.average, [.int(1), .null, .int(2)]) == .double(1.5))
  }

  @Test func sumsAreExactAsLongAsTheyFit() {
    #expect(of(.sum, [.int(.max), .int(-1)]) == .int(.max - 1))
    #expect(of(.sum, [.int(.max), .int(.max)]) == .double(2 * 0x1p63))
    #expect(of(.sum, [.int(.max), .int(.max), .int(-(.max))]) == .int(.max))
    #expect(of(.sum, [.int(1), .double(0.5), .int(2)]) == .double(3.5))
    #expect(
      of(.sum, [.decimal(Decimal(string: "0.1") ?? 0), .decimal(Decimal(string: "0.2") ?? 0)])
        == .decimal(Decimal(string: "0.3") ?? 0))
    #expect(of(.average, [.decimal(1), .decimal(2)]) == .decimal(Decimal(string: "1.5") ?? 0))
    #expect(of(.sum, [.double(1), .double(.infinity)]) == .null)
    #expect(of(.sum, [.bool(true), .bool(true)]) == .int(2))
  }

  @Test func textHasEndsButNoSum() {
    let texts = ["b", "a", "c"].map(Value.string)
    #expect(of(.minimum, texts) == .string("a"))
    #expect(of(.maximum, texts) == .string("c"))
    #expect(of(.sum, texts) == .null)
    #expect(of(.average, texts) == .null)
    #expect(of(.count, texts) == .int(3))
  }

  @Test func plansSayWhatMakesNoSense() {
    let path = { SlotPath(leaf: .attribute(slot: $0, kind: .int64, declaringEntity: 0)) }
    let all = FetchPlan(entities: 0..<1)
    #expect(TablePlan(all, columns: [.value(path(0))]).defect == nil)
    #expect(TablePlan(all, columns: [.value(path(0)), .aggregate(.count, path(1))]).defect != nil)
    #expect(TablePlan(all, columns: [.value(path(0)), .aggregate(.count, path(1))], groups: [path(0)]).defect == nil)
    let isPositive = ResolvedPredicate.comparison(.path(path(1)), .greaterThan, .constant(.int(0)), [])
    let grouped = TablePlan(all, columns: [.value(path(0))], groups: [path(0)], having: .not(.or([isPositive])))
    #expect(grouped.defect != nil)
  }
}
