/// A LIKE pattern, parsed once. `?` stands for one Unicode scalar, `*` for any number of scalars (line ends too), and a
/// backslash makes the next character literal. The whole text must match, so the empty pattern matches only the empty
/// text.
///
/// With `[c]` and `[d]` text and pattern are folded first. Then `?` stands for one scalar of the folded text: é is one
/// scalar under `[d]`, and ß is two under `[c]`.
public struct LikePattern: Sendable {
  private enum Element {
    case byte(UInt8)
    case anyScalar
    case anyRun
  }

  private let elements: [Element]
  private let folding: Folding

  /// Parses a pattern. Every text is a valid pattern; a backslash at the end stands for itself.
  public init(_ pattern: String, options: Predicate.Options = []) {
    folding = Folding(options)
    elements = folding.withBytes(of: pattern) { Self.elements(String(decoding: $0, as: UTF8.self)) }
  }

  /// Whether the whole text matches. Takes at most the product of both lengths, without recursion.
  public func matches(_ text: String) -> Bool {
    folding.withBytes(of: text, matchesFolded)
  }

  /// The same for the UTF-8 bytes of a text.
  public func matches(utf8: UnsafeBufferPointer<UInt8>) -> Bool {
    folding.withBytes(of: utf8, matchesFolded)
  }

  private static func elements(_ pattern: String) -> [Element] {
    var elements: [Element] = []
    var isEscaped = false
    for byte in pattern.utf8 {
      switch byte {
      case UInt8(ascii: "\\") where !isEscaped: isEscaped = true
      case UInt8(ascii: "*") where !isEscaped: elements.append(.anyRun)
      case UInt8(ascii: "?") where !isEscaped: elements.append(.anyScalar)
      default:
        elements.append(.byte(byte))
        isEscaped = false
      }
    }
    if isEscaped { elements.append(.byte(UInt8(ascii: "\\"))) }
    return elements
  }

  /// Only the last `*` is remembered: an earlier one never needs to match more.
  private func matchesFolded(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var position = 0
    var index = 0
    var retry: (position: Int, index: Int)?
    while position < text.count || index < elements.count {
      if index < elements.count, case .anyRun = elements[index] {
        index += 1
        retry = (position, index)
      } else if let next = step(text, position, index) {
        position = next
        index += 1
      } else if let (start, after) = retry, start < text.count {
        position = Self.scalarEnd(text, start)
        index = after
        retry = (position, after)
      } else {
        return false
      }
    }
    return true
  }

  /// The position after the match of an element; nil if the element does not match.
  private func step(_ text: UnsafeBufferPointer<UInt8>, _ position: Int, _ index: Int) -> Int? {
    guard position < text.count, index < elements.count else { return nil }
    switch elements[index] {
    case .byte(let byte): return text[position] == byte ? position + 1 : nil
    case .anyScalar: return Self.scalarEnd(text, position)
    case .anyRun: return nil
    }
  }

  private static func scalarEnd(_ text: UnsafeBufferPointer<UInt8>, _ position: Int) -> Int {
    var end = position + 1
    while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
    return end
  }
}
