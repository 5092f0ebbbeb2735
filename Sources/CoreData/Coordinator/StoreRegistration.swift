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
  static func unregister(_ type: String) { backends.withLock { $0[type] = nil } }

  private static let classes = Mutex<[String: NSPersistentStore.Type]>([:])

  static func storeClass(_ type: String) -> NSPersistentStore.Type? { classes.withLock { $0[type] } }
  static func register(_ storeClass: NSPersistentStore.Type?, _ type: String) {
    classes.withLock { $0[type] = storeClass }
  }

  /// The class of the stores of each type, in an `NSValue` of its bytes, as Apple's Core Data gives it.
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
  /// The stores of a type. Throws 134000 where there are none.
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

  /// Makes a kind of store known under its type name, for all coordinators.
  public static func register(_ backend: some StoreBackend) { StoreRegistration.register(backend) }

  /// Forgets a kind of store. Stores of it that are open stay so.
  package static func unregister(storeType: String) { StoreRegistration.unregister(storeType) }

  /// The types of stores that outlive the process.
  package static var registeredPersistentTypes: [String] { StoreRegistration.persistentTypes }

  /// Makes a class of stores that a client implements known under its type name, for all coordinators; nil forgets it.
  ///
  /// The class is a subclass of ``NSAtomicStore`` or ``NSIncrementalStore``; any other stops the program.
  public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
    guard let storeClass else { return StoreRegistration.register(nil, storeType) }
    guard let known = storeClass as? NSPersistentStore.Type,
      known is NSAtomicStore.Type || known is NSIncrementalStore.Type
    else { misuse("\(storeClass) is no subclass of NSAtomicStore or NSIncrementalStore, and cannot be registered.") }
    StoreRegistration.register(known, storeType)
  }

  /// Makes a class of stores known under a type, or forgets it for nil; see ``registerStoreClass(_:forStoreType:)``.
  public class func registerStoreClass(_ storeClass: AnyClass?, type storeType: NSPersistentStore.StoreType) {
    registerStoreClass(storeClass, forStoreType: storeType.rawValue)
  }
}
