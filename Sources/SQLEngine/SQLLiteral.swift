import Foundation
import StoreSchema

/// Values and names as SQL text, for the few parts of a statement that cannot have parameters.
public enum SQLLiteral {
  /// A name in quotes. The name may hold any character.
  public static func name(_ name: String) -> String { quoted(name, "\"") }

  /// Doubles the quotes within a text and puts it in quotes. Works on code points: a quote behind some scalars is part
  /// of a Character that is no quote, but SQLite does not know Characters.
  private static func quoted(_ text: String, _ quote: Unicode.Scalar) -> String {
    var result = String.UnicodeScalarView()
    result.append(quote)
    for scalar in text.unicodeScalars {
      result.append(scalar)
      if scalar == quote { result.append(quote) }
    }
    result.append(quote)
    return String(result)
  }

  /// Nil for a value without an exact text.
  static func text(_ value: Value) -> String? {
    switch value {
    case .bool(let x): return x ? "1" : "0"
    case .int(let x): return String(x)
    case .double(let x), .date(let x): return x.isFinite ? "\(x)" : nil
    case .string(let x), .uri(let x):
      return x.utf8.contains(0) ? nil : quoted(x, "'")
    case .uuid(let x): return withUnsafeBytes(of: x.uuid) { blob($0) }
    case .data(let x): return blob(x)
    case .null, .decimal, .reference: return nil
    }
  }

  private static func blob(_ bytes: some Sequence<UInt8>) -> String {
    "X'" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
  }
}
