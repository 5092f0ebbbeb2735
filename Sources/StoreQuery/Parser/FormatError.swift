/// Why and where a format string could not be parsed.
public struct FormatError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Offset into the format string, in UTF-8 bytes.
  public var position: Int
  /// A description of what would be valid at ``position``; empty where there are several choices.
  public var expected: String
  /// The text at ``position``.
  public var found: String
  /// The whole reason as one sentence.
  public var message: String

  /// An error with its own sentence, or with one made from `expected` and `found`.
  public init(position: Int, expected: String = "", found: String, message: String? = nil) {
    self.position = position
    self.expected = expected
    self.found = found
    self.message = message ?? "Expected \(expected) at offset \(position), but found \(found)."
  }

  public var description: String { message }
}
