import Foundation
import StoreProtocol
import StoreSchema

/// Writes objects of one entity as lines of the canonical dump.
struct DumpLine {
  private let entity: Entity
  private let schema: Schema
  private let attributes: [Attribute]
  private let relationships: [Relationship]

  init(_ entity: Entity, _ schema: Schema) {
    self.entity = entity
    self.schema = schema
    attributes = entity.attributes.sorted { UTF8Order.isLess($0.name, $1.name) }
    relationships = entity.relationships.sorted { UTF8Order.isLess($0.name, $1.name) }
  }

  func text(_ object: InspectedObject) -> (line: String, isSound: Bool) {
    var isSound = true
    var values: [(key: String, value: String)] = []
    for attribute in attributes {
      if let text = value(attribute, object, &isSound) { values.append((attribute.name, text)) }
    }
    var links: [(key: String, value: String)] = []
    for relationship in relationships {
      let targets = object.relationships[relationship.index]
      if let text = targets.dumpText(relationship, schema, &isSound) { links.append((relationship.name, text)) }
    }
    let line = JSONText.ordered([
      ("attributes", JSONText.ordered(values)), ("entity", JSONText.string(entity.name)),
      ("key", String(object.reference.key)), ("relationships", JSONText.ordered(links)),
    ])
    return (line, isSound)
  }

  /// Nil where there is no value.
  private func value(_ attribute: Attribute, _ object: InspectedObject, _ isSound: inout Bool) -> String? {
    if attribute.type != .composite {
      return object.values[attribute.slot].dumpText(attribute.type, &isSound)
    }
    let leaves = attribute.elements.compactMap { element in
      object.values[element.slot].dumpText(element.type, &isSound).map { (path: element.name, text: $0) }
    }
    return leaves.isEmpty ? nil : CompositeText.object(leaves)
  }
}

/// The elements of composite attributes as nested JSON objects.
enum CompositeText {
  /// `leaves` by their paths, such as `geo.latitude`.
  static func object(_ leaves: [(path: String, text: String)]) -> String {
    // Innermost first: the deepest members are combined to an object one level above, until one level is left.
    var members = leaves.map { (path: $0.path.split(separator: ".").map(String.init), text: $0.text) }
    while let depth = members.map(\.path.count).max(), depth > 1 {
      let inner = members.filter { $0.path.count == depth }
      members.removeAll { $0.path.count == depth }
      let groups = Dictionary(grouping: inner) { Array($0.path.dropLast()) }
      members += groups.map { path, group in
        (path, JSONText.object(Dictionary(group.map { ($0.path[depth - 1], $0.text) }) { $1 }))
      }
    }
    return JSONText.object(Dictionary(members.map { ($0.path.first ?? "", $0.text) }) { $1 })
  }
}

extension InspectedValue {
  /// The canonical text; nil for null.
  func dumpText(_ type: AttributeType, _ isSound: inout Bool) -> String? {
    switch self {
    case .invalid(let reason):
      isSound = false
      return JSONText.object(["$invalid": JSONText.string(reason)])
    case .sound(let value): return value.dumpText(type)
    }
  }
}

extension Value {
  /// The canonical text of an attribute's value; nil for null.
  func dumpText(_ type: AttributeType) -> String? {
    func tagged(_ tag: String, _ text: String) -> String { JSONText.ordered([(tag, text)]) }
    switch self {
    case .null, .reference: return nil
    case .bool(let x): return x ? "true" : "false"
    case .int(let x): return type == .boolean ? (x != 0 ? "true" : "false") : String(x)
    case .double(let x): return JSONText.number(type == .float ? Double(Float(x)) : x)
    case .date(let x): return tagged("$date", JSONText.number(x))
    case .decimal(let x): return tagged("$decimal", JSONText.string(DecimalText.format(x)))
    case .string(let x): return JSONText.string(x)
    case .uri(let x): return tagged("$url", JSONText.string(x))
    case .uuid(let x): return tagged("$uuid", JSONText.string(x.uuidString))
    case .data(let x):
      return tagged(type == .transformable ? "$transformable" : "$data", JSONText.string(x.base64EncodedString()))
    }
  }
}

extension InspectedTargets {
  /// The canonical text; nil where there are no destinations.
  func dumpText(_ relationship: Relationship, _ schema: Schema, _ isSound: inout Bool) -> String? {
    func invalid(_ reason: String) -> String {
      isSound = false
      return JSONText.object(["$invalid": JSONText.string(reason)])
    }
    switch self {
    case .invalid(let reason): return invalid(reason)
    case .objects(let targets):
      if targets.isEmpty { return nil }
      let sorted =
        relationship.isOrdered
        ? targets
        : targets.sorted {
          $0.entity == $1.entity
            ? $0.key < $1.key : UTF8Order.isLess(schema.entities[$0.entity].name, schema.entities[$1.entity].name)
        }
      let texts = sorted.map { target in
        target.defect.map { invalid($0) } ?? JSONText.string("\(schema.entities[target.entity].name)/p\(target.key)")
      }
      return relationship.isToMany ? JSONText.array(texts) : texts[0]
    }
  }
}
