import Foundation

/// The folding that the options of a comparison require.
struct Folding: Hashable, Sendable {
  var ignoresCase: Bool
  var ignoresMarks: Bool

  init(_ options: Predicate.Options) {
    let isNormalized = options.contains(.normalized)
    ignoresCase = options.contains(.caseInsensitive) && !isNormalized
    ignoresMarks = options.contains(.diacriticInsensitive) && !isNormalized
  }

  var isNone: Bool { !ignoresCase && !ignoresMarks }

  /// Calls `body` with the folded UTF-8 bytes of `text`.
  func withBytes<R>(of text: String, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    var text = text
    return text.withUTF8 { withBytes(of: $0, body) }
  }

  /// Calls `body` with the folded form of UTF-8 bytes. ASCII is folded here, other text by Foundation.
  func withBytes<R>(of utf8: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    if isNone { return body(utf8) }
    if let result = withASCII(utf8, body) { return result }
    var folded = String(decoding: utf8, as: UTF8.self).folding(options: options, locale: nil)
    return folded.withUTF8(body)
  }

  /// The folded text.
  func folded(_ text: String) -> String {
    isNone ? text : withBytes(of: text) { String(decoding: $0, as: UTF8.self) }
  }

  /// Calls `body` with the lower-case bytes if all are ASCII, else returns nil.
  private func withASCII<R>(
    _ bytes: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> R
  ) -> R? {
    guard ASCII.isAll(bytes) else { return nil }
    guard ignoresCase else { return body(bytes) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count) { buffer in
      for (index, byte) in bytes.enumerated() { buffer.initializeElement(at: index, to: ASCII.lowercased(byte)) }
      return body(UnsafeBufferPointer(start: buffer.baseAddress, count: bytes.count))
    }
  }

  private var options: String.CompareOptions {
    var options: String.CompareOptions = []
    if ignoresCase { options.insert(.caseInsensitive) }
    if ignoresMarks { options.insert(.diacriticInsensitive) }
    return options
  }
}

enum ASCII {
  static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  /// No branch for each byte, so that the compiler uses vector instructions.
  static func isAll(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var union: UInt8 = 0
    for byte in bytes { union |= byte }
    return union < 0x80
  }
}
