import Foundation
import StoreProtocol
import StoreSchema

/// Writes salvaged objects to an empty store under their keys, then links and orders.
struct SalvageWriter {
  private let salvage: Salvage
  private let target: any Store
  private let batchSize: Int
  private let builder = RowBuilder()
  private let time = Date.timeIntervalSinceReferenceDate
  private var schema: Schema { salvage.schema }

  init(_ salvage: Salvage, to target: any Store) {
    self.salvage = salvage
    self.target = target
    batchSize = target.capabilities.contains(.rowLevel) ? 10_000 : .max
  }

  func run(_ progress: () -> Void) throws(StoreError) {
    var changes = emptyChanges
    var metadata = target.metadata
    metadata.additional.merge(salvage.metadata) { own, _ in own }
    changes.metadata = metadata
    agreeOnPairs()
    agreeOnOwners()
    for hierarchy in salvage.rows {
      for (_, row) in hierarchy.sorted(by: { $0.key < $1.key }) {
        changes.insertions.append(try sound(row))
        if changes.insertions.count >= batchSize { try commit(&changes) }
        progress()
      }
    }
    if !changes.isEmpty { try commit(&changes) }
    let links = SalvagedLinks(salvage)
    // First links between existing objects, then the orders of existing links.
    for isStored in [true, false] {
      try links.forEach(isStored: isStored) { (change) throws(StoreError) in
        changes.links.append(change)
        if changes.links.count >= batchSize { try commit(&changes) }
      }
      if !changes.isEmpty { try commit(&changes) }
    }
  }

  // MARK: Objects

  /// Sets the null side of each one-to-one relationship from its other side.
  private func agreeOnPairs() {
    for row in salvage.rows.flatMap(\.values).sorted(by: { $0.key < $1.key }) {
      for relationship in schema.entities[row.entity].relationships {
        guard let slot = relationship.slot, relationship.linkedInverse?.slot != nil, !row.isNull(slot),
          let destination = salvage.destination(relationship, row.int(slot))
        else { continue }
        _ = salvage.leadsBack(relationship, from: row.key, to: destination)
      }
    }
  }

  /// Sets the null to-one side of each object in a to-many relationship to its owner.
  private func agreeOnOwners() {
    for (table, relationship) in salvage.shape.toManys.enumerated() {
      guard case .inverseToOne = relationship.storage else { continue }
      for (owner, keys) in salvage.lists[table].sorted(by: { $0.key < $1.key })
      where salvage.hasOwner(relationship, owner) {
        for key in keys {
          guard let destination = salvage.destination(relationship, key),
            !salvage.leadsBack(relationship, from: owner, to: destination)
          else { continue }
          salvage.lose(
            StoreFinding(
              .inverse, "The object \(key), to which it leads, leads to another one.",
              entity: schema.entities[relationship.declaringEntity].name, key: owner, property: relationship.name))
        }
      }
    }
  }

  /// The row as it can be stored: its references lead to existing objects, and its large data is in this store.
  private func sound(_ row: Row) throws(StoreError) -> RowDraft {
    let entity = schema.entities[row.entity]
    builder.begin(slots: entity.slots.count)
    for (slot, kind) in entity.slots.enumerated() where !row.isNull(slot) {
      switch kind {
      case .reference, .referenceEntity: break
      case .externalData:
        guard let data = content(row, slot) else { continue }
        builder.set(slot, .data(try target.keepExternally(data) ?? Data([1]) + data))
      default: builder.copy(slot, kind, from: row)
      }
    }
    for relationship in entity.relationships {
      guard let slot = relationship.slot, !row.isNull(slot) else { continue }
      guard let destination = salvage.destination(relationship, row.int(slot)) else {
        lose(
          .reference, "It leads to the object \(row.int(slot)), which is not there.", row.reference, relationship.name)
        continue
      }
      if !salvage.leadsBack(relationship, from: row.key, to: destination) {
        lose(
          .inverse, "The object \(destination.key), to which it leads, leads to another one.", row.reference,
          relationship.name)
        continue
      }
      builder.setInt(slot, destination.key)
      if let entitySlot = relationship.entitySlot { builder.setInt(entitySlot, Int64(destination.entity)) }
    }
    return try builder.finishCheckedDraft(key: row.key, entity: entity, version: 1)
  }

  private func content(_ row: Row, _ slot: Int) -> Data? {
    guard case .data(let bytes) = row.value(slot, .externalData) else { return nil }
    guard let first = bytes.first else { return Data() }
    switch (first, salvage.externalData) {
    case (1, _): return bytes.dropFirst()
    case (2, let read?):
      do { return try read(bytes) } catch { lose(.value, error.message, row.reference, nil) }
    default: lose(.value, "It is no large data.", row.reference, nil)
    }
    return nil
  }

  private func lose(_ kind: StoreFinding.Kind, _ text: String, _ object: ObjectReference, _ property: String?) {
    salvage.lose(
      StoreFinding(kind, text, entity: schema.entities[object.entity].name, key: object.key, property: property))
  }

  /// Commits. Of objects that contradict a uniqueness constraint, all but one lose the values of the constraint.
  private func commit(_ changes: inout ChangeSet) throws(StoreError) {
    var attempts = 0
    while case .conflicts(let conflicts) = try target.commit(changes) {
      attempts += 1
      let cleared = clear(conflicts, in: &changes)
      if cleared == 0 || attempts > 1000 {
        throw StoreError(
          .constraint,
          "The recovered objects break a constraint of the new store. Choose another type for the new store, and report this error."
        )
      }
    }
    changes = emptyChanges
  }

  private var emptyChanges: ChangeSet {
    var changes = ChangeSet(time: time)
    changes.isPartOfCopy = true
    return changes
  }

  private func clear(_ conflicts: [Conflict], in changes: inout ChangeSet) -> Int {
    var slots: [ObjectReference: Set<Int>] = [:]
    for conflict in conflicts {
      // Of two objects in a conflict, one keeps its values.
      guard case .constraint(let own, let other, _) = conflict.kind, slots[other] == nil else { continue }
      slots[conflict.reference, default: []].formUnion(own)
    }
    for index in changes.insertions.indices {
      let row = changes.insertions[index]
      guard let superfluous = slots[row.reference] else { continue }
      builder.begin(slots: row.slotCount)
      for (slot, kind) in schema.entities[row.entity].slots.enumerated() where !superfluous.contains(slot) {
        builder.copy(slot, kind, from: row)
      }
      changes.insertions[index] = builder.finishDraft(key: row.key, entity: row.entity, version: 1)
      lose(
        .value, "Another object has the same values, which must be unique; here they were left out.", row.reference, nil
      )
    }
    return slots.count
  }
}

/// The to-many links of the salvaged objects, each between existing objects.
private struct SalvagedLinks {
  private let salvage: Salvage
  /// By tables.
  private var lists: [[Int64: [Int64]]]
  private var toManys: [Relationship] { salvage.shape.toManys }

  init(_ salvage: Salvage) {
    self.salvage = salvage
    lists = salvage.shape.toManys.indices.map { table in Self.sound(table, salvage) }
    let reported = lists
    for table in lists.indices {
      switch toManys[table].storage {
      case .toOne: break
      case .inverseToOne: complete(table, with: backLinks(toManys[table]))
      case .destination: keepOneOwner(table)
      case .pairs:
        if let inverse = salvage.shape.inverseTables[table] { complete(table, with: Self.reversed(reported[inverse])) }
      }
    }
  }

  /// Calls `body` with changes that make links, or with changes that order links which exist by then.
  func forEach(isStored: Bool, _ body: (ChangeSet.LinkChange) throws(StoreError) -> Void) throws(StoreError) {
    for (table, relationship) in toManys.enumerated() {
      let makesLinks = relationship.storage == .destination || relationship.storage == .pairs(isPrimary: true)
      if isStored ? !makesLinks : makesLinks || !relationship.isOrdered { continue }
      for (owner, keys) in lists[table].sorted(by: { $0.key < $1.key }) where !keys.isEmpty {
        let destinations = keys.compactMap { salvage.destination(relationship, $0) }
        try body(
          ChangeSet.LinkChange(
            entity: relationship.declaringEntity, relationship: relationship.index, owner: owner,
            added: isStored ? destinations : [], removed: [], order: relationship.isOrdered ? destinations : nil))
      }
    }
  }

  private static func sound(_ table: Int, _ salvage: Salvage) -> [Int64: [Int64]] {
    let relationship = salvage.shape.toManys[table]
    let entity = salvage.schema.entities[relationship.declaringEntity].name
    var result: [Int64: [Int64]] = [:]
    for (owner, keys) in salvage.lists[table] {
      guard salvage.hasOwner(relationship, owner) else {
        salvage.lose(
          StoreFinding(
            .reference, "Its \(keys.count) links begin at an object that is not there.", entity: entity, key: owner,
            property: relationship.name))
        continue
      }
      var seen: Set<Int64> = []
      for key in keys where seen.insert(key).inserted {
        if salvage.destination(relationship, key) != nil {
          result[owner, default: []].append(key)
        } else {
          salvage.lose(
            StoreFinding(
              .reference, "It leads to the object \(key), which is not there.", entity: entity, key: owner,
              property: relationship.name))
        }
      }
    }
    return result
  }

  /// Adds missing links. If the rows hold the whole relationship, removes links that no row has.
  private mutating func complete(_ table: Int, with links: [Int64: [Int64]]) {
    if case .inverseToOne = toManys[table].storage {
      lists[table] = lists[table].mapValuesWithKeys { owner, keys in
        let there = Set(links[owner] ?? [])
        return keys.filter(there.contains)
      }
    }
    for (owner, keys) in links {
      let reported = Set(lists[table][owner] ?? [])
      lists[table][owner, default: []] += keys.filter { !reported.contains($0) }.sorted()
    }
  }

  /// The owners of a to-many relationship whose inverse is stored in rows.
  private func backLinks(_ relationship: Relationship) -> [Int64: [Int64]] {
    guard relationship.isOrdered, let inverse = relationship.linkedInverse, let slot = inverse.slot else { return [:] }
    // Subentities have the slots of their superentities, first and in the same order.
    let entities = salvage.schema.entities[inverse.declaringEntity].subtree
    var links: [Int64: [Int64]] = [:]
    for (key, row) in salvage.rows[salvage.shape.hierarchies[inverse.declaringEntity]]
    where entities.contains(row.entity) && !row.isNull(slot) && salvage.hasOwner(relationship, row.int(slot)) {
      links[row.int(slot), default: []].append(key)
    }
    return links
  }

  /// No object has two owners in a relationship without an inverse.
  private mutating func keepOneOwner(_ table: Int) {
    var taken: Set<Int64> = []
    for (owner, keys) in lists[table].sorted(by: { $0.key < $1.key }) {
      lists[table][owner] = keys.filter { key in
        if taken.insert(key).inserted { return true }
        let relationship = toManys[table]
        salvage.lose(
          StoreFinding(
            .inverse, "The object \(key), to which it leads, is another one's.",
            entity: salvage.schema.entities[relationship.declaringEntity].name, key: owner, property: relationship.name)
        )
        return false
      }
    }
  }

  private static func reversed(_ links: [Int64: [Int64]]) -> [Int64: [Int64]] {
    var result: [Int64: [Int64]] = [:]
    for (owner, keys) in links { for key in keys { result[key, default: []].append(owner) } }
    return result
  }
}

extension Dictionary {
  fileprivate func mapValuesWithKeys(_ body: (Key, Value) -> Value) -> [Key: Value] {
    reduce(into: [:]) { $0[$1.key] = body($1.key, $1.value) }
  }
}
