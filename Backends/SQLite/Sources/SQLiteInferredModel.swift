import Foundation
import StoreProtocol
import StoreSchema

/// Guesses a model from a store's tables: from `Z_PRIMARYKEY`, the columns and what is in them, and the join tables.
///
/// Names are those of the file, so properties are in upper case. All properties of a table belong to its root entity,
/// because nothing says which of the entities that share the table has which. A key with an unknown destination stays a
/// number. The model is good enough to read everything, and not to write.
struct SQLiteInferredModel {
  private let connection: SQLiteConnection
  private var entities: [Int64: EntityDefinition] = [:]
  private var parents: [Int64: Int64] = [:]
  /// The root of each entity, which names the entity's table.
  private var roots: [Int64: Int64] = [:]
  private var names: [Int64: String] = [:]
  /// The names of the properties that the entities of each root have.
  private var taken: [Int64: Set<String>] = [:]
  private var tables: [String: [SQLiteColumn]] = [:]

  static func definitions(_ connection: SQLiteConnection) throws(StoreError) -> [EntityDefinition] {
    try SQLiteFormat.requireSystemTables(on: connection)
    var model = SQLiteInferredModel(connection: connection)
    try model.findEntities()
    try model.findProperties()
    model.findPairs()
    let result = model.entities.sorted { $0.key < $1.key }.map(\.value)
    do { _ = try Schema(result) } catch {
      throw StoreError(.corrupt, "No model can be inferred from the store's tables.", cause: "\(error)")
    }
    return result
  }

  private init(connection: SQLiteConnection) { self.connection = connection }

  // MARK: Entities

  /// The number of the first of the entities that belong to persistent history.
  private static let firstHistoryNumber: Int64 = 16001

  private mutating func findEntities() throws(StoreError) {
    tables = try SQLiteColumn.all(connection)
    let rows = try connection.prepare("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < ?")
    rows.bind(Self.firstHistoryNumber, at: 1)
    while try rows.step() {
      guard let name = rows.string(1), !name.isEmpty, SchemaName.isWord(name) else { continue }
      entities[rows.int(0)] = EntityDefinition(name: name)
      parents[rows.int(0)] = rows.int(2)
    }
    let names = entities.mapValues(\.name)
    for (number, parent) in parents where parent != 0 { entities[number]?.superentity = names[parent] }
    roots = findRoots()
    // An entity is useless without its table.
    for number in parents.keys {
      let table = roots[number].flatMap { names[$0] }.map { "Z" + $0.uppercased() }
      if table.map({ tables[$0] == nil }) ?? true { entities[number] = nil }
    }
    self.names = entities.mapValues(\.name)
  }

  /// The numbers of the entities by their root. An entity whose parents lead nowhere is under none.
  private func findRoots() -> [Int64: Int64] {
    var children: [Int64: [Int64]] = [:]
    for (number, parent) in parents { children[parent, default: []].append(number) }
    var roots: [Int64: Int64] = [:]
    var pending = (children[0] ?? []).map { (number: $0, root: $0) }
    while let next = pending.popLast() {
      guard roots.updateValue(next.root, forKey: next.number) == nil else { continue }
      if next.number != 0 { pending += (children[next.number] ?? []).map { ($0, next.root) } }
    }
    return roots
  }

  // MARK: Columns

  private mutating func findProperties() throws(StoreError) {
    for (number, parent) in parents.sorted(by: { $0.key < $1.key }) where parent == 0 {
      guard let entity = entities[number], let columns = tables["Z" + entity.name.uppercased()] else { continue }
      let table = SQLiteInferredTable(
        name: "Z" + entity.name.uppercased(), columns: columns, entityNames: names,
        parents: Set(parents.values))
      for column in columns where column.name.hasPrefix("Z") && SchemaName.isWord(column.name) {
        switch table.role(of: column) {
        case .none: break
        case .attribute(let name):
          if let attribute = try table.attribute(name, column, connection) {
            entities[number]?.attributes.append(attribute)
            taken[number, default: []].insert(name)
          }
        case .toOne(let name, let destination):
          guard let destination = entities[destination]?.name else { break }
          var relationship = RelationshipDefinition(name: name, destination: destination)
          relationship.maxCount = 1
          add(relationship, to: number)
        case .oneWay(let name, let owner, let isOrdered):
          guard entities[owner] != nil else { break }
          var relationship = RelationshipDefinition(name: name, destination: entity.name)
          relationship.isOrdered = isOrdered
          add(relationship, to: owner)
        }
      }
    }
  }

  /// Adds a relationship unless an entity that shares the table has a property of its name.
  private mutating func add(_ relationship: RelationshipDefinition, to number: Int64) {
    guard canAdd(relationship.name, to: number), let root = roots[number] else { return }
    entities[number]?.relationships.append(relationship)
    taken[root, default: []].insert(relationship.name)
  }

  private func canAdd(_ name: String, to number: Int64) -> Bool {
    guard entities[number] != nil, let root = roots[number] else { return false }
    return taken[root]?.contains(name) != true
  }

  // MARK: Join tables

  /// `Z_1BOOKS (Z_1AUTHORS, Z_2BOOKS)`: entity 1 has BOOKS to entity 2, which has AUTHORS back.
  private mutating func findPairs() {
    for (name, columns) in tables.sorted(by: { $0.key < $1.key }) {
      guard let (number, relationship) = SQLiteColumn.numbered(name, prefix: "Z_"), entities[number] != nil else {
        continue
      }
      let keys = columns.map(\.name).filter { !$0.hasPrefix("Z_FOK_") }
      let orders = Set(columns.map(\.name).filter { $0.hasPrefix("Z_FOK_") })
      guard keys.count == 2 else { continue }
      if keys.contains("REFLEXIVE") {
        var own = RelationshipDefinition(name: relationship, destination: names[number] ?? "")
        own.inverse = relationship
        add(own, to: number)
        continue
      }
      // The column that points at the destination is named after the relationship, with a suffix at most.
      let parsed = keys.compactMap { key in SQLiteColumn.numbered(key, prefix: "Z_").map { (key: key, part: $0) } }
      guard parsed.count == 2,
        let there = parsed.first(where: { $0.part.name == relationship })
          ?? parsed.first(where: { SQLiteColumn.isSame($0.part.name, relationship) }),
        let back = parsed.first(where: { $0.key != there.key })
      else { continue }
      addPair(
        from: number, relationship, isOrdered: orders.contains("Z_FOK_" + there.key.dropFirst(2)),
        to: there.part.number, back.part.name, isOrderedBack: orders.contains("Z_FOK_" + back.key.dropFirst(2)))
    }
  }

  private mutating func addPair(
    from number: Int64, _ name: String, isOrdered: Bool, to other: Int64, _ inverse: String, isOrderedBack: Bool
  ) {
    guard let here = names[number], let there = names[other], canAdd(name, to: number), canAdd(inverse, to: other),
      roots[number] != roots[other] || name != inverse
    else { return }
    var forth = RelationshipDefinition(name: name, destination: there)
    (forth.inverse, forth.isOrdered) = (inverse, isOrdered)
    var back = RelationshipDefinition(name: inverse, destination: here)
    (back.inverse, back.isOrdered) = (name, isOrderedBack)
    add(forth, to: number)
    add(back, to: other)
  }
}
