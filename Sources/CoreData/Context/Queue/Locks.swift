import Foundation

// Locks from the time before contexts had queues, for code that still uses them.

extension NSPersistentStoreCoordinator: NSLocking {
  /// Keeps other threads out of the coordinator until ``unlock()``. A thread may lock it several times.
  @available(*, deprecated, message: "Use performAndWait(_:)")
  public func lock() { stateLock.lock() }

  /// Undoes one ``lock()`` of this thread.
  @available(*, deprecated, message: "Use performAndWait(_:)")
  public func unlock() { stateLock.unlock() }

  /// Locks the coordinator unless another thread has locked it. Returns false where one has.
  @available(*, deprecated, message: "Use performAndWait(_:)")
  public func tryLock() -> Bool { stateLock.try() }
}

extension NSManagedObjectContext: NSLocking {
  /// Keeps other threads out of the context until ``unlock()``. A thread may lock it several times.
  @available(*, deprecated, message: "Use performAndWait(_:)")
  public func lock() { core.queue.lock.lock() }

  /// Undoes one ``lock()`` of this thread.
  @available(*, deprecated, message: "Use performAndWait(_:)")
  public func unlock() { core.queue.lock.unlock() }

  /// Locks the context unless another thread has locked it. Returns false where one has.
  @available(*, deprecated, message: "Use performAndWait(_:)")
  public func tryLock() -> Bool { core.queue.lock.try() }
}
