/// Why a property list, an XML document or a keyed archive could not be read.
public struct PropertyListError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure. More kinds may be added, so a `switch` over them needs a default.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Kind: String { case notAPropertyList, truncated, malformed, unsupported, cyclic, tooDeep, tooLarge }
    private let kind: Kind

    /// The data does not begin like the expected format.
    public static let notAPropertyList = Code(kind: .notAPropertyList)
    /// A count or an offset points past the end of the data.
    public static let truncated = Code(kind: .truncated)
    /// The data breaks a rule of its format.
    public static let malformed = Code(kind: .malformed)
    /// The data uses a part of the format that this library does not read.
    public static let unsupported = Code(kind: .unsupported)
    /// A container contains itself.
    public static let cyclic = Code(kind: .cyclic)
    /// Containers are nested deeper than ``PropertyListLimits/depth``.
    public static let tooDeep = Code(kind: .tooDeep)
    /// Shared parts unfold to a value that is out of proportion to the size of the data.
    public static let tooLarge = Code(kind: .tooLarge)

    public var description: String { kind.rawValue }
  }

  /// The kind of failure, to decide upon.
  public var code: Code
  /// The offset in bytes at which the failure was noticed.
  public var offset: Int
  /// The reason in words, for people.
  public var message: String

  /// An error of the given kind.
  public init(_ code: Code, offset: Int = 0, _ message: String) {
    self.code = code
    self.offset = offset
    self.message = message
  }

  public var description: String { "\(code) at byte \(offset): \(message)" }
}

/// The limits that keep readers from spending more than a file's size justifies.
public enum PropertyListLimits {
  /// How deep containers may be nested.
  public static let depth = 512

  /// How many nodes a value may unfold to, counted as often as they are referred to.
  static func nodes(fileSize: Int) -> Int { 4096 + 16 * min(fileSize, .max / 32) }

  /// How many bytes may be decoded in all. Objects of a sound file never overlap, so one pass is the file's size.
  static func bytes(fileSize: Int) -> Int { 4096 + 2 * min(fileSize, .max / 32) }
}
