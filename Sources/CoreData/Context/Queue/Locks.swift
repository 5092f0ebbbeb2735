import Foundation

// Locks of the time before contexts had queues, for code that still takes them.

extension NSPersistentStoreCoordinator: NSLocking {
  /// Keeps other threads out of the coordinator until ``unlock()``.
  @available(*, deprecated, message: "Use performAndWait(_:)")
  public func lock() { stateLock.lock() }

  @available(*, deprecated, message: "Use performAndWait(_:)")
  public func unlock() { stateLock.unlock() }

  @available(*, deprecated, message: "Use performAndWait(_:)")
  public func tryLock() -> Bool { stateLock.try() }
}

extension NSManagedObjectContext: NSLocking {
  /// Keeps other threads out of the context until ``unlock()``.
  @available(*, deprecated, message: "Use performAndWait(_:)")
  public func lock() { core.queue.lock.lock() }

  @available(*, deprecated, message: "Use performAndWait(_:)")
  public func unlock() { core.queue.lock.unlock() }

  @available(*, deprecated, message: "Use performAndWait(_:)")
  public func tryLock() -> Bool { core.queue.lock.try() }
}
