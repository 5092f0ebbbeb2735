import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// Runs random predicates over one random store. The store must select the same objects as plain dictionaries, with and
/// without pushdown.
public struct PredicateRun {
  /// The result of a run.
  public struct Report: Sendable {
    /// How many predicates were run.
    public var count = 0
    /// How many predicates the store evaluated completely.
    public var pushed = 0
    /// The same by the operators of the predicates.
    public var operators: [String: (count: Int, pushed: Int)] = [:]
    /// The first few predicates that selected other objects, with both selections.
    public var divergences: [String] = []
    /// How many predicates selected some objects and not all.
    public var telling = 0
    /// How many predicates were evaluated over dictionaries too.
    public var asDictionaries = 0
  }

  private let harness: any StoreHarness
  private let model: ModelSchema

  /// A run on stores of a harness.
  public init(_ harness: any StoreHarness) throws {
    self.harness = harness
    model = try ModelSchema()
  }

  /// Fills a store by operations and runs `count` predicates on it.
  public func run(count: Int, seed: UInt64, operations: Int = 150) throws -> Report {
    let location = try harness.makeLocation()
    defer { try? harness.destroy(location) }
    let filled = try ModelExecution(harness, location, model, of: ModelOperation.stream(count: operations, seed: seed))
    var report = Report()
    let reference = { (number: Int) -> ObjectReference? in filled.objects[number] }
    var generator = PredicateGenerator(
      model, filled.reference, seed: seed, isForContexts: false, reference)
    let evaluator = ReferenceEvaluator(filled.reference, model, reference)
    for _ in 0..<count { try check(generator.fetch(), evaluator, filled, &report) }
    try filled.close()
    return report
  }

  private func check(
    _ fetch: PredicateGenerator.Fetch, _ evaluator: ReferenceEvaluator, _ filled: ModelExecution,
    _ report: inout Report
  ) throws {
    report.count += 1
    let (selected, problems) = try outcome(fetch, evaluator, filled)
    if selected > 0 && selected < filled.reference.numbers.count / 4 { report.telling += 1 }
    let isPushed = try isPushed(fetch, filled)
    if isPushed { report.pushed += 1 }
    for name in fetch.operators {
      report.operators[name, default: (0, 0)].count += 1
      if isPushed { report.operators[name]?.pushed += 1 }
    }
    if problems.isEmpty { return }
    let short = try fetch.shrunk { try !outcome($0, evaluator, filled).problems.isEmpty }
    report.divergences += try outcome(short, evaluator, filled).problems
  }

  private func isPushed(_ fetch: PredicateGenerator.Fetch, _ filled: ModelExecution) throws -> Bool {
    guard let plan = try? plan(fetch, filled) else { return false }
    return try filled.session.read { $0.takesCondition(of: plan) }
  }

  private func plan(_ fetch: PredicateGenerator.Fetch, _ filled: ModelExecution) throws -> FetchPlan {
    let format = GeneratedFormat(fetch.predicate)
    var plan = try filled.session.plan(
      fetch.entity.name, format.text, format.arguments,
      sort: fetch.sort.map { ($0.isAscending ? "" : "-") + $0.keys.joined(separator: ".") }, offset: fetch.offset,
      limit: fetch.limit, exactly: false)
    for (position, step) in fetch.sort.enumerated() { plan.sort[position].comparison = Self.textOrder(step.selector) }
    return plan
  }

  /// How many objects the dictionaries select, and the differing selections of the store, by the way to select.
  private func outcome(
    _ fetch: PredicateGenerator.Fetch, _ evaluator: ReferenceEvaluator, _ filled: ModelExecution
  ) throws -> (selected: Int, problems: [String]) {
    let all = evaluator.select(fetch.entity, fetch.predicate, sort: fetch.sort)
    let tail = all.dropFirst(fetch.offset)
    let expected = Array(fetch.limit.map { tail.prefix($0) } ?? tail)
    let plan: FetchPlan
    do { plan = try self.plan(fetch, filled) } catch { return (all.count, ["refused: \(fetch.brief): \(error)"]) }
    let problems: [String] = try filled.session.read { view in
      let isPushed = view.takesCondition(of: plan)
      return [true, false].compactMap { pushesDown in
        let execution = FetchExecution(view, pushesDown: pushesDown)
        var (found, counted, failure) = ([Int](), 0, "")
        do throws(StoreError) {
          try execution.fetch(plan) { found.append(filled.numbers[$0.reference] ?? -1) }
          counted = try execution.count(plan)
        } catch { failure = "\(error.cause.map { "\($0) " } ?? "")\(error.description.prefix(200))" }
        if found == expected && counted == found.count && failure.isEmpty { return nil }
        let way = pushesDown ? (isPushed ? "pushed down" : "partly") : "in memory"
        return "\(way): \(fetch.brief): found \(found), expected \(expected), counted \(counted) \(failure)"
      }
    }
    return (all.count, problems)
  }

  private static func textOrder(_ selector: String?) -> SortComparison.TextOrder {
    switch selector {
    case "caseInsensitiveCompare:": .caseInsensitive
    case "localizedCompare:": .localized
    case "localizedCaseInsensitiveCompare:": .localizedCaseInsensitive
    case "localizedStandardCompare:": .localizedStandard
    default: .literal
    }
  }
}

extension PredicateGenerator.Fetch {
  /// The fetch in reports.
  var brief: String {
    let format = GeneratedFormat(predicate)
    let arguments = format.arguments.count > 60 ? ["\(format.arguments.count)"] : format.arguments.map(\.value.brief)
    return "\(entity.name) \(format.text) \(arguments) sort \(sort.map(\.brief)) offset \(offset) limit "
      + (limit.map(String.init) ?? "-")
  }
}

extension StoreSnapshot {
  /// Whether the store evaluates the predicate of a plan completely.
  fileprivate func takesCondition(of plan: FetchPlan) -> Bool {
    fetching.map { $0.prepare(plan).residual.predicate == nil } ?? false
  }
}
