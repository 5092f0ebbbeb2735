import AtomicEngine
import Foundation
import StoreProtocol
import StoreSchema

/// The arguments for making a store that a client implements.
public final class _StoreOpening {
  let coordinator: NSPersistentStoreCoordinator
  let configurationName: String?
  let url: URL
  let options: [AnyHashable: Any]?

  init(
    _ coordinator: NSPersistentStoreCoordinator, _ configurationName: String?, _ url: URL,
    _ options: [AnyHashable: Any]?
  ) {
    (self.coordinator, self.configurationName, self.url, self.options) = (coordinator, configurationName, url, options)
  }
}

/// The part of a client's store that contexts use.
struct CustomStore {
  enum Kind {
    case incremental(IncrementalEngine)
    case atomic(AtomicNodes)
  }

  let kind: Kind
  let references: StoreReferences
  /// Held while the client's store is called: calls take turns, as on Apple's platforms, where the coordinator makes
  /// sure of it. It is recursive, because a call may lead to another one, for example by a fault.
  let calls: NSRecursiveLock

  /// The engine that answers requests; nil for an atomic store, whose graph is in memory.
  var incremental: IncrementalEngine? { if case .incremental(let engine) = kind { engine } else { nil } }

  /// Passes the objects of the next commit.
  func begin(_ save: CustomSave) {
    switch kind {
    case .incremental(let engine): engine.save = save
    case .atomic(let nodes): nodes.save = save
    }
  }

  /// The error that the client threw in the last commit. Returned once.
  func takeError() -> (any Error)? {
    switch kind {
    case .incremental(let engine): engine.takeError()
    case .atomic(let nodes): nodes.takeError()
    }
  }

  /// The keys of new objects, by the names that the client assigns. The client may reuse the name of a deleted object,
  /// even in the save that deletes it: then the new object gets its own key.
  func keys(
    for objects: [NSManagedObject], deleted: [Int64: Entity], _ store: NSPersistentStore
  ) throws -> [Int64] {
    calls.lock()
    defer { calls.unlock() }
    if let store = store as? NSAtomicStore {
      return objects.map {
        key(references.key(for: store.newReferenceObject(for: $0), $0.info.entity), of: $0, deleted)
      }
    }
    guard let store = store as? NSIncrementalStore else { return [] }
    let ids = try store.obtainPermanentIDs(for: objects)
    guard ids.count == objects.count, ids.allSatisfy({ $0.store === store && $0.key > 0 }) else {
      throw CocoaError(
        .persistentStoreSave,
        userInfo: [
          NSLocalizedDescriptionKey:
            "obtainPermanentIDs(for:) must return one ID of newObjectID(for:referenceObject:) for each object."
        ])
    }
    return zip(ids, objects).map { key($0.key, of: $1, deleted) }
  }

  /// The key of a new object to which the client has given the name of the key `named`.
  private func key(_ named: Int64, of object: NSManagedObject, _ deleted: [Int64: Entity]) -> Int64 {
    let former = deleted[named]
    guard former != nil || references.isGone(named) else { return named }
    return references.reserved(named, for: object.info.entity, former: former)
  }
}

extension NSPersistentStore {
  /// The engine of an incremental store that a client implements; nil for other stores. Throws `closed` after the store
  /// was removed.
  func openIncremental() throws(StoreError) -> IncrementalEngine? {
    guard let engine = current.custom?.incremental else { return nil }
    _ = try requireEngine()
    return engine
  }

  /// The symbol of the allocating initializer, as for managed objects.
  @_silgen_name("$s8CoreData17NSPersistentStoreC7_cdMakeAcA01_D7OpeningC_tcfC")
  private static func allocate(_ opening: consuming _StoreOpening) -> NSPersistentStore

  static func make(_ opening: _StoreOpening) -> NSPersistentStore { allocate(opening) }

  /// Loads the client's data, and makes the store the one with `index` in its coordinator.
  ///
  /// - Throws: The client's error, 134010 for metadata of another type, 134091 for a model or an option for which such
  ///   stores lack the capability, 134100 for a store of another model.
  func load(_ type: String, _ frozen: FrozenModel, index: Int) throws {
    let backend = CheckedBackend(ClassBackend(storeType: type, storeClass: Swift.type(of: self)))
    var schema = root?.schema(frozen, ofConfiguration: configuration) ?? frozen.schema
    do { try backend.requireCapability(for: schema, StoreOptionCoding.options(options)) } catch {
      throw CoreDataError.make(error)
    }
    let references = StoreReferences()
    let opening = CustomStore.Opening(frozen: frozen, references: references)
    self.opening = opening
    defer { self.opening = nil }
    try loadMetadata()
    var metadata = MetadataCoding.metadata(self.metadata ?? [:])
    if !metadata.storeType.isEmpty && metadata.storeType != type {
      throw CocoaError(
        .persistentStoreTypeMismatch,
        userInfo: [NSLocalizedDescriptionKey: "The store is of type '\(metadata.storeType)', not '\(type)'."])
    }
    if metadata.identifier.isEmpty { metadata.identifier = givenIdentifier ?? UUID().uuidString }
    metadata.storeType = type
    if metadata.versionHashes.isEmpty {
      metadata.versionHashes = schema.versionHashes
    } else if schema.compatibility(withVersionHashes: metadata.versionHashes) == .different {
      // As with other stores: an existing store of the whole model keeps the whole model.
      if frozen.schema.compatibility(withVersionHashes: metadata.versionHashes) != .different {
        schema = frozen.schema
      } else if !StoreOptionCoding.options(options).ignoresModelVersion {
        throw CoreDataError.make(.modelMismatch(metadata, schema))
      }
    }
    let calls = NSRecursiveLock()
    let engine: any Store
    let kind: CustomStore.Kind
    if let store = self as? NSIncrementalStore {
      let incremental = IncrementalEngine(store, frozen, schema, references, metadata, calls)
      (engine, kind) = (incremental, .incremental(incremental))
    } else if let store = self as? NSAtomicStore {
      let nodes = AtomicNodes(store, frozen, schema, calls)
      try store.load()
      let graph: AtomicGraph
      do { graph = try nodes.graph() } catch { throw CoreDataError.make(error) }
      engine = AtomicStore(
        graph, metadata, [.persistent, .concurrentReads, .uniqueness], isReadOnly: isReadOnly, medium: nodes)
      kind = .atomic(nodes)
    } else {
      throw CocoaError(
        .persistentStoreInvalidType,
        userInfo: [
          NSLocalizedDescriptionKey: "\(Swift.type(of: self)) must be an NSAtomicStore or an NSIncrementalStore."
        ])
    }
    use(
      engine, CustomStore(kind: kind, references: references, calls: calls), type: type, index: index,
      identifier: metadata.identifier)
  }

  /// The name of an object in URIs: the client's name in a client's store, else the key.
  final func objectName(_ key: Int64) -> String { custom?.references.text(of: key) ?? String(key) }

  /// The key of the object with a name in URIs; nil for a text that cannot be a name. A number must have no sign and no
  /// leading zeros.
  final func objectKey(_ name: String, _ entity: Entity) -> Int64? {
    if let references = custom?.references { return name.isEmpty ? nil : references.key(ofText: name, entity) }
    guard let key = Int64(name), key > 0, name == String(key) else { return nil }
    return key
  }

  /// Whether the store can get another URL. Only the client knows where an ``NSIncrementalStore`` keeps its objects.
  final var canMove: Bool { !(self is NSIncrementalStore) }

  /// Whether the store is notified which of its objects contexts use.
  final var countsObjectsInUse: Bool { self is NSIncrementalStore }

  /// Whether the store numbers its objects itself. Then a copy of it continues after its highest numbers.
  final var numbersObjects: Bool { custom == nil }

  /// The error of a commit for clients: the error that a client's store threw, or the Cocoa error for a store error.
  final func cocoaError(_ error: any Error) -> any Error {
    custom?.takeError() ?? (error as? StoreError).map { CoreDataError.make($0, of: self) } ?? error
  }

  /// The ID of the object of a reference object.
  final func makeObjectID(_ entity: NSEntityDescription, _ reference: Any) -> NSManagedObjectID {
    guard let references = custom?.references ?? opening?.references, let info = info(of: entity) else {
      misuse("Object IDs can be made once the store is being added to a coordinator, for entities of its model.")
    }
    return NSManagedObjectID(info, key: references.key(for: reference, info.entity), store: self, family: 0)
  }

  private final func info(of entity: NSEntityDescription) -> EntityInfo? {
    let frozen = opening?.frozen ?? (try? root?.model.freeze())
    return entity.name.flatMap { frozen?.schema.entity(named: $0) }.flatMap { frozen?.infos[$0.index] }
  }

  /// The reference object that an ID was made with.
  final func givenReference(_ id: NSManagedObjectID) -> Any {
    guard let found = (custom?.references ?? opening?.references)?.reference(of: id.key) else {
      misuse("The object ID \(id) was not created by this store.")
    }
    return found
  }
}

extension CustomStore {
  /// Used to make IDs while the store is being loaded.
  struct Opening {
    let frozen: FrozenModel
    let references: StoreReferences
  }
}
