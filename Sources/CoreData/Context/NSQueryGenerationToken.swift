import Foundation

/// A state of the stores that a context can be pinned to.
open class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  override init() { super.init() }
  /// The token itself, which never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  public class var supportsSecureCoding: Bool { true }
  /// The only token there is: ``current``.
  public required init?(coder: NSCoder) { super.init() }
  open func encode(with coder: NSCoder) {}

  /// The state at the context's next read.
  public static let current = NSQueryGenerationToken()

  open override func isEqual(_ object: Any?) -> Bool { object is NSQueryGenerationToken }
  open override var hash: Int { 0 }
}

extension NSManagedObjectContext {
  /// Nil: contexts are not pinned; each fetch sees the newest state.
  public var queryGenerationToken: NSQueryGenerationToken? { nil }

  /// Pins the context to a state of the stores. Pinning is not supported yet: nil, which stands for no pin, does
  /// nothing, and any other token throws 134091.
  public func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
    if generation == nil { return }
    throw CocoaError(
      .persistentStoreUnsupportedRequestType,
      userInfo: [NSLocalizedDescriptionKey: "Pinning a context to a query generation is not supported yet."])
  }
}
