/// The right side of a string operator, prepared once for comparisons with many texts.
///
/// Its results are those of ``ComparisonKernel`` over two texts. But here an invalid pattern is an error.
public struct TextMatcher: Sendable {
  private enum Test: Sendable {
    case bytes(BytesOperation, [UInt8])
    case like(LikePattern)
    case matches(RegularExpression)
  }

  private enum BytesOperation { case equal, contains, beginsWith, endsWith }

  private let test: Test
  private let folding: Folding

  /// Prepares `==`, CONTAINS, BEGINSWITH, ENDSWITH, LIKE or MATCHES; nil for other operators and for equality by
  /// locale.
  public init?(
    _ op: Predicate.Operator, _ options: Predicate.Options = [], pattern: String
  ) throws(PatternError) {
    folding = Folding(options)
    let operation: BytesOperation
    switch op {
    case .like:
      test = .like(LikePattern(pattern, options: options))
      return
    case .matches:
      test = .matches(try RegularExpression(pattern, options: options))
      return
    case .equalTo where !options.isLocal: operation = .equal
    case .contains: operation = .contains
    case .beginsWith: operation = .beginsWith
    case .endsWith: operation = .endsWith
    default: return nil
    }
    test = .bytes(operation, folding.withBytes(of: pattern) { Array($0) })
  }

  /// Whether the operator is true for the text on its left.
  public func matches(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { matches(utf8: $0) }
  }

  /// The same for the UTF-8 bytes of a text, such as those in a packed row.
  public func matches(utf8: UnsafeBufferPointer<UInt8>) -> Bool {
    switch test {
    case .like(let pattern): pattern.matches(utf8: utf8)
    case .matches(let expression): expression.matches(String(decoding: utf8, as: UTF8.self))
    case .bytes(let operation, let pattern):
      folding.withBytes(of: utf8) { text in pattern.withUnsafeBufferPointer { Self.matches(operation, text, $0) } }
    }
  }

  private static func matches(
    _ operation: BytesOperation, _ text: ByteSearch.Bytes, _ pattern: ByteSearch.Bytes
  ) -> Bool {
    switch operation {
    case .equal: ByteSearch.areEqual(text, pattern)
    case .contains: ByteSearch.contains(text, pattern)
    case .beginsWith: ByteSearch.beginsWith(text, pattern)
    case .endsWith: ByteSearch.endsWith(text, pattern)
    }
  }
}
