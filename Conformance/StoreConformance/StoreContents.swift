import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Everything that a store holds, as plain values, and all its defects.
public struct StoreContents: Sendable {
  /// One object. Names are those of the model.
  public struct Object: Sendable {
    /// The identifier of the store.
    public let store: String
    /// The name of the object's own entity.
    public let entity: String
    /// The object's key.
    public let key: Int64
    /// Integers by attribute; no entry where the value is nil.
    public var integers: [String: Int64] = [:]
    /// Texts by attribute; no entry where the value is nil.
    public var texts: [String: String] = [:]
    /// Data by attribute; no entry where the value is nil.
    public var data: [String: Data] = [:]
    /// Destinations by relationship, in their order where it is ordered.
    public var targets: [String: [Target]] = [:]
  }

  /// A destination. `isGone` says that the store has no such object.
  public struct Target: Sendable, Hashable {
    /// The name of the destination's own entity; of the declared one where there is no such object.
    public let entity: String
    /// The destination's key.
    public let key: Int64
    /// Whether the store has no such object.
    public let isGone: Bool
  }

  /// A defect, as `coredata store verify` prints it.
  public struct Problem: Sendable {
    /// The defect, as a sentence.
    public let text: String
    /// The name of the entity; nil where the problem is of no entity.
    public let entity: String?
    /// The key of the object; nil where the problem is of no single object.
    public let key: Int64?
    /// The name of the property; nil where the problem is of no single property.
    public let property: String?
  }

  /// The identifier of the store.
  public let identifier: String
  /// All objects, entity by entity, in key order.
  public private(set) var objects: [Object] = []
  /// The defects of the store.
  public private(set) var problems: [Problem] = []

  /// Reads a whole store at one moment.
  public init(_ store: any Store) throws(StoreError) {
    identifier = store.identifier
    let inspection = try Inspection(store)
    try inspection.findings { finding in
      if finding.kind != .foreign { add(finding.text, finding.entity, finding.key, finding.property) }
    }
    for entity in store.schema.entities where !entity.isAbstract {
      try inspection.objects(of: entity.index) { object in read(object, entity, store.schema) }
    }
    checkInverses(store.schema)
  }

  private mutating func add(_ text: String, _ entity: String?, _ key: Int64?, _ property: String?) {
    problems.append(Problem(text: text, entity: entity, key: key, property: property))
  }

  private mutating func read(_ found: InspectedObject, _ entity: Entity, _ schema: Schema) {
    var object = Object(store: identifier, entity: entity.name, key: found.reference.key)
    let name = "\(entity.name) \(object.key)"
    if (found.version ?? 0) < 1 { add("\(name) has no version", entity.name, object.key, nil) }
    for attribute in entity.attributes where attribute.elements.isEmpty {
      switch found.values[attribute.slot] {
      case .invalid(let reason): add("\(name).\(attribute.name): \(reason)", entity.name, object.key, attribute.name)
      case .sound(.int(let value)): object.integers[attribute.name] = value
      case .sound(.string(let value)): object.texts[attribute.name] = value
      case .sound(.data(let value)): object.data[attribute.name] = value
      case .sound: break
      }
    }
    for relationship in entity.relationships {
      switch found.relationships[relationship.index] {
      case .invalid(let reason):
        add("\(name).\(relationship.name): \(reason)", entity.name, object.key, relationship.name)
      case .objects(let targets):
        for target in targets {
          if let defect = target.defect {
            add("\(name).\(relationship.name): \(defect)", entity.name, object.key, relationship.name)
          }
          let found = Target(
            entity: schema.entities[target.entity].name, key: target.key, isGone: target.defect != nil)
          object.targets[relationship.name, default: []].append(found)
        }
      }
    }
    objects.append(object)
  }

  /// Checks that both sides of each relationship agree.
  private mutating func checkInverses(_ schema: Schema) {
    var known: [String: [Int64: Object]] = [:]
    for object in objects { known[object.entity, default: [:]][object.key] = object }
    let entities = Dictionary(schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for object in objects {
      for relationship in entities[object.entity]?.relationships ?? [] {
        guard let inverse = schema.inverse(of: relationship) else { continue }
        for target in object.targets[relationship.name] ?? [] where !target.isGone {
          let back = known[target.entity]?[target.key]?.targets[inverse.name] ?? []
          if back.contains(where: { $0.entity == object.entity && $0.key == object.key }) { continue }
          add(
            "\(object.entity) \(object.key).\(relationship.name) leads to \(target.entity) \(target.key), "
              + "which does not lead back", object.entity, object.key, relationship.name)
        }
      }
    }
  }
}
