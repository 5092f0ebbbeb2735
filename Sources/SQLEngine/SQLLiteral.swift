import Foundation
import StoreSchema

/// Values written out in SQL, for the few places that cannot have parameters.
enum SQLLiteral {
  /// Nil for a value that has no exact text, or none at all.
  static func text(_ value: Value) -> String? {
    switch value {
    case .bool(let x): return x ? "1" : "0"
    case .int(let x): return String(x)
    case .double(let x), .date(let x): return x.isFinite ? "\(x)" : nil
    case .string(let x), .uri(let x):
      return x.utf8.contains(0) ? nil : "'" + x.replacing("'", with: "''") + "'"
    case .uuid(let x): return withUnsafeBytes(of: x.uuid) { blob($0) }
    case .data(let x): return blob(x)
    case .null, .decimal, .reference: return nil
    }
  }

  private static func blob(_ bytes: some Sequence<UInt8>) -> String {
    "X'" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
  }
}
