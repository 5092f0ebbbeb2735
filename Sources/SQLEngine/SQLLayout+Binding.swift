import StoreProtocol
import StoreSchema

extension SQLLayout {
  /// Finds an entity table and its columns under the names that the store uses.
  ///
  /// A store that was migrated in place may keep a former name of its root entity or of a property, and the former
  /// number of an entity in a column's name.
  mutating func bindTable(_ index: Int, to catalogue: SQLCatalogue) throws(StoreError) {
    let root = schema.entities[tables[index].root]
    let former = "Z" + root.definition.renamingIdentifier.uppercased()
    if catalogue.columns[tables[index].name] == nil, catalogue.columns[former] != nil,
      SchemaName.isWord(former), !Self.systemTables.contains(former), !tables.contains(where: { $0.name == former })
    {
      tables[index].name = former
    }
    let table = tables[index]
    guard let present = catalogue.columns[table.name] else { throw SQLBinding.missing(table.name, nil) }
    if !present.contains("Z_PK") {
      throw StoreError(
        .corrupt, "The store's table \(table.name) has no Z_PK that is an INTEGER PRIMARY KEY.",
        context: ["table": table.name])
    }
    for column in ["Z_ENT", "Z_OPT"] where !present.contains(column) { throw SQLBinding.missing(table.name, column) }
    let used = Set(table.columns.map(\.name))
    for (position, column) in table.columns.enumerated() where !present.contains(column.name) {
      let free = present.subtracting(used).subtracting(Self.systemColumns)
      let candidates = formerNames(position, of: index, among: free)
      guard let name = candidates.first, candidates.count == 1 else {
        throw SQLBinding.missing(table.name, column.name)
      }
      tables[index].columns[position].name = name
    }
  }

  /// The columns that may be a missing column under a former name.
  private func formerNames(_ position: Int, of table: Int, among present: Set<String>) -> [String] {
    let column = tables[table].columns[position]
    switch column.role {
    case .attribute, .toOne:
      let entity = schema.entities[column.entity]
      guard let slot = columnOfSlot[entity.index].firstIndex(of: position) else { return [] }
      let leaves = entity.attributes.flatMap(\.leaves)
      let former =
        leaves.first { $0.slot == slot }?.definition.renamingIdentifier
        ?? entity.relationships.first { $0.slot == slot }?.definition.renamingIdentifier
      return present.filter { $0 == "Z" + (former ?? "").uppercased() && SchemaName.isWord($0) }
    case .toOneEntity, .oneWay: return sameButForNumber(column.name, prefix: "Z", present)
    case .order: return sameButForNumber(column.name, prefix: "Z_FOK_", present)
    }
  }

  /// The names that differ from `name` only by the number behind `prefix`.
  private func sameButForNumber(_ name: String, prefix: String, _ present: Set<String>) -> [String] {
    func rest(_ text: String) -> Substring? {
      guard text.hasPrefix(prefix) else { return nil }
      let numbered = text.dropFirst(prefix.count)
      let rest = numbered.drop { "0"..."9" ~= $0 }
      return rest.count < numbered.count && SchemaName.isWord(text) ? rest : nil
    }
    guard let required = rest(name) else { return [] }
    return present.filter { rest($0) == required }
  }

  /// Finds a join table under either side's name, and its columns by their roles.
  mutating func bindJoin(_ index: Int, to catalogue: SQLCatalogue) throws(StoreError) {
    let expected = joins[index]
    let naming = schema.entities[expected.naming.entity].relationships[expected.naming.relationship]
    let other = schema.entities[expected.other.entity].relationships[expected.other.relationship]
    for candidate in [expected, join(naming, other), join(other, naming)] {
      guard let present = catalogue.columns[candidate.name] else { continue }
      if let found = candidate.withColumns(from: present) {
        joins[index] = found
        for (key, side) in joinOfRelationship where side.join == index {
          joinOfRelationship[key] = JoinSide(join: index, ownerIsFirst: key == found.naming)
        }
        return
      }
    }
    throw SQLBinding.missing(expected.name, nil)
  }
}

extension SQLLayout.JoinTable {
  /// The same table with the numeric suffixes that its columns really have, nil where its columns differ otherwise.
  func withColumns(from present: Set<String>) -> Self? {
    var result = self
    guard let first = Self.match(first, present), let second = Self.match(second, present) else { return nil }
    result.first = first
    result.second = second
    if let order = firstOrder {
      guard let found = Self.match(order, present) else { return nil }
      result.firstOrder = found
    }
    if let order = secondOrder {
      guard let found = Self.match(order, present) else { return nil }
      result.secondOrder = found
    }
    return result
  }

  /// `name`, or `name` with another suffix in place of its own.
  private static func match(_ name: String, _ present: Set<String>) -> String? {
    if present.contains(name) { return name }
    let base = name.last?.isNumber == true ? String(name.dropLast()) : name
    return present.sorted().first {
      $0 == base || ($0.hasPrefix(base) && $0.dropFirst(base.count).allSatisfy(\.isNumber))
    }
  }
}
