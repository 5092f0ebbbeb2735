import CoreData
import Foundation

/// A whole-file store as a client would write it from Apple's "Atomic Store Programming Topics": a property list.
final class ListStore: NSAtomicStore, @unchecked Sendable {
  static let type = "ListStore"
  /// Makes the next save fail.
  nonisolated(unsafe) static var failsNextSave = false

  override var type: String { Self.type }
  /// Nodes that others refer to before their own object comes.
  private var awaited: [NSManagedObjectID: NSAtomicStoreCacheNode] = [:]
  private(set) var calls: [String] = []

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    guard FileManager.default.fileExists(atPath: url.path) else {
      return [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString]
    }
    return try content(url)["metadata"] as? [String: Any] ?? [:]
  }

  override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    var list = try content(url)
    list["metadata"] = metadata
    try write(list, url)
  }

  private static func content(_ url: URL) throws -> [String: Any] {
    try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil) as? [String: Any] ?? [:]
  }

  private static func write(_ list: [String: Any], _ url: URL) throws {
    try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0).write(to: url)
  }

  override func load() throws {
    guard let url, FileManager.default.fileExists(atPath: url.path), let model = persistentStoreCoordinator else {
      return
    }
    let entities = model.managedObjectModel.entitiesByName
    var nodes: Set<NSAtomicStoreCacheNode> = []
    for item in try Self.content(url)["objects"] as? [[String: Any]] ?? [] {
      guard let name = item["entity"] as? String, let entity = entities[name], let reference = item["reference"],
        let values = item["values"] as? [String: Any], let links = item["links"] as? [String: [[String]]]
      else { continue }
      let node = node(for: objectID(for: entity, withReferenceObject: reference))
      node.propertyCache = NSMutableDictionary()
      for (key, value) in values { node.setValue(value, forKey: key) }
      for (key, targets) in links {
        let found = targets.compactMap { target in
          entities[target[0]].map { self.node(for: objectID(for: $0, withReferenceObject: target[1])) }
        }
        var value: Any? = found.first
        if let relationship = entity.relationshipsByName[key], relationship.isToMany {
          value = relationship.isOrdered ? NSOrderedSet(array: found) : Set(found)
        }
        node.setValue(value, forKey: key)
      }
      nodes.insert(node)
    }
    addCacheNodes(nodes)
    awaited = [:]
  }

  private func node(for id: NSManagedObjectID) -> NSAtomicStoreCacheNode {
    if let known = cacheNode(for: id) ?? awaited[id] { return known }
    let node = NSAtomicStoreCacheNode(objectID: id)
    awaited[id] = node
    return node
  }

  override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    calls.append("newReferenceObject")
    return UUID().uuidString
  }

  override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    calls.append("newCacheNode")
    let node = node(for: managedObject.objectID)
    awaited[managedObject.objectID] = nil
    fill(node, managedObject)
    return node
  }

  override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    calls.append("updateCacheNode")
    fill(node, managedObject)
  }

  private func fill(_ node: NSAtomicStoreCacheNode, _ object: NSManagedObject) {
    for name in object.entity.attributesByName.keys { node.setValue(object.value(forKey: name), forKey: name) }
    for (name, relationship) in object.entity.relationshipsByName {
      let value = object.value(forKey: name)
      if relationship.isOrdered {
        let members = (value as? NSOrderedSet)?.array ?? []
        node.setValue(
          NSOrderedSet(array: members.compactMap { ($0 as? NSManagedObject).map { self.node(for: $0.objectID) } }),
          forKey: name)
      } else if relationship.isToMany {
        let members = (value as? Set<NSManagedObject>) ?? []
        node.setValue(Set(members.map { self.node(for: $0.objectID) }), forKey: name)
      } else {
        node.setValue((value as? NSManagedObject).map { self.node(for: $0.objectID) }, forKey: name)
      }
    }
  }

  override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) { calls.append("willRemoveCacheNodes") }

  override func save() throws {
    calls.append("save")
    if Self.failsNextSave {
      Self.failsNextSave = false
      throw CocoaError(.fileWriteOutOfSpace)
    }
    guard let url else { return }
    func name(_ node: NSAtomicStoreCacheNode) -> [String] {
      [node.objectID.entity.name ?? "", referenceObject(for: node.objectID) as? String ?? ""]
    }
    let objects = cacheNodes().map { node -> [String: Any] in
      let entity = node.objectID.entity
      var links: [String: [[String]]] = [:]
      for key in entity.relationshipsByName.keys {
        switch node.value(forKey: key) {
        case let one as NSAtomicStoreCacheNode: links[key] = [name(one)]
        case let many as Set<NSAtomicStoreCacheNode>: links[key] = many.map(name)
        case let many as NSOrderedSet: links[key] = many.array.compactMap { $0 as? NSAtomicStoreCacheNode }.map(name)
        default: break
        }
      }
      let values = entity.attributesByName.keys.reduce(into: [String: Any]()) { $0[$1] = node.value(forKey: $1) }
      return ["entity": name(node)[0], "reference": name(node)[1], "values": values, "links": links]
    }
    try Self.write(["metadata": metadata ?? [:], "objects": objects], url)
  }
}

/// A row-level store as a client would write it from Apple's "Incremental Store Programming Guide", over a dictionary.
final class DictionaryStore: NSIncrementalStore, @unchecked Sendable {
  static let type = "DictionaryStore"
  override var type: String { Self.type }

  struct Record {
    var entity: String
    var values: [String: Any]
    /// References of the members of to-many relationships, with their entities.
    var members: [String: [(entity: String, reference: Int)]]
    var version: UInt64 = 1
  }

  /// What would be a server.
  nonisolated(unsafe) var records: [Int: Record] = [:]
  nonisolated(unsafe) var log: [String] = []
  nonisolated(unsafe) var lastSave: NSSaveChangesRequest?
  nonisolated(unsafe) var failure: (any Error)?
  /// How many contexts use an object.
  nonisolated(unsafe) var uses: [Int: Int] = [:]
  nonisolated(unsafe) private var next = 100

  override func loadMetadata() throws {
    metadata = [NSStoreTypeKey: Self.type, NSStoreUUIDKey: Self.identifierForNewStore(at: url!)]
  }

  private func id(_ reference: Int) -> NSManagedObjectID? {
    guard let record = records[reference],
      let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName[record.entity]
    else { return nil }
    return newObjectID(for: entity, referenceObject: reference)
  }

  private func number(_ id: NSManagedObjectID) -> Int {
    (referenceObject(for: id) as? NSNumber)?.intValue ?? referenceObject(for: id) as? Int ?? 0
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    log.append("obtain \(array.count)")
    return array.map { object in
      next += 1
      return newObjectID(for: object.entity, referenceObject: next)
    }
  }

  override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    for id in objectIDs { uses[number(id), default: 0] += id.isTemporaryID ? 1000 : 1 }
  }

  override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
    for id in objectIDs {
      let left = uses[number(id), default: 0] - 1
      uses[number(id)] = left == 0 ? nil : left
    }
  }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    if let failure {
      self.failure = nil
      throw failure
    }
    if let save = request as? NSSaveChangesRequest { return run(save) }
    guard let context, let fetch = request as? NSFetchRequest<NSManagedObject> else {
      throw CocoaError(.persistentStoreUnsupportedRequestType)
    }
    log.append(
      "fetch \(fetch.entityName ?? "") \(fetch.predicate?.predicateFormat.hasPrefix("SELF IN") == true ? "batch" : "")")
    let names = Set([fetch.entityName ?? ""]).union(
      fetch.includesSubentities ? (fetch.entity?.subentitiesByName.keys).map(Array.init) ?? [] : [])
    var objects = records.keys.sorted().filter { names.contains(records[$0]?.entity ?? "") }
      .compactMap { id($0).map(context.object(with:)) }
    if let predicate = fetch.predicate { objects = objects.filter { predicate.evaluate(with: $0) } }
    for sort in (fetch.sortDescriptors ?? []).reversed() {
      objects.sort { sort.compare($0, to: $1) == .orderedAscending }
    }
    objects = Array(objects.dropFirst(fetch.fetchOffset))
    if fetch.fetchLimit > 0 { objects = Array(objects.prefix(fetch.fetchLimit)) }
    return fetch.resultType == .countResultType ? [objects.count] : objects
  }

  private func run(_ save: NSSaveChangesRequest) -> Any {
    lastSave = save
    log.append(
      "save \(save.insertedObjects?.count ?? 0) \(save.updatedObjects?.count ?? 0) \(save.deletedObjects?.count ?? 0)")
    for object in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) {
      var record = Record(entity: object.entity.name ?? "", values: [:], members: [:])
      record.version = (records[number(object.objectID)]?.version ?? 0) + 1
      for name in object.entity.attributesByName.keys { record.values[name] = object.value(forKey: name) }
      for (name, relationship) in object.entity.relationshipsByName {
        let value = object.value(forKey: name)
        if relationship.isToMany {
          let members =
            (value as? NSOrderedSet)?.array as? [NSManagedObject] ?? Array(value as? Set<NSManagedObject> ?? [])
          record.members[name] = members.map { ($0.entity.name ?? "", number($0.objectID)) }
        } else {
          record.values[name] = (value as? NSManagedObject).map(\.objectID) ?? NSNull()
        }
      }
      records[number(object.objectID)] = record
    }
    for object in save.deletedObjects ?? [] { records[number(object.objectID)] = nil }
    return [Any]()
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    log.append("values \(number(objectID))")
    guard let record = records[number(objectID)] else { throw CocoaError(.managedObjectReferentialIntegrity) }
    // An unknown key is passed over; the department is asked for by itself.
    var values = record.values
    values["unknown"] = 1
    values["department"] = nil
    return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: record.version)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    log.append("relationship \(relationship.name)")
    let record = records[number(objectID)]
    if !relationship.isToMany { return record?.values[relationship.name] ?? NSNull() }
    return (record?.members[relationship.name] ?? []).compactMap { id($0.reference) }
  }
}
