import Foundation
import Synchronization

/// The changes that one notification of a context announces, as IDs of the objects.
public struct ContextChanges: Sendable, Equatable {
  /// New objects, and those whose deletion was taken back. Before they are saved, new ones have temporary IDs.
  public let inserted: Set<NSManagedObjectID>
  /// Objects whose values have changed.
  public let updated: Set<NSManagedObjectID>
  /// Deleted objects.
  public let deleted: Set<NSManagedObjectID>
  /// Objects that were refreshed: they were read again, or became faults.
  public let refreshed: Set<NSManagedObjectID>
  /// Objects that the context no longer has. After a reset these are all its objects.
  public let invalidated: Set<NSManagedObjectID>

  init(_ userInfo: [AnyHashable: Any]) {
    func ids(_ keys: String...) -> Set<NSManagedObjectID> {
      keys.reduce(into: []) { ids, key in
        switch userInfo[key] {
        case let objects as Set<NSManagedObject>: ids.formUnion(objects.map(\.ownID))
        case let found as Set<NSManagedObjectID>: ids.formUnion(found)
        case let found as [NSManagedObjectID]: ids.formUnion(found)
        default: break
        }
      }
    }
    inserted = ids(NSInsertedObjectsKey, NSInsertedObjectIDsKey)
    updated = ids(NSUpdatedObjectsKey, NSUpdatedObjectIDsKey)
    deleted = ids(NSDeletedObjectsKey, NSDeletedObjectIDsKey)
    refreshed = ids(NSRefreshedObjectsKey, NSRefreshedObjectIDsKey)
    invalidated = ids(NSInvalidatedObjectsKey, NSInvalidatedObjectIDsKey, NSInvalidatedAllObjectsKey)
  }
}

extension NSManagedObjectContext {
  /// The changes of each event, in order: what `didChangeObjectsNotification` announces.
  ///
  /// Any thread may call it and read the stream, which begins with the call and ends with the context. Changes that
  /// have not been read yet are kept, by default all of them.
  public final func changes(
    bufferingPolicy: AsyncStream<ContextChanges>.Continuation.BufferingPolicy = .unbounded
  ) -> AsyncStream<ContextChanges> { core.stream(Self.didChangeObjectsNotification, bufferingPolicy) }

  /// The changes of each save, in order: what `didSaveObjectIDsNotification` announces. Otherwise as
  /// ``changes(bufferingPolicy:)``.
  public final func saves(
    bufferingPolicy: AsyncStream<ContextChanges>.Continuation.BufferingPolicy = .unbounded
  ) -> AsyncStream<ContextChanges> { core.stream(Self.didSaveObjectIDsNotification, bufferingPolicy) }

  /// The changes of each merge, in order: what `didMergeChangesObjectIDsNotification` announces. Otherwise as
  /// ``changes(bufferingPolicy:)``.
  public final func merges(
    bufferingPolicy: AsyncStream<ContextChanges>.Continuation.BufferingPolicy = .unbounded
  ) -> AsyncStream<ContextChanges> { core.stream(Self.didMergeChangesObjectIDsNotification, bufferingPolicy) }
}

/// The open streams of a context.
struct ContextStreams {
  private struct Open {
    let name: Notification.Name
    let continuation: AsyncStream<ContextChanges>.Continuation
  }

  private var open: [Int: Open] = [:]
  private var made = 0
  var isEmpty: Bool { open.isEmpty }

  mutating func add(_ name: Notification.Name, _ continuation: AsyncStream<ContextChanges>.Continuation) -> Int {
    made += 1
    open[made] = Open(name: name, continuation: continuation)
    return made
  }

  mutating func remove(_ number: Int) { open[number] = nil }

  func continuations(_ name: Notification.Name) -> [AsyncStream<ContextChanges>.Continuation] {
    if open.isEmpty { return [] }
    return open.values.filter { $0.name == name }.map(\.continuation)
  }

  mutating func takeAll() -> [AsyncStream<ContextChanges>.Continuation] {
    defer { open = [:] }
    return open.values.map(\.continuation)
  }
}

extension ContextCore {
  fileprivate func stream(
    _ name: Notification.Name, _ policy: AsyncStream<ContextChanges>.Continuation.BufferingPolicy
  ) -> AsyncStream<ContextChanges> {
    let (stream, continuation) = AsyncStream.makeStream(of: ContextChanges.self, bufferingPolicy: policy)
    let number = streams.withLock { $0.add(name, continuation) }
    continuation.onTermination = { [weak self] _ in self?.streams.withLock { $0.remove(number) } }
    return stream
  }

  /// Passes the content of a notification on to the streams.
  func tellStreams(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]) {
    if name == WatchedNotification.didChange.name { tellObjectStreams(userInfo) }
    let continuations = streams.withLock { $0.continuations(name) }
    if continuations.isEmpty { return }
    let changes = ContextChanges(userInfo)
    for continuation in continuations { continuation.yield(changes) }
  }

  /// Finishes the streams and observations of the context, and forgets its objects. Called when the context is freed.
  func end() {
    // Other contexts of the family may be about to use the core.
    link.end()
    queue.lock.lock()
    let observed = observed.takeAll()
    forgetAll(emptiesObjects: false)
    queue.lock.unlock()
    endObservations(of: observed)
    for continuation in streams.withLock({ $0.takeAll() }) { continuation.finish() }
  }
}
