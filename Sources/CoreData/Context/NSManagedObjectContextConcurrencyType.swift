/// How a context is confined to a queue or a thread.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  /// The context has no queue. The client makes sure that one thread at a time uses it. Blocks run at once on the
  /// calling thread.
  @available(*, deprecated, message: "Use another NSManagedObjectContextConcurrencyType")
  case confinementConcurrencyType = 0
  /// The context is used inside `perform` and `performAndWait` only.
  case privateQueueConcurrencyType = 1
  /// The context is used on the main queue, or inside `perform` and `performAndWait`, whose blocks run on the main
  /// queue.
  case mainQueueConcurrencyType = 2

  var confinement: Confinement {
    switch self {
    case .privateQueueConcurrencyType: .lock
    case .mainQueueConcurrencyType: .mainQueue
    default: .client
    }
  }
}

extension NSManagedObjectContext {
  /// The modern spelling of ``NSManagedObjectContextConcurrencyType``.
  public struct ConcurrencyType: RawRepresentable, Hashable, Sendable {
    /// The type as an ``NSManagedObjectContextConcurrencyType``.
    public let rawValue: NSManagedObjectContextConcurrencyType
    /// The modern spelling of a type.
    public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }
    /// ``NSManagedObjectContextConcurrencyType/mainQueueConcurrencyType``: the context is used on the main queue.
    public static let mainQueue = Self(rawValue: .mainQueueConcurrencyType)
    /// ``NSManagedObjectContextConcurrencyType/privateQueueConcurrencyType``: the context is used inside `perform` and
    /// `performAndWait`.
    public static let privateQueue = Self(rawValue: .privateQueueConcurrencyType)
  }

  /// When a block given to the asynchronous `perform` runs.
  public enum ScheduledTaskType: Sendable {
    /// At once where the caller is on the context's queue already, else behind the blocks in the queue.
    case immediate
    /// Always behind the blocks in the queue.
    case enqueued
  }
}
