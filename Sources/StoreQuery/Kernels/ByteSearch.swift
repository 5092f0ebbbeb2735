import Foundation

/// Comparison and search over bytes. In UTF-8 a match always begins and ends at a scalar boundary.
enum ByteSearch {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  static func compare(_ a: Bytes, _ b: Bytes) -> Ordering {
    guard let x = a.baseAddress, let y = b.baseAddress else { return Ordering.of(a.count, b.count) }
    let difference = memcmp(x, y, min(a.count, b.count))
    return difference < 0 ? .ascending : difference > 0 ? .descending : Ordering.of(a.count, b.count)
  }

  @inline(__always)
  static func beginsWith(_ text: Bytes, _ prefix: Bytes) -> Bool {
    // Most texts differ in their first byte, which is checked without a call.
    guard let first = prefix.first, text.count >= prefix.count, text[0] == first else { return false }
    return prefix.count == 1 || matches(text, prefix, at: 0)
  }

  static func endsWith(_ text: Bytes, _ suffix: Bytes) -> Bool {
    !suffix.isEmpty && text.count >= suffix.count && matches(text, suffix, at: text.count - suffix.count)
  }

  static func contains(_ text: Bytes, _ part: Bytes) -> Bool {
    guard let first = part.first, text.count >= part.count else { return false }
    // Parts are short. A part of n bytes in a text of m costs at most n·m.
    for start in 0...text.count - part.count where text[start] == first && matches(text, part, at: start) {
      return true
    }
    return false
  }

  static func areEqual(_ a: Bytes, _ b: Bytes) -> Bool { a.count == b.count && compare(a, b) == .same }

  /// Whether the part is at an offset. The text must be long enough there.
  private static func matches(_ text: Bytes, _ part: Bytes, at start: Int) -> Bool {
    areEqual(Bytes(rebasing: text[start..<start + part.count]), part)
  }
}
