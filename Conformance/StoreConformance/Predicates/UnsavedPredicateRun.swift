import Foundation
import StoreSchema

/// Runs random predicates over objects with many unsaved changes. Fetches with these changes, counts, and evaluation in
/// memory, over the objects and over dictionaries of their values, must select the same as the reference.
public struct UnsavedPredicateRun {
  private let stack: any ObjectStack
  private let model: ModelSchema

  /// A run on the contexts of a stack.
  public init(_ stack: any ObjectStack) throws {
    self.stack = stack
    model = try ModelSchema()
  }

  /// The number of first changes, of predicates between two changes, and of changes between saves.
  private static let (firstChanges, predicatesBetweenChanges, changesBetweenSaves) = (60, 5, 12)

  /// Runs `count` predicates.
  public func run(count: Int, seed: UInt64) throws -> PredicateRun.Report {
    var report = PredicateRun.Report()
    var (store, random) = (ReferenceStore(), SplitMix64(seed: seed))
    for (step, operation) in ModelOperation.stream(count: Self.firstChanges + count, seed: seed).enumerated()
    where report.count < count {
      var plan = ModelPlan(model, store, operation)
      let changes = plan.changes(operation.kind)
      if store.apply(changes) { for change in changes { try apply(change, store) } }
      // Saves now and then, so that there are objects with permanent keys and objects without.
      if step < Self.firstChanges || step % Self.changesBetweenSaves == 0 {
        try stack.save()
        continue
      }
      let reference = { (number: Int) -> ObjectReference? in
        store.objects[number].flatMap { model.schema.entity(named: $0.entity) }.map {
          ObjectReference(entity: $0.index, key: Int64(number) + 1)
        }
      }
      var generator = PredicateGenerator(
        model, store, seed: random.next(), isForContexts: true, reference)
      let evaluator = ReferenceEvaluator(store, model, reference)
      for _ in 0..<min(Self.predicatesBetweenChanges, count - report.count) {
        try check(generator.fetch(), evaluator, store, &report)
      }
    }
    try stack.close()
    return report
  }

  private func apply(_ change: ModelChange, _ store: ReferenceStore) throws {
    switch change {
    case .insert(let number, let entity, let values, let targets):
      try stack.insert(number, entity: entity)
      for (name, cell) in values { try stack.set(Self.object(cell.value), name, of: number) }
      for (name, target) in targets { try stack.set(target: target, name, of: number) }
    case .update(let number, let values, let targets, age: _):
      for (name, cell) in values { try stack.set(Self.object(cell.value), name, of: number) }
      for (name, target) in targets { try stack.set(target: target, name, of: number) }
    case .delete(let number, age: _): try stack.delete(number)
    case .tag(let person, let tag, isAdded: true): try stack.add(tag, "tags", of: person)
    case .tag(let person, let tag, isAdded: false): try stack.remove(tag, "tags", of: person)
    case .order(let list, let items): try stack.set(members: items, "items", of: list)
    case .pick(let list, let items): try stack.set(members: items, "picks", of: list)
    case .keep(let team, let tag, isAdded: true): try stack.add(tag, "keeps", of: team)
    case .keep(let team, let tag, isAdded: false): try stack.remove(tag, "keeps", of: team)
    }
  }

  private func check(
    _ fetch: PredicateGenerator.Fetch, _ evaluator: ReferenceEvaluator, _ store: ReferenceStore,
    _ report: inout PredicateRun.Report
  ) throws {
    report.count += 1
    let (selected, asDictionaries, problem) = outcome(fetch, evaluator)
    if asDictionaries { report.asDictionaries += 1 }
    if selected > 0 && selected < store.numbers.count / 4 { report.telling += 1 }
    if problem == nil { return }
    let short = fetch.shrunk { outcome($0, evaluator).problem != nil }
    if let problem = outcome(short, evaluator).problem { report.divergences.append(problem) }
  }

  /// How many objects the reference selects, whether the stack has also evaluated the predicate over dictionaries, and
  /// the differing selections of the stack.
  private func outcome(
    _ fetch: PredicateGenerator.Fetch, _ evaluator: ReferenceEvaluator
  ) -> (selected: Int, asDictionaries: Bool, problem: String?) {
    let all = evaluator.select(fetch.entity, fetch.predicate, sort: fetch.sort)
    let tail = all.dropFirst(fetch.offset)
    let expected = Array(fetch.limit.map { tail.prefix($0) } ?? tail)
    let format = GeneratedFormat(fetch.predicate)
    let request = StackRequest(
      entity: fetch.entity.name, format: format.text,
      arguments: format.arguments.map { cell in
        if case .reference(let reference) = cell.value { return .object(Int(reference.key - 1)) }
        return .value(Self.object(cell.value) ?? NSNull())
      },
      sort: fetch.sort.map { ($0.keys.joined(separator: "."), $0.isAscending, $0.selector) }, offset: fetch.offset,
      limit: fetch.limit)
    let found: StackResult
    do { found = try stack.fetch(request) } catch { return (all.count, false, "refused: \(fetch.brief): \(error)") }
    let (met, dictionaries) = (all.sorted(), found.metAsDictionaries)
    if found.fetched == expected && found.count == expected.count && found.met == met && (dictionaries ?? met) == met {
      return (all.count, dictionaries != nil, nil)
    }
    let problem =
      "\(fetch.brief): expected \(expected), fetched \(found.fetched), counted \(found.count), "
      + "in memory \(found.met) and as dictionaries \(dictionaries.map { "\($0)" } ?? "not") of \(met)"
    return (all.count, dictionaries != nil, problem)
  }

  /// A value in the type that clients of objects use.
  private static func object(_ value: Value) -> Any? {
    switch value {
    case .null, .reference: nil
    case .bool(let x): x
    case .int(let x): x
    case .double(let x): x
    case .decimal(let x): NSDecimalNumber(decimal: x)
    case .date(let x): Date(timeIntervalSinceReferenceDate: x)
    case .string(let x): x
    case .uri(let x): URL(string: x)
    case .uuid(let x): x
    case .data(let x): x
    }
  }
}
