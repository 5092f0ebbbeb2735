import Foundation
import RuntimeAccess
import StoreSchema
import Synchronization

/// Identifies an object across contexts and threads. Compares by value within a coordinator.
///
/// Sendable, unchecked: the entity's description belongs to an immutable model, and everything else is constant except
/// the successor.
open class NSManagedObjectID: NSObject, NSCopying, @unchecked Sendable {
  /// Not reference-counted: entities of a used model are never freed; see ``EntityInfo/description``.
  final unowned(unsafe) let info: EntityInfo
  final let key: Int64
  /// The family of a temporary ID's context; zero for a permanent ID. See ``ContextFamily/number``.
  private let family: UInt64
  private let firstStore: NSPersistentStore?
  /// The store that the object is in now.
  final var store: NSPersistentStore? { firstStore?.current }
  /// The permanent ID that has replaced this temporary one, if this ID was in use then.
  final var successor: NSManagedObjectID? {
    get { key > 0 ? nil : Self.successors.withLock { _ in knownSuccessor } }
    set { Self.successors.withLock { _ in knownSuccessor = newValue } }
  }
  private var knownSuccessor: NSManagedObjectID?
  /// Guards the successors of all IDs: contexts of one family may share an ID.
  private static let successors = Mutex(())
  private var storeIdentifier: String? { key > 0 ? store?.ownIdentifier : nil }

  /// `family` is the family of a temporary ID's context; zero for a permanent ID.
  init(_ info: EntityInfo, key: Int64, store: NSPersistentStore?, family: UInt64) {
    self.info = info
    self.key = key
    firstStore = store
    self.family = key > 0 ? 0 : family
  }

  /// An ID without an object: no context knows it.
  public override init() {
    guard let info = KeyPathProbe.info else { misuse("The internal entity of key path probes does not exist.") }
    (self.info, key, firstStore, family) = (info, 0, nil, 0)
  }

  /// Whether the ID was made for this very store, not for one that it has replaced.
  @inline(__always)
  final func isMade(of store: NSPersistentStore?) -> Bool { firstStore === store && firstStore != nil }

  /// The object's own entity.
  open var entity: NSEntityDescription { info.description }
  /// The store that the object is in; nil for an object of no store.
  open var persistentStore: NSPersistentStore? { store }
  /// Whether this is a temporary ID. It stays true when the object gets its permanent ID, which
  /// ``NSManagedObject/objectID`` then returns.
  open var isTemporaryID: Bool { key <= 0 }

  /// Whether the ID is valid in a context: a temporary ID is valid only in its own, and in parents and children of it.
  final func isKnown(to core: ContextCore) -> Bool { key > 0 || family == core.family.number }

  final var reference: ObjectReference { ObjectReference(entity: info.entity.index, key: key) }

  /// `x-coredata://STORE-UUID/Entity/pN`, or `x-coredata:///Entity/tN` for a temporary ID.
  open func uriRepresentation() -> URL { uri }

  final var uri: URL {
    let text =
      key > 0
      ? ObjectURI.text(store: storeIdentifier ?? "", entity: info.entity.name, name: name)
      : ObjectURI.text(entity: info.entity.name, temporary: -key)
    return URL(string: text) ?? URL(fileURLWithPath: "/")
  }

  /// The key; in a client's store, the store's name of the object.
  private var name: String { store?.objectName(key) ?? String(key) }

  public func copy(with zone: NSZone? = nil) -> Any { self }

  public override var hash: Int { Int(truncatingIfNeeded: key) &* 64 &+ info.root }

  public override func isEqual(_ object: Any?) -> Bool {
    if let address = ObjectInAny.address(in: object) {
      let other = withExtendedLifetime(object) { Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue() }
      return (other as? NSManagedObjectID).map(isSame) ?? false
    }
    guard let other = object as? NSManagedObjectID else { return false }
    return isSame(other)
  }

  private func isSame(_ other: NSManagedObjectID) -> Bool {
    other === self || other.key == key && sharesKeys(with: other)
  }

  /// Whether equal keys mean the same object in both IDs: they are of one entity hierarchy, and of one store or one
  /// context.
  final func sharesKeys(with other: NSManagedObjectID) -> Bool {
    other.info.root == info.root && (other.store === store || other.storeIdentifier == storeIdentifier)
      && other.family == family
  }

  public override var description: String { uri.absoluteString }
}
