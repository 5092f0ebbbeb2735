/// A set of slot indices: one word for the first 64, more words where an entity has more.
public struct SlotSet: Hashable, Sendable {
  private var low: UInt64 = 0
  private var high: [UInt64]?

  /// An empty set.
  public init() {}

  /// Whether no slot is in the set.
  public var isEmpty: Bool { low == 0 && (high?.allSatisfy { $0 == 0 } ?? true) }

  /// Adds a slot.
  public mutating func insert(_ slot: Int) {
    if slot < 64 {
      low |= 1 << UInt64(slot)
    } else {
      var words = high ?? []
      let index = slot / 64 - 1
      while words.count <= index { words.append(0) }
      words[index] |= 1 << UInt64(slot % 64)
      high = words
    }
  }

  /// Whether a slot is in the set.
  public func contains(_ slot: Int) -> Bool {
    if slot < 64 { return low & (1 << UInt64(slot)) != 0 }
    let index = slot / 64 - 1
    guard let high, index < high.count else { return false }
    return high[index] & (1 << UInt64(slot % 64)) != 0
  }

  /// Whether a slot is in both sets.
  public func intersects(_ other: SlotSet) -> Bool {
    if low & other.low != 0 { return true }
    guard let high, let theirs = other.high else { return false }
    return zip(high, theirs).contains { $0 & $1 != 0 }
  }

  /// The slots in ascending order.
  public var slots: [Int] {
    var result: [Int] = []
    for (index, word) in ([low] + (high ?? [])).enumerated() {
      var rest = word
      while rest != 0 {
        result.append(index * 64 + rest.trailingZeroBitCount)
        rest &= rest - 1
      }
    }
    return result
  }
}
