import Foundation

extension Row {
  /// The packed bytes of the row. They do not depend on their address, so a store may keep them unchanged; see
  /// ``init(packed:key:version:_:)``. They do not contain key, version and entity. Valid during the call.
  @inlinable public func withPackedBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let count = Int(header.byteCount)
    let start = block.withUnsafeMutablePointerToElements { UnsafeRawPointer($0) }
    defer { withExtendedLifetime(block) {} }
    return try body(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Makes a row from packed bytes, which may come from any source. Nil where they are not a row of `form`'s entity. So
  /// nothing that is read from the row can lie outside of its memory, or outside of the schema.
  public init?(packed bytes: UnsafeRawBufferPointer, key: Int64, version: Int64, _ form: PackedRowForm) {
    guard key > 0, version > 0, bytes.count >= form.head, bytes.count <= RowBuilder.largest,
      let start = bytes.baseAddress
    else { return nil }
    let header = RowHeader(
      key: key, version: version, entity: form.entity, slotCount: form.slotCount, byteCount: UInt32(bytes.count))
    let block = unsafeDowncast(
      RowBlock.create(minimumCapacity: (bytes.count &+ 7) &>> 3) { _ in header }, to: RowBlock.self)
    let isValid = block.withUnsafeMutablePointerToElements { words in
      UnsafeMutableRawPointer(words).copyMemory(from: start, byteCount: bytes.count)
      return form.accepts(words, byteCount: UInt64(bytes.count))
    }
    if !isValid { return nil }
    self.init(block)
  }
}

/// The conditions for packed bytes to be a row of one entity. A class, so that checking rows counts only one reference.
public final class PackedRowForm: Sendable {
  let entity: UInt32
  let slotCount: UInt32
  /// The number of bytes of bitmap and words.
  let head: Int
  private let bitmapWords: Int
  private let byteSlots: [Int]
  private let uuidSlots: [Int]
  private let references: [Reference]

  private struct Reference: Sendable {
    let slot: Int
    let entitySlot: Int?
    let destinations: Range<Int>
  }

  /// The form of rows of `entity`.
  public init(_ entity: Entity) {
    self.entity = UInt32(entity.index)
    slotCount = UInt32(entity.slots.count)
    bitmapWords = (entity.slots.count + 63) >> 6
    head = (bitmapWords + entity.slots.count) * 8
    byteSlots = entity.slots.indices.filter { entity.slots[$0].isBytes }
    uuidSlots = entity.slots.indices.filter { entity.slots[$0] == .uuid }
    references = entity.relationships.compactMap { relationship in
      relationship.slot.map {
        Reference(slot: $0, entitySlot: relationship.entitySlot, destinations: relationship.destinations)
      }
    }
  }

  /// `words` has at least the length of the head; nothing after `byteCount` is read.
  func accepts(_ words: UnsafePointer<UInt64>, byteCount: UInt64) -> Bool {
    if !nullsAreClear(words) { return false }
    for slot in byteSlots {
      let word = words[bitmapWords &+ slot]
      if word == 0 && isNull(words, slot) { continue }
      let (offset, count) = (word &>> 32, word & 0xffff_ffff)
      if offset < UInt64(head) || offset &+ count > byteCount { return false }
    }
    for slot in uuidSlots where !isNull(words, slot) && words[bitmapWords &+ slot] & 0xffff_ffff != 16 { return false }
    for reference in references where !accepts(words, reference) { return false }
    return true
  }

  private func isNull(_ words: UnsafePointer<UInt64>, _ slot: Int) -> Bool {
    words[slot &>> 6] & (1 &<< UInt64(slot & 63)) != 0
  }

  /// Whether null slots have the word zero, and the bits after the last slot are set.
  private func nullsAreClear(_ words: UnsafePointer<UInt64>) -> Bool {
    var first = 0
    let slots = Int(slotCount)
    while first < slots {
      let rest = slots &- first
      var nulls = words[first &>> 6]
      if rest < 64 {
        let behind: UInt64 = .max &<< UInt64(rest)
        if nulls & behind != behind { return false }
        nulls &= ~behind
      }
      while nulls != 0 {
        if words[bitmapWords &+ first &+ nulls.trailingZeroBitCount] != 0 { return false }
        nulls &= nulls &- 1
      }
      first &+= 64
    }
    return true
  }

  private func accepts(_ words: UnsafePointer<UInt64>, _ reference: Reference) -> Bool {
    if isNull(words, reference.slot) { return true }
    if Int64(bitPattern: words[bitmapWords &+ reference.slot]) <= 0 { return false }
    guard let slot = reference.entitySlot, !isNull(words, slot) else { return true }
    return Int(exactly: words[bitmapWords &+ slot]).map(reference.destinations.contains) ?? false
  }
}
