/// All cases.
public enum ConformanceSuite {
  /// Patch: cases loosened or mended; minor: cases added; major: capabilities changed.
  public static let version = "0.1.0"

  /// Every case, simple areas first, each id once.
  public static let all: [ConformanceCase] = [
    lifecycle, lifecycleOfFiles, identity, values, attributeRules, links, orders, deletions, inheritance, predicates,
    sorting, tables,
    saves, uniqueness, versions, concurrency, durability, damage, capabilities,
  ].flatMap { $0 }

  /// The case of an id, nil for none.
  public static func find(_ id: String) -> ConformanceCase? { byID[id] }

  private static let byID = Dictionary(all.map { ($0.id.text, $0) }, uniquingKeysWith: { first, _ in first })
}
