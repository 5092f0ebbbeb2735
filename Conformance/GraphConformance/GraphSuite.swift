import StoreConformance

/// All cases with objects in contexts.
public enum GraphSuite {
  /// Every case. IDs are unique.
  public static let all: [ConformanceCase] = [
    lifecycle, identity, values, attributeRules, relationships, orders, deletions, inheritance, fetches, predicates,
    literals, dictionaries, fetchesOverChanges, asynchronousFetches, saves,
    uniqueValues, conflicts, mergePolicies,
    ownPolicies, contexts, contextLives, children, undo, results, misuse, hostileValues, concurrency, durability,
    copies, damage,
    capabilities,
    loads, versions, outside,
  ].flatMap { $0.map(\.conformanceCase) }
}
