import StoreSchema

/// A fetch of values instead of objects, in groups or not: results of type dictionary in Core Data.
///
/// With ``groups``, or with a column that is an aggregate, each group of objects with equal values gives one row.
/// Without groups all objects are one group, which gives a row even where there are no objects. Nil is a value to group
/// by.
///
/// Rows come in the order of ``FetchPlan/sort``; groups can be sorted only by what they are grouped by. Where the sort
/// leaves rows equal, groups come in the ascending order of what they are grouped by, distinct rows in that of their
/// values, and all others in the order of their objects.
public struct TablePlan: Hashable, Sendable {
  /// Which objects. Their offset and limit count the rows of the table.
  public var fetch: FetchPlan
  /// The values of each row, in their order.
  public var columns: [Column]
  /// What all objects of a group have in common; empty for no groups.
  public var groups: [ResolvedExpression]
  /// Which groups are kept, by what they are grouped by and by their columns (``SlotPath/Leaf/column(_:)``).
  public var having: ResolvedPredicate
  /// Whether a row that was there already is left out.
  public var isDistinct: Bool

  /// A table of the objects of a fetch.
  public init(
    _ fetch: FetchPlan, columns: [Column], groups: [ResolvedExpression] = [],
    having: ResolvedPredicate = .constant(true), isDistinct: Bool = false
  ) {
    self.fetch = fetch
    self.columns = columns
    self.groups = groups
    self.having = having
    self.isDistinct = isDistinct
  }

  /// One value of a row.
  public enum Column: Hashable, Sendable {
    /// A value of an object; in groups one that all objects of a group have in common.
    case value(ResolvedExpression)
    /// What an aggregate makes of the values of a group's objects, with `isDistinct` of each value once.
    case aggregate(ResolvedAggregate, ResolvedExpression, isDistinct: Bool)

    /// What is looked up in each object.
    public var expression: ResolvedExpression {
      switch self {
      case .value(let expression), .aggregate(_, let expression, isDistinct: _): expression
      }
    }

    fileprivate var isAggregate: Bool { if case .aggregate = self { true } else { false } }
  }

  /// Whether each row is of a group of objects, not of one object.
  public var isGrouped: Bool { !groups.isEmpty || columns.contains(where: \.isAggregate) }

  /// What makes no sense in the plan, as a sentence; nil for a sound one.
  public var defect: String? {
    guard isGrouped else {
      return having == .constant(true) ? nil : "There is a condition on groups, but nothing is grouped."
    }
    for case .value(let expression) in columns where !isCommon(expression) {
      return "A column is neither an aggregate nor grouped by."
    }
    if !fetch.sort.allSatisfy({ groups.contains(.path($0.path)) }) {
      return "Groups are sorted by what they are not grouped by."
    }
    let isKnown = having.staysInTable && having.paths.allSatisfy(isKnown)
    return isKnown ? nil : "A condition on groups is about what is neither a column nor grouped by."
  }

  /// Whether all objects of a group have the value in common.
  private func isCommon(_ expression: ResolvedExpression) -> Bool {
    groups.contains(expression) || expression.staysInTable && expression.paths.allSatisfy { groups.contains(.path($0)) }
  }

  private func isKnown(_ path: SlotPath) -> Bool {
    if case .column(let place) = path.leaf { return columns.indices.contains(place) }
    return groups.contains(.path(path))
  }
}
