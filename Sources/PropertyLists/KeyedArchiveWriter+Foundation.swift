import Foundation

/// Objects of Foundation classes.
extension KeyedArchiveWriter {
  /// An NSArray, or an NSMutableArray when `isMutable`.
  public mutating func add(array: [Reference], isMutable: Bool = false) -> Reference {
    add(
      classes: (isMutable ? ["NSMutableArray"] : []) + ["NSArray", "NSObject"],
      values: ["NS.objects": .array(array.map(\.value))])
  }

  /// An NSSet; the elements keep the given order.
  public mutating func add(set: [Reference]) -> Reference {
    add(classes: ["NSSet", "NSObject"], values: ["NS.objects": .array(set.map(\.value))])
  }

  /// An NSDictionary, or an NSMutableDictionary when `isMutable`, with string keys in the order of their UTF-8 bytes.
  public mutating func add(dictionary: [String: Reference], isMutable: Bool = false) -> Reference {
    let sorted = dictionary.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    return add(entries: sorted.map { (add(.string($0.key)), $0.value) }, isMutable: isMutable)
  }

  /// An NSDictionary of any keys, in the given order.
  public mutating func add(entries: [(key: Reference, value: Reference)], isMutable: Bool = false) -> Reference {
    add(
      classes: (isMutable ? ["NSMutableDictionary"] : []) + ["NSDictionary", "NSObject"],
      values: [
        "NS.keys": .array(entries.map(\.key.value)), "NS.objects": .array(entries.map(\.value.value)),
      ])
  }

  /// An NSDate of so many seconds since 2001-01-01T00:00:00Z.
  public mutating func add(date seconds: Double) -> Reference {
    add(classes: ["NSDate", "NSObject"], values: ["NS.time": .real(seconds)])
  }

  /// An NSNull object. `.null` is the reference to nil instead.
  public mutating func addNullObject() -> Reference { add(classes: ["NSNull", "NSObject"], values: [:]) }

  /// An NSUUID.
  public mutating func add(_ uuid: UUID) -> Reference {
    let bytes = withUnsafeBytes(of: uuid.uuid) { Data($0) }
    return add(classes: ["NSUUID", "NSObject"], values: ["NS.uuidbytes": .data(bytes)])
  }

  /// An NSURL without a base URL.
  public mutating func add(url: String) -> Reference {
    let text = add(.string(url))
    return add(
      classes: ["NSURL", "NSObject"], values: ["NS.base": Reference.null.value, "NS.relative": text.value])
  }

  /// An NSDecimalNumber, under the class name that Apple's own archives carry.
  public mutating func add(_ number: Decimal) -> Reference {
    let parts = ArchivedDecimal(number)
    return add(
      classes: ["NSDecimalNumberPlaceholder", "NSDecimalNumber", "NSNumber", "NSValue", "NSObject"],
      values: [
        "NS.mantissa": .data(parts.mantissa), "NS.mantissa.bo": .integer(1), "NS.exponent": .integer(parts.exponent),
        "NS.length": .integer(parts.length), "NS.negative": .bool(parts.isNegative), "NS.compact": .bool(false),
      ])
  }

  /// A property list as Foundation objects. Containers beyond `depth` levels become nil.
  public mutating func add(_ list: PropertyList, depth: Int) -> Reference {
    switch list {
    case .null, .uid: return .null
    case .date(let seconds): return add(date: seconds)
    case .array(let elements):
      guard depth > 0 else { return .null }
      return add(array: elements.map { add($0, depth: depth - 1) })
    case .dictionary(let entries):
      guard depth > 0 else { return .null }
      var references: [String: Reference] = [:]
      for (key, value) in entries.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
        references[key] = add(value, depth: depth - 1)
      }
      return add(dictionary: references)
    default: return add(list)
    }
  }
}

/// The parts of a decimal that NSDecimalNumber archives.
struct ArchivedDecimal {
  var isNegative: Bool
  var exponent: Int64 = 0
  /// The number of 16-bit words in use.
  var length: Int64 = 0
  /// Eight little-endian words, the lowest first.
  var mantissa = Data(count: 16)

  /// Parses the decimal text, because the words of a `Decimal` are not public on all platforms.
  init(_ number: Decimal) {
    isNegative = number.isNaN || number.isSignMinus
    guard !number.isNaN else { return }
    var digits = number.magnitude.description
    if let point = digits.firstIndex(of: ".") {
      exponent = -Int64(digits.distance(from: point, to: digits.endIndex) - 1)
      digits.remove(at: point)
    }
    // A Decimal has at most 39 digits without trailing zeros. Those digits fit into 128 bits.
    while digits.hasSuffix("0"), digits.count > 1, exponent < 127 {
      digits.removeLast()
      exponent += 1
    }
    let words = UInt128(digits) ?? 0
    guard words > 0 else {
      isNegative = false
      // Apple's frameworks keep the exponent of zero: that of `0.0` is -1.
      exponent = Int64(number.exponent)
      return
    }
    length = Int64((128 - words.leadingZeroBitCount + 15) / 16)
    mantissa = Data((0..<16).map { UInt8(truncatingIfNeeded: words >> UInt128($0 * 8)) })
  }
}
