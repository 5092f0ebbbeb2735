import Foundation
import StoreProtocol

/// The links of an owner in one table, many to an entry: an entry for each link would be mostly key and checksum.
///
/// The key is table (2 bytes), owner (8) and bound (8): the greatest destination that the block may hold. An owner's
/// last block has the bound `Int64.max`, so that destinations that come in the order of their keys fill it to its end.
/// The destinations are ascending. A block that would be empty is not there.
enum LinkBlock {
  /// How many bytes of links a block has at most: with their keys four of them fill a page of 4096 bytes.
  static let longest = 976

  static func setKey(_ key: KeyBuffer, _ table: Int, _ owner: Int64, _ bound: Int64) {
    setOwner(key, table, owner)
    key.append(bound)
  }

  /// What the keys of all blocks of an owner begin with.
  static func setOwner(_ key: KeyBuffer, _ table: Int, _ owner: Int64) {
    key.clear()
    key.append(UInt16(truncatingIfNeeded: table))
    key.append(owner)
  }

  /// The way back of a one-way link, whose value is its owner.
  static func setWayBack(_ key: KeyBuffer, _ table: Int, _ destination: Int64) {
    key.clear()
    key.append(UInt16(truncatingIfNeeded: table) | 1 << 15)
    key.append(destination)
  }

  /// How many numbers a link takes: the destination, and where there is one its order.
  static func width(isOrdered: Bool) -> Int { isOrdered ? 2 : 1 }

  /// Calls `body` with each link of a block, whose checksum is looked at. Throws `corrupt`.
  @inline(__always)
  static func read(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isOrdered: Bool,
    _ body: (_ destination: Int64, _ order: Int64) -> Void
  ) throws(StoreError) {
    try check(key, value, isOrdered: isOrdered)
    forEach(value, isOrdered: isOrdered, body)
  }

  /// Calls `body` with each link of a block that has been checked.
  @inline(__always)
  static func forEach(
    _ value: UnsafeRawBufferPointer, isOrdered: Bool, _ body: (_ destination: Int64, _ order: Int64) -> Void
  ) {
    let size = width(isOrdered: isOrdered) * 8
    var place = 8
    while place < value.count {
      let destination = Int64(littleEndian: value.integer(at: place, as: Int64.self))
      body(destination, isOrdered ? Int64(littleEndian: value.integer(at: place + 8, as: Int64.self)) : 0)
      place += size
    }
  }

  /// Throws `corrupt` where a block does not have its checksum, or no whole number of links.
  @inline(__always)
  static func check(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isOrdered: Bool
  ) throws(StoreError) {
    try KeyValueEntry.check(key, value)
    let size = width(isOrdered: isOrdered) * 8
    guard value.count % size == 8 % size else { throw KeyValueEntry.damaged }
  }

  /// Throws `corrupt` where the destinations of a block are not ascending, or not above those of the block before it
  /// and up to its bound: a block with its checksum may still be none of ours.
  static func checkOrder(
    _ value: UnsafeRawBufferPointer, isOrdered: Bool, above before: Int64, bound: Int64
  ) throws(StoreError) {
    let size = width(isOrdered: isOrdered) * 8
    var (last, place) = (before, 8)
    while place < value.count {
      let destination = Int64(littleEndian: value.integer(at: place, as: Int64.self))
      guard destination > last else { throw KeyValueEntry.damaged }
      last = destination
      place += size
    }
    guard last <= bound else { throw KeyValueEntry.damaged }
  }

  /// The greatest destination that the block of a key may hold, nil where the key is none of the owner's that `prefix`
  /// is of.
  static func bound(_ key: UnsafeRawBufferPointer, _ prefix: UnsafeRawBufferPointer) -> Int64? {
    key.hasPrefix(prefix) ? key.objectKey(at: 10) : nil
  }
}
