import Foundation

/// A store that a client implements as a whole file. Not yet: a coordinator does not take one, and
/// ``NSPersistentStoreCoordinator/registerStoreClass(_:forStoreType:)`` stops the program.
open class NSAtomicStore: NSPersistentStore, @unchecked Sendable {
  private var nodes: Set<NSAtomicStoreCacheNode> = []

  /// Reads the whole store into cache nodes. Throws 134091 unless overridden.
  open func load() throws { throw Self.refusal }

  /// Writes all cache nodes. Throws 134091 unless overridden.
  open func save() throws { throw Self.refusal }

  open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    misuse("NSAtomicStore.newCacheNode(for:) must be overridden.")
  }

  open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    misuse("NSAtomicStore.updateCacheNode(_:from:) must be overridden.")
  }

  open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { nodes }
  open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) { nodes.formUnion(cacheNodes) }
  open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}
  open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? {
    nodes.first { $0.objectID == objectID }
  }
  open func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    misuse("NSAtomicStore.newReferenceObject(for:) must be overridden.")
  }

  private static var refusal: CocoaError {
    CocoaError(
      .persistentStoreUnsupportedRequestType,
      userInfo: [NSLocalizedDescriptionKey: "Stores that clients implement are not supported yet."])
  }
}

/// The values of one object of an atomic store.
open class NSAtomicStoreCacheNode: NSObject {
  public let objectID: NSManagedObjectID
  open var propertyCache: NSMutableDictionary?

  public init(objectID moid: NSManagedObjectID) { objectID = moid }

  /// A cache node for a to-one relationship, a set of them for a to-many one.
  open func value(forKey key: String) -> Any? { propertyCache?[key] }
  open func setValue(_ value: Any?, forKey key: String) {
    let cache = propertyCache ?? NSMutableDictionary()
    cache[key] = value
    propertyCache = cache
  }
}

extension NSPersistentStoreCoordinator {
  /// Not yet: stops the program. Only the stores that come with Core Data can be added.
  public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
    misuse("Store classes of clients cannot be registered yet; '\(storeType)' stays unknown.")
  }

  public class func registerStoreClass(_ storeClass: AnyClass?, type storeType: NSPersistentStore.StoreType) {
    registerStoreClass(storeClass, forStoreType: storeType.rawValue)
  }
}
