import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Shows the rows of a database as they are; see `InspectingSnapshot`.
///
/// Reads page by page; the key of each page's last row begins the next page. So it holds only one page, and it checks
/// everything that a fetch trusts.
public struct SQLInspection<Connection: SQLConnection> {
  private let statements: SQLStatements<Connection>
  private static var pageSize: Int64 { 64 }

  private var binding: SQLBinding { statements.binding }
  private var layout: SQLLayout { binding.layout }
  private var schema: Schema { layout.schema }

  /// Shows the rows on the connection of `statements`.
  public init(_ statements: SQLStatements<Connection>) { self.statements = statements }

  /// Calls `body` with each object of exactly the entity with the index, in key order.
  public func inspect(
    _ index: Int, _ body: (InspectedObject) throws(StoreError) -> Void
  ) throws(StoreError) {
    let entity = schema.entities[index]
    if !schema.stores(index) { return }
    let statement = try statements.connection.prepare(text(entity))
    var last: Int64 = 0
    while true {
      var page = try page(entity, statement, after: last)
      guard let key = page.last?.reference.key, key > last else { return }
      last = key
      for relationship in entity.relationships where relationship.isToMany && schema.stores(relationship) {
        let targets = try SQLLinkInspection(binding, relationship).targets(
          of: page.map(\.reference.key), statements.connection)
        for position in page.indices {
          page[position].relationships[relationship.index] =
            targets[page[position].reference.key] ?? .objects([])
        }
      }
      for object in page { try body(object) }
    }
  }

  // MARK: A page of rows

  /// Columns: key, version, the attributes' slots, then for each to-one its key and the entity number of the row with
  /// that key.
  private func text(_ entity: Entity) -> String {
    let slots = attributeSlots(entity).map { "t0." + layout.column(entity, $0).name }
    let links = toOnes(entity).flatMap { relationship, slot -> [String] in
      let key = "t0." + layout.column(entity, slot).name
      let table = layout.table(relationship.destination).name
      return [key, "(SELECT t1.Z_ENT FROM \(table) t1 WHERE t1.Z_PK = \(key))"]
    }
    let columns = (["t0.Z_PK", "t0.Z_OPT"] + slots + links).joined(separator: ", ")
    return """
      SELECT \(columns) FROM \(layout.table(entity.index).name) t0 \
      WHERE t0.Z_ENT = \(layout.entityNumbers[entity.index]) AND t0.Z_PK > ? ORDER BY t0.Z_PK LIMIT \(Self.pageSize)
      """
  }

  private func attributeSlots(_ entity: Entity) -> [Int] {
    entity.slots.indices.filter { entity.slots[$0] != .reference && entity.slots[$0] != .referenceEntity }
  }

  private func toOnes(_ entity: Entity) -> [(Relationship, slot: Int)] {
    entity.relationships.filter { schema.stores($0) }.compactMap { relationship in
      relationship.slot.map { (relationship, $0) }
    }
  }

  private func page(
    _ entity: Entity, _ statement: Connection.Statement, after key: Int64
  ) throws(StoreError) -> [InspectedObject] {
    defer { statement.reset() }
    statement.bind(key, at: 1)
    var objects: [InspectedObject] = []
    while try statement.step() { objects.append(object(entity, statement)) }
    return objects
  }

  private func object(_ entity: Entity, _ statement: Connection.Statement) -> InspectedObject {
    var version: Int64?
    if case .integer(let number) = statement.stored(1) { version = number }
    var object = InspectedObject(
      reference: ObjectReference(entity: entity.index, key: statement.int(0)), version: version,
      values: Array(repeating: .sound(.null), count: entity.slots.count),
      relationships: Array(repeating: .objects([]), count: entity.relationships.count))
    var column: Int32 = 2
    for slot in attributeSlots(entity) {
      object.values[slot] = statement.stored(column).inspected(as: entity.slots[slot])
      column += 1
    }
    for (relationship, _) in toOnes(entity) {
      object.relationships[relationship.index] = toOne(
        relationship, statement.stored(column), number: statement.stored(column + 1))
      column += 2
    }
    return object
  }

  private func toOne(_ relationship: Relationship, _ key: SQLStoredValue, number: SQLStoredValue) -> InspectedTargets {
    switch key {
    case .null: .objects([])
    case .integer(let key): .objects([binding.target(relationship, key, number: number)])
    default: .invalid("\(key.description) is no key")
    }
  }
}

extension SQLBinding {
  /// The destination of a relationship's key, given the entity number of the row with that key.
  func target(_ relationship: Relationship, _ key: Int64, number: SQLStoredValue) -> InspectedTarget {
    let declared = layout.schema.entities[relationship.destination]
    guard key > 0, case .integer(let number) = number else {
      return InspectedTarget(
        entity: declared.index, key: key, defect: "there is no \(declared.name) \(key)", isMissing: true)
    }
    guard let entity = numbers.entity(number), declared.subtree.contains(entity) else {
      return InspectedTarget(
        entity: declared.index, key: key, defect: "the object \(key) is no \(declared.name), its Z_ENT is \(number)")
    }
    return InspectedTarget(entity: entity, key: key)
  }
}
