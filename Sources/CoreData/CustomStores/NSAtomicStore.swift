import Foundation
import StoreSchema

/// A store that a client implements as a whole: it is loaded into cache nodes once, and saved from them.
///
/// A subclass overrides ``load()``, ``save()``, ``newCacheNode(for:)``, ``updateCacheNode(_:from:)`` and
/// ``newReferenceObject(for:)``. It is registered with
/// ``NSPersistentStoreCoordinator/registerStoreClass(_:forStoreType:)``. (Source: Apple, "Atomic Store Programming
/// Topics" and the class reference.)
open class NSAtomicStore: NSPersistentStore, @unchecked Sendable {
  // Saves take turns, and loading comes before all of them.
  private var nodes: [NSManagedObjectID: NSAtomicStoreCacheNode] = [:]

  /// Reads the whole store, and passes it to ``addCacheNodes(_:)``. Called once, when the store is added. Throws 134091
  /// unless overridden.
  open func load() throws { throw Self.refusal }

  /// Writes all cache nodes and the metadata, or nothing. Throws 134091 unless overridden.
  open func save() throws { throw Self.refusal }

  /// A cache node for an object that is being saved for the first time; its ID is permanent.
  open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    misuse("NSAtomicStore.newCacheNode(for:) must be overridden.")
  }

  /// Copies the values of a changed object into its cache node.
  open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    misuse("NSAtomicStore.updateCacheNode(_:from:) must be overridden.")
  }

  /// All cache nodes of the store.
  open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(nodes.values) }

  /// Adds cache nodes. A node replaces the one of the same object ID.
  open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
    for node in cacheNodes { nodes[node.id] = node }
  }

  /// Called before the nodes of deleted objects are removed.
  open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

  /// The cache node of an object; nil where the store has none.
  open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { nodes[objectID] }

  /// A string or a whole number that names a new object, unique in its entity hierarchy.
  open func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    misuse("NSAtomicStore.newReferenceObject(for:) must be overridden.")
  }

  /// The ID of the object that a reference object names.
  open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
    makeObjectID(entity, data)
  }

  /// The string or whole number that names the object in the store.
  open func referenceObject(for objectID: NSManagedObjectID) -> Any { givenReference(objectID) }

  func remove(_ gone: Set<NSAtomicStoreCacheNode>) { for node in gone { nodes[node.id] = nil } }

  func setNodes(_ all: Set<NSAtomicStoreCacheNode>) {
    nodes = [:]
    addCacheNodes(all)
  }

  private static var refusal: CocoaError {
    CocoaError(
      .persistentStoreUnsupportedRequestType,
      userInfo: [NSLocalizedDescriptionKey: "A subclass of NSAtomicStore must override load and save."])
  }
}

/// The values of one object of an atomic store.
open class NSAtomicStoreCacheNode: NSObject {
  /// The ID of the object.
  open var objectID: NSManagedObjectID { id }
  final let id: NSManagedObjectID
  /// The values by property name, as ``value(forKey:)`` returns them; nil for none.
  open var propertyCache: NSMutableDictionary?

  /// A cache node without values.
  public init(objectID moid: NSManagedObjectID) { id = moid }

  /// The value of a property: a cache node for a to-one relationship, a set of them for a to-many one; nil for none.
  open func value(forKey key: String) -> Any? { propertyCache?[key] }
  /// The value of a property. Rewritten sources call it where they cast the value to a set that can be changed.
  public final func mutableValue(forKey key: String) -> Any? { value(forKey: key) }
  /// Sets the value of a property by its name; nil removes it.
  open func setValue(_ value: Any?, forKey key: String) {
    let cache = propertyCache ?? NSMutableDictionary()
    cache[key] = value
    propertyCache = cache
  }
}
