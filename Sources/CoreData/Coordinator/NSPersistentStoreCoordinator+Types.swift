import Foundation
import Synchronization

/// The same with types of stores instead of their names, and with texts instead of URIs.
extension NSPersistentStoreCoordinator {
  public class func metadataForPersistentStore(
    type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(ofType: type.rawValue, at: url, options: options)
  }

  public class func setMetadata(
    _ metadata: [String: Any]?, type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(metadata, forPersistentStoreOfType: type.rawValue, at: url, options: options)
  }

  @discardableResult
  public final func migratePersistentStore(
    _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
    type storeType: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
  }

  public final func destroyPersistentStore(
    at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, ofType: type.rawValue, options: options)
  }

  public final func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
    type sourceType: NSPersistentStore.StoreType
  ) throws {
    try replacePersistentStore(
      at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
      sourceOptions: sourceOptions, ofType: sourceType.rawValue)
  }

  public final func managedObjectID(for uri: String) -> NSManagedObjectID? {
    URL(string: uri).flatMap(managedObjectID(forURIRepresentation:))
  }
}

extension NSPersistentStoreCoordinator {
  /// Runs `block` on the coordinator's queue and gives back what it returns or throws. What the block may use is what
  /// ``NSManagedObjectContext/perform(_:)`` says.
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

  /// Carries a value over a hop that the caller has given it up for.
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

  /// Contexts that must be told when a store takes the place of another.
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
  public func lock() { core.lock.lock() }

  @available(*, deprecated, message: "Use performAndWait(_:)")
  public func unlock() { core.lock.unlock() }

  @available(*, deprecated, message: "Use performAndWait(_:)")
  public func tryLock() -> Bool { core.lock.try() }
}
