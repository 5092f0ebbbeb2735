import StoreSchema

/// A fetch of values instead of objects, grouped where that is wanted: what Core Data calls results of type dictionary.
///
/// With ``groups``, or with a column that is an aggregate, each group of objects with equal values gives one row; without groups all
/// objects are one group, which is there even if no object is. Nil is a value to group by. Groups come in the order of their first
/// objects unless ``FetchPlan/sort`` says otherwise, in which paths must be grouped by then.
public struct TablePlan: Hashable, Sendable {
  /// Which objects. Their offset and limit count the rows of the table.
  public var fetch: FetchPlan
  public var columns: [Column]
  public var groups: [SlotPath]
  /// Which groups are kept, by what they are grouped by: Core Data knows no other conditions.
  public var having: ResolvedPredicate
  /// Whether a row that was there already is left out.
  public var isDistinct: Bool

  public init(
    _ fetch: FetchPlan, columns: [Column], groups: [SlotPath] = [], having: ResolvedPredicate = .constant(true),
    isDistinct: Bool = false
  ) {
    self.fetch = fetch
    self.columns = columns
    self.groups = groups
    self.having = having
    self.isDistinct = isDistinct
  }

  public enum Column: Hashable, Sendable {
    case value(SlotPath)
    case aggregate(Aggregate, SlotPath)
  }

  public var isGrouped: Bool {
    !groups.isEmpty
      || columns.contains { column in if case .aggregate = column { true } else { false } }
  }

  /// What makes no sense in the plan, as a sentence; nil for a sound one.
  public var defect: String? {
    guard isGrouped else {
      return having == .constant(true) ? nil : "There is a condition on groups, but nothing is grouped."
    }
    for column in columns {
      if case .value(let path) = column, !groups.contains(path) {
        return "A column is neither an aggregate nor grouped by."
      }
    }
    if !fetch.sort.allSatisfy({ groups.contains($0.path) }) {
      return "Groups are sorted by what they are not grouped by."
    }
    return having.paths.allSatisfy(groups.contains)
      ? nil : "A condition on groups is about what they are not grouped by."
  }
}
