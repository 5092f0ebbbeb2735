import StoreSchema

/// A fetch of values instead of objects, grouped or not: results of the dictionary type in Core Data.
///
/// With ``groups``, or with an aggregate column, each group of objects with equal values gives one row. Without groups
/// all objects are one group, which gives a row even where there are no objects. Nil counts as a value to group by.
///
/// Rows are in the order of ``FetchPlan/sort``; groups can be sorted only by their grouping values. Where the sort
/// leaves rows equal, groups are in the ascending order of their grouping values, distinct rows in the order of their
/// values, and all others in the order of their objects.
public struct TablePlan: Hashable, Sendable {
  /// The objects. Offset and limit count the rows of the table.
  public var fetch: FetchPlan
  /// The values of each row, in their order.
  public var columns: [Column]
  /// The expressions to group by; empty for no groups.
  public var groups: [ResolvedExpression]
  /// The condition on groups, over grouping values and columns (``SlotPath/Leaf/column(_:)``).
  public var having: ResolvedPredicate
  /// Whether repeated rows are left out.
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
    /// A value of an object; in groups a value that all objects of a group share.
    case value(ResolvedExpression)
    /// The result of an aggregate over a group's objects; with `isDistinct` each value counts once.
    case aggregate(ResolvedAggregate, ResolvedExpression, isDistinct: Bool)

    /// The expression that is evaluated for each object.
    public var expression: ResolvedExpression {
      switch self {
      case .value(let expression), .aggregate(_, let expression, isDistinct: _): expression
      }
    }

    fileprivate var isAggregate: Bool { if case .aggregate = self { true } else { false } }
  }

  /// Whether each row belongs to a group of objects, not to one object.
  public var isGrouped: Bool { !groups.isEmpty || columns.contains(where: \.isAggregate) }

  /// The fault of an invalid plan, as a sentence; nil for a valid one.
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

  /// Whether all objects of a group share the value.
  private func isCommon(_ expression: ResolvedExpression) -> Bool {
    groups.contains(expression) || expression.staysInTable && expression.paths.allSatisfy { groups.contains(.path($0)) }
  }

  private func isKnown(_ path: SlotPath) -> Bool {
    if case .column(let position) = path.leaf { return columns.indices.contains(position) }
    return groups.contains(.path(path))
  }
}
