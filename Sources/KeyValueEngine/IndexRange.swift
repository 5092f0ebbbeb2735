import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// A key range of an index, by the values of its first attribute. It holds at least the entries with values in the
/// range.
struct IndexRange {
  let index: Int
  /// Every key of the range is at least this.
  var low: [UInt8]
  /// The beginning of every key of the range is at most this.
  var high: [UInt8]

  /// An estimate of selectivity: true where both bounds are equal.
  var isNarrow: Bool { low == high }

  /// The intersection of two ranges of one index.
  func intersection(_ other: IndexRange) -> IndexRange {
    var result = self
    if low.lexicographicallyPrecedes(other.low) { result.low = other.low }
    // Where one upper bound begins with the other, the longer one excludes more.
    if other.high.lexicographicallyPrecedes(high) ? !high.starts(with: other.high) : other.high.starts(with: high) {
      result.high = other.high
    }
    return result
  }

  func contains(_ key: UnsafeRawBufferPointer) -> Bool {
    let count = min(key.count, high.count)
    for position in 0..<count where key[position] != high[position] { return key[position] < high[position] }
    return true
  }
}

/// Makes key ranges of one index from comparisons of its first attribute. Nil for a predicate without one.
struct IndexRangeMaker {
  let number: Int
  let kind: SlotKind
  /// How many bytes of a key are never cut short; see ``KeyValueIndexes``.
  let certain: Int
  let hasNulls: Bool

  func range(_ op: StoreQuery.Predicate.Operator, _ value: Value) -> IndexRange? {
    if value.isNull { return op == .equalTo && hasNulls ? range(from: [0], to: [0]) : nil }
    if op == .beginsWith {
      guard kind == .string || kind == .uri, let text = value.text, !text.isEmpty else { return nil }
      let bytes = [1] + Self.escaped(Array(text.utf8))
      return range(from: bytes, to: bytes)
    }
    guard let (low, high) = bounds(value) else { return nil }
    switch op {
    case .equalTo: return range(from: [1] + low, to: [1] + high)
    case .lessThan, .lessThanOrEqualTo: return range(from: [1], to: [1] + high)
    case .greaterThan, .greaterThanOrEqualTo: return range(from: [1] + low, to: [1])
    default: return nil
    }
  }

  private func range(from low: [UInt8], to high: [UInt8]) -> IndexRange {
    let number = [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
    return IndexRange(
      index: self.number, low: number + low.prefix(certain - 2), high: number + high.prefix(certain - 2))
  }

  /// The least and the greatest bytes that an equal value can have in the index.
  private func bounds(_ value: Value) -> ([UInt8], [UInt8])? {
    switch kind {
    case .int16, .int32, .int64, .bool:
      guard let (low, high) = integers(value) else { return nil }
      return (Self.bytes(UInt64(bitPattern: low) ^ 1 << 63), Self.bytes(UInt64(bitPattern: high) ^ 1 << 63))
    case .double, .float, .date:
      guard let (low, high) = doubles(value) else { return nil }
      return (Self.bytes(OrderedValue.bits(low)), Self.bytes(OrderedValue.bits(high)))
    case .string, .uri: return value.text.map { text in same(Array(text.utf8)) }
    case .uuid:
      guard case .uuid(let uuid) = value else { return nil }
      return same(withUnsafeBytes(of: uuid.uuid) { Array($0) })
    case .data:
      guard case .data(let data) = value else { return nil }
      return same(Array(data))
    case .decimal, .transformable, .externalData, .reference, .referenceEntity: return nil
    }
  }

  private func same(_ content: [UInt8]) -> ([UInt8], [UInt8]) {
    let bytes = Self.escaped(content) + [0, 0]
    return (bytes, bytes)
  }

  private static func escaped(_ content: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    for byte in content {
      bytes.append(byte)
      if byte == 0 { bytes.append(255) }
    }
    return bytes
  }

  private func integers(_ value: Value) -> (Int64, Int64)? {
    switch value {
    case .int(let number): return (number, number)
    case .bool(let truth): return truth ? (1, 1) : (0, 0)
    case .double(let number), .date(let number):
      guard !number.isNaN else { return nil }
      func clamped(_ whole: Double) -> Int64 { Int64(exactly: whole) ?? (whole < 0 ? .min : .max) }
      return (clamped(number.rounded(.down)), clamped(number.rounded(.up)))
    default: return nil
    }
  }

  private func doubles(_ value: Value) -> (Double, Double)? {
    switch value {
    case .double(let number), .date(let number):
      if number.isNaN { return nil }
      return number == 0 ? (-0.0, 0.0) : (number, number)
    case .int(let number):
      let near = Double(number)
      if number == 0 { return (-0.0, 0.0) }
      return Int64(exactly: near) == number ? (near, near) : (near.nextDown, near.nextUp)
    case .bool(let truth): return truth ? (1, 1) : (-0.0, 0.0)
    default: return nil
    }
  }

  private static func bytes(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}

extension Value {
  fileprivate var text: String? {
    switch self {
    case .string(let text), .uri(let text): text
    default: nil
    }
  }
}
