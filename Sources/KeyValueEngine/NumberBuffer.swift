/// Reused memory for numbers. Used by one caller at a time.
final class NumberBuffer {
  private(set) var numbers: UnsafeMutablePointer<Int64>
  private(set) var count = 0
  private var capacity = 256

  init() { numbers = .allocate(capacity: capacity) }
  deinit { numbers.deallocate() }

  var isEmpty: Bool { count == 0 }
  func clear() { count = 0 }

  @inline(__always)
  func append(_ number: Int64) {
    if count == capacity { enlarge(to: count + 1) }
    numbers[count] = number
    count += 1
  }

  @inline(__always)
  func append(_ source: UnsafePointer<Int64>, count more: Int) {
    if count + more > capacity { enlarge(to: count + more) }
    (numbers + count).update(from: source, count: more)
    count += more
  }

  /// Appends the little-endian numbers of a value, from its ninth byte on.
  @inline(__always)
  func append(_ value: UnsafeRawBufferPointer) {
    let more = max(0, value.count - 8) / 8
    if count + more > capacity { enlarge(to: count + more) }
    for position in 0..<more {
      numbers[count + position] = Int64(littleEndian: value.integer(at: 8 + position * 8, as: Int64.self))
    }
    count += more
  }

  @inline(never)
  private func enlarge(to needed: Int) {
    let size = max(needed, capacity * 2)
    let larger = UnsafeMutablePointer<Int64>.allocate(capacity: size)
    larger.update(from: numbers, count: count)
    numbers.deallocate()
    (numbers, capacity) = (larger, size)
  }
}
