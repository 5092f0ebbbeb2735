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

  @Test func plansSayWhatMakesNoSense() throws {
    let path = { ResolvedExpression.path(SlotPath(leaf: .attribute(slot: $0, kind: .int64, declaringEntity: 0))) }
    let count = TablePlan.Column.aggregate(.aggregate(.count), path(1), isDistinct: false)
    let all = FetchPlan(entities: 0..<1)
    #expect(TablePlan(all, columns: [.value(path(0))]).defect == nil)
    #expect(TablePlan(all, columns: [.value(path(0)), count]).defect != nil)
    #expect(TablePlan(all, columns: [.value(path(0)), count], groups: [path(0)]).defect == nil)
    let twice = ResolvedExpression.function(try #require(Function.named("add:to:")), [path(0), path(0)])
    #expect(TablePlan(all, columns: [.value(twice), count], groups: [path(0)]).defect == nil)
    #expect(TablePlan(all, columns: [.value(path(0)), count], groups: [twice]).defect != nil)
    let isPositive = { ResolvedPredicate.comparison($0, .greaterThan, .constant(.int(0)), []) }
    let grouped = TablePlan(
      all, columns: [.value(path(0))], groups: [path(0)], having: .not(.or([isPositive(path(1))])))
    #expect(grouped.defect != nil)
    let column = { ResolvedExpression.path(SlotPath(leaf: .column($0))) }
    #expect(TablePlan(all, columns: [count], having: isPositive(column(0))).defect == nil)
    #expect(TablePlan(all, columns: [count], having: isPositive(column(1))).defect != nil)
  }

  @Test func sumsOfRealsDoNotDependOnTheirOrder() {
    let numbers: [Double] = [1e16, 1, -1e16, 1e-3, 3, .leastNonzeroMagnitude, -1e300, 1e300, 0.1, 0.2, -0.0]
    let sum = Value.double(4.301)
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<50 { #expect(of(.sum, numbers.shuffled(using: &generator).map(Value.double)) == sum) }
    let greatest = Double.greatestFiniteMagnitude
    #expect(of(.sum, [.double(greatest), .double(greatest), .double(-greatest)]) == .double(greatest))
    #expect(of(.sum, [.double(greatest), .double(greatest)]) == .null)
    #expect(of(.sum, [.double(.infinity), .double(-.infinity), .double(1)]) == .null)
    #expect(of(.sum, [.double(.leastNonzeroMagnitude), .double(.leastNonzeroMagnitude)]) == .double(0x1p-1073))
    #expect(of(.sum, [.double(-.leastNonzeroMagnitude), .double(1), .double(-1)]) == .double(-0x1p-1074))
    // A sum halfway between two doubles is rounded to the even one; a sum beyond halfway is rounded up.
    #expect(of(.sum, [.double(0x1p53), .double(1)]) == .double(0x1p53))
    #expect(of(.sum, [.double(0x1p53), .double(1), .double(0x1p-60)]) == .double(0x1p53 + 2))
    #expect(of(.sum, [.double(0x1p53 + 2), .int(1)]) == .double(0x1p53 + 4))
    #expect(of(.sum, [.double(0.5), .int(.max), .int(.min)]) == .double(-0.5))
  }

  @Test func sumsOfRealsAreExact() {
    // Multiples of 2^-20 below 2^20. Doubles hold their sums exactly.
    var (whole, numbers) = (Int64(0), [Value]())
    var seed: UInt64 = 1
    for _ in 0..<10_000 {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let number = Int64(bitPattern: seed) >> 24
      whole += number
      numbers.append(.double(Double(number) * 0x1p-20))
    }
    #expect(of(.sum, numbers) == .double(Double(whole) * 0x1p-20))
  }
}
