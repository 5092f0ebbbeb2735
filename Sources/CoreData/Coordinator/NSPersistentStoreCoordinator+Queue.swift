import Foundation
import Synchronization

/// A coordinator's queue, its attached contexts, and its notifications.
extension NSPersistentStoreCoordinator {
  /// Runs `block` on the calling thread while no other thread uses the coordinator, and returns or throws its result.
  /// Calls may be nested.
  public final func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try stateLock.withLock(block) }

  /// Runs `block` on the coordinator's queue and returns or throws its result. The block may use the same values as a
  /// block of ``NSManagedObjectContext/perform(_:)``.
  public nonisolated(nonsending) final func perform<T>(_ block: @escaping () throws -> T) async rethrows -> T {
    nonisolated(unsafe) let block = block
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<Carried<T>, any Error>, Never>) in
      later { continuation.resume(returning: Result { Carried(value: try block()) }) }
    }
    switch result {
    case .success(let carried): return carried.value
    case .failure(let error): return try { throw error }()
    }
  }

  /// Carries a value to another thread. The caller does not use the value meanwhile.
  private struct Carried<T>: @unchecked Sendable { let value: T }

  nonisolated(nonsending) final func added(
    _ description: NSPersistentStoreDescription
  ) async throws -> NSPersistentStoreDescription {
    nonisolated(unsafe) let description = description
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      addPersistentStore(with: description) { _, error in
        continuation.resume(with: error.map { .failure($0) } ?? .success(()))
      }
    }
    return description
  }

  // MARK: Contexts

  /// Registers a context, which must be notified when a store is replaced by another one.
  func attach(_ core: ContextCore) {
    contexts.withLock { known in
      if known.count > 64 && known.count.nonzeroBitCount == 1 { known.removeAll { $0.core == nil } }
      known.append(core.link)
    }
  }

  var attachedContexts: [ContextCore] { contexts.withLock { $0.compactMap(\.core) } }

  func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any], object: Any? = nil) {
    NotificationCenter.default.post(name: name, object: object ?? self, userInfo: userInfo.isEmpty ? nil : userInfo)
    postMessage(name, userInfo)
  }
}
