import Foundation
import StoreSchema
import Testing

@testable import StoreConformance

/// Checks the random predicates: their parts, and the results for plain values.
@Suite struct PredicateGeneratorTests {
  private let model: ModelSchema
  private let store: ReferenceStore

  init() throws {
    model = try ModelSchema()
    var store = ReferenceStore()
    for operation in ModelOperation.stream(count: 300, seed: 7) {
      var plan = ModelPlan(model, store, operation)
      _ = store.apply(plan.changes(operation.kind))
    }
    self.store = store
  }

  private func generator(seed: UInt64, forContexts: Bool = false) -> PredicateGenerator {
    let (model, store) = (model, store)
    return PredicateGenerator(
      model, store, seed: seed, isForContexts: forContexts
    ) { number in
      store.objects[number].flatMap { model.schema.entity(named: $0.entity) }.map {
        ObjectReference(entity: $0.index, key: Int64(number) + 1)
      }
    }
  }

  @Test func allOperatorsAreMade() {
    var (generator, made) = (generator(seed: 1), Set<String>())
    for _ in 0..<8000 { made.formUnion(generator.fetch().operators) }
    let required: Set = [
      "==", "!=", "<", "<=", ">", ">=", "AND", "OR", "NOT", "ANY", "ALL", "NONE", "SOME", "SUBQUERY",
      "SUBQUERY many times", "TERNARY", "TERNARY many times", "BETWEEN", "IN", "IN of 101", "IN of 600", "IN of 1500",
      "IN set", "text IN text", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "[c]", "[d]", "[n]", "[l]",
      "@count", "@sum", "@avg", "@min", "@max", "@sum of decimals", "@avg of decimals", "@unionOfObjects",
      "@distinctUnionOfObjects", "UNION", "INTERSECT", "MINUS", "distinct:", "count", "sum", "average", "min", "max",
      "median", "mode", "stddev", "[FIRST]", "[LAST]", "[SIZE]", "[n]", "entity.name", "to-one", "to-many", "data",
      "index", "mixed", "nested", "paths", "now()", "CAST to NSNumber", "CAST to NSString", "CAST to NSDate",
      "CAST to NSDecimalNumber", "CAST to NSURL", "CAST to NSUUID", "+", "-", "*", "/", "modulus", "**", "&", "|", "^",
      "<<", ">>", "-x", "~x", "decimal arithmetic", "abs", "floor", "ceiling", "trunc", "sqrt", "log", "ln", "exp",
      "uppercase", "lowercase", "canonical", "length", "sort over relationships", "caseInsensitiveCompare:",
      "localizedCompare:", "localizedCaseInsensitiveCompare:", "localizedStandardCompare:",
    ]
    #expect(required.subtracting(made) == [])
  }

  @Test func everySelectionCanBeMadeOfPlainValues() {
    var generator = generator(seed: 2)
    var (some, all) = (0, 0)
    for _ in 0..<3000 {
      let fetch = generator.fetch()
      let found = generator.evaluator.select(fetch.entity, fetch.predicate, sort: fetch.sort)
      #expect(Set(found).count == found.count)
      if !found.isEmpty { some += 1 }
      if found.count == store.numbers.count { all += 1 }
    }
    // Most of the predicates select some objects, but not all.
    #expect(some > 1000 && all < 100)
  }

  /// A context evaluates values behind one-way relationships as they were last saved (decision 038).
  @Test func contextsAreNotReadForValuesBehindOneWayRelationships() {
    let names = ["rival.", "keeps."]
    for forContexts in [true, false] {
      var (generator, isFollowed) = (generator(seed: 3, forContexts: forContexts), false)
      for _ in 0..<3000 {
        let text = GeneratedFormat(generator.fetch().predicate).text
        if names.contains(where: text.contains) { isFollowed = true }
      }
      #expect(isFollowed == !forContexts)
    }
  }

  @Test func aFetchThatGoesWrongBecomesShorter() {
    let culprit = GeneratedPredicate.belongs(.now, .constants([]))
    let fetch = PredicateGenerator.Fetch(
      entity: model.schema.entities[0],
      predicate: .and([.constant(true), .not(.or([.constant(false), culprit, .constant(true)]))]),
      sort: [GeneratedSort(keys: ["name"], isAscending: true)], offset: 3, limit: 7, operators: [])
    let short = fetch.shrunk { GeneratedFormat($0.predicate).text.contains("now()") && $0.limit != nil }
    #expect(GeneratedFormat(short.predicate).text == "now() IN {}")
    #expect(short.sort.isEmpty && short.offset == 0 && short.limit == 7)
  }
}

/// The reference values with which stores are compared.
@Suite struct ReferenceValuesTests {
  @Test func sumsAreExactWhateverTheOrder() {
    let numbers: [Double] = [.greatestFiniteMagnitude, 1, .greatestFiniteMagnitude, -1e300, -.greatestFiniteMagnitude]
    let values = (numbers + [-.greatestFiniteMagnitude, 1e300, .leastNonzeroMagnitude]).map(Value.double)
    #expect(ReferenceValues.aggregate("@sum", values) == .double(1))
    #expect(ReferenceValues.aggregate("@sum", values.reversed()) == .double(1))
    #expect(ReferenceValues.aggregate("@sum", [.double(.infinity)]) == .null)
  }

  @Test func bitsAreShiftedByAnyNumber() {
    func shifted(_ x: Int64, _ sign: String, _ y: Int64) -> Value { ReferenceValues.arithmetic(.int(x), sign, .int(y)) }
    #expect(shifted(-1, "<<", 63) == .int(.min) && shifted(3, "<<", 64) == .int(0))
    #expect(shifted(-9, ">>", 1) == .int(-5) && shifted(-9, ">>", 70) == .int(-1) && shifted(9, ">>", 63) == .int(0))
    #expect(shifted(9, ">>", -1) == .int(18) && shifted(9, "<<", -1) == .int(4))
    #expect(ReferenceValues.arithmetic(.double(2), "&", .int(3)) == .null)
  }

  @Test func decimalsAreExact() throws {
    let x = try #require(Decimal(string: "12345678901234567890123456789012345678"))
    #expect(ReferenceValues.arithmetic(.decimal(x), "-", .int(1)) == .decimal(x - 1))
    #expect(ReferenceValues.arithmetic(.decimal(x), "modulus", .int(10)) == .decimal(8))
    #expect(ReferenceValues.arithmetic(.decimal(-7.25), "modulus", .int(2)) == .decimal(-1.25))
    #expect(ReferenceValues.function("floor", .decimal(-7.25)) == .decimal(-8))
    #expect(ReferenceValues.function("ceiling", .decimal(-7.25)) == .decimal(-7))
    #expect(ReferenceValues.function("trunc", .decimal(-7.25)) == .decimal(-7))
  }

  @Test func numbersOfAllKindsCompareExactly() {
    #expect(ReferenceValues.compare(.int(1 << 53 + 1), .double(0x1p53)) == 1)
    #expect(ReferenceValues.compare(.int(.max), .double(0x1p63)) == -1)
    #expect(ReferenceValues.compare(.double(0.1), .decimal(Decimal(string: "0.1") ?? 0)) == 0)
    #expect(ReferenceValues.compare(.int(.max), .double(.infinity)) == -1)
  }
}
