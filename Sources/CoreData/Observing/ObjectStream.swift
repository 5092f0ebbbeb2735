import Foundation

/// What has happened to an object in one event of its context.
public enum ManagedObjectChange: Sendable, Equatable {
  /// The values or links of the object have changed. `keys` are the names of the stored properties that changed.
  case updated(keys: Set<String>)
  /// The object was refreshed: it was read again, or became a fault.
  case refreshed
  /// The object was deleted. A rollback or an undo may bring it back.
  case deleted
  /// The object came back: an undo or a rollback took its deletion back, or it was inserted.
  case inserted
  /// The context no longer has the object. The stream ends.
  case invalidated
}

extension NSManagedObject {
  /// The changes of this object in each event of its context, in order.
  ///
  /// Call it on the queue of the context; any thread may read the stream. It ends with the object, which it does not
  /// keep alive, and with the object's context. Changes that have not been read yet are kept, by default all of them.
  public final func changes(
    bufferingPolicy: AsyncStream<ManagedObjectChange>.Continuation.BufferingPolicy = .unbounded
  ) -> AsyncStream<ManagedObjectChange> {
    core?.checkQueue()
    let (stream, continuation) = AsyncStream.makeStream(of: ManagedObjectChange.self, bufferingPolicy: bufferingPolicy)
    guard core != nil else {
      continuation.finish()
      return stream
    }
    // From now on the context makes the notification, whose content is passed on.
    _ = NSManagedObjectContext.didChangeObjectsNotification
    makeObservers().add(continuation)
    return stream
  }
}

extension ContextCore {
  /// Passes the content of a `didChangeObjectsNotification` on to the streams of the objects.
  func tellObjectStreams(_ userInfo: [AnyHashable: Any]) {
    if observed.isEmpty { return }
    func each(_ key: String, _ change: (NSManagedObject, ObjectObservers) -> ManagedObjectChange) {
      guard let objects = userInfo[key] as? Set<NSManagedObject> else { return }
      for object in objects {
        // An insertion that was rolled back has no flags any more.
        guard let observers = object.observers else { continue }
        observers.yield { change(object, observers) }
      }
    }
    each(NSInsertedObjectsKey) { _, _ in .inserted }
    each(NSUpdatedObjectsKey) { .updated(keys: $1.takeChangedKeys(of: $0)) }
    each(NSRefreshedObjectsKey) { _, _ in .refreshed }
    each(NSDeletedObjectsKey) { _, _ in .deleted }
  }
}
