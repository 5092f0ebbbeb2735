import Foundation
import StoreSchema

/// The values of an object that were set since it was read, by slot. Takes no memory of its own until the first is set.
///
/// Its owner says how many slots there are, and calls ``removeAll(slots:)`` before it goes.
struct ChangedValues {
  /// The mask, then a place for each slot.
  private var memory: UnsafeMutableRawPointer?

  private static let last = 63

  /// A bit for each slot that is set. The last one stands for all slots from its own on.
  @inline(__always)
  private var mask: UInt64 { memory?.load(as: UInt64.self) ?? 0 }

  /// Meant to be read only where a value is set; the memory of other slots before the last bit's is not initialised.
  @inline(__always)
  private static func values(_ memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Value?> {
    (memory + 8).assumingMemoryBound(to: Value?.self)
  }

  @inline(__always)
  private static func bit(_ slot: Int) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: min(slot, last)) }

  var isEmpty: Bool { memory == nil }

  /// Whether all slots of a bitmap are set; may be false for more than 63 slots although they are.
  @inline(__always)
  func covers(_ bits: ContiguousArray<UInt64>) -> Bool {
    bits.isEmpty || bits.count == 1 && bits[0] & ~(mask & ~Self.bit(Self.last)) == 0
  }

  /// Nil where the slot is not set; `.null` is a value.
  @inline(__always)
  subscript(slot: Int) -> Value? {
    guard let memory, mask & Self.bit(slot) != 0 else { return nil }
    return Self.values(memory)[slot]
  }

  @inline(__always)
  mutating func set(_ slot: Int, _ value: Value, slots count: Int) {
    precondition(slot >= 0 && slot < count, "slot out of range")
    let memory = memory ?? allocate(count)
    let place = Self.values(memory) + slot
    if slot >= Self.last || mask & Self.bit(slot) != 0 { place.pointee = value } else { place.initialize(to: value) }
    memory.storeBytes(of: mask | Self.bit(slot), as: UInt64.self)
  }

  private mutating func allocate(_ count: Int) -> UnsafeMutableRawPointer {
    // On Linux Swift's own allocation goes through the slower call for aligned memory.
    guard let made = malloc(8 + count * MemoryLayout<Value?>.stride) else { fatalError("out of memory") }
    made.initializeMemory(as: UInt64.self, to: 0)
    (made + 8).bindMemory(to: Value?.self, capacity: count)
    if count > Self.last { (Self.values(made) + Self.last).initialize(repeating: nil, count: count - Self.last) }
    memory = made
    return made
  }

  mutating func removeAll(slots count: Int) {
    guard let memory else { return }
    forEachSlot(count) { (Self.values(memory) + $0).deinitialize(count: 1) }
    free(memory)
    self.memory = nil
  }

  /// Calls `body` with each slot that is set, in ascending order.
  @inline(__always)
  func forEachSlot<E: Error>(_ count: Int, _ body: (Int) throws(E) -> Void) throws(E) {
    guard let memory else { return }
    let mask = mask
    var rest = mask & ~Self.bit(Self.last)
    while rest != 0 {
      try body(rest.trailingZeroBitCount)
      rest &= rest &- 1
    }
    if mask & Self.bit(Self.last) == 0 { return }
    for slot in Self.last..<count where Self.values(memory)[slot] != nil { try body(slot) }
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
