import Foundation

/// Bytes as text.
enum XMLBinary {
  private static let digits = Array("0123456789ABCDEF".utf8)
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  // MARK: UUIDs

  static func append(uuid bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
    digits.withUnsafeBufferPointer { digits in
      for (index, byte) in bytes.enumerated() {
        if index == 4 || index == 6 || index == 8 || index == 10 { output.append(UInt8(ascii: "-")) }
        output.append(digits[Int(byte >> 4)])
        output.append(digits[Int(byte & 15)])
      }
    }
  }

  /// The UUID in a text of the usual form, between white space. Nil for everything else.
  static func uuid(_ text: UnsafeRawBufferPointer) -> UUID? {
    let text = XMLNumber.trimmed(text)
    guard text.count == 36 else { return nil }
    var (result, count): (uuid_t, Int) = (UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)).uuid, 0)
    let isWhole = withUnsafeMutableBytes(of: &result) { bytes in
      var index = 0
      while index < 36 {
        if index == 8 || index == 13 || index == 18 || index == 23 {
          if text[index] != UInt8(ascii: "-") { return false }
          index += 1
          continue
        }
        guard let high = digit(text[index]), let low = digit(text[index + 1]) else { return false }
        bytes[count] = high << 4 | low
        count += 1
        index += 2
      }
      return true
    }
    return isWhole ? UUID(uuid: result) : nil
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }

  // MARK: Base64

  /// The first 76 characters, a line's end, the rest on one line, a line's end, as the format has it.
  static func append(base64 bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
    // 57 bytes make 76 characters.
    let first = min(57, bytes.count)
    append(UnsafeRawBufferPointer(rebasing: bytes[..<first]), to: &output)
    output.append(0x0A)
    if bytes.count > first {
      append(UnsafeRawBufferPointer(rebasing: bytes[first...]), to: &output)
      output.append(0x0A)
    }
  }

  private static func append(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
    alphabet.withUnsafeBufferPointer { alphabet in
      var index = 0
      while index < bytes.count {
        let rest = bytes.count - index
        let word =
          UInt32(bytes[index]) << 16 | (rest > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
          | (rest > 2 ? UInt32(bytes[index + 2]) : 0)
        output.append(alphabet[Int(word >> 18)])
        output.append(alphabet[Int(word >> 12 & 63)])
        output.append(rest > 1 ? alphabet[Int(word >> 6 & 63)] : UInt8(ascii: "="))
        output.append(rest > 2 ? alphabet[Int(word & 63)] : UInt8(ascii: "="))
        index += 3
      }
    }
  }

  /// The bytes that a text stands for, white space left out. Nil for what is no Base64.
  static func data(_ text: UnsafeRawBufferPointer) -> Data? {
    if XMLNumber.trimmed(text).isEmpty { return Data() }
    var result: [UInt8] = []
    result.reserveCapacity(text.count / 4 * 3 + 3)
    var (word, count, padding, isPlain) = (UInt32(0), 0, 0, true)
    values.withUnsafeBufferPointer { values in
      for byte in text {
        let value = values[Int(byte)]
        if value < 64 && padding == 0 {
          word = word << 6 | UInt32(value)
          count += 1
          if count == 4 {
            result.append(UInt8(truncatingIfNeeded: word >> 16))
            result.append(UInt8(truncatingIfNeeded: word >> 8))
            result.append(UInt8(truncatingIfNeeded: word))
            (word, count) = (0, 0)
          }
        } else if byte == UInt8(ascii: "=") {
          padding += 1
        } else if !XMLNumber.isSpace(byte) {
          isPlain = false
          break
        }
      }
    }
    switch (count, padding) {
    case (0, 0) where isPlain: break
    case (2, 2) where isPlain: result.append(UInt8(truncatingIfNeeded: word >> 4))
    case (3, 1) where isPlain:
      result.append(UInt8(truncatingIfNeeded: word >> 10))
      result.append(UInt8(truncatingIfNeeded: word >> 2))
    // Whatever else there may be.
    default: return Data(base64Encoded: Data(text), options: .ignoreUnknownCharacters)
    }
    return Data(result)
  }

  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
    return values
  }()
}
