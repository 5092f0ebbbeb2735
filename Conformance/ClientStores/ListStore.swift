import CoreData
import Foundation

/// A whole-file store as a client would write it from Apple's "Atomic Store Programming Topics": a property list.
package final class ListStore: NSAtomicStore, @unchecked Sendable {
  package static let type = "ListStore"
  /// Makes the next save fail.
  nonisolated(unsafe) package static var failsNextSave = false

  package override var type: String { Self.type }
  /// Nodes that others refer to before their own object comes.
  private var awaited: [NSManagedObjectID: NSAtomicStoreCacheNode] = [:]
  package private(set) var calls: [String] = []

  package override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    guard FileManager.default.fileExists(atPath: url.path) else {
      return [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString]
    }
    return try content(url)["metadata"] as? [String: Any] ?? [:]
  }

  package override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    var list = try content(url)
    list["metadata"] = metadata
    try write(list, url)
  }

  private static func content(_ url: URL) throws -> [String: Any] {
    let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
    guard let content = list as? [String: Any], content["metadata"] != nil else {
      throw CocoaError(.fileReadCorruptFile)
    }
    return content
  }

  /// What a property list cannot say, in another form.
  private static func encoded(_ value: Any) -> Any {
    switch value {
    case let id as UUID: ["$uuid": id.uuidString]
    case let url as URL: ["$url": url.absoluteString]
    case let number as NSDecimalNumber: ["$decimal": number.stringValue]
    default: value
    }
  }

  private static func decoded(_ value: Any) -> Any? {
    guard let form = value as? [String: String], let (kind, text) = form.first else { return value }
    switch kind {
    case "$uuid": return UUID(uuidString: text)
    case "$url": return URL(string: text)
    case "$decimal": return NSDecimalNumber(string: text)
    default: return value
    }
  }

  private static func write(_ list: [String: Any], _ url: URL) throws {
    let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    try data.write(to: url, options: .atomic)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
  }

  package override func loadMetadata() throws {
    guard let url, url.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme) }
    guard FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path) else {
      throw CocoaError(.fileNoSuchFile)
    }
    try super.loadMetadata()
  }

  package override func load() throws {
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
      for (key, value) in values { node.setValue(Self.decoded(value), forKey: key) }
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

  package override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    calls.append("newReferenceObject")
    return UUID().uuidString
  }

  package override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    calls.append("newCacheNode")
    let node = node(for: managedObject.objectID)
    awaited[managedObject.objectID] = nil
    fill(node, managedObject)
    return node
  }

  package override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
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

  package override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
    calls.append("willRemoveCacheNodes")
  }

  package override func save() throws {
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
      let values = entity.attributesByName.keys.reduce(into: [String: Any]()) {
        $0[$1] = node.value(forKey: $1).map(Self.encoded)
      }
      return ["entity": name(node)[0], "reference": name(node)[1], "values": values, "links": links]
    }
    try Self.write(["metadata": metadata ?? [:], "objects": objects], url)
  }
}
