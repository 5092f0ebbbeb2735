import StoreQuery

/// The collations of a connection that sorts use: the text orders of ``SortComparison``. No index and no table uses
/// them, because an order may change with the locale.
public struct SQLCollation: Sendable {
  /// The order of texts.
  public let order: SortComparison.TextOrder

  init(order: SortComparison.TextOrder) { self.order = order }

  /// The collations that a connection needs: one for each order except the order of bytes, which SQLite has itself.
  public static let all = SortComparison.TextOrder.allCases.filter { $0 != .literal }.map(SQLCollation.init(order:))

  /// The collation's name in statements.
  public var name: String { "OCD" + order.rawValue }

  /// The text behind a sort term; empty for the order of bytes, which is SQLite's own.
  var suffix: String { order == .literal ? "" : " COLLATE \(name)" }
}
