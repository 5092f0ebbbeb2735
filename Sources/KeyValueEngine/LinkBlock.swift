import Foundation
import StoreProtocol

/// The links of an owner in one table, many to an entry: an entry for each link would be mostly key and checksum.
///
/// The key is table (2 bytes), owner (8) and bound (8). The bound is the greatest destination that the block may hold.
/// An owner's last block has the bound `Int64.max`, so that destinations added in key order fill it completely. The
/// destinations are ascending. There are no empty blocks.
enum LinkBlock {
  /// How many bytes of links a block has at most: four blocks with their keys fill a page of 4096 bytes.
  static let longest = 976

  static func setKey(_ key: KeyBuffer, _ table: Int, _ owner: Int64, _ bound: Int64) {
    setOwner(key, table, owner)
    key.append(bound)
  }

  /// Sets the beginning of the keys of all blocks of an owner.
  static func setOwner(_ key: KeyBuffer, _ table: Int, _ owner: Int64) {
    key.clear()
    key.append(UInt16(truncatingIfNeeded: table))
    key.append(owner)
  }

  /// Sets the key of the link back of a one-way link. Its value is the owner.
  static func setWayBack(_ key: KeyBuffer, _ table: Int, _ destination: Int64) {
    key.clear()
    key.append(UInt16(truncatingIfNeeded: table) | 1 << 15)
    key.append(destination)
  }

  /// How many numbers a link takes: the destination, and the order in an ordered relationship.
  static func width(isOrdered: Bool) -> Int { isOrdered ? 2 : 1 }

  /// Calls `body` with each link of a block after checking its checksum. Throws `corrupt`.
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
    var position = 8
    while position < value.count {
      let destination = Int64(littleEndian: value.integer(at: position, as: Int64.self))
      body(destination, isOrdered ? Int64(littleEndian: value.integer(at: position + 8, as: Int64.self)) : 0)
      position += size
    }
  }

  /// Throws `corrupt` where the checksum of a block does not fit, or its size is no whole number of links.
  @inline(__always)
  static func check(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isOrdered: Bool
  ) throws(StoreError) {
    try KeyValueEntry.check(key, value)
    let size = width(isOrdered: isOrdered) * 8
    guard value.count % size == 8 % size else { throw KeyValueEntry.damaged }
  }

  /// Throws `corrupt` unless the destinations of a block are ascending, above those of the block before it, and at most
  /// its bound. A block with a right checksum may still be foreign.
  static func checkOrder(
    _ value: UnsafeRawBufferPointer, isOrdered: Bool, above before: Int64, bound: Int64
  ) throws(StoreError) {
    let size = width(isOrdered: isOrdered) * 8
    var (last, position) = (before, 8)
    while position < value.count {
      let destination = Int64(littleEndian: value.integer(at: position, as: Int64.self))
      guard destination > last else { throw KeyValueEntry.damaged }
      last = destination
      position += size
    }
    guard last <= bound else { throw KeyValueEntry.damaged }
  }

  /// The greatest destination that the block of a key may hold. Nil where the key does not belong to the owner in
  /// `prefix`.
  static func bound(_ key: UnsafeRawBufferPointer, _ prefix: UnsafeRawBufferPointer) -> Int64? {
    key.hasPrefix(prefix) ? key.objectKey(at: 10) : nil
  }
}
