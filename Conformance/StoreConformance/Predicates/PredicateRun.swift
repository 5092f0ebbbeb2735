import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// Random predicates over one random store: what the store selects is what plain dictionaries select, pushed down and not.
public struct PredicateRun {
  /// What came of a run.
  public struct Report: Sendable {
    public var count = 0
    /// How many the store evaluated wholly by itself.
    public var pushed = 0
    /// The same by what predicates are made of.
    public var operators: [String: (count: Int, pushed: Int)] = [:]
    /// The first few predicates that selected something else, with both selections.
    public var divergences: [String] = []
    /// How many were no constants: they selected some objects and not all.
    public var telling = 0
  }

  private let harness: any StoreHarness
  private let model: ModelSchema

  public init(_ harness: any StoreHarness) throws {
    self.harness = harness
    model = try ModelSchema()
  }

  /// Fills a store by operations and runs `count` predicates on it.
  public func run(count: Int, seed: UInt64, operations: Int = 150) throws -> Report {
    let place = try harness.makeLocation()
    defer { try? harness.destroy(place) }
    let filled = try ModelExecution(harness, place, model, of: ModelOperation.stream(count: operations, seed: seed))
    var report = Report()
    let reference = { (number: Int) -> ObjectReference? in filled.objects[number] }
    var generator = PredicateGenerator(model, filled.reference, seed: seed, reference)
    let evaluator = ReferenceEvaluator(filled.reference, model, reference)
    for _ in 0..<count { try check(generator.fetch(), evaluator, filled, &report) }
    try filled.close()
    return report
  }

  private func check(
    _ fetch: PredicateGenerator.Fetch, _ evaluator: ReferenceEvaluator, _ filled: ModelExecution,
    _ report: inout Report
  ) throws {
    let all = evaluator.select(fetch.entity, fetch.predicate, sort: fetch.sort)
    let tail = all.dropFirst(fetch.offset)
    let expected = Array(fetch.limit.map { tail.prefix($0) } ?? tail)
    let format = GeneratedFormat(fetch.predicate)
    let plan = try filled.session.plan(
      fetch.entity.name, format.text, format.arguments,
      sort: fetch.sort.map { ($0.isAscending ? "" : "-") + $0.keys.joined(separator: ".") }, offset: fetch.offset,
      limit: fetch.limit, exactly: false)
    report.count += 1
    if !all.isEmpty && all.count < filled.reference.numbers.count / 4 { report.telling += 1 }
    try filled.session.read { view in
      let isPushed = view.fetching?.canPush(plan.predicate, of: plan.entities) ?? false
      if isPushed { report.pushed += 1 }
      for name in fetch.operators {
        report.operators[name, default: (0, 0)].count += 1
        if isPushed { report.operators[name]?.pushed += 1 }
      }
      for pushesDown in [true, false] {
        let execution = FetchExecution(view, pushesDown: pushesDown)
        var (found, counted, failure) = ([Int](), 0, "")
        do throws(StoreError) {
          try execution.fetch(plan) { found.append(filled.numbers[$0.reference] ?? -1) }
          counted = try execution.count(plan)
        } catch { failure = error.description }
        if found == expected && counted == found.count && failure.isEmpty { continue }
        let way = pushesDown ? (isPushed ? "pushed down" : "partly") : "in memory"
        report.divergences.append(
          "\(way): \(fetch.entity.name) \(format.text) \(format.arguments.map(\.value.brief)) "
            + "sort \(fetch.sort.map { ($0.isAscending ? "" : "-") + $0.keys.joined(separator: ".") }) "
            + "offset \(fetch.offset) limit \(fetch.limit.map(String.init) ?? "-"): "
            + "found \(found), expected \(expected), counted \(counted) \(failure)")
      }
    }
  }
}
