import Foundation
import StoreSchema

/// Random values, many of them at the limits of their type.
enum ModelValues {
  private static let texts = [
    "", " ", "a", "A", "é", "e\u{301}", "a\u{0}b", "\u{1}\r\n\t", "😀", "日本", "]]>&<\"'", "\u{FFFE}", "x\u{2028}y",
    "%_\\", "*", "a?c", "50%", "it's \"so\"", "e\u{301}\u{327}", "👩‍👩‍👧", "ǅ", "ß", "İi", "Σς", "10", "9", "a\u{0}",
  ]
  private static let doubles: [Double] = [
    0, 1.5, -0.1, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity, 1e22, 0x1p53, 0x1p63,
    -0x1p63, 0x1p53 + 2, 0.1, 3, -7.25, -3, -2.5, -1e5, -1e22, 12, 250.5,
  ]
  private static let floats: [Float] = [0, 1.5, -0.1, 0.1, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0x1p24, 7]
  private static let integers: [Int64] = [
    .max, .min, 0, 1 << 53, 1 << 53 + 1, .max - 1, -(1 << 53) - 1, 3, -7, 10,
  ]
  private static let decimals = [
    "0", "1.5", "-0.01", "0.1", "3", "-7.25", "99999999999999999999999999999999999999",
    "12345678901234567890123456789012345678", "0.00000000000000000000000000000000000001", "1e127",
  ]

  static func value(_ attribute: Attribute, _ random: inout SplitMix64) -> Cell {
    if random.below(6) == 0 { return nil }
    // Few enough different values that some collide.
    if attribute.name == "email" { return .text("mail\(random.below(60))") }
    switch attribute.type {
    case .string: return .text(texts[random.below(texts.count)] + (random.below(2) == 0 ? "" : "\(random.below(100))"))
    case .integer16: return .int(Int64(Int16(truncatingIfNeeded: random.next())))
    case .integer32:
      return random.below(2) == 0
        ? .int(Int64(random.below(40)) - 20) : .int(Int64(Int32(truncatingIfNeeded: random.next())))
    case .integer64:
      let isAny = random.below(4) == 0
      return .int(isAny ? Int64(bitPattern: random.next()) : integers[random.below(integers.count)])
    case .float: return .double(Double(floats[random.below(floats.count)]))
    case .double: return .double(doubles[random.below(doubles.count)])
    case .date:
      let some = Double(random.below(1 << 30))
      return .date([0, -1e-12, 700_000_000.123_456_7, 1e300, some, -some][random.below(6)])
    case .decimal: return .decimal(decimals[random.below(decimals.count)])
    case .boolean: return random.below(2) == 0 ? true : false
    case .uuid: return .uuid(uuid(&random))
    case .uri: return .uri("http://x/\(random.below(1000))?a=1&b=%20")
    case .binaryData where attribute.name == "stamp":
      return .data(Data([0, 255, 1].prefix(random.below(4)) + [UInt8(random.below(3))]))
    case .transformable: return .data(Data([UInt8(random.below(200))]))
    case .binaryData: return .data(data(&random))
    default: return nil
    }
  }

  private static func uuid(_ random: inout SplitMix64) -> UUID {
    let (a, b) = (random.next(), random.next())
    return withUnsafeBytes(of: (a, b)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// Mostly small; sometimes large enough for a file of its own.
  private static func data(_ random: inout SplitMix64) -> Data {
    let count = [0, 1, 30, 3000, 120_000][random.below(20) == 0 ? 4 : random.below(4)]
    let first = UInt8(truncatingIfNeeded: random.next())
    return Data((0..<count).map { first &+ UInt8(truncatingIfNeeded: $0) })
  }
}
