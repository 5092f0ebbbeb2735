import Foundation

/// Packs rows, one after another, in a buffer that it keeps.
///
/// It must be used by one caller at a time. Its fields have no exclusivity checks, which would cost as much as the
/// packing.
///
/// For each row: call ``begin(slots:)``, then set every slot that is not null, then call
/// ``finish(key:entity:version:)``.
public final class RowBuilder {
  /// The bitmap of nulls, then the words.
  @exclusivity(unchecked) @usableFromInline var words: UnsafeMutablePointer<UInt64>
  @exclusivity(unchecked) @usableFromInline var wordCapacity = 64
  @exclusivity(unchecked) @usableFromInline var bytes: UnsafeMutableRawPointer
  @exclusivity(unchecked) @usableFromInline var byteCapacity = 1024
  @exclusivity(unchecked) @usableFromInline var byteCount = 0
  @exclusivity(unchecked) @usableFromInline var slotCount = 0
  @exclusivity(unchecked) @usableFromInline var bitmapWords = 0
  /// The number of bytes of bitmap and words.
  @exclusivity(unchecked) @usableFromInline var head = 0
  /// Objects that the row will own. May contain objects of a row that was never finished, which is harmless.
  @exclusivity(unchecked) private var objects: [UInt64] = []
  private let limit: Int
  /// Whether the row's bytes exceed the kept buffer.
  @exclusivity(unchecked) @usableFromInline var isLarge = false
  /// The memory of a large row, with its bytes after its head. It becomes the row, so that the bytes are copied once.
  @exclusivity(unchecked) private var block: RowBlock?
  /// Whether values were left out because the row cannot hold them. That is noticed before memory is allocated.
  @exclusivity(unchecked) private var hasLeftOut = false

  /// The most bytes of values that are kept in the buffer. A row with more bytes is built in its own block.
  public static let mostKept = 1 << 20

  /// The most bytes of a row, values and slots together: stored rows have offsets and lengths of 31 bits.
  public static let largest = Int(Int32.max)

  /// `limit` is for tests: the number of bytes above which a row is too large.
  public init(limit: Int = RowBuilder.largest) {
    self.limit = limit
    words = .allocate(capacity: wordCapacity)
    bytes = .allocate(byteCount: byteCapacity, alignment: 8)
  }

  deinit {
    words.deallocate()
    if block == nil { bytes.deallocate() }
  }

  /// Starts a row in which every slot is null.
  @inlinable @inline(__always)
  public func begin(slots: Int) { begin(slots, bitmap: .max) }

  /// Starts a row in which no slot is null. Returns the address of its first word. The caller must write every word
  /// there; zero for a slot that it makes null. Valid until the row is finished.
  @inlinable @inline(__always)
  public func beginFilled(slots: Int) -> UnsafeMutablePointer<UInt64> {
    begin(slots, bitmap: 0)
    // Bits after the last slot count as null.
    if slots & 63 != 0 { words[bitmapWords &- 1] = .max &<< UInt64(slots & 63) }
    return words + bitmapWords
  }

  @inlinable @inline(__always)
  func begin(_ slots: Int, bitmap: UInt64) {
    if isLarge { forgetLarge() }
    slotCount = slots
    bitmapWords = (slots &+ 63) &>> 6
    head = (bitmapWords &+ slots) &* 8
    byteCount = 0
    if bitmapWords &+ slots > wordCapacity { growWords(to: bitmapWords &+ slots) }
    var index = 0
    repeat {
      words[index] = bitmap
      index &+= 1
    } while index < bitmapWords
  }

  @inlinable @inline(__always)
  func set(_ slot: Int, _ word: UInt64) {
    precondition(UInt(bitPattern: slot) < UInt(bitPattern: slotCount), "slot out of range")
    words[slot &>> 6] &= ~(1 &<< UInt64(slot & 63))
    words[bitmapWords &+ slot] = word
  }

  /// Sets an integer, a truth value or a key.
  @inlinable @inline(__always)
  public func setInt(_ slot: Int, _ value: Int64) { set(slot, UInt64(bitPattern: value)) }

  /// Sets a double, a float or a date. The caller must reject NaN; -0.0 becomes 0.
  @inlinable @inline(__always)
  public func setDouble(_ slot: Int, _ value: Double) { set(slot, value == 0 ? 0 : value.bitPattern) }

  /// Makes a slot null again.
  @inline(never)
  public func setNull(_ slot: Int) {
    precondition(slot >= 0 && slot < slotCount, "slot out of range")
    words[slot &>> 6] |= 1 &<< UInt64(slot & 63)
  }

  /// Sets a slot for which ``SlotKind/isBytes`` holds.
  public func setBytes(_ slot: Int, _ source: UnsafeRawBufferPointer) { set(slot, add(source)) }

  /// Appends bytes. Returns the word of their slot: offset and length.
  @inlinable @inline(__always)
  public func add(_ source: UnsafeRawBufferPointer) -> UInt64 {
    let count = source.count
    let next = byteCount &+ count
    if next > byteCapacity && !growBytes(to: next) { return 0 }
    if let start = source.baseAddress { (bytes + byteCount).copyMemory(from: start, byteCount: count) }
    if count == RowObjects.length { noteObject(source) }
    // Offsets are relative to the first bitmap word, so that reading needs no further arithmetic.
    let word = UInt64(truncatingIfNeeded: head &+ byteCount) &<< 32 | UInt64(truncatingIfNeeded: count)
    byteCount = next
    return word
  }

  /// Notes the object of a token; `bytes` may be one.
  @usableFromInline @inline(never)
  func noteObject(_ bytes: UnsafeRawBufferPointer) {
    if let object = RowObjects.id(bytes) { objects.append(object) }
  }

  /// Sets a string, a URI or canonical decimal text.
  public func setString(_ slot: Int, _ value: String) {
    var value = value
    value.withUTF8 { setBytes(slot, UnsafeRawBufferPointer($0)) }
  }

  /// Sets a UUID.
  public func setUUID(_ slot: Int, _ value: UUID) {
    withUnsafeBytes(of: value.uuid) { setBytes(slot, $0) }
  }

  /// Sets a slot of any kind from a value. A value of another type than the kind's leaves the slot null; callers must
  /// have checked types before.
  public func set(_ slot: Int, _ value: Value) {
    switch value {
    case .null: setNull(slot)
    case .bool(let x): setInt(slot, x ? 1 : 0)
    case .int(let x): setInt(slot, x)
    case .double(let x), .date(let x): setDouble(slot, x)
    case .decimal(let x): setString(slot, DecimalText.format(x))
    case .string(let x), .uri(let x): setString(slot, x)
    case .uuid(let x): setUUID(slot, x)
    case .data(let x): x.withUnsafeBytes { setBytes(slot, $0) }
    case .reference(let x): setInt(slot, x.key)
    }
  }

  /// Copies one slot of a row of the same layout.
  @inline(__always)
  public func copy(_ slot: Int, _ kind: SlotKind, from row: Row) {
    if row.isNull(slot) { return }
    if kind.isBytes { row.withBytes(slot) { setBytes(slot, $0) } } else { set(slot, row.word(slot)) }
  }

  /// Whether the values together exceed the limit of a row. Then ``finish(key:entity:version:)`` must not be called.
  public var isTooLarge: Bool { hasLeftOut || head &+ byteCount > limit }

  /// Finishes the row, which must not be too large; see ``isTooLarge``. A row of SQLite never is: it has at most a
  /// billion bytes ([Limits](https://www.sqlite.org/limits.html), 1). Slots that were not set since ``begin(slots:)``
  /// are null.
  public func finish(key: Int64, entity: Int, version: Int64) -> Row {
    clearNulls()
    let total = head &+ byteCount
    let header = RowHeader(
      key: key, version: version, entity: UInt32(entity), slotCount: UInt32(slotCount),
      byteCount: UInt32(truncatingIfNeeded: total))
    if isLarge { return finishLarge(header) }
    let block = unsafeDowncast(
      RowBlock.create(minimumCapacity: (total &+ 7) &>> 3) { _ in header }, to: RowBlock.self)
    block.withUnsafeMutablePointerToElements {
      let target = UnsafeMutableRawPointer($0)
      target.copyMemory(from: words, byteCount: head)
      (target + head).copyMemory(from: bytes, byteCount: byteCount)
    }
    if !objects.isEmpty { giveObjects(to: block) }
    return Row(block)
  }

  @inline(never)
  private func finishLarge(_ header: RowHeader) -> Row {
    guard !hasLeftOut, let block else { preconditionFailure("the values of a row are too large") }
    block.withUnsafeMutablePointers {
      $0.pointee = header
      UnsafeMutableRawPointer($1).copyMemory(from: words, byteCount: head)
    }
    if !objects.isEmpty { giveObjects(to: block) }
    forgetLarge()
    return Row(block)
  }

  @inline(never)
  private func giveObjects(to block: RowBlock) {
    block.withUnsafeMutablePointerToHeader {
      $0.pointee.ownsObjects = true
      RowObjects.own(objects, by: UInt(bitPattern: $0))
    }
    objects = []
  }

  /// Sets the words of null slots to zero, so that equal rows have equal bytes.
  @inline(__always)
  private func clearNulls() {
    var first = 0
    while first < slotCount {
      let rest = slotCount &- first
      var nulls = words[first &>> 6] & (rest < 64 ? (1 &<< UInt64(rest)) &- 1 : .max)
      while nulls != 0 {
        words[bitmapWords &+ first &+ nulls.trailingZeroBitCount] = 0
        nulls &= nulls &- 1
      }
      first &+= 64
    }
  }

  @usableFromInline @inline(never) func growWords(to needed: Int) {
    words.deallocate()
    wordCapacity = needed
    words = .allocate(capacity: needed)
  }

  @usableFromInline @inline(never) func forgetLarge() {
    (isLarge, hasLeftOut) = (false, false)
    if block == nil { return }
    block = nil
    byteCapacity = 1024
    bytes = .allocate(byteCount: byteCapacity, alignment: 8)
  }

  /// Returns false where a row cannot be so large.
  @usableFromInline @inline(never) func growBytes(to needed: Int) -> Bool {
    if needed > limit - head {
      (isLarge, hasLeftOut) = (true, true)
      return false
    }
    if needed > Self.mostKept {
      moveToBlock(for: needed)
    } else {
      byteCapacity = max(needed, byteCapacity * 2)
      moveBytes(to: .allocate(byteCount: byteCapacity, alignment: 8))
    }
    return true
  }

  /// The first time, allocates only the required size, because often only one value is large.
  private func moveToBlock(for needed: Int) {
    byteCapacity = block == nil ? needed : min(max(needed, byteCapacity * 2), limit - head)
    let words = (head + byteCapacity + 7) / 8
    let header = RowHeader(key: 0, version: 0, entity: 0, slotCount: 0, byteCount: 0)
    let larger = unsafeDowncast(RowBlock.create(minimumCapacity: words) { _ in header }, to: RowBlock.self)
    larger.withUnsafeMutablePointerToElements { moveBytes(to: UnsafeMutableRawPointer($0) + head) }
    (block, isLarge) = (larger, true)
  }

  private func moveBytes(to target: UnsafeMutableRawPointer) {
    target.copyMemory(from: bytes, byteCount: byteCount)
    if block == nil { bytes.deallocate() }
    bytes = target
  }
}
