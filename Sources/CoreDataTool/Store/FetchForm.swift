import Foundation
import StoreProtocol
import StoreSchema

/// Writes fetched objects as JSON lines and as CSV fields.
struct FetchForm {
  private let store: OpenedStore
  private let decodes: Bool
  /// `objectID`, then all properties of the entity by name.
  let names: [String]
  private let properties: [String]

  init(_ entity: Entity, _ store: OpenedStore, decodes: Bool) {
    self.store = store
    self.decodes = decodes
    properties = Self.properties(entity)
    names = ["objectID"] + properties
  }

  private static func properties(_ entity: Entity) -> [String] {
    (entity.attributes.map(\.name) + entity.relationships.map(\.name)).sorted { UTF8Order.isLess($0, $1) }
  }

  // MARK: JSON

  /// An object of a sub-entity has the properties of the sub-entity.
  func json(_ object: InspectedObject) -> String {
    let entity = store.schema.entities[object.reference.entity]
    var members = [(key: "objectID", value: JSONText.string(uri(object.reference)))]
    for name in Self.properties(entity) { members.append((name, json(name, entity, object))) }
    return JSONText.ordered(members)
  }

  private func json(_ name: String, _ entity: Entity, _ object: InspectedObject) -> String {
    if let attribute = entity.attribute(named: name) { return json(attribute, object) ?? "null" }
    guard let relationship = entity.relationship(named: name) else { return "null" }
    let uris = uris(object.relationships[relationship.index]).map(JSONText.string)
    return relationship.isToMany ? JSONText.array(uris) : uris.first ?? "null"
  }

  private func json(_ attribute: Attribute, _ object: InspectedObject) -> String? {
    if attribute.type != .composite { return json(object.values[attribute.slot], attribute.type) }
    let leaves = attribute.elements.compactMap { element in
      json(object.values[element.slot], element.type).map { (path: element.name, text: $0) }
    }
    return leaves.isEmpty ? nil : CompositeText.object(leaves)
  }

  private func json(_ value: InspectedValue, _ type: AttributeType) -> String? {
    switch value {
    case .invalid(let reason): JSONText.object(["$invalid": JSONText.string(reason)])
    case .sound(.data(let bytes)) where decodes && type == .transformable:
      ArchiveText.json(bytes) ?? JSONText.string(bytes.base64EncodedString())
    case .sound(let value):
      switch value {
      case .bool, .int, .decimal: text(value, type)
      case .double(let x): x.isInfinite ? JSONText.string(x < 0 ? "-inf" : "inf") : text(value, type)
      default: text(value, type).map(JSONText.string)
      }
    }
  }

  // MARK: CSV

  func fields(_ object: InspectedObject) -> [String] {
    let entity = store.schema.entities[object.reference.entity]
    return [uri(object.reference)]
      + properties.map { name in
        if let attribute = entity.attribute(named: name) { return field(attribute, object) }
        guard let relationship = entity.relationship(named: name) else { return "" }
        return uris(object.relationships[relationship.index]).joined(separator: " ")
      }
  }

  private func field(_ attribute: Attribute, _ object: InspectedObject) -> String {
    guard attribute.type != .composite, case .sound(let value) = object.values[attribute.slot],
      !(decodes && attribute.type == .transformable)
    else { return json(attribute, object) ?? "" }
    return text(value, attribute.type) ?? ""
  }

  // MARK: Values

  /// Nil for null.
  private func text(_ value: Value, _ type: AttributeType) -> String? {
    switch value {
    case .null, .reference: nil
    case .bool(let x): x ? "true" : "false"
    case .int(let x): type == .boolean ? (x != 0 ? "true" : "false") : String(x)
    case .double(let x):
      x.isInfinite ? (x < 0 ? "-inf" : "inf") : JSONText.number(type == .float ? Double(Float(x)) : x)
    case .decimal(let x): DecimalText.format(x)
    case .date(let x): DateText.iso8601(x)
    case .string(let x), .uri(let x): x
    case .uuid(let x): x.uuidString
    case .data(let x): x.base64EncodedString()
    }
  }

  private func uris(_ targets: InspectedTargets) -> [String] {
    guard case .objects(let targets) = targets else { return [] }
    return targets.map { uri(ObjectReference(entity: $0.entity, key: $0.key)) }.sorted { UTF8Order.isLess($0, $1) }
  }

  private func uri(_ reference: ObjectReference) -> String {
    let entity = store.schema.entities[reference.entity].name
    return ObjectURI.text(store: store.engine.identifier, entity: entity, name: String(reference.key))
  }
}

/// Lines of comma-separated values (RFC 4180).
enum CSVText {
  static func line(_ fields: [String]) -> String { fields.map(field).joined(separator: ",") + "\r\n" }

  private static func field(_ text: String) -> String {
    guard text.utf8.contains(where: { [UInt8(ascii: ","), UInt8(ascii: "\""), 10, 13].contains($0) }) else {
      return text
    }
    // Compares code points: other readers do not know Characters, in which a quotation mark may be only a part.
    var quoted = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      quoted.append(scalar)
      if scalar == "\"" { quoted.append(scalar) }
    }
    return "\"\(String(quoted))\""
  }
}
