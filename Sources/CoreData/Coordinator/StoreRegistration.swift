import BinaryBackend
import Foundation
import InMemoryBackend
import SQLiteBackend
import StoreProtocol
import Synchronization
import XMLBackend

/// The kinds of stores by type name. The only file that names backends; stores outside the package add themselves.
enum StoreRegistration {
  private static let backends: Mutex<[String: any StoreBackend]> = {
    let standard: [any StoreBackend] = [
      SQLiteBackend(), XMLBackend(), BinaryBackend(), InMemoryBackend(),
    ]
    return Mutex(Dictionary(uniqueKeysWithValues: standard.map { ($0.storeType, CheckedBackend($0)) }))
  }()

  static func backend(_ type: String) -> (any StoreBackend)? { backends.withLock { $0[type] } }

  static func register(_ backend: any StoreBackend) {
    backends.withLock { $0[backend.storeType] = CheckedBackend(backend) }
  }

  static var types: [String] { backends.withLock { $0.keys.sorted() } }

  static var persistentTypes: [String] {
    backends.withLock { $0.filter { $0.value.capabilities.contains(.persistent) }.keys.sorted() }
  }
}

extension NSPersistentStoreCoordinator {
  /// Makes a kind of store known under its type name, for all coordinators.
  public static func register(_ backend: some StoreBackend) { StoreRegistration.register(backend) }

  /// The types of stores that outlive the process.
  package static var registeredPersistentTypes: [String] { StoreRegistration.persistentTypes }
}
