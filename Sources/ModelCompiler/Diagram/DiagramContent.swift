import ModelFiles
import StoreSchema

/// What a diagram shows, without its form.
struct DiagramContent: Sendable {
  /// An attribute, or another property that no line leads from.
  struct Line: Sendable {
    var name: String
    /// The type and the marks, in words.
    var detail: String
    /// 0, or more for elements of a composite attribute.
    var level = 0
  }

  /// A relationship.
  struct Row: Sendable {
    var name: String
    var destination: String
    /// False where the model does not have the destination.
    var isDestinationKnown: Bool
    /// `0..1`, `1`, `0..*`, `2..5` and the like.
    var cardinality: String
    var isToMany: Bool
    var isOrdered: Bool
    /// nullify, cascade, deny, or no action.
    var deleteRule: String

    /// The cardinality and the rule, in words.
    var detail: String { "\(cardinality)\(isOrdered ? " ordered" : ""), \(deleteRule)" }
    var target: String { isDestinationKnown ? destination : "\(destination) (not in the model)" }
  }

  /// An entity.
  struct Box: Sendable {
    var name: String
    /// The name of the class where it is not that of the entity, that the entity is abstract, and a parent that the
    /// model does not have.
    var remark: String
    var isAbstract: Bool
    var attributes: [Line] = []
    var rows: [Row] = []
    var fetched: [Line] = []
  }

  /// One end of a link: a row of a box, or the box itself.
  struct End: Hashable, Sendable {
    var box: Int
    var row: Int?
  }

  /// What a line stands for.
  struct Link: Sendable {
    enum Kind: Sendable { case inversePair, oneWay, inheritance }
    var kind: Kind
    /// A relationship; or the entity that inherits.
    var from: End
    /// The inverse relationship; the destination of a relationship without one; or the parent.
    var to: End
  }

  let title: String
  /// In the order of the model.
  private(set) var boxes: [Box] = []
  /// Each pair of inverse relationships, each other relationship and each inheritance, once.
  private(set) var links: [Link] = []

  init(_ model: ModelRecord, title: String) {
    self.title = DiagramText.visible(title)
    let lookup = Lookup(model)
    boxes = model.entities.map { Self.box($0, lookup) }
    for (index, entity) in model.entities.enumerated() {
      if let parent = entity.superentity.flatMap({ lookup.names[$0] }) {
        links.append(Link(kind: .inheritance, from: End(box: index), to: End(box: parent)))
      }
    }
    for (index, relationships) in lookup.relationships.enumerated() {
      for (row, (name, relationship)) in relationships.enumerated() {
        guard let destination = lookup.names[relationship.destinationEntity] else { continue }
        let end = End(box: index, row: row)
        guard let inverse = lookup.inverse(of: name, relationship, index) else {
          links.append(Link(kind: .oneWay, from: end, to: End(box: destination)))
          continue
        }
        if inverse == end {
          // A relationship that is its own inverse leads back to its box.
          links.append(Link(kind: .inversePair, from: end, to: End(box: index)))
        } else if (end.box, row) < (inverse.box, inverse.row ?? 0) {
          links.append(Link(kind: .inversePair, from: end, to: inverse))
        }
      }
    }
  }

  /// A sentence about the size of the model.
  var summary: String {
    let attributes = boxes.reduce(0) { $0 + $1.attributes.count { $0.level == 0 } }
    let relationships = boxes.reduce(0) { $0 + $1.rows.count }
    func counted(_ count: Int, _ one: String, _ many: String) -> String { "\(count) \(count == 1 ? one : many)" }
    return [
      counted(boxes.count, "entity", "entities"), counted(attributes, "attribute", "attributes"),
      counted(relationships, "relationship", "relationships"),
    ].joined(separator: ", ")
  }

  // MARK: Entities

  private static func box(_ entity: EntityRecord, _ lookup: Lookup) -> Box {
    var remarks: [String] = []
    if entity.isAbstract { remarks.append("abstract") }
    if let name = entity.className, name != entity.name, name != "." + entity.name {
      remarks.append("class \(DiagramText.visible(name))")
    }
    if let parent = entity.superentity, lookup.names[parent] == nil {
      remarks.append("parent \(DiagramText.visible(parent)) (not in the model)")
    }
    var box = Box(
      name: DiagramText.visible(entity.name), remark: remarks.joined(separator: ", "), isAbstract: entity.isAbstract)
    let unique = Set(entity.uniquenessConstraints.filter { $0.count == 1 }.map { $0[0] })
    for property in entity.properties {
      switch property.kind {
      case .attribute(let attribute): box.attributes += lines(property, attribute, unique)
      case .relationship(let relationship): box.rows.append(row(property, relationship, lookup))
      case .fetchedProperty(let request):
        let name = DiagramText.visible(property.name)
        box.fetched.append(Line(name: name, detail: "fetches \(DiagramText.visible(request.entityName))"))
      }
    }
    for constraint in entity.uniquenessConstraints where constraint.count > 1 {
      let list = constraint.map(DiagramText.visible).joined(separator: ", ")
      box.attributes.append(Line(name: list, detail: "unique together", level: 1))
    }
    return box
  }

  /// An attribute, and the elements of a composite one below it.
  private static func lines(
    _ property: PropertyRecord, _ attribute: AttributeRecord, _ unique: Set<String>
  ) -> [Line] {
    var result: [Line] = []
    var rest = [(property, attribute, 0)]
    while let (property, attribute, level) = rest.popLast() {
      let type = AttributeTypeName(rawValue: attribute.type)?.sourceName ?? "type \(attribute.type)"
      var detail = type + (property.isOptional ? "?" : "")
      if property.isTransient { detail += ", transient" }
      if attribute.derivation != nil { detail += ", derived" }
      if level == 0, unique.contains(property.name) { detail += ", unique" }
      result.append(Line(name: DiagramText.visible(property.name), detail: detail, level: level))
      for element in (attribute.elements ?? []).reversed() {
        if case .attribute(let attribute) = element.kind { rest.append((element, attribute, level + 1)) }
      }
    }
    return result
  }

  private static func row(_ property: PropertyRecord, _ record: RelationshipRecord, _ lookup: Lookup) -> Row {
    let isToMany = record.maxCount != 1
    let rules = ["no action", "nullify", "cascade", "deny"]
    return Row(
      name: DiagramText.visible(property.name), destination: DiagramText.visible(record.destinationEntity),
      isDestinationKnown: lookup.names[record.destinationEntity] != nil,
      cardinality: isToMany ? many(property, record) : property.isOptional ? "0..1" : "1", isToMany: isToMany,
      isOrdered: isToMany && record.isOrdered,
      deleteRule: rules.indices.contains(record.deleteRule) ? rules[record.deleteRule] : "rule \(record.deleteRule)")
  }

  /// The numbers of objects that can be saved. An optional relationship may have none whatever the minimum is.
  private static func many(_ property: PropertyRecord, _ record: RelationshipRecord) -> String {
    let (least, most) = (max(0, record.minCount), record.maxCount > 1 ? "\(record.maxCount)" : "*")
    if property.isOptional { return least > 1 ? "0 or \(least)..\(most)" : "0..\(most)" }
    return "\(least)" == most ? most : "\(least)..\(most)"
  }
}

/// What is found by name in a model.
private struct Lookup {
  /// The index of each entity.
  let names: [String: Int]
  /// The relationships that each entity declares, with their names.
  let relationships: [[(String, RelationshipRecord)]]
  /// Each entity and those that it inherits from. A model in code may have a cycle.
  private let lineages: [[Int]]

  init(_ model: ModelRecord) {
    let names = Dictionary(model.entities.enumerated().map { ($1.name, $0) }) { first, _ in first }
    self.names = names
    relationships = model.entities.map { entity in
      entity.properties.compactMap { property in
        if case .relationship(let record) = property.kind { (property.name, record) } else { nil }
      }
    }
    lineages = model.entities.indices.map { entity in
      var result: [Int] = []
      var seen: Set<Int> = []
      var next: Int? = entity
      while let index = next, seen.insert(index).inserted {
        result.append(index)
        next = model.entities[index].superentity.flatMap { names[$0] }
      }
      return result
    }
  }

  /// The inverse, if both relationships find each other: the destination declares or inherits it.
  func inverse(of name: String, _ relationship: RelationshipRecord, _ owner: Int) -> DiagramContent.End? {
    guard let end = inverseEnd(of: relationship), let row = end.row else { return nil }
    let back = inverseEnd(of: relationships[end.box][row].1)
    guard let back, back.box == owner, let other = back.row, relationships[owner][other].0 == name else { return nil }
    return end
  }

  private func inverseEnd(of relationship: RelationshipRecord) -> DiagramContent.End? {
    guard let name = relationship.inverseName, let destination = names[relationship.destinationEntity] else {
      return nil
    }
    for box in lineages[destination] {
      if let row = relationships[box].firstIndex(where: { $0.0 == name }) {
        return DiagramContent.End(box: box, row: row)
      }
    }
    return nil
  }
}
