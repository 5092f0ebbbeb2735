import Foundation
import StoreSchema

/// The order in which values are sorted: total over values of all types, null first when ascending.
///
/// After null come numbers and dates (NaN before all), then texts, UUIDs, data and references, each in the order of
/// ``ValueComparison``. Values that compare as equal must be ordered by object ID; the caller does that.
public enum SortComparison {
  /// The order of texts, by the selector of a sort descriptor.
  public enum TextOrder: String, Hashable, Sendable, CaseIterable {
    /// `compare:` or no selector: by UTF-8 bytes.
    case literal
    /// `caseInsensitiveCompare:`: by UTF-8 bytes after case folding.
    case caseInsensitive
    /// `localizedCompare:`, by the current locale.
    case localized
    /// `localizedCaseInsensitiveCompare:`, by the current locale.
    case localizedCaseInsensitive
    /// `localizedStandardCompare:`, by the current locale, digits by their numeric value.
    case localizedStandard
  }

  /// The ascending order of two values. For descending order exchange the operands; null then comes last.
  public static func compare(_ a: Value, _ b: Value, _ order: TextOrder = .literal) -> Ordering {
    let (x, y) = (rank(a), rank(b))
    guard x == y else { return Ordering.of(x, y) }
    if let a = a.text, let b = b.text { return compare(a, b, order) }
    if let order = ValueComparison.compare(a, b) { return order }
    return Ordering.of(isNaN(b) ? 1 : 0, isNaN(a) ? 1 : 0)
  }

  private static func rank(_ value: Value) -> Int {
    switch value {
    case .null: 0
    case .bool, .int, .double, .decimal, .date: 1
    case .string, .uri: 2
    case .uuid: 3
    case .data: 4
    case .reference: 5
    }
  }

  private static func isNaN(_ value: Value) -> Bool { Number(value)?.isNaN ?? false }

  private static func compare(_ a: String, _ b: String, _ order: TextOrder) -> Ordering {
    switch order {
    case .literal: StringComparison.compare(a, b)
    case .caseInsensitive: StringComparison.compare(a, b, options: .caseInsensitive)
    case .localized: LocalizedOrder.compare(a, b)
    case .localizedCaseInsensitive: LocalizedOrder.compare(a, b, .caseInsensitive)
    case .localizedStandard: LocalizedOrder.compareStandard(a, b)
    }
  }
}
