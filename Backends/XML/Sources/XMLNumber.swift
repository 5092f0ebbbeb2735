import Foundation

/// Conversion between numbers and text, without temporary strings for the frequent cases.
enum XMLNumber {
  static func append(_ value: Int64, to output: inout [UInt8]) {
    append(value.magnitude, isNegative: value < 0, to: &output)
  }

  private static func append(_ magnitude: UInt64, isNegative: Bool, to output: inout [UInt8]) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 21) { digits in
      var (first, rest) = (21, magnitude)
      repeat {
        first &-= 1
        let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 10)
        digits.initializeElement(at: first, to: UInt8(truncatingIfNeeded: remainder) &+ UInt8(ascii: "0"))
        rest = quotient
      } while rest > 0
      if isNegative {
        first &-= 1
        digits.initializeElement(at: first, to: UInt8(ascii: "-"))
      }
      output.append(contentsOf: UnsafeBufferPointer(rebasing: digits[first...]))
    }
  }

  /// Appends the shortest text that is read back as the same number.
  static func append(_ value: Double, to output: inout [UInt8]) {
    guard value == value.rounded(), value.magnitude < 0x1p53, value != 0 else {
      output += value.description.utf8
      return
    }
    append(Int64(value), to: &output)
    output += ".0".utf8
  }

  /// Appends a date with twenty digits behind the point, as the format requires. Uses more digits if twenty do not give
  /// the same value back.
  static func append(date seconds: Double, to output: inout [UInt8]) {
    guard seconds.magnitude >= 1, seconds.magnitude < 0x1p53 else {
      let text = String(format: "%.20f", seconds)
      output += (Double(text) == seconds ? text : "\(seconds)").utf8
      return
    }
    let whole = seconds.magnitude.rounded(.down)
    // The fraction has at most 53 bits, so its product with 10^20 fits into 128 bits, and no digit is lost.
    let fraction = UInt128((seconds.magnitude - whole) * 0x1p53)
    let (product, half) = (fraction * 100_000_000_000_000_000_000, UInt128(1) << 52)
    var digits = product >> 53
    let rest = product & (half * 2 - 1)
    if rest > half || rest == half && digits & 1 == 1 { digits += 1 }
    append(UInt64(whole), isNegative: seconds < 0, to: &output)
    output.append(UInt8(ascii: "."))
    appendTwenty(digits, to: &output)
  }

  private static func appendTwenty(_ number: UInt128, to output: inout [UInt8]) {
    if number == 0 {
      output += "00000000000000000000".utf8
      return
    }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var (high, low) = (
        UInt64(truncatingIfNeeded: number / 10_000_000_000), UInt64(truncatingIfNeeded: number % 10_000_000_000)
      )
      for position in (0..<10).reversed() {
        digits.initializeElement(at: position, to: UInt8(truncatingIfNeeded: high % 10) &+ UInt8(ascii: "0"))
        digits.initializeElement(at: position + 10, to: UInt8(truncatingIfNeeded: low % 10) &+ UInt8(ascii: "0"))
        (high, low) = (high / 10, low / 10)
      }
      output.append(contentsOf: UnsafeBufferPointer(digits))
    }
  }

  // MARK: Reading

  /// A decimal integer with an optional sign, with white space around it allowed. Nil for every other text.
  static func integer(_ text: UnsafeRawBufferPointer) -> Int64? {
    let text = trimmed(text)
    var index = 0
    let isNegative = text.first == UInt8(ascii: "-")
    if isNegative || text.first == UInt8(ascii: "+") { index = 1 }
    if index == text.count { return nil }
    var value: Int64 = 0
    while index < text.count {
      guard (0x30...0x39).contains(text[index]) else { return nil }
      let digit = Int64(text[index] &- 0x30)
      let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
      let (next, over) =
        isNegative ? tens.subtractingReportingOverflow(digit) : tens.addingReportingOverflow(digit)
      if overflow || over { return nil }
      value = next
      index += 1
    }
    return value
  }

  /// A number, with white space around it allowed. Nil for every other text.
  static func double(_ text: UnsafeRawBufferPointer) -> Double? {
    let text = trimmed(text)
    return shortNumber(text) ?? Double(String(decoding: text, as: UTF8.self))
  }

  /// Parses at most 15 digits with a point, the form of most dates and many numbers. Digits and power of ten are exact
  /// as doubles, so their quotient is the double nearest to the number.
  private static func shortNumber(_ text: UnsafeRawBufferPointer) -> Double? {
    var end = text.count
    var index = text.first == UInt8(ascii: "-") ? 1 : 0
    let start = index
    var (value, digits, point) = (Int64(0), 0, -1)
    // Ignores zeros at the end of the fraction.
    while end > start, text[end - 1] == UInt8(ascii: "0") { end -= 1 }
    while index < end {
      let byte = text[index]
      if byte == UInt8(ascii: "."), point < 0, index > start {
        point = index
      } else if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
        value = value &* 10 &+ Int64(byte &- 0x30)
        digits &+= 1
        if digits > 15 { return nil }
      } else {
        return nil
      }
      index &+= 1
    }
    // A text that ends with its point, and a zero that may have a sign, are left to the general parser.
    guard point >= 0, value != 0, text.count > point + 1 else { return nil }
    let number = Double(value) / powersOfTen[end - point - 1]
    return start == 1 ? -number : number
  }

  private static let powersOfTen: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
  ]

  /// The text without the white space around it.
  static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    var (first, last) = (0, text.count)
    while first < last, isSpace(text[first]) { first += 1 }
    while last > first, isSpace(text[last - 1]) { last -= 1 }
    return UnsafeRawBufferPointer(rebasing: text[first..<last])
  }

  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
}
