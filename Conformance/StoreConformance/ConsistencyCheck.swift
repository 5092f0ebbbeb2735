import StoreProtocol
import StoreSchema
import StoreSupport

/// Checks a whole store: every link has its other end, every reference leads to an object, every object has a version,
/// and large data outside the rows can be read.
///
/// Reads only rows and links, so it trusts no statement of the store about itself. The store's own findings are added.
public struct ConsistencyCheck {
  private let schema: Schema
  private let store: any Store
  private let view: any StoreSnapshot
  private var rows: [ObjectReference: Row] = [:]
  /// By root entity and key.
  private var entities: [Int: [Int64: Int]] = [:]
  private var problems: [String] = []

  /// The defects of the store, as sentences; empty for a sound store. A `StoreError` counts as a defect.
  public static func problems(of store: any Store) -> [String] {
    do {
      var check = ConsistencyCheck(store, try store.snapshot())
      try check.run()
      try check.view.inspecting?.findings { finding in
        if finding.kind != .foreign { check.problems.append("the store finds: \(finding.text)") }
      }
      return check.problems
    } catch { return ["the store cannot be read: \(error)"] }
  }

  private init(_ store: any Store, _ view: any StoreSnapshot) {
    (schema, self.store, self.view) = (store.schema, store, view)
  }

  private mutating func run() throws(StoreError) {
    for entity in schema.entities where entity.superentity == nil { try readRows(entity) }
    for entity in schema.entities where !entity.isAbstract {
      let owners = rows.keys.filter { $0.entity == entity.index }.sorted { $0.key < $1.key }
      if owners.isEmpty { continue }
      for relationship in entity.relationships { try check(relationship, entity, owners) }
    }
  }

  private mutating func readRows(_ root: Entity) throws(StoreError) {
    var found: [Row] = []
    try view.scan(root.subtree) { found.append($0) }
    var last = Int64.min
    for row in found {
      let name = "\(root.name) \(row.key)"
      if row.key <= last { problems.append("\(name) comes after \(last) in a scan") }
      last = row.key
      if row.key <= 0 { problems.append("\(name) has no key") }
      if row.version < 1 { problems.append("\(name) has the version \(row.version)") }
      guard root.subtree.contains(row.entity), !schema.entities[row.entity].isAbstract else {
        problems.append("\(name) is of the entity \(row.entity)")
        continue
      }
      if row.slotCount != schema.entities[row.entity].slots.count { problems.append("\(name) has other slots") }
      checkExternalData(row, name)
      rows[row.reference] = row
      entities[root.index, default: [:]][row.key] = row.entity
    }
  }

  /// Checks that every name of large data leads to data.
  private mutating func checkExternalData(_ row: Row, _ name: String) {
    for (slot, kind) in schema.entities[row.entity].slots.enumerated() where kind == .externalData {
      guard slot < row.slotCount, !row.isNull(slot), case .data(let bytes) = row.value(slot, kind), bytes.first == 2
      else {
        continue
      }
      do { _ = try store.externalData(bytes) } catch { problems.append("\(name) names data that is gone: \(error)") }
    }
  }

  private func target(_ relationship: Relationship, _ key: Int64) -> ObjectReference? {
    let root = schema.entities[relationship.destination].root
    return entities[root]?[key].map { ObjectReference(entity: $0, key: key) }
  }

  private mutating func check(
    _ relationship: Relationship, _ entity: Entity, _ owners: [ObjectReference]
  ) throws(StoreError) {
    let forward = try links(relationship, owners)
    for owner in owners {
      let name = "\(entity.name) \(owner.key).\(relationship.name)"
      let found = forward[owner.key] ?? []
      if Set(found).count != found.count { problems.append("\(name) has an object twice") }
      for key in found where target(relationship, key).map({ relationship.destinations.contains($0.entity) }) != true {
        problems.append("\(name) leads to \(key), which is nothing that it may lead to")
      }
    }
    guard let inverse = schema.inverse(of: relationship) else { return }
    let reached = Set(forward.values.joined()).compactMap { target(relationship, $0) }
    let back = try links(inverse, reached)
    for (owner, found) in forward {
      for key in found where !(back[key] ?? []).contains(owner) {
        problems.append("\(entity.name) \(owner).\(relationship.name) leads to \(key), which does not lead back")
      }
    }
  }

  /// The keys at the other end of a relationship, by owner.
  private func links(
    _ relationship: Relationship, _ owners: [ObjectReference]
  ) throws(StoreError) -> [Int64: [Int64]] {
    var result: [Int64: [Int64]] = [:]
    if let slot = relationship.slot {
      for owner in owners {
        if let row = rows[owner], !row.isNull(slot) { result[owner.key] = [row.int(slot)] }
      }
      return result
    }
    if owners.isEmpty { return [:] }
    try view.destinations(of: relationship, owners: owners.map(\.key)) { result[$0, default: []].append($1.key) }
    return result
  }
}
