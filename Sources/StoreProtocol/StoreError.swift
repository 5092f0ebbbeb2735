import Foundation

/// An error of a store, with the known state of the data after it.
///
/// Act on ``code`` and ``outcome``, not on texts. New codes may be added.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// The kind of the error.
  public let code: Code
  /// What happened and what can be done about it, as a sentence.
  public let message: String
  /// Details such as the store's URL, SQL text, entity or `errno`, for people and logs.
  public var context: [String: String]
  /// The error underneath, as text.
  public var cause: String?
  /// The known state of the store after a failed write.
  public var outcome: Outcome
  /// The version hashes of both sides of a ``Code/modelMismatch``.
  public var modelHashes: ModelHashes?

  /// An error of a call that has not changed the store, unless `outcome` says otherwise.
  public init(
    _ code: Code, _ message: String, context: [String: String] = [:], cause: String? = nil, outcome: Outcome = .notSaved
  ) {
    self.code = code
    self.message = message
    self.context = context
    self.cause = cause
    self.outcome = outcome
  }

  /// The state of the store after a failed write. A successful write never throws.
  public enum Outcome: Sendable, Hashable {
    /// The store is provably as it was before the call.
    case notSaved
    /// The store is either as it was before the call or as the call was to leave it. Read it again to know which.
    case outcomeUnknown
  }

  /// The version hashes a store carries and those of the model it was opened with, by entity name.
  public struct ModelHashes: Sendable, Hashable {
    /// The version hashes that the store carries.
    public let store: [String: [UInt8]]
    /// The version hashes of the model that the store was opened with.
    public let model: [String: [UInt8]]

    /// The version hashes of both sides.
    public init(store: [String: [UInt8]], model: [String: [UInt8]]) {
      self.store = store
      self.model = model
    }
  }

  /// The kind of an error. Compare it with the constants.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String, Sendable {
      case notFound, notAStore, wrongType, newerFormat, modelMismatch, io, full, busy, readOnly, corrupt
      case unsupported, invalidArgument, closed, missingExternalData, constraint, exists, replaced
    }
    private let kind: Kind

    /// There is nothing at the URL.
    public static let notFound = Code(kind: .notFound)
    /// The file is no store of this kind.
    public static let notAStore = Code(kind: .notAStore)
    /// The file is a store of another type.
    public static let wrongType = Code(kind: .wrongType)
    /// The file was written in a form that this version does not know; it was left as it is.
    public static let newerFormat = Code(kind: .newerFormat)
    /// The store was made with another version of the model; see ``StoreError/modelHashes``.
    public static let modelMismatch = Code(kind: .modelMismatch)
    /// The operating system could not read or write.
    public static let io = Code(kind: .io)
    /// The disk or a quota is full.
    public static let full = Code(kind: .full)
    /// Another connection held the store for longer than the timeout. Trying again may succeed.
    public static let busy = Code(kind: .busy)
    /// The store, or the folder that it is in, cannot be written.
    public static let readOnly = Code(kind: .readOnly)
    /// The content contradicts the format. Never used for a failed read.
    public static let corrupt = Code(kind: .corrupt)
    /// The store lacks a capability that the call needs.
    public static let unsupported = Code(kind: .unsupported)
    /// The call itself was wrong.
    public static let invalidArgument = Code(kind: .invalidArgument)
    /// The store was closed before.
    public static let closed = Code(kind: .closed)
    /// A value's external file is missing.
    public static let missingExternalData = Code(kind: .missingExternalData)
    /// A constraint of the medium itself was violated.
    public static let constraint = Code(kind: .constraint)
    /// A new file was to be made, and a file of that name exists.
    public static let exists = Code(kind: .exists)
    /// Another store has replaced an open one, or its file was removed. The open store can neither read nor save; close
    /// it.
    public static let replaced = Code(kind: .replaced)

    public var description: String { kind.rawValue }
  }

  /// Whether the same call may succeed later without anything being changed.
  public var isRetryable: Bool { code == .busy }

  public var description: String {
    let details = context.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    let reason = cause.map { " (\($0))" } ?? ""
    return "StoreError.\(code): \(message)\(details.isEmpty ? "" : " [\(details)]")\(reason)"
  }
}
