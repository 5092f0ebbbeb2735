import Foundation
import StoreProtocol
import StoreSchema

/// A graph whose file is larger than every buffer in use.
package enum LargeGraph {
  package static func schema() throws -> Schema {
    var (one, other) = (EntityDefinition(name: "One"), EntityDefinition(name: "Other"))
    one.attributes = [
      AttributeDefinition(name: "born", type: .date), AttributeDefinition(name: "size", type: .double),
      AttributeDefinition(name: "text", type: .string), AttributeDefinition(name: "bytes", type: .binaryData),
    ]
    other.attributes = [AttributeDefinition(name: "text", type: .string)]
    var (others, ones) = (
      RelationshipDefinition(name: "others", destination: "Other"),
      RelationshipDefinition(name: "ones", destination: "One")
    )
    (others.inverse, ones.inverse) = ("ones", "others")
    (one.relationships, other.relationships) = ([others], [ones])
    return try Schema([one, other])
  }

  package static func dates(_ count: Int) -> [Double] {
    let special: [Double] = [
      0, 1, -1, 0.5, -0.25, 1e-12, 259257205.15052399, Double(1).nextUp, Double(2).nextDown, 9_007_199_254_740_991,
      -9_007_199_254_740_992, 1e300, 123456789.000000001, .leastNonzeroMagnitude,
    ]
    return special + (0..<count - special.count).map { Double($0) * 1234.567 - 1e6 }
  }

  /// Inserts three thousand objects, each linked to the next two others: keys 1 to 3 000, then ten others.
  package static func fill(_ store: any Store) throws {
    let schema = store.schema
    let builder = RowBuilder()
    var changes = ChangeSet(time: 0)
    let (one, other) = (try entity("One", schema), try entity("Other", schema))
    for (index, date) in dates(3000).enumerated() {
      builder.begin(slots: one.slots.count)
      for (name, value) in [
        ("born", Value.date(date)), ("size", .double(-date)), ("text", .string("text \(index % 100) é & <")),
        ("bytes", .data(Data((0..<index % 300).map { UInt8(truncatingIfNeeded: $0 &* index) }))),
      ] {
        for attribute in one.attributes where attribute.name == name { builder.set(attribute.slot, value) }
      }
      changes.insertions.append(builder.finishDraft(key: 0, entity: one.index, version: 1))
    }
    changes.links = ChangeSet.LinkChanges(try links(one, other))
    for _ in 0..<10 {
      builder.begin(slots: other.slots.count)
      changes.insertions.append(builder.finishDraft(key: 0, entity: other.index, version: 1))
    }
    _ = try committed(changes, store)
  }

  /// Links as change sets record them, from the side that they describe.
  private static func links(_ one: Entity, _ other: Entity) throws -> [ChangeSet.LinkChange] {
    guard let others = one.relationship(named: "others"), let ones = other.relationship(named: "ones") else {
      throw StoreError(.invalidArgument, "The schema is not that of the large graph.")
    }
    var pairs: [(one: Int64, other: Int64)] = []
    for index in 0..<3000 {
      for next in 0..<2 { pairs.append((-Int64(index + 1), -3001 - Int64((index + next) % 10))) }
    }
    if case .pairs(isPrimary: true) = others.storage {
      return Dictionary(grouping: pairs, by: { $0.one }).map { owner, pairs in
        ChangeSet.LinkChange(
          entity: one.index, relationship: others.index, owner: owner,
          added: pairs.map { ObjectReference(entity: other.index, key: $0.other) }, removed: [], order: nil)
      }
    }
    return Dictionary(grouping: pairs, by: { $0.other }).map { owner, pairs in
      ChangeSet.LinkChange(
        entity: other.index, relationship: ones.index, owner: owner,
        added: pairs.map { ObjectReference(entity: one.index, key: $0.one) }, removed: [], order: nil)
    }
  }

  /// All that the store holds, a line for each object and each link.
  package static func facts(_ store: any Store) throws -> [String] {
    var facts: [String] = []
    let snapshot = try store.snapshot()
    for entity in store.schema.entities {
      var keys: [Int64] = []
      try snapshot.scan(entity.index..<entity.index + 1) { row in
        facts.append("\(row.key) \(entity.slots.indices.map { row.value($0, entity.slots[$0]) })")
        keys.append(row.key)
      }
      for relationship in entity.relationships {
        try snapshot.destinations(of: relationship, owners: keys) { facts.append("\($0) > \($1.key)") }
      }
    }
    return facts
  }

  private static func entity(_ name: String, _ schema: Schema) throws -> Entity {
    guard let entity = schema.entity(named: name) else {
      throw StoreError(.notFound, "The schema has no entity of this name.", context: ["entity": name])
    }
    return entity
  }
}
