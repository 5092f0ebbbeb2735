import StoreSchema
import Synchronization

/// Reading a number, a date or a string without a call.
///
/// An object whose values are those of its row, and whose reads nobody tracks, has the tag of its entity
/// (``EntityInfo/accessorTag``). A key that was read in the entity has the same tag, and behind it an index: for a
/// number or a date that of its word in the row, for a string that among the strings of the entity. So one comparison
/// tells that the word at this index is the value. Strings are kept when they are read again; see ``ReadTexts``.
///
/// The first read finds this out, in ``allowDirectReads(_:_:)``. Whatever makes it untrue takes the object's tag away,
/// with ``endDirectReads()``: a changed value, another row, a fault, tracking.
extension NSManagedObject {
  /// No entity has it.
  @usableFromInline static let noTag = UInt64.max

  /// The word of a number or a date; nil where the value must be read by a call.
  @inlinable @inline(__always)
  final func directWord(_ key: borrowing PropertyKey) -> UInt64? {
    let index = key.direct.load(ordering: .relaxed) ^ tag.load(ordering: .relaxed)
    return index > 0xffff ? nil : row.word(at: Int(truncatingIfNeeded: index))
  }

  /// The address of a string that is kept; nil where the value must be read by a call. Valid until other code runs.
  @inlinable @inline(__always)
  final func directText(_ key: borrowing PropertyKey) -> UnsafePointer<String?>? {
    let index = key.direct.load(ordering: .relaxed) ^ tag.load(ordering: .relaxed)
    return index > 0xffff ? nil : texts.address(Int(truncatingIfNeeded: index))
  }

  @inline(__always)
  final func endDirectReads() { tag.store(Self.noTag, ordering: .relaxed) }

  /// Lets further reads of a number or a date be direct, where they may be. The key was found in the slot, which has no
  /// changed value.
  @inline(__always)
  final func allowDirectReads(_ key: borrowing PropertyKey, _ slot: Int) {
    if readsDirectly(), let row { key.noteDirect(info.accessorTag, row.wordIndex(of: slot)) }
  }

  /// The string in a slot of the row, which has not been changed. It is kept when it is read a second time.
  @inline(__always)
  final func readText(_ key: borrowing PropertyKey, _ slot: Int) -> String? {
    guard let view = row.view else { return nil }
    _ = readsDirectly()
    return entityInfo._withUnsafeGuaranteedRef { info in
      guard let index = key.textIndex(slot, info) else { return view.stringOrNil(slot) }
      if let kept = texts.address(index) { return kept.pointee }
      let text = view.stringOrNil(slot)
      texts.note(text, index, count: info.textSlots.count)
      return text
    }
  }

  /// Whether the values are those of the row. Then the object has its tag.
  @inline(__always)
  private func readsDirectly() -> Bool {
    guard overlay.isEmpty, flags.isDisjoint(with: [.fault, .tracked]) else { return false }
    return entityInfo._withUnsafeGuaranteedRef { info in
      guard let row = row.view, row.slotCount == info.slotCount else { return false }
      tag.store(info.accessorTag, ordering: .relaxed)
      return true
    }
  }
}

extension PropertyKey {
  /// The index of the key's slot among the strings of the entity; nil beyond those that can be kept.
  @inline(__always)
  func textIndex(_ slot: Int, _ info: EntityInfo) -> Int? {
    let known = direct.load(ordering: .relaxed) ^ info.accessorTag
    if known <= 0xffff { return Int(truncatingIfNeeded: known) }
    guard let index = info.textSlots.firstIndex(of: slot) else { return nil }
    noteDirect(info.accessorTag, index)
    return index
  }

  @inline(__always)
  func noteDirect(_ tag: UInt64, _ index: Int) {
    let known = tag | UInt64(truncatingIfNeeded: index)
    // Threads that read objects of one entity share the key: it is not written again and again.
    if index <= 0xffff, direct.load(ordering: .relaxed) != known { direct.store(known, ordering: .relaxed) }
  }
}

/// The strings of a row that its object has read more than once. A row has their bytes, of which each read would make
/// another string.
///
/// A string that is read once, as most are, is not kept. Long ones are made again at each read, so that no object
/// doubles a large text. The memory for the first that is kept has room for all of the entity.
///
/// A context's objects belong to one thread at a time. Yet programs read the same objects on several threads and get
/// away with it, as long as no thread changes any. That must stay so, hence the atomics: a string is written by the one
/// who has claimed it, and seen by others once it is complete.
@usableFromInline struct ReadTexts: ~Copyable {
  /// Odd: no string is kept; bit `i + 1` tells that string `i` has been read. Even: the address of a `Block`.
  @usableFromInline let state = Atomic<UInt>(1)

  @usableFromInline static let most = UInt.bitWidth - 1
  private static let longest = 1 << 14

  /// Before the strings.
  @usableFromInline struct Block: ~Copyable {
    /// The strings that may be read, a bit for each.
    @usableFromInline let complete = Atomic<UInt>(0)
    /// Those that somebody writes, or has written.
    let claimed = Atomic<UInt>(0)
    /// Those that have been read.
    let read: Atomic<UInt>

    init(read: UInt) { self.read = Atomic(read) }
  }

  init() {}

  deinit { removeAll() }

  @inlinable @inline(__always)
  func address(_ index: Int) -> UnsafePointer<String?>? {
    let state = state.load(ordering: .acquiring)
    if state & 1 != 0 { return nil }
    let block = UnsafePointer<Block>(bitPattern: state).unsafelyUnwrapped
    if block.pointee.complete.load(ordering: .acquiring) & (1 &<< UInt(bitPattern: index)) == 0 { return nil }
    return UnsafeRawPointer(block + 1).assumingMemoryBound(to: String?.self) + index
  }

  /// Notes that a string was read. `index` is less than ``most``, `count` the number of strings of the entity.
  @inline(__always)
  borrowing func note(_ text: String?, _ index: Int, count: Int) {
    let state = state.load(ordering: .acquiring)
    let bit: UInt = 1 &<< UInt(bitPattern: index)
    if state & 1 == 0 {
      let block = UnsafePointer<Block>(bitPattern: state).unsafelyUnwrapped
      let isSecond = block.pointee.read.bitwiseOr(bit, ordering: .relaxed).oldValue & bit != 0
      if isSecond { keep(text, index, count) }
    } else if state >> 1 & bit == 0 {
      // Where two threads do this, a note may be lost: the string is kept later.
      _ = self.state.compareExchange(expected: state, desired: state | bit << 1, ordering: .relaxed)
    } else {
      keep(text, index, count)
    }
  }

  @inline(never)
  private borrowing func keep(_ text: String?, _ index: Int, _ count: Int) {
    if let text, text.utf8.count > Self.longest { return }
    guard let block = UnsafePointer<Block>(bitPattern: address(count)) else { return }
    let bit: UInt = 1 &<< UInt(bitPattern: index)
    if block.pointee.claimed.bitwiseOr(bit, ordering: .relaxed).oldValue & bit != 0 { return }
    Self.strings(block).advanced(by: index).initialize(to: text)
    block.pointee.complete.bitwiseOr(bit, ordering: .releasing)
  }

  /// The address of the block, which is made where there is none.
  private borrowing func address(_ count: Int) -> UInt {
    let known = state.load(ordering: .acquiring)
    if known & 1 == 0 { return known }
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: MemoryLayout<Block>.stride + min(count, Self.most) * MemoryLayout<String?>.stride,
      alignment: MemoryLayout<Block>.alignment)
    memory.initializeMemory(as: Block.self, to: Block(read: known >> 1))
    let made = UInt(bitPattern: memory)
    var expected = known
    while true {
      let (isDone, found) = state.compareExchange(expected: expected, desired: made, ordering: .acquiringAndReleasing)
      if isDone { return made }
      if found & 1 == 0 {
        memory.deallocate()
        return found
      }
      expected = found
    }
  }

  private static func strings(_ block: UnsafePointer<Block>) -> UnsafeMutablePointer<String?> {
    UnsafeMutableRawPointer(mutating: block + 1).assumingMemoryBound(to: String?.self)
  }

  /// Forgets all strings. Nobody may be reading them.
  @inline(__always)
  borrowing func removeAll() { if state.load(ordering: .relaxed) != 1 { forget() } }

  @inline(never)
  private borrowing func forget() {
    let former = state.exchange(1, ordering: .acquiringAndReleasing)
    guard former & 1 == 0, let block = UnsafePointer<Block>(bitPattern: former) else { return }
    var rest = block.pointee.complete.load(ordering: .acquiring)
    while rest != 0 {
      Self.strings(block).advanced(by: rest.trailingZeroBitCount).deinitialize(count: 1)
      rest &= rest &- 1
    }
    UnsafeMutableRawPointer(mutating: block).deallocate()
  }
}
