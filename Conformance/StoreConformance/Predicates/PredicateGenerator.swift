import Foundation
import StoreSchema

/// Makes random predicates that fit a model. Their constants are mostly values of its objects.
struct PredicateGenerator {
  let model: ModelSchema
  let store: ReferenceStore
  let reference: (Int) -> ObjectReference?
  let evaluator: ReferenceEvaluator
  /// Whether contexts evaluate the predicates too. Contexts follow links back to changed objects.
  let isForContexts: Bool
  var random: SplitMix64
  /// The entity of the current object, then the entities of variables.
  var scopes: [Entity] = []
  /// The operators of the current predicate.
  private(set) var operators: Set<String> = []

  init(
    _ model: ModelSchema, _ store: ReferenceStore, seed: UInt64, isForContexts: Bool,
    _ reference: @escaping (Int) -> ObjectReference?
  ) {
    (self.model, self.store, self.isForContexts, self.reference) = (model, store, isForContexts, reference)
    evaluator = ReferenceEvaluator(store, model, reference)
    random = SplitMix64(seed: seed)
  }

  struct Fetch {
    var entity: Entity
    var predicate: GeneratedPredicate
    var sort: [GeneratedSort]
    var offset: Int
    var limit: Int?
    var operators: Set<String>
  }

  mutating func fetch() -> Fetch {
    let entity = model.schema.entities[random.below(model.schema.entities.count)]
    scopes = [entity]
    operators = []
    var (predicate, sort): (GeneratedPredicate, [GeneratedSort])
    switch random.below(200) {
    case 0: (predicate, sort) = (chain(1 + random.below(15)), [])
    case 1..<45: (predicate, sort) = byIndex() ?? (.constant(true), [])
    case 45..<65: (predicate, sort) = (self.predicate(depth: 3 + random.below(3)), sorts())
    default: (predicate, sort) = (self.predicate(depth: random.below(3)), sorts())
    }
    let isWindowed = random.below(3) == 0
    return Fetch(
      entity: entity, predicate: predicate, sort: sort, offset: isWindowed ? random.below(4) : 0,
      limit: isWindowed ? random.below(12) : nil, operators: operators)
  }

  // MARK: Sorts

  private static let selectors = [
    "caseInsensitiveCompare:", "localizedCompare:", "localizedCaseInsensitiveCompare:", "localizedStandardCompare:",
  ]

  private mutating func sorts() -> [GeneratedSort] {
    var sorts: [GeneratedSort] = []
    for _ in 0..<random.below(3) {
      guard let found = attribute(of: scopes[0], hops: random.below(4) == 0 ? 2 : nil, where: \.isComparable) else {
        continue
      }
      let selector = found.type == .string && random.below(2) == 0 ? note(one(Self.selectors)) : nil
      if found.keys.count > 2 { _ = note("sort over relationships") }
      sorts.append(GeneratedSort(keys: found.keys, isAscending: random.below(2) == 0, selector: selector))
    }
    return sorts
  }

  // MARK: Choices

  mutating func one<T>(_ values: [T]) -> T { values[random.below(values.count)] }

  mutating func note(_ name: String) -> String {
    operators.insert(name)
    return name
  }

  // MARK: Predicates

  mutating func predicate(depth: Int) -> GeneratedPredicate {
    if depth > 0 {
      switch random.below(6) {
      case 0, 1:
        _ = note("AND")
        return .and(parts(depth))
      case 2, 3:
        _ = note("OR")
        return .or(parts(depth))
      case 4:
        _ = note("NOT")
        return .not(predicate(depth: depth - 1))
      default: break
      }
    }
    let variable = random.below(scopes.count)
    return leaf(variable, depth: depth) ?? .constant(random.below(2) == 0)
  }

  private mutating func parts(_ depth: Int) -> [GeneratedPredicate] {
    var parts: [GeneratedPredicate] = []
    for _ in 0..<2 + random.below(2) { parts.append(predicate(depth: depth - 1)) }
    return parts
  }

  private mutating func leaf(_ variable: Int, depth: Int) -> GeneratedPredicate? {
    switch random.below(34) {
    case 0, 1, 2, 3: simple(variable)
    case 4, 5, 6: search(variable)
    case 7: between(variable)
    case 8: oneOf(variable)
    case 9: paths(variable)
    case 10, 11: quantified(variable)
    case 12: counted(variable, depth)
    case 13: aggregated(variable, depth)
    case 14, 15, 29: calculated(variable)
    case 16, 27, 28: function(variable)
    case 17: ternary(variable, depth)
    case 18, 19: objects(variable)
    case 20: element(variable, depth)
    case 21: bytes(variable)
    case 30, 31, 32: nested(variable, depth)
    case 22: entityName(variable)
    case 23: cast(variable)
    case 24: measured(variable, depth)
    case 25: belongs(variable, depth)
    case 26: random.below(4) == 0 ? now(variable) : simple(variable)
    default: mixed(variable)
    }
  }

  mutating func order() -> String { note(one(["==", "==", "!=", "<", "<=", ">", ">="])) }

  /// Compares an expression with its value for some object, or with another constant.
  mutating func compared(
    _ value: GeneratedValue, _ variable: Int, _ op: String? = nil, or constant: Value
  ) -> GeneratedPredicate {
    var known = random.below(2) == 0 ? self.value(of: value) : nil
    // A cast accepts some texts as URIs that clients do not.
    if case .uri(let text)? = known { known = .string(text) }
    return .comparison(value, op ?? order(), .constant(known ?? constant), options: "")
  }
}
