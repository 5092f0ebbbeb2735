import StoreQuery

/// The collations of a connection that sorts name: the ways of ``SortComparison`` to order texts. No index and no table uses them, as an
/// order may change with the locale.
public struct SQLCollation: Sendable {
  public let order: SortComparison.TextOrder

  private init(_ order: SortComparison.TextOrder) { self.order = order }

  /// Nil for the comparison of digits by their number: Foundation's is no order of more than two texts, so that what comes out depends on who
  /// sorts.
  init?(order: SortComparison.TextOrder) {
    if order == .localizedStandard { return nil }
    self.init(order)
  }

  public static let all = [.caseInsensitive, .localized, .localizedCaseInsensitive].map(SQLCollation.init(_:))

  public var name: String { "OCD" + order.rawValue }

  /// What follows a term; nothing for the order of bytes, which is SQLite's own.
  var suffix: String { order == .literal ? "" : " COLLATE \(name)" }
}
