import Foundation
import StoreSchema

/// Random values with many at the edges.
enum ModelValues {
  private static let texts = [
    "", " ", "a", "A", "é", "e\u{301}", "a\u{0}b", "\u{1}\r\n\t", "😀", "日本", "]]>&<\"'", "\u{FFFE}", "x\u{2028}y",
    "%_\\",
  ]
  private static let doubles: [Double] = [
    0, 1.5, -0.1, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity, 1e22, 9_007_199_254_740_992,
  ]
  private static let decimals = [
    "0", "1.5", "-0.01", "12345678901234567890123456789012345678", "0.00000000000000000000000000000000000001", "1e127",
  ]

  static func value(_ attribute: Attribute, _ random: inout SplitMix64) -> Cell {
    if random.below(6) == 0 { return nil }
    // Few enough for some to be taken twice.
    if attribute.name == "email" { return .text("mail\(random.below(60))") }
    switch attribute.type {
    case .string: return .text(texts[random.below(texts.count)] + (random.below(2) == 0 ? "" : "\(random.below(100))"))
    case .integer16: return .int(Int64(Int16(truncatingIfNeeded: random.next())))
    case .integer64: return [.int(.max), .int(.min), .int(Int64(bitPattern: random.next())), 0][random.below(4)]
    case .double: return .double(doubles[random.below(doubles.count)])
    case .date: return .date([0, -1e-12, 700_000_000.123_456_7, 1e300, Double(random.below(1 << 30))][random.below(5)])
    case .decimal: return .decimal(decimals[random.below(decimals.count)])
    case .boolean: return random.below(2) == 0 ? true : false
    case .uuid: return .uuid(uuid(&random))
    case .uri: return .uri("http://x/\(random.below(1000))?a=1&b=%20")
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
