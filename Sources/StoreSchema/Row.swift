import Foundation

/// The stored state of one object: an immutable, packed block that the row cache and every context share.
///
/// The block consists of a bitmap of the null slots, an 8-byte word for each slot, and the bytes of strings and blobs.
/// It contains no pointers, so a store may keep the same bytes. Reading a scalar costs a load; a `String` is made when
/// it is read.
///
/// Sendable, unchecked: nothing writes to a block once the builder has returned its row. An incomplete row is a
/// ``RowDraft``.
public struct Row: @unchecked Sendable {
  @usableFromInline var block: RowBlock

  @usableFromInline init(_ block: RowBlock) { self.block = block }

  /// Read through a pointer without exclusivity checks, because the block never changes.
  @inlinable var header: RowHeader { block.withUnsafeMutablePointerToHeader { $0.pointee } }

  /// The object's key, unique within its entity hierarchy.
  @inlinable public var key: Int64 { header.key }
  /// Index of the object's own entity.
  @inlinable public var entity: Int { Int(header.entity) }
  /// The optimistic-locking version: 1 at insertion, one more at each saved update.
  @inlinable public var version: Int64 { header.version }
  /// The number of slots of the row's entity.
  @inlinable public var slotCount: Int { Int(header.slotCount) }
  /// The number of bytes the block takes, its header included.
  public var byteCount: Int { MemoryLayout<RowHeader>.stride + Int(header.byteCount) + 16 }

  /// The object's own entity and its key.
  @inlinable public var reference: ObjectReference { ObjectReference(entity: entity, key: key) }

  /// Whether both are the same block in memory.
  @inlinable public func isIdentical(to other: Row) -> Bool { block === other.block }

  /// The row's memory. Valid while the caller knows that the row is held.
  @inlinable public var view: RowView { block.withUnsafeMutablePointers { RowView(header: $0, words: $1) } }

  /// Whether the slot has no value.
  @inlinable public func isNull(_ slot: Int) -> Bool { withExtendedLifetime(block) { view.isNull(slot) } }

  /// The slot's word as an integer. Zero where the slot is null.
  @inlinable public func int(_ slot: Int) -> Int64 { withExtendedLifetime(block) { view.int(slot) } }

  /// The slot's word as a double. Zero where the slot is null.
  @inlinable public func double(_ slot: Int) -> Double { withExtendedLifetime(block) { view.double(slot) } }

  @inlinable func word(_ slot: Int) -> UInt64 { withExtendedLifetime(block) { view.word(slot) } }

  /// Calls `body` with the bytes of a slot for which `SlotKind.isBytes` holds. Empty where the slot is null.
  @inlinable public func withBytes<R, E: Error>(
    _ slot: Int, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    defer { withExtendedLifetime(block) {} }
    return try body(view.bytes(slot))
  }

  /// The string in a slot of UTF-8 bytes.
  @inlinable public func string(_ slot: Int) -> String { withExtendedLifetime(block) { view.string(slot) } }
  /// The bytes in a slot for which `SlotKind.isBytes` holds. Empty where the slot is null.
  @inlinable public func data(_ slot: Int) -> Data { withExtendedLifetime(block) { view.data(slot) } }
  /// The UUID in a slot; all zeros where it does not hold 16 bytes.
  @inlinable public func uuid(_ slot: Int) -> UUID { withExtendedLifetime(block) { view.uuid(slot) } }

  /// The to-one destination in `slot`, nil where null. `entitySlot` is the relationship's entity slot;
  /// without one the destination is of the entity `destination`.
  @inlinable public func reference(_ slot: Int, entitySlot: Int?, destination: Int) -> ObjectReference? {
    withExtendedLifetime(block) { view.reference(slot, entitySlot: entitySlot, destination: destination) }
  }

  /// A slot's value by its kind. A reference is returned as `.int` with the key only; see
  /// ``reference(_:entitySlot:destination:)``.
  public func value(_ slot: Int, _ kind: SlotKind) -> Value {
    if isNull(slot) { return .null }
    switch kind {
    case .int16, .int32, .int64, .reference, .referenceEntity: return .int(int(slot))
    case .bool: return .bool(int(slot) != 0)
    case .double, .float: return .double(double(slot))
    case .date: return .date(double(slot))
    case .decimal: return withBytes(slot) { DecimalText.parse($0) }.map(Value.decimal) ?? .null
    case .string: return .string(string(slot))
    case .uri: return .uri(string(slot))
    case .uuid: return .uuid(uuid(slot))
    case .data, .transformable, .externalData: return .data(data(slot))
    }
  }

  /// Whether both rows have the same packed bytes. Rows with equal values may still differ in the order of their bytes.
  public func hasEqualBytes(_ other: Row) -> Bool {
    if isIdentical(to: other) { return true }
    let (mine, theirs) = (header, other.header)
    guard mine.byteCount == theirs.byteCount, mine.entity == theirs.entity else { return false }
    return block.withUnsafeMutablePointerToElements { a in
      other.block.withUnsafeMutablePointerToElements { memcmp(a, $0, Int(mine.byteCount)) == 0 }
    }
  }

  /// Whether a slot holds the same bits in both rows, which must be of the same entity.
  public func hasEqualSlot(_ slot: Int, _ kind: SlotKind, _ other: Row) -> Bool {
    if isNull(slot) || other.isNull(slot) { return isNull(slot) == other.isNull(slot) }
    guard kind.isBytes else { return word(slot) == other.word(slot) }
    return withBytes(slot) { mine in
      other.withBytes(slot) { mine.elementsEqual($0) }
    }
  }
}

@usableFromInline struct RowHeader {
  @usableFromInline var key: Int64
  @usableFromInline var version: Int64
  @usableFromInline var entity: UInt32
  @usableFromInline var slotCount: UInt32
  /// The number of bytes after the header: bitmap, words and data.
  @usableFromInline var byteCount: UInt32
  /// Whether the row owns objects; see ``RowObjects``.
  @usableFromInline var ownsObjects = false
  /// Whether the block belongs to a ``RowDraft`` that is not sealed.
  @usableFromInline var isDraft = false
  /// See ``RowDraft/gotKey``.
  @usableFromInline var gotKey = false

  @usableFromInline init(key: Int64, version: Int64, entity: UInt32, slotCount: UInt32, byteCount: UInt32) {
    self.key = key
    self.version = version
    self.entity = entity
    self.slotCount = slotCount
    self.byteCount = byteCount
  }

  @inlinable var bitmapWords: Int { Int(slotCount &+ 63) &>> 6 }
}

/// The storage of a row.
@usableFromInline final class RowBlock: ManagedBuffer<RowHeader, UInt64> {
  deinit {
    withUnsafeMutablePointerToHeader { if $0.pointee.ownsObjects { RowObjects.disown(by: UInt(bitPattern: $0)) } }
  }
}

extension Row {
  /// Whether only this value holds the block. Another thread may change that at once: use it only to decide what to
  /// drop.
  public mutating func isUniquelyHeld() -> Bool { isKnownUniquelyReferenced(&block) }
}
