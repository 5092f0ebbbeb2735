/// The rows of the specification that are no cases here, each with what it waits for.
public enum NotYet {
  /// A row and its reason.
  public struct Row: Sendable, Hashable {
    public let id: String
    public let reason: String
  }

  /// All of them, each id once.
  public static let rows: [Row] = []
}
