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

  /// The bytes of a UUID in its usual text form, with white space around it allowed. Nil for every other text.
  static func uuid(_ text: UnsafeRawBufferPointer) -> uuid_t? {
    let text = XMLNumber.trimmed(text)
    guard text.count == 36 else { return nil }
    var result = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)).uuid
    // `found` collects the bits of all digits. Other characters set bits that no digit has.
    var found: UInt8 = 0
    withUnsafeMutableBytes(of: &result) { bytes in
      nibbles.withUnsafeBufferPointer { nibbles in
        var index = 0
        for position in 0..<16 {
          if position == 4 || position == 6 || position == 8 || position == 10 {
            if text[index] != UInt8(ascii: "-") { found = .max }
            index &+= 1
          }
          let (high, low) = (nibbles[Int(text[index])], nibbles[Int(text[index &+ 1])])
          found |= high | low
          bytes[position] = high &<< 4 | low
          index &+= 2
        }
      }
    }
    return found < 16 ? result : nil
  }

  /// The value of each hexadecimal digit by its byte; 0xFF for other bytes.
  private static let nibbles: [UInt8] = (0..<256).map { byte in
    hexadecimal(UInt8(byte))
  }

  private static func hexadecimal(_ byte: UInt8) -> UInt8 {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: 0xFF
    }
  }

  // MARK: Base64

  /// Appends Base64 in the layout of the format: the first 76 characters on one line, the rest on a second line.
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

  /// Decodes Base64, ignoring white space, into `output` from index `start` on. `output` grows as needed. Returns the
  /// index behind the last byte, or nil for a text that is not Base64.
  static func decode(_ text: UnsafeRawBufferPointer, into output: inout [UInt8], from start: Int) -> Int? {
    let room = start + text.count / 4 * 3 + 3
    if output.count < room { output.append(contentsOf: repeatElement(0, count: room - output.count)) }
    let count = output.withUnsafeMutableBufferPointer { output in
      values.withUnsafeBufferPointer { decode(text, $0, UnsafeMutableBufferPointer(rebasing: output[start...])) }
    }
    if let count { return start + count }
    if XMLNumber.trimmed(text).isEmpty { return start }
    // Foundation's decoder ignores characters that are not Base64.
    guard let data = Data(base64Encoded: Data(text), options: .ignoreUnknownCharacters) else { return nil }
    output.replaceSubrange(start..., with: data)
    return start + data.count
  }

  /// Returns the number of decoded bytes. Nil for a text with characters other than Base64 and white space.
  @inline(__always)
  private static func decode(
    _ text: UnsafeRawBufferPointer, _ values: UnsafeBufferPointer<UInt8>, _ output: UnsafeMutableBufferPointer<UInt8>
  ) -> Int? {
    var (index, position, word, count, padding) = (0, 0, UInt32(0), 0, 0)
    while index < text.count {
      // Decodes four digits at once until another character comes.
      while count == 0, padding == 0, index + 4 <= text.count {
        let (a, b) = (values[Int(text[index])], values[Int(text[index &+ 1])])
        let (c, d) = (values[Int(text[index &+ 2])], values[Int(text[index &+ 3])])
        if (a | b | c | d) & 0xC0 != 0 { break }
        let word = UInt32(a) &<< 18 | UInt32(b) &<< 12 | UInt32(c) &<< 6 | UInt32(d)
        output[position] = UInt8(truncatingIfNeeded: word &>> 16)
        output[position &+ 1] = UInt8(truncatingIfNeeded: word &>> 8)
        output[position &+ 2] = UInt8(truncatingIfNeeded: word)
        position &+= 3
        index &+= 4
      }
      if index == text.count { break }
      let byte = text[index]
      index &+= 1
      let value = values[Int(byte)]
      if value < 64, padding == 0 {
        word = word &<< 6 | UInt32(value)
        count &+= 1
        if count < 4 { continue }
        output[position] = UInt8(truncatingIfNeeded: word &>> 16)
        output[position &+ 1] = UInt8(truncatingIfNeeded: word &>> 8)
        output[position &+ 2] = UInt8(truncatingIfNeeded: word)
        position &+= 3
        (word, count) = (0, 0)
      } else if byte == UInt8(ascii: "=") {
        padding &+= 1
      } else if !XMLNumber.isSpace(byte) {
        return nil
      }
    }
    switch (count, padding) {
    case (0, 0): return position
    case (2, 2):
      output[position] = UInt8(truncatingIfNeeded: word &>> 4)
      return position + 1
    case (3, 1):
      output[position] = UInt8(truncatingIfNeeded: word &>> 10)
      output[position + 1] = UInt8(truncatingIfNeeded: word &>> 2)
      return position + 2
    default: return nil
    }
  }

  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
    return values
  }()
}
