import Foundation
import StoreSchema

/// The values of an object that were set since it was read, by slot. Takes no memory of its own until the first is set.
///
/// Its owner says how many slots there are, and calls ``removeAll(slots:)`` before it goes.
struct ChangedValues {
  /// Meant to be read only where a value is set; the memory of other slots before the last bit's is not initialised.
  private var values: UnsafeMutablePointer<Value?>?
  /// A bit for each slot that is set. The last one stands for all slots from its own on.
  private var mask: UInt64 = 0

  private static let last = 63

  @inline(__always)
  private static func bit(_ slot: Int) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: min(slot, last)) }

  var isEmpty: Bool { mask == 0 }

  /// Whether all slots of a bitmap are set; may be false for more than 63 slots although they are.
  @inline(__always)
  func covers(_ bits: ContiguousArray<UInt64>) -> Bool {
    bits.isEmpty || bits.count == 1 && bits[0] & ~(mask & ~Self.bit(Self.last)) == 0
  }

  /// Nil where the slot is not set; `.null` is a value.
  @inline(__always)
  subscript(slot: Int) -> Value? {
    if mask & Self.bit(slot) == 0 { return nil }
    return values.unsafelyUnwrapped[slot]
  }

  @inline(__always)
  mutating func set(_ slot: Int, _ value: Value, slots count: Int) {
    precondition(slot >= 0 && slot < count, "slot out of range")
    if values == nil { allocate(count) }
    let place = values.unsafelyUnwrapped + slot
    if slot >= Self.last || mask & Self.bit(slot) != 0 { place.pointee = value } else { place.initialize(to: value) }
    mask |= Self.bit(slot)
  }

  private mutating func allocate(_ count: Int) {
    // On Linux Swift's own allocation goes through the slower call for aligned memory.
    guard let memory = malloc(count * MemoryLayout<Value?>.stride) else { fatalError("out of memory") }
    let made = memory.bindMemory(to: Value?.self, capacity: count)
    if count > Self.last { (made + Self.last).initialize(repeating: nil, count: count - Self.last) }
    values = made
  }

  mutating func removeAll(slots count: Int) {
    guard let values else { return }
    forEachSlot(count) { (values + $0).deinitialize(count: 1) }
    free(values)
    self.values = nil
    mask = 0
  }

  /// Calls `body` with each slot that is set, in ascending order.
  @inline(__always)
  func forEachSlot<E: Error>(_ count: Int, _ body: (Int) throws(E) -> Void) throws(E) {
    var rest = mask & ~Self.bit(Self.last)
    while rest != 0 {
      try body(rest.trailingZeroBitCount)
      rest &= rest &- 1
    }
    guard mask & Self.bit(Self.last) != 0, let values else { return }
    for slot in Self.last..<count where values[slot] != nil { try body(slot) }
  }

  /// Whether a slot that is set meets a condition.
  @inline(__always)
  func contains(_ count: Int, where condition: (Int, Value) -> Bool) -> Bool {
    var isFound = false
    forEachSlot(count) { slot in
      if !isFound, let value = self[slot] { isFound = condition(slot, value) }
    }
    return isFound
  }
}
