/// Memory that grows at its end. A class, so that its owner has no exclusive access to it while it grows.
final class GrowingBuffer<Element: BitwiseCopyable> {
  private(set) var start: UnsafeMutablePointer<Element>
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int) {
    self.capacity = max(1, capacity)
    start = .allocate(capacity: self.capacity)
  }

  deinit { start.deallocate() }

  /// Reserves space for `more` elements.
  @inline(__always)
  func reserve(_ more: Int) { if count &+ more > capacity { grow(more) } }

  @inline(never)
  private func grow(_ more: Int) {
    let larger = max(count + more, capacity + capacity / 2)
    let new = UnsafeMutablePointer<Element>.allocate(capacity: larger)
    new.update(from: start, count: count)
    start.deallocate()
    (start, capacity) = (new, larger)
  }

  @inline(__always)
  func append(_ element: Element) {
    reserve(1)
    appendUnchecked(element)
  }

  /// Appends an element. The space must be reserved.
  @inline(__always)
  func appendUnchecked(_ element: Element) {
    start[count] = element
    count &+= 1
  }

  func removeAll() { count = 0 }
}

extension GrowingBuffer<UInt8> {
  /// Appends the bytes of a number, the highest first. The space must be reserved.
  @inline(__always)
  func appendUnchecked<T: FixedWidthInteger & BitwiseCopyable>(bigEndian value: T) {
    UnsafeMutableRawPointer(start + count).storeBytes(of: value.bigEndian, as: T.self)
    count &+= MemoryLayout<T>.size
  }

  /// Appends bytes. The space must be reserved.
  @inline(__always)
  func appendUnchecked(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    UnsafeMutableRawPointer(start + count).copyMemory(from: source, byteCount: bytes.count)
    count &+= bytes.count
  }
}

/// A hash table of the values that were written, with their references.
///
/// Keys that point to bytes do not own them: the caller keeps these bytes valid.
final class KnownValues<Key: BitwiseCopyable> {
  private struct Entry: BitwiseCopyable {
    var hash: UInt32
    /// Zero in an empty entry.
    var reference: UInt32
    var key: Key
  }

  private var entries: UnsafeMutablePointer<Entry>
  private var mask: Int
  private var count = 0
  private let empty: Entry

  init(_ key: Key) {
    mask = 1023
    empty = Entry(hash: 0, reference: 0, key: key)
    entries = .allocate(capacity: mask + 1)
    entries.initialize(repeating: empty, count: mask + 1)
  }

  deinit { entries.deallocate() }

  /// The reference of an equal value. Otherwise nil, and `position` is the index at which to insert the value.
  @inline(__always)
  func find(_ hash: UInt32, _ position: inout Int, _ isEqual: (Key) -> Bool) -> UInt32? {
    position = Int(hash) & mask
    while entries[position].reference != 0 {
      if entries[position].hash == hash, isEqual(entries[position].key) { return entries[position].reference }
      position = (position &+ 1) & mask
    }
    return nil
  }

  @inline(__always)
  func insert(_ key: Key, _ hash: UInt32, _ reference: UInt32, at position: Int) {
    entries[position] = Entry(hash: hash, reference: reference, key: key)
    count &+= 1
    if count &* 4 > mask &* 3 { grow() }
  }

  @inline(never)
  private func grow() {
    let (old, oldCount) = (entries, mask + 1)
    mask = oldCount * 2 - 1
    entries = .allocate(capacity: mask + 1)
    entries.initialize(repeating: empty, count: mask + 1)
    for index in 0..<oldCount where old[index].reference != 0 {
      var position = Int(old[index].hash) & mask
      while entries[position].reference != 0 { position = (position &+ 1) & mask }
      entries[position] = old[index]
    }
    old.deallocate()
  }
}
