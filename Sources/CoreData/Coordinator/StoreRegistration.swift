import BinaryBackend
import Foundation
import InMemoryBackend
import SQLiteBackend
import StoreProtocol
import Synchronization
import XMLBackend

/// The backends by type name. Only this file names backends; stores outside the package register themselves.
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
  static func unregister(_ type: String) { backends.withLock { $0[type] = nil } }

  private static let classes = Mutex<[String: NSPersistentStore.Type]>([:])

  static func storeClass(_ type: String) -> NSPersistentStore.Type? { classes.withLock { $0[type] } }
  static func register(_ storeClass: NSPersistentStore.Type?, _ type: String) {
    classes.withLock { $0[type] = storeClass }
  }

  /// The class of the stores of each type, as bytes in an `NSValue`, as Apple's Core Data returns it.
  static var classesOfTypes: [String: NSValue] {
    let types = backends.withLock { $0.mapValues { _ in NSPersistentStore.self } }
    return types.merging(classes.withLock { $0 }) { $1 }.mapValues { storeClass in
      withUnsafeBytes(of: storeClass as AnyClass) { bytes in
        bytes.baseAddress.map { NSValue(bytes: $0, objCType: "#") } ?? NSValue()
      }
    }
  }

  static var persistentTypes: [String] {
    backends.withLock { $0.filter { $0.value.capabilities.contains(.persistent) }.keys.sorted() }
  }
}

extension NSPersistentStoreCoordinator {
  /// The backend of a type. Throws 134000 where there is none.
  static func backend(_ type: String) throws -> any StoreBackend {
    if let storeClass = StoreRegistration.storeClass(type) {
      return ClassBackend(storeType: type, storeClass: storeClass)
    }
    guard let backend = StoreRegistration.backend(type) else {
      throw CocoaError(
        .persistentStoreInvalidType, userInfo: [NSLocalizedDescriptionKey: "There is no store of type '\(type)'."])
    }
    return backend
  }

  /// Registers a backend under its type name, for all coordinators.
  public static func register(_ backend: some StoreBackend) { StoreRegistration.register(backend) }

  /// Removes a backend from the registered types. Its open stores stay open.
  package static func unregister(storeType: String) { StoreRegistration.unregister(storeType) }

  /// The types of stores whose content outlives the process.
  package static var registeredPersistentTypes: [String] { StoreRegistration.persistentTypes }

  /// Registers a class of stores that a client implements under a type name, for all coordinators; nil removes the
  /// type.
  ///
  /// The class is a subclass of ``NSAtomicStore`` or ``NSIncrementalStore``; any other stops the program.
  public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
    guard let storeClass else { return StoreRegistration.register(nil, storeType) }
    guard let known = storeClass as? NSPersistentStore.Type,
      known is NSAtomicStore.Type || known is NSIncrementalStore.Type
    else { misuse("\(storeClass) is not a subclass of NSAtomicStore or NSIncrementalStore, and cannot be registered.") }
    StoreRegistration.register(known, storeType)
  }

  /// Registers a class of stores under a type, or removes the type for nil; see
  /// ``registerStoreClass(_:forStoreType:)``.
  public class func registerStoreClass(_ storeClass: AnyClass?, type storeType: NSPersistentStore.StoreType) {
    registerStoreClass(storeClass, forStoreType: storeType.rawValue)
  }
}
