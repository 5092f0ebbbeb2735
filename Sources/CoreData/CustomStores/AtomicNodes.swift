import AtomicEngine
import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport
import Synchronization

/// Makes an ``NSAtomicStore`` the medium of an atomic store: its cache nodes are read once, and updated by every save.
///
/// Sendable, unchecked: writes take turns, and the client's store is called as its documentation says.
final class AtomicNodes: AtomicMedium, @unchecked Sendable {
  private unowned let store: NSAtomicStore
  private let frozen: FrozenModel
  /// The part of the model that the store holds.
  private let schema: Schema
  /// See ``CustomStore/calls``.
  private let calls: NSRecursiveLock
  private let error = Mutex<(any Error)?>(nil)
  /// The objects of the next commit. Set and used under the lock of the store's commits.
  var save = CustomSave()

  init(_ store: NSAtomicStore, _ frozen: FrozenModel, _ schema: Schema, _ calls: NSRecursiveLock) {
    self.store = store
    self.frozen = frozen
    self.schema = schema
    self.calls = calls
  }

  func takeError() -> (any Error)? {
    error.withLock { error in
      defer { error = nil }
      return error
    }
  }

  // MARK: Reading

  /// The content of the cache nodes.
  func graph() throws(StoreError) -> AtomicGraph {
    var loader = AtomicGraphLoader(schema, .plain)
    let nodes = store.cacheNodes()
    let known = Set(nodes.map(\.id.key))
    for node in nodes {
      let reference = node.id.reference
      let info = frozen.infos[reference.entity]
      let maker = CustomRow(info: info, reference: Self.reference)
      let builder = try maker.packed { node.value(forKey: $0.name) }
      try loader.add(builder.finishCheckedDraft(key: reference.key, entity: info.entity, version: 1))
      for relationship in info.relationships where relationship.relationship.isToMany {
        // Nodes of other objects may still list deleted members, because nobody has changed these nodes.
        let members = try Self.members(node.value(forKey: relationship.relationship.name), relationship)
          .filter(known.contains)
        if let table = loader.linkTable(of: relationship.relationship) {
          loader.link(table, of: reference.key, to: members)
        }
      }
    }
    return try loader.finish(highestNumber: 0)
  }

  /// The value of a relationship is a cache node or an ID.
  private static func reference(_ value: Any) -> ObjectReference? {
    (value as? NSAtomicStoreCacheNode)?.id.reference ?? (value as? NSManagedObjectID)?.reference
  }

  private static func members(_ value: Any?, _ info: RelationshipInfo) throws(StoreError) -> [Int64] {
    let items: [Any]
    switch AttributeCoding.flattened(value) {
    case nil: return []
    case let list as [Any]: items = list
    case let set as NSSet: items = set.allObjects
    case let set as NSOrderedSet: items = set.array
    case let set as Set<NSAtomicStoreCacheNode>: items = Array(set)
    case let set as Set<NSManagedObjectID>: items = Array(set)
    default: throw fault(info)
    }
    var keys: [Int64] = []
    for item in items {
      guard let reference = reference(item) else { throw fault(info) }
      keys.append(reference.key)
    }
    return keys
  }

  private static func fault(_ info: RelationshipInfo) -> StoreError {
    StoreError(
      .invalidArgument, "A cache node's to-many relationship must be a set or an array of cache nodes.",
      context: ["relationship": info.relationship.name])
  }

  func reread() throws(StoreError) -> (graph: AtomicGraph, metadata: StoreMetadata)? { nil }

  // MARK: Writing

  /// Saves in the steps of Apple's reference: it makes nodes for new objects, updates the nodes of changed ones,
  /// removes the nodes of deleted ones, and calls `save()`. If a step fails, the nodes are as before.
  func write(_ graph: AtomicGraph, _ metadata: StoreMetadata) throws(StoreError) {
    let save = save
    self.save = CustomSave()
    calls.lock()
    defer { calls.unlock() }
    let nodes = store.cacheNodes()
    let before = save.updated.compactMap { store.cacheNode(for: $0.ownID) }
      .map { ($0, $0.propertyCache?.mutableCopy() as? NSMutableDictionary) }
    do {
      store.addCacheNodes(Set(save.inserted.map(store.newCacheNode(for:))))
      for object in save.updated {
        if let node = store.cacheNode(for: object.ownID) { store.updateCacheNode(node, from: object) }
      }
      let gone = Set(save.deleted.compactMap { store.cacheNode(for: $0.ownID) })
      if !gone.isEmpty { store.willRemoveCacheNodes(gone) }
      store.remove(gone)
      try store.save()
      // Each node holds the next one. Without this, releasing a long chain of nodes would recurse.
      for node in gone { node.propertyCache = nil }
    } catch {
      store.setNodes(nodes)
      for (node, values) in before { node.propertyCache = values }
      self.error.withLock { $0 = error }
      throw StoreError(
        .io, "The save method of the store's class has thrown an error. Nothing was saved.", cause: "\(error)")
    }
  }

  /// A client's store manages large data itself.
  var externalFiles: ExternalDataFiles? { nil }
  func close() { for node in store.cacheNodes() { node.propertyCache = nil } }
}
