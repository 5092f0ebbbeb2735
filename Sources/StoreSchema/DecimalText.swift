import Foundation

/// The canonical text of decimals: digits with at most one point, no exponent, no trailing zeros, a leading `-` where
/// negative.
public enum DecimalText {
  /// The canonical text of a decimal that is a number.
  public static func format(_ value: Decimal) -> String { value.isZero ? "0" : value.description }

  /// Parses decimal text with an optional exponent. Nil for anything else, NaN included.
  public static func parse(_ bytes: UnsafeRawBufferPointer) -> Decimal? {
    parse(String(decoding: bytes, as: UTF8.self))
  }

  /// Parses decimal text with an optional exponent. Nil for anything else, NaN included.
  public static func parse(_ text: String) -> Decimal? {
    guard !text.isEmpty, text.utf8.allSatisfy(isDecimalByte), let value = Decimal(string: text), value.isFinite else {
      return nil
    }
    return value
  }

  private static func isDecimalByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"),
      UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }
}
