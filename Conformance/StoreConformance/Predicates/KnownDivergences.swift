/// What is known to be wrong, by the rules, and not yet mended: predicates that would show it are not made unless asked for, so that
/// whatever else diverges is seen. Each case names the rule that it breaks.
struct KnownDivergences: Sendable {
  /// Whether such predicates are made all the same.
  let areMade: Bool
  /// Whether predicates are evaluated by contexts too, not by stores alone.
  let isForContexts: Bool

  /// SQLite's parser has room for 100 symbols: with nine subqueries within each other, or 25 conjunctions and disjunctions, a fetch is an error,
  /// where what a statement cannot say is to be evaluated over rows (decision 037).
  var longestChainOfSubqueries: Int { areMade ? 15 : 8 }

  /// `team.entity.name != 'X'` is false where there is no team; nil is equal to no name (rule 4.1 of the design).
  var comparesMissingNames: Bool { areMade }

  /// `(tags.@unionOfObjects.label).@count` is refused, where `count(tags.@unionOfObjects.label)` is not: the keys are read as one path.
  var countsGathered: Bool { areMade }

  /// `(members.place.city).@count` is refused where the path ends at an element of a composite attribute.
  var countsElements: Bool { areMade }

  /// nil in a list of constants counts under `@count` in memory; it is no value (decision 037).
  var countsConstantNil: Bool { areMade || !isForContexts }

  /// `LIKE[d]` folds what stands between wildcards by itself, so that a mark behind a wildcard stays; patterns are folded as a whole
  /// (``LikePattern``).
  var foldsMarksBehindWildcards: Bool { areMade }
}
