import StoreSchema

/// Pieces of JSON text in the canonical form: no spaces, members sorted by the bytes of their names, and only necessary
/// escapes.
enum JSONText {
  static func string(_ text: some StringProtocol) -> String {
    // Byte by byte: only ASCII characters are escaped, and no byte of another character is ASCII.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.reduce(2) { $0 + ($1 < 0x20 ? 6 : $1 == quote || $1 == backslash ? 2 : 1) })
    bytes.append(quote)
    for byte in text.utf8 {
      if byte < 0x20 || byte == quote || byte == backslash { escape(byte, &bytes) } else { bytes.append(byte) }
    }
    bytes.append(quote)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let quote = UInt8(ascii: "\"")
  private static let backslash = UInt8(ascii: "\\")
  private static let digits = Array("0123456789abcdef".utf8)

  private static func escape(_ byte: UInt8, _ bytes: inout [UInt8]) {
    bytes.append(backslash)
    switch byte {
    case quote, backslash: bytes.append(byte)
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x0C: bytes.append(UInt8(ascii: "f"))
    default:
      bytes.append(contentsOf: "u00".utf8)
      bytes.append(digits[Int(byte >> 4)])
      bytes.append(digits[Int(byte & 15)])
    }
  }

  /// The shortest digits of a double that read back as the same value, with a fraction; with an exponent from 1e16 on
  /// and below 1e-4.
  static func number(_ value: Double) -> String {
    if value.isInfinite { return object(["$double": string(value < 0 ? "-inf" : "inf")]) }
    // Swift prints doubles above 2^53 with an exponent. Such values are whole numbers.
    if value.magnitude > 0x1p53, value.magnitude < 1e16 { return "\(Int64(value)).0" }
    return value.description
  }

  /// Members in the order of their names.
  static func object(_ members: [String: String]) -> String {
    ordered(members.sorted { UTF8Order.isLess($0.key, $1.key) })
  }

  /// Members in the given order.
  static func ordered(_ members: [(key: String, value: String)]) -> String {
    var text = "{"
    text.reserveCapacity(members.reduce(2) { $0 + $1.key.utf8.count + $1.value.utf8.count + 4 })
    for (index, (key, value)) in members.enumerated() {
      if index > 0 { text += "," }
      text += string(key)
      text += ":"
      text += value
    }
    text += "}"
    return text
  }

  static func array(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }

  static func optional(_ text: String?) -> String { text.map(string) ?? "null" }
}
