/// Texts with what XML or the format does not allow as `\uXXXX`: a UTF-16 unit with its two bytes exchanged.
enum XMLText {
  private static let digits = Array("0123456789abcdef".utf8)

  static func append(escaping bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), 0...8, 11...31:
        escape(UInt16(byte), to: &output)
      // U+FFFE and U+FFFF are in no XML document.
      case 0xEF where index + 2 < bytes.count && bytes[index + 1] == 0xBF && bytes[index + 2] >= 0xBE:
        escape(0xFF40 | UInt16(bytes[index + 2]), to: &output)
        index += 2
      default: output.append(byte)
      }
      index += 1
    }
  }

  private static func escape(_ unit: UInt16, to output: inout [UInt8]) {
    output += [UInt8(ascii: "\\"), UInt8(ascii: "u")]
    for shift in [4, 0, 12, 8] { output.append(digits[Int(unit >> UInt16(shift) & 15)]) }
  }

  static func unescaped(_ bytes: [UInt8]) -> String {
    guard bytes.contains(UInt8(ascii: "\\")) else { return String(decoding: bytes, as: UTF8.self) }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    // Units wait for the other half of a character.
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

  /// The unit that an escape at `index` stands for, nil where there is none.
  private static func unit(_ bytes: [UInt8], at index: Int) -> UInt16? {
    guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u"),
      bytes[index + 2..<index + 6].allSatisfy({ ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x66 || $0 >= 0x30 && $0 <= 0x39 }
      ),
      let written = UInt16(String(decoding: bytes[index + 2..<index + 6], as: UTF8.self), radix: 16)
    else { return nil }
    // As a machine with the other byte order wrote them.
    if [0x26, 0x3C, 0x3E].contains(written) { return written }
    return written.byteSwapped
  }
}
