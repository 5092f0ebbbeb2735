import StoreSchema

extension SQLLayout {
  /// A column before its table's columns are sorted.
  private struct Draft {
    var column: Column
    /// The group of columns that it belongs to; see ``rank(_:)``.
    var rank: Int
    /// The slot it holds, with the entity that declares it.
    var slot: Int?
    /// The relationship it belongs to, for order and one-way columns.
    var relationship: RelationshipKey?
  }

  mutating func buildTables() {
    tableOfEntity = Array(repeating: nil, count: schema.entities.count)
    columnOfSlot = schema.entities.map { Array(repeating: nil, count: $0.slots.count) }
    for root in schema.storedEntities where root.superentity == nil {
      for index in root.subtree where schema.stores(index) { tableOfEntity[index] = tables.count }
      tables.append(Table(name: tableName(of: root), root: root.index))
      let drafts = self.drafts(of: root)
      // A stable sort: within a group the drafts are in entity order already, then by name.
      let sorted = drafts.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
      tables[tables.count - 1].columns = sorted.map(\.element.column)
      assign(sorted.map(\.element), of: root)
    }
  }

  private func tableName(of root: Entity) -> String {
    let name = "Z" + root.name.uppercased()
    if !Self.systemTables.contains(name) { return name }
    // The numbered name may be another entity's own.
    let used = Set(schema.storedEntities.map { "Z" + $0.name.uppercased() })
    var number = 1
    while used.contains("\(name)\(number)") { number += 1 }
    return "\(name)\(number)"
  }

  /// Names that no property's column and no entity's table may have.
  static let systemColumns: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]
  static let systemTables: Set<String> = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]

  private func drafts(of root: Entity) -> [Draft] {
    var result: [Draft] = []
    var used = Dictionary(uniqueKeysWithValues: Self.systemColumns.map { (String($0.dropFirst()), 1) })
    for index in root.subtree where schema.stores(index) {
      let entity = schema.entities[index]
      let leaves = entity.attributes.flatMap(\.leaves)
      let own = leaves.filter { $0.declaringEntity == index }
      for attribute in own.sorted(by: attributeOrder) {
        let kind = entity.slots[attribute.slot]
        let column = Column(
          name: "Z" + Self.unique(attribute.name, &used), declaredType: Self.declaredType(kind), entity: index,
          role: .attribute(kind))
        result.append(Draft(column: column, rank: Self.rank(kind), slot: attribute.slot))
      }
      for relationship in ownRelationships(entity) where !relationship.isToMany {
        toOne(relationship, Self.unique(relationship.name, &used), &result)
      }
      oneWay(into: index, &result)
    }
    return result
  }

  private func toOne(_ relationship: Relationship, _ name: String, _ result: inout [Draft]) {
    let index = relationship.declaringEntity
    let key = Column(name: "Z" + name, declaredType: "INTEGER", entity: index, role: .toOne)
    result.append(Draft(column: key, rank: 1, slot: relationship.slot))
    if let entitySlot = relationship.entitySlot {
      let number = entityNumbers[relationship.destination]
      let column = Column(name: "Z\(number)_\(name)", declaredType: "INTEGER", entity: index, role: .toOneEntity)
      result.append(Draft(column: column, rank: 1, slot: entitySlot))
    }
    if let inverse = schema.inverse(of: relationship), inverse.isOrdered {
      let column = Column(name: "Z_FOK_" + name, declaredType: "INTEGER", entity: index, role: .order)
      result.append(Draft(column: column, rank: 2, relationship: RelationshipKey(inverse)))
    }
  }

  /// Columns of one-way to-many relationships whose declared destination is `index`.
  private func oneWay(into index: Int, _ result: inout [Draft]) {
    for owner in schema.storedEntities {
      for relationship in ownRelationships(owner)
      where relationship.storage == .destination && relationship.destination == index {
        let name = "\(entityNumbers[owner.index])\(relationship.name.uppercased())"
        let key = RelationshipKey(relationship)
        let column = Column(name: "Z" + name, declaredType: "INTEGER", entity: index, role: .oneWay)
        result.append(Draft(column: column, rank: 1, relationship: key))
        if relationship.isOrdered {
          let order = Column(name: "Z_FOK_" + name, declaredType: "INTEGER", entity: index, role: .order)
          result.append(Draft(column: order, rank: 1, relationship: key))
        }
      }
    }
  }

  private mutating func assign(_ drafts: [Draft], of root: Entity) {
    let table = tables.count - 1
    for (position, draft) in drafts.enumerated() {
      if let slot = draft.slot {
        for index in schema.entities[draft.column.entity].subtree where schema.stores(index) {
          columnOfSlot[index][slot] = position
        }
      } else if let key = draft.relationship {
        let old = linkColumns[key]
        let isOrder = draft.column.role == .order
        linkColumns[key] = LinkColumns(
          table: table, owner: isOrder ? (old?.owner ?? -1) : position, order: isOrder ? position : old?.order)
      }
    }
    // An ordered relationship with a to-one inverse finds its owner in the inverse's own column.
    for (key, link) in linkColumns where link.table == table && link.owner < 0 {
      let relationship = schema.entities[key.entity].relationships[key.relationship]
      guard let slot = schema.inverse(of: relationship)?.slot,
        let owner = columnOfSlot[relationship.destination][slot]
      else { continue }
      linkColumns[key] = LinkColumns(table: table, owner: owner, order: link.order)
    }
  }

  /// Upper-cases a name and numbers it where the table has it already.
  private static func unique(_ name: String, _ used: inout [String: Int]) -> String {
    let leaf = name.split(separator: ".").last.map(String.init) ?? name
    let upper = leaf.uppercased()
    var number = used[upper, default: 0]
    defer { used[upper] = number + 1 }
    if number == 0 { return upper }
    // The numbered name may be another property's own.
    while used["\(upper)\(number)"] != nil { number += 1 }
    used["\(upper)\(number)"] = 1
    return "\(upper)\(number)"
  }

  private func attributeOrder(_ a: Attribute, _ b: Attribute) -> Bool {
    let entity = schema.entities[a.declaringEntity]
    let (x, y) = (Self.rank(entity.slots[a.slot]), Self.rank(entity.slots[b.slot]))
    return x == y ? UTF8Order.isLess(a.name, b.name) : x < y
  }

  private static func rank(_ kind: SlotKind) -> Int {
    switch kind {
    case .int16, .int32, .int64, .bool, .reference, .referenceEntity: 1
    case .double, .float, .date: 3
    case .decimal: 4
    case .string: 5
    case .uri: 6
    case .uuid: 7
    case .transformable: 8
    case .data, .externalData: 9
    }
  }

  private static func declaredType(_ kind: SlotKind) -> String {
    switch kind {
    case .int16, .int32, .int64, .bool, .reference, .referenceEntity: "INTEGER"
    case .double, .float: "FLOAT"
    case .date: "TIMESTAMP"
    case .decimal: "DECIMAL"
    case .string, .uri: "VARCHAR"
    case .uuid, .transformable, .data, .externalData: "BLOB"
    }
  }
}
