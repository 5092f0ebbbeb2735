import Foundation

extension Row? {
  /// The row's memory. Valid while the caller knows that the row is held. It retains nothing.
  @inlinable @inline(__always) public var view: RowView? {
    guard let block = unsafeBitCast(self, to: UnsafeRawPointer?.self) else { return nil }
    return Unmanaged<RowBlock>.fromOpaque(block)._withUnsafeGuaranteedRef {
      $0.withUnsafeMutablePointers { RowView(header: $0, words: $1) }
    }
  }
}

extension Row? {
  /// The word at an index that ``Row/wordIndex(of:)`` gave for a row with as many slots. The row must not be nil, and
  /// nothing is checked: this is for accessors of properties. It retains nothing.
  @inlinable @inline(__always)
  public func word(at index: Int) -> UInt64 { unsafeBitCast(self, to: UnsafePointer<UInt64>.self)[index] }
}

extension Row {
  /// The index of a slot's word, counted from the start of the row's block. The same for all rows with as many slots.
  public func wordIndex(of slot: Int) -> Int {
    let start = UnsafeRawPointer(Unmanaged.passUnretained(block).toOpaque())
    let head = block.withUnsafeMutablePointerToElements { UnsafeRawPointer($0) - start }
    return head / 8 &+ header.bitmapWords &+ slot
  }
}

/// The memory of a row, without owning it: reading through it costs no reference counting.
///
/// Valid while someone holds the ``Row`` that it came from; see ``Row/view``.
public struct RowView {
  @usableFromInline let header: UnsafePointer<RowHeader>
  @usableFromInline let words: UnsafePointer<UInt64>

  @inlinable init(header: UnsafePointer<RowHeader>, words: UnsafePointer<UInt64>) {
    self.header = header
    self.words = words
  }

  /// The object's key, unique within its entity hierarchy.
  @inlinable public var key: Int64 { header.pointee.key }
  /// The optimistic-locking version.
  @inlinable public var version: Int64 { header.pointee.version }

  /// The number of slots of the row's entity.
  @inlinable public var slotCount: Int { Int(header.pointee.slotCount) }

  /// Whether the slot has no value.
  @inlinable public func isNull(_ slot: Int) -> Bool {
    precondition(slot >= 0 && slot < Int(header.pointee.slotCount), "slot out of range")
    return words[slot &>> 6] & (1 &<< UInt64(slot & 63)) != 0
  }

  /// The null bits of 64 slots.
  @inlinable public func nulls(_ group: Int) -> UInt64 {
    precondition(group >= 0 && group < header.pointee.bitmapWords, "slot out of range")
    return words[group]
  }

  /// The slot's word as an integer. Zero where the slot is null.
  @inlinable public func int(_ slot: Int) -> Int64 { Int64(bitPattern: word(slot)) }
  /// The slot's word as a double. Zero where the slot is null.
  @inlinable public func double(_ slot: Int) -> Double { Double(bitPattern: word(slot)) }

  @inlinable func word(_ slot: Int) -> UInt64 {
    precondition(slot >= 0 && slot < Int(header.pointee.slotCount), "slot out of range")
    return words[header.pointee.bitmapWords &+ slot]
  }

  /// The bytes of a slot; nil for null. The word of a null slot is zero, and an offset never is.
  @inlinable @inline(__always)
  func bytesOrNil(_ slot: Int) -> UnsafeRawBufferPointer? {
    let extent = word(slot)
    return extent == 0 ? nil : bytes(at: extent)
  }

  /// The string in a slot of UTF-8 bytes; nil where the slot is null.
  @inlinable @inline(__always)
  public func stringOrNil(_ slot: Int) -> String? { bytesOrNil(slot).map { String(decoding: $0, as: UTF8.self) } }

  /// The bytes in a slot for which ``SlotKind/isBytes`` holds; nil where the slot is null.
  @inlinable @inline(__always)
  public func dataOrNil(_ slot: Int) -> Data? { bytesOrNil(slot).map(Self.data) }

  /// The UUID in a slot; nil where the slot is null.
  @inlinable @inline(__always)
  public func uuidOrNil(_ slot: Int) -> UUID? { bytesOrNil(slot).map(Self.uuid) }

  /// The bytes of a slot, inside the row's memory. Empty where the slot is null.
  @inlinable @inline(__always)
  public func bytes(_ slot: Int) -> UnsafeRawBufferPointer { bytes(at: word(slot)) }

  @inlinable @inline(__always)
  func bytes(at extent: UInt64) -> UnsafeRawBufferPointer {
    let (offset, count) = (Int(extent &>> 32), Int(extent & 0xffff_ffff))
    // True for every slot of bytes; a wrong accessor must not read outside of the block.
    precondition(offset &+ count <= Int(header.pointee.byteCount), "slot does not hold bytes")
    return UnsafeRawBufferPointer(start: UnsafeRawPointer(words) + offset, count: count)
  }

  /// The string in a slot of UTF-8 bytes. Empty where the slot is null.
  @inlinable public func string(_ slot: Int) -> String { String(decoding: bytes(slot), as: UTF8.self) }

  /// The bytes in a slot for which ``SlotKind/isBytes`` holds. Empty where the slot is null.
  @inlinable public func data(_ slot: Int) -> Data { Self.data(bytes(slot)) }

  @inlinable @inline(__always)
  static func data(_ bytes: UnsafeRawBufferPointer) -> Data {
    guard let start = bytes.baseAddress else { return Data() }
    return Data(bytes: start, count: bytes.count)
  }

  /// The UUID in a slot; all zeros where it does not hold 16 bytes.
  @inlinable public func uuid(_ slot: Int) -> UUID { Self.uuid(bytes(slot)) }

  @inlinable @inline(__always)
  static func uuid(_ bytes: UnsafeRawBufferPointer) -> UUID {
    bytes.count == 16
      ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  }

  /// See ``Row/reference(_:entitySlot:destination:)``.
  @inlinable @inline(__always)
  public func reference(_ slot: Int, entitySlot: Int?, destination: Int) -> ObjectReference? {
    if isNull(slot) { return nil }
    guard let entitySlot, !isNull(entitySlot) else { return ObjectReference(entity: destination, key: int(slot)) }
    return ObjectReference(entity: Int(int(entitySlot)), key: int(slot))
  }
}
