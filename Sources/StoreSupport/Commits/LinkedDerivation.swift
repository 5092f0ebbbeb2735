import StoreQuery
import StoreSchema

/// A derived attribute whose source is in other objects. The store computes it; a derivation within one object comes
/// with the change set.
public struct LinkedDerivation: Sendable {
  /// The entity that declares the attribute.
  public let entity: Entity
  /// The derived attribute.
  public let attribute: Attribute
  /// The kind of the attribute's slot. ``DerivedValue`` converts the result to it.
  public let kind: SlotKind
  /// The relationship that leads to the source.
  public let relationship: Relationship
  /// How the value is made.
  public let rule: Rule

  /// How the value of a derived attribute is made.
  public enum Rule: Sendable {
    /// The source attribute of the destination of a to-one relationship, whose key is in the slot `reference`.
    case copy(Source, reference: Int)
    /// The number of destinations of a to-many relationship.
    case count(table: Int)
    /// An aggregate of the source attribute over the destinations of a to-many relationship.
    case aggregate(Aggregate, Source, table: Int)
  }

  /// An attribute of the destination that the value is made of.
  public struct Source: Sendable {
    /// The attribute of the destination.
    public let attribute: Attribute
    /// The kind of its slot.
    public let kind: SlotKind
  }

  /// Nil for an attribute without such a derivation, or with a meaningless one: a sum of texts, a text as a number.
  init?(_ attribute: Attribute, of entity: Entity, _ schema: Schema, _ tables: [Relationship: Int]) {
    func relationship(_ name: String) -> Relationship? {
      entity.relationship(named: name).flatMap { schema.stores($0) ? $0 : nil }
    }
    func source(_ name: String, _ relationship: Relationship) -> Source? {
      let destination = schema.entities[relationship.destination]
      guard let source = destination.attribute(named: name), source.type != .composite else { return nil }
      return Source(attribute: source, kind: destination.slots[source.slot])
    }
    guard attribute.type != .composite else { return nil }
    let kind = entity.slots[attribute.slot]
    switch attribute.derivation {
    case .keyPath(let path) where path.count == 2:
      guard let found = relationship(path[0]), let reference = found.slot, let source = source(path[1], found),
        DerivedValue.converts(source.kind, to: kind)
      else { return nil }
      (self.relationship, rule) = (found, .copy(source, reference: reference))
    case .count(let name):
      guard let found = relationship(name), let table = tables[found], kind.isNumeric else { return nil }
      (self.relationship, rule) = (found, .count(table: table))
    case .aggregate(let name, let path, let key):
      guard let aggregate = Aggregate(rawValue: name + ":"), let found = relationship(path), let table = tables[found],
        let source = source(key, found), Self.makesSense(aggregate, source.kind, kind)
      else { return nil }
      (self.relationship, rule) = (found, .aggregate(aggregate, source, table: table))
    default: return nil
    }
    (self.entity, self.attribute, self.kind) = (entity, attribute, kind)
  }

  private static func makesSense(_ aggregate: Aggregate, _ source: SlotKind, _ kind: SlotKind) -> Bool {
    switch aggregate {
    case .count: kind.isNumeric
    case .sum, .average: (source == .bool || source.isNumeric) && kind.isNumeric
    case .minimum, .maximum: DerivedValue.converts(source, to: kind) && source.hasOrder
    }
  }

  /// All derivations of a schema over relationships, in the order of the entities and of their attributes.
  static func all(_ schema: Schema, _ tables: [Relationship: Int]) -> [LinkedDerivation] {
    schema.storedEntities.flatMap { entity in
      entity.attributes.filter { $0.declaringEntity == entity.index }.compactMap {
        LinkedDerivation($0, of: entity, schema, tables)
      }
    }
  }
}

extension SlotKind {
  fileprivate var hasOrder: Bool { self == .bool || self == .string || self == .uri || isNumeric }
}

extension Row {
  /// A copy with another value in one slot; `kinds` are those of the row's slots.
  public func replacing(_ slot: Int, by value: Value, _ kinds: [SlotKind]) -> Row {
    let builder = RowBuilder()
    builder.begin(slots: slotCount)
    for (other, kind) in kinds.enumerated() where other != slot { builder.copy(other, kind, from: self) }
    builder.set(slot, value)
    return builder.finish(key: key, entity: entity, version: version)
  }
}
