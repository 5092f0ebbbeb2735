import Foundation

/// The values of Foundation classes, as their `encode(with:)` writes them.
extension ArchivedObject {
  /// A plain string, an NSString or an NSMutableString.
  public var string: String? {
    switch value {
    case .string(let text): text
    case .dictionary(let entries): entries["NS.string"]?.stringValue ?? utf8Bytes(entries["NS.bytes"])
    default: nil
    }
  }

  private func utf8Bytes(_ bytes: PropertyList?) -> String? {
    bytes?.dataValue.flatMap { String(validating: $0, as: UTF8.self) }
  }

  /// An integer; a Boolean counts as 0 or 1, a real number when it has no fraction.
  public var integer: Int64? {
    switch value {
    case .integer(let number): number
    case .bool(let flag): flag ? 1 : 0
    case .real(let number): Int64(exactly: number)
    default: nil
    }
  }

  /// A Boolean; a number counts as true unless it is 0.
  public var bool: Bool? {
    if case .bool(let flag) = value { flag } else { integer.map { $0 != 0 } }
  }

  /// Any number as a double.
  public var double: Double? {
    switch value {
    case .real(let number): number
    case .unsigned(let number): Double(number)
    default: integer.map(Double.init)
    }
  }

  /// Plain data, an NSData or an NSMutableData.
  public var data: Data? {
    value.dataValue ?? (isKind(of: "NSData") ? self["NS.data"]?.value.dataValue ?? value["NS.bytes"]?.dataValue : nil)
  }

  /// A date in seconds since 2001-01-01T00:00:00Z.
  public var date: Double? {
    if case .date(let seconds) = value { return seconds }
    return isKind(of: "NSDate") ? self["NS.time"]?.double : nil
  }

  /// An NSUUID.
  public var uuid: UUID? {
    guard let bytes = value["NS.uuidbytes"]?.dataValue.map([UInt8].init), bytes.count == 16 else { return nil }
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// The absolute text of an NSURL. A chain of base URLs is followed 16 steps far.
  public var urlString: String? {
    guard isKind(of: "NSURL"), let last = self["NS.relative"]?.string else { return nil }
    var parts = [last]
    var base = self["NS.base"]
    while let next = base, parts.count <= 16, let text = next["NS.relative"]?.string {
      parts.append(text)
      base = next["NS.base"]
    }
    guard parts.count > 1, var result = parts.last.flatMap({ URL(string: $0) }) else { return last }
    for part in parts.dropLast().reversed() {
      guard let next = URL(string: part, relativeTo: result) else { return last }
      result = next.absoluteURL
    }
    return result.absoluteString
  }

  /// An NSDecimalNumber, or any other number as a decimal.
  public var decimal: Decimal? {
    guard isKind(of: "NSDecimalNumber") else {
      switch value {
      case .integer(let number): return Decimal(number)
      case .unsigned(let number): return Decimal(number)
      case .real(let number): return number.isFinite ? Decimal(number) : nil
      default: return nil
      }
    }
    return archivedDecimal
  }

  /// The mantissa is a sequence of 16-bit words, the lowest first. "NS.mantissa.bo" names the byte order within a word.
  private var archivedDecimal: Decimal? {
    guard let mantissa = self["NS.mantissa"]?.data.map([UInt8].init), let length = self["NS.length"]?.integer,
      let exponent = self["NS.exponent"]?.integer, (-128...127).contains(exponent), (0...8).contains(length),
      mantissa.count >= 2 * Int(length)
    else { return nil }
    let isNegative = self["NS.negative"]?.bool ?? false
    guard length > 0 else { return isNegative ? Decimal.nan : Decimal.zero }
    let isBigEndian = self["NS.mantissa.bo"]?.integer == 2
    let digits = (0..<Int(length)).reversed().reduce(UInt128(0)) { number, word in
      let (first, second) = (UInt128(mantissa[2 * word]), UInt128(mantissa[2 * word + 1]))
      return number << 16 | (isBigEndian ? first << 8 | second : second << 8 | first)
    }
    return Decimal(string: "\(isNegative ? "-" : "")\(digits)E\(exponent)", locale: Locale(identifier: "en_US_POSIX"))
  }

  /// Whether this is the NSNull object.
  public var isNullObject: Bool { className == "NSNull" }
}
