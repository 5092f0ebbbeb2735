import Foundation

/// A state of the stores that a context can be pinned to.
open class NSQueryGenerationToken: NSObject, NSCopying, @unchecked Sendable {
  override init() { super.init() }
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The state at the context's next read.
  public static let current = NSQueryGenerationToken()
}

extension NSManagedObjectContext {
  /// Nil: contexts are not pinned; each fetch sees the newest state.
  public var queryGenerationToken: NSQueryGenerationToken? { nil }

  /// Pins the context to a state of the stores. Nil, for no pin, is what contexts do; any other token throws 134091, as
  /// pinning is not supported yet.
  public func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
    if generation == nil { return }
    throw CocoaError(
      .persistentStoreUnsupportedRequestType,
      userInfo: [NSLocalizedDescriptionKey: "Pinning a context to a query generation is not supported yet."])
  }
}
