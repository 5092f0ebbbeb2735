import CRuntime
import Foundation
import StoreSchema

/// The values of an object that were set since it was read, by slot. It allocates no memory until the first value is
/// set.
///
/// The first few values are packed, in the order of their slots, so that a change of one property does not need memory
/// for all. More values are stored at the index of their slot. The owner passes the number of slots, and calls
/// ``removeAll(slots:)`` before it is freed.
struct ChangedValues {
  /// The mask, then the values.
  private var memory: UnsafeMutableRawPointer?

  /// The mask has a bit for each slot that is set. The slots from 62 on share one bit.
  private static let last = 62
  private static let lastBit: UInt64 = 1 << 62
  /// A bit of the mask too: the values are stored at the indices of their slots.
  private static let spread: UInt64 = 1 << 63
  private static let packedCapacity = 2

  @inline(__always)
  private static func bit(_ slot: Int) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: min(slot, last)) }

  @inline(__always)
  private static func mask(_ memory: UnsafeMutableRawPointer) -> UInt64 { memory.load(as: UInt64.self) }

  /// Entries that are not set are uninitialized, except for the entries of the shared bit, which hold nil.
  @inline(__always)
  private static func values(_ memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Value?> {
    (memory + 8).assumingMemoryBound(to: Value?.self)
  }

  /// The index at which the value of a slot is, or belongs.
  @inline(__always)
  private static func index(_ slot: Int, _ mask: UInt64) -> Int {
    mask & spread != 0 ? slot : (mask & (bit(slot) &- 1)).nonzeroBitCount
  }

  var isEmpty: Bool { memory == nil }

  /// Whether all slots of a bitmap are set. May be false for more than 62 slots although they are set.
  @inline(__always)
  func covers(_ bits: ContiguousArray<UInt64>) -> Bool {
    guard bits.count == 1, let memory else { return bits.isEmpty }
    return bits[0] & ~(Self.mask(memory) & (Self.lastBit &- 1)) == 0
  }

  /// Nil where the slot is not set; `.null` is a value.
  @inline(__always)
  subscript(slot: Int) -> Value? {
    guard let memory else { return nil }
    let mask = Self.mask(memory)
    if mask & Self.bit(slot) == 0 { return nil }
    return Self.values(memory)[Self.index(slot, mask)]
  }

  /// The address of the value of a slot, which is not nil; nil where the slot is not set. Valid until a slot is set. To
  /// look at a value at its address copies nothing.
  @inline(__always)
  func address(_ slot: Int) -> UnsafePointer<Value?>? {
    guard let memory else { return nil }
    let mask = Self.mask(memory)
    if mask & Self.bit(slot) == 0 { return nil }
    let address = Self.values(memory) + Self.index(slot, mask)
    return slot >= Self.last && address.pointee == nil ? nil : UnsafePointer(address)
  }

  /// With `isSpread` many slots will be set.
  @inline(__always)
  mutating func set(_ slot: Int, _ value: consuming Value, slots count: Int, isSpread: Bool) {
    precondition(slot >= 0 && slot < count, "slot out of range")
    let (entry, wasSet) = makeEntry(slot, count, isSpread)
    // One store for all cases: the value is moved there, not copied. The former one is released last, because that may
    // run code of the client.
    let former = wasSet ? entry.move() : nil
    entry.initialize(to: value)
    withExtendedLifetime(former) {}
  }

  /// The entry of a slot, which counts as set from now on, and whether it has a value already.
  @inline(__always)
  private mutating func makeEntry(
    _ slot: Int, _ count: Int, _ isSpread: Bool
  ) -> (UnsafeMutablePointer<Value?>, wasSet: Bool) {
    if memory == nil && !isSpread && slot < Self.last {
      return (Self.values(allocate(Self.packedCapacity, mask: Self.bit(slot))), false)
    }
    let memory = roomFor(slot, count)
    let (mask, bit) = (Self.mask(memory), Self.bit(slot))
    let entry = Self.values(memory) + Self.index(slot, mask)
    memory.storeBytes(of: mask | bit, as: UInt64.self)
    if mask & bit != 0 || slot >= Self.last { return (entry, true) }
    if mask & Self.spread == 0 {
      let behind = (mask & ~(bit &- 1)).nonzeroBitCount
      if behind > 0 { (entry + 1).moveInitialize(from: entry, count: behind) }
    }
    return (entry, false)
  }

  /// The memory with an entry for the slot.
  @inline(__always)
  private mutating func roomFor(_ slot: Int, _ count: Int) -> UnsafeMutableRawPointer {
    guard let memory else { return allocateSpread(count) }
    let mask = Self.mask(memory)
    if mask & (Self.spread | Self.bit(slot)) != 0 { return memory }
    return slot < Self.last && mask.nonzeroBitCount < Self.packedCapacity ? memory : spreadOut(memory, count)
  }

  private mutating func allocate(_ capacity: Int, mask: UInt64) -> UnsafeMutableRawPointer {
    let made: UnsafeMutableRawPointer = cd_allocate(8 + capacity * MemoryLayout<Value?>.stride)
    made.initializeMemory(as: UInt64.self, to: mask)
    (made + 8).bindMemory(to: Value?.self, capacity: capacity)
    memory = made
    return made
  }

  private mutating func allocateSpread(_ count: Int) -> UnsafeMutableRawPointer {
    let made = allocate(count, mask: Self.spread)
    if count > Self.last { (Self.values(made) + Self.last).initialize(repeating: nil, count: count - Self.last) }
    return made
  }

  /// Moves packed values to the indices of their slots.
  private mutating func spreadOut(_ packed: UnsafeMutableRawPointer, _ count: Int) -> UnsafeMutableRawPointer {
    let made = allocateSpread(count)
    var (rest, index) = (Self.mask(packed), 0)
    made.storeBytes(of: rest | Self.spread, as: UInt64.self)
    while rest != 0 {
      (Self.values(made) + rest.trailingZeroBitCount).moveInitialize(from: Self.values(packed) + index, count: 1)
      rest &= rest &- 1
      index += 1
    }
    free(packed)
    return made
  }

  mutating func removeAll(slots count: Int) {
    guard let memory else { return }
    let mask = Self.mask(memory)
    // Moved out one by one, because that needs no call of the runtime.
    if mask & Self.spread == 0 {
      for index in 0..<mask.nonzeroBitCount { _ = (Self.values(memory) + index).move() }
    } else {
      forEachSlot(count) { _ = (Self.values(memory) + $0).move() }
    }
    free(memory)
    self.memory = nil
  }

  /// Calls `body` with each slot that is set, in ascending order.
  @inline(__always)
  func forEachSlot<E: Error>(_ count: Int, _ body: (Int) throws(E) -> Void) throws(E) {
    guard let memory else { return }
    let mask = Self.mask(memory)
    var rest = mask & (Self.lastBit &- 1)
    while rest != 0 {
      try body(rest.trailingZeroBitCount)
      rest &= rest &- 1
    }
    if mask & Self.lastBit == 0 { return }
    for slot in Self.last..<count where Self.values(memory)[slot] != nil { try body(slot) }
  }

  /// Whether a slot that is set meets a condition, which gets the address of its value; see ``address(_:)``. The slots
  /// are checked in ascending order.
  @inline(__always)
  func contains(_ count: Int, where condition: (Int, UnsafePointer<Value?>) -> Bool) -> Bool {
    guard let memory else { return false }
    let (mask, values) = (Self.mask(memory), UnsafePointer(Self.values(memory)))
    var (rest, index) = (mask & (Self.lastBit &- 1), 0)
    while rest != 0 {
      let slot = rest.trailingZeroBitCount
      if condition(slot, values + (mask & Self.spread != 0 ? slot : index)) { return true }
      rest &= rest &- 1
      index &+= 1
    }
    if mask & Self.lastBit == 0 { return false }
    for slot in Self.last..<count where values[slot] != nil && condition(slot, values + slot) { return true }
    return false
  }

  /// Calls `body` with each slot that is set and its value, in ascending order.
  @inline(__always)
  func forEach(_ count: Int, _ body: (Int, Value) -> Void) {
    _ = contains(count) { slot, address in
      if let value = address.pointee { body(slot, value) }
      return false
    }
  }
}
