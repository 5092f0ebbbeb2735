/// The cases of stores.
public enum ConformanceSuite {
  /// The patch number changes for corrected cases, the minor number for added cases, the major number for changed
  /// capabilities.
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

/// The cases that a program runs: the store cases, and others that it adds.
public struct CaseList: Sendable {
  /// The cases in their order.
  public let all: [ConformanceCase]
  private let byID: [String: ConformanceCase]

  /// `more` has ids that no store case has; a case with a known id is left out. Without `storeCases`, only `more` is
  /// run.
  public init(adding more: [ConformanceCase] = [], storeCases: Bool = true) {
    var (all, byID): ([ConformanceCase], [String: ConformanceCase]) = ([], [:])
    for one in (storeCases ? ConformanceSuite.all : []) + more where byID[one.id.text] == nil {
      all.append(one)
      byID[one.id.text] = one
    }
    (self.all, self.byID) = (all, byID)
  }

  /// The case with an id, nil for an unknown id.
  public func find(_ id: String) -> ConformanceCase? { byID[id] }
}
