/// Why a format string could not be read, and where.
public struct FormatError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Offset into the format string, in UTF-8 bytes.
  public var position: Int
  /// What could have stood at ``position``, in words; empty where no single thing was expected.
  public var expected: String
  /// What stood at ``position``, as written.
  public var found: String
  /// The whole reason as one sentence.
  public var message: String

  /// An error with a sentence of its own, or with one made from `expected` and `found`.
  public init(position: Int, expected: String = "", found: String, message: String? = nil) {
    self.position = position
    self.expected = expected
    self.found = found
    self.message = message ?? "Expected \(expected) at offset \(position), but found \(found)."
  }

  public var description: String { message }
}
