import Foundation
import StoreSchema

/// Order and equality of values, the same for every store.
///
/// Numbers of all kinds compare exactly by value. A date compared with a number counts as its seconds since
/// 2001-01-01T00:00:00Z. Strings and URIs compare by their text, UUIDs and data by their bytes, references by entity
/// and key. All other values, and NaN, are incomparable.
public enum ValueComparison {
  /// The order of two values; nil if they are incomparable. Null is incomparable with everything. The options affect
  /// texts only.
  public static func compare(_ a: Value, _ b: Value, options: Predicate.Options = []) -> Ordering? {
    if let x = Number(a), let y = Number(b) { return NumericComparison.compare(x, y) }
    if let x = a.text, let y = b.text { return StringComparison.compare(x, y, options: options) }
    return switch (a, b) {
    case (.uuid(let x), .uuid(let y)): compareBytes(x, y)
    case (.data(let x), .data(let y)): compareBytes(x, y)
    case (.reference(let x), .reference(let y)): Ordering.of((x.entity, x.key), (y.entity, y.key))
    default: nil
    }
  }

  /// Whether two values are equal. Null equals only null; incomparable values are not equal.
  public static func areEqual(_ a: Value, _ b: Value, options: Predicate.Options = []) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.int(let x), .int(let y)): x == y
    case (.data(let x), .data(let y)): x == y
    default:
      if let x = a.text, let y = b.text {
        StringComparison.areEqual(x, y, options: options)
      } else {
        compare(a, b) == .same
      }
    }
  }

  private static func compareBytes(_ a: Data, _ b: Data) -> Ordering {
    a.withUnsafeBytes { x in
      b.withUnsafeBytes { y in ByteSearch.compare(x.bindMemory(to: UInt8.self), y.bindMemory(to: UInt8.self)) }
    }
  }

  private static func compareBytes(_ a: UUID, _ b: UUID) -> Ordering {
    withUnsafeBytes(of: a.uuid) { x in
      withUnsafeBytes(of: b.uuid) { y in
        ByteSearch.compare(x.bindMemory(to: UInt8.self), y.bindMemory(to: UInt8.self))
      }
    }
  }
}

extension Value {
  /// The text of a string or URI.
  var text: String? {
    switch self {
    case .string(let text), .uri(let text): text
    default: nil
    }
  }
}

extension Ordering {
  fileprivate static func of(_ a: (Int, Int64), _ b: (Int, Int64)) -> Ordering {
    a < b ? .ascending : a == b ? .same : .descending
  }
}
