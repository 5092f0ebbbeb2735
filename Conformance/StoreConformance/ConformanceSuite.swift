/// The cases of stores.
public enum ConformanceSuite {
  /// Patch: cases loosened or mended; minor: cases added; major: capabilities changed.
  public static let version = "0.2.0"

  /// Every case, simple areas first, each id once.
  public static let all: [ConformanceCase] = [
    lifecycle, parts, lifecycleOfFiles, foreignFiles, identity, values, attributeRules, obsoleteData, derivedAttributes,
    links,
    orders, deletions, referrers,
    inheritance, predicates, generatedPredicates, collections, statements, sorting,
    tables, saves, savesThatFail, filesThatFail, uniqueness, versions,
    histories,
    concurrency, locks,
    durability, machine, deaths, powerLosses, damage, salvages,
    sqliteDamage, xmlDamage, capabilities, [hugeValue], largeValues,
  ].flatMap { $0 }
}

/// The cases that a program runs: those of stores, and more that it adds.
public struct CaseList: Sendable {
  /// The cases in their order.
  public let all: [ConformanceCase]
  private let byID: [String: ConformanceCase]

  /// `more` has ids that no case of stores has; a case whose id is there already is left out. Without `storeCases`,
  /// `more` are all.
  public init(adding more: [ConformanceCase] = [], storeCases: Bool = true) {
    var (all, byID): ([ConformanceCase], [String: ConformanceCase]) = ([], [:])
    for one in (storeCases ? ConformanceSuite.all : []) + more where byID[one.id.text] == nil {
      all.append(one)
      byID[one.id.text] = one
    }
    (self.all, self.byID) = (all, byID)
  }

  /// The case of an id, nil for none.
  public func find(_ id: String) -> ConformanceCase? { byID[id] }
}
