/// Text with escapes. Characters that XML or the format does not allow are written as `\uXXXX`: the digits of a UTF-16
/// unit with its two bytes swapped.
enum XMLText {
  private static let digits = Array("0123456789abcdef".utf8)

  static func append(escaping bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
    isSpecial.withUnsafeBufferPointer { isSpecial in
      // Text between escapes is copied at once.
      var (index, start) = (0, 0)
      while index < bytes.count {
        let byte = bytes[index]
        guard isSpecial[Int(byte)], let (unit, length) = unit(bytes, index, byte) else {
          index += 1
          continue
        }
        output.append(contentsOf: bytes[start..<index])
        escape(unit, to: &output)
        index += length
        start = index
      }
      output.append(contentsOf: bytes[start...])
    }
  }

  /// The unit to escape at an index, and its size in bytes. Nil if nothing is to be escaped.
  private static func unit(_ bytes: UnsafeRawBufferPointer, _ index: Int, _ byte: UInt8) -> (UInt16, Int)? {
    if byte < 0x80 { return (UInt16(byte), 1) }
    // XML does not allow U+FFFE and U+FFFF.
    guard index + 2 < bytes.count, bytes[index + 1] == 0xBF, bytes[index + 2] >= 0xBE else { return nil }
    return (0xFF40 | UInt16(bytes[index + 2]), 3)
  }

  private static let isSpecial: [Bool] = (0..<256).map { byte in
    [0x26, 0x3C, 0x3E, 0x5C, 0xEF].contains(byte) || byte < 9 || (11...31).contains(byte)
  }

  private static func escape(_ unit: UInt16, to output: inout [UInt8]) {
    output += [UInt8(ascii: "\\"), UInt8(ascii: "u")]
    for shift in [4, 0, 12, 8] { output.append(digits[Int(unit >> UInt16(shift) & 15)]) }
  }

  static func unescaped(_ bytes: UnsafeRawBufferPointer) -> String {
    guard bytes.contains(UInt8(ascii: "\\")) else { return String(decoding: bytes, as: UTF8.self) }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    // Collects adjacent units, because two of them may form one character.
    var units: [UInt16] = []
    var index = 0
    while index < bytes.count {
      if let unit = unit(bytes, at: index) {
        units.append(unit)
        index += 6
        continue
      }
      if !units.isEmpty { result += String(decoding: units, as: UTF16.self).utf8 }
      units = []
      result.append(bytes[index])
      index += 1
    }
    if !units.isEmpty { result += String(decoding: units, as: UTF16.self).utf8 }
    return String(decoding: result, as: UTF8.self)
  }

  /// The unit of the escape at `index`, nil if there is no escape.
  private static func unit(_ bytes: UnsafeRawBufferPointer, at index: Int) -> UInt16? {
    guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u"),
      bytes[index + 2..<index + 6].allSatisfy({ ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x66 || $0 >= 0x30 && $0 <= 0x39 }
      ),
      let written = UInt16(String(decoding: bytes[index + 2..<index + 6], as: UTF8.self), radix: 16)
    else { return nil }
    // Machines with the other byte order wrote these units in this form.
    if [0x26, 0x3C, 0x3E].contains(written) { return written }
    return written.byteSwapped
  }
}
