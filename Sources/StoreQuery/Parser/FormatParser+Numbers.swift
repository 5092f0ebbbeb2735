import Foundation
import StoreSchema

extension FormatParser {
  /// The value of a number token: an integer if it has neither fraction nor exponent and fits 64 bits, an exact decimal
  /// if it is a longer integer of at most 38 digits, else a double.
  func number(_ text: String, negative: Bool) throws(FormatError) -> Value {
    let signed = negative ? "-" + text : text
    if let radix = Self.radix(of: text) { return try integer(text.dropFirst(2), radix, negative) }
    if let integer = Int64(signed) { return .int(integer) }
    if text.utf8.count <= 38, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let decimal = Decimal(string: signed)
    {
      return .decimal(decimal)
    }
    guard let double = Double(signed.hasPrefix(".") ? "0" + signed : signed), double.isFinite else {
      throw failure(expected: "a number in the range of a double")
    }
    return .double(double)
  }

  private static func radix(of text: String) -> Int? {
    switch text.prefix(2).lowercased() {
    case "0x": 16
    case "0o": 8
    case "0b": 2
    default: nil
    }
  }

  private func integer(_ digits: Substring, _ radix: Int, _ negative: Bool) throws(FormatError) -> Value {
    if let value = Int64((negative ? "-" : "") + digits, radix: radix) { return .int(value) }
    guard let magnitude = UInt64(digits, radix: radix) else {
      throw failure(expected: "a number of base \(radix) that fits 64 bits")
    }
    return .decimal(negative ? -Decimal(magnitude) : Decimal(magnitude))
  }
}
