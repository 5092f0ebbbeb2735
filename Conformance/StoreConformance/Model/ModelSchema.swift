import StoreSchema

/// The model of model runs: inheritance, uniqueness, indexes, every kind of link, values of all types.
struct ModelSchema: Sendable {
  let schema: Schema
  /// The names of attributes (with each element of a composite attribute) and of to-one relationships, sorted, by
  /// entity.
  private let attributes, toOnes: [String: [String]]

  init() throws(SchemaError) {
    let schema = try Schema([Self.person, Self.employee, Self.team, Self.tag, Self.list, Self.item])
    func names(_ body: (Entity) -> [String]) -> [String: [String]] {
      Dictionary(uniqueKeysWithValues: schema.entities.map { ($0.name, body($0).sorted()) })
    }
    attributes = names { $0.plainAttributes.map(\.path) }
    toOnes = names { $0.relationships.filter { !$0.isToMany }.map(\.name) }
    self.schema = schema
  }

  static let entities = ["Person", "Employee", "Team", "Tag", "List", "Item"]

  func attributes(of name: String) -> [String] { attributes[name] ?? [] }
  func toOnes(of name: String) -> [String] { toOnes[name] ?? [] }

  // MARK: Entities

  private static var person: EntityDefinition {
    var person = Fixtures.entity(
      "Person",
      [
        ("name", .string), ("age", .integer16), ("email", .string), ("born", .date), ("rank", .integer32),
        ("score", .float),
      ])
    person.uniquenessConstraints = [["email"]]
    person.fetchIndexes = [index("byAge", "age"), index("byBorn", "born"), index("byName", "name", "age")]
    var photo = AttributeDefinition(name: "photo", type: .binaryData)
    photo.allowsExternalBinaryDataStorage = true
    person.attributes.append(photo)
    person.relationships = [
      Fixtures.one("boss", "Person", inverse: "reports"), Fixtures.many("reports", "Person", inverse: "boss"),
      Fixtures.one("team", "Team", inverse: "members"), Fixtures.many("tags", "Tag", inverse: "people"),
    ]
    return person
  }

  private static var employee: EntityDefinition {
    var employee = Fixtures.entity("Employee", [("salary", .double), ("rate", .decimal), ("badge", .uuid)])
    employee.superentity = "Person"
    employee.fetchIndexes = [index("bySalary", "salary"), index("byRate", "rate"), index("byBadge", "badge")]
    employee.relationships = [Fixtures.many("leads", "Team", inverse: "lead")]
    return employee
  }

  private static var team: EntityDefinition {
    var team = Fixtures.entity(
      "Team", [("title", .string), ("number", .integer64), ("stamp", .binaryData), ("notes", .transformable)])
    var position = AttributeDefinition(name: "place", type: .composite)
    position.elements = [
      AttributeDefinition(name: "city", type: .string), AttributeDefinition(name: "floor", type: .integer16),
    ]
    team.attributes.append(position)
    team.fetchIndexes = [index("byNumber", "number"), index("byStamp", "stamp")]
    team.relationships = [
      Fixtures.many("members", "Person", inverse: "team"), Fixtures.one("lead", "Employee", inverse: "leads"),
      Fixtures.one("rival", "Team"), Fixtures.many("keeps", "Tag"),
    ]
    return team
  }

  private static var tag: EntityDefinition {
    var tag = Fixtures.entity(
      "Tag", [("label", .string), ("isOn", .boolean), ("weight", .double), ("price", .decimal)])
    tag.fetchIndexes = [index("byIsOn", "isOn"), index("byLabel", "label", "weight")]
    tag.relationships = [Fixtures.many("people", "Person", inverse: "tags")]
    return tag
  }

  private static var list: EntityDefinition {
    var list = Fixtures.entity("List", [("name", .string)])
    list.relationships = [
      Fixtures.many("items", "Item", inverse: "list", ordered: true),
      Fixtures.many("picks", "Item", inverse: "pickers", ordered: true),
    ]
    return list
  }

  private static var item: EntityDefinition {
    var item = Fixtures.entity("Item", [("name", .string), ("link", .uri)])
    item.fetchIndexes = [index("byLink", "link")]
    item.relationships = [
      Fixtures.one("list", "List", inverse: "items"), Fixtures.many("pickers", "List", inverse: "picks", ordered: true),
    ]
    return item
  }

  private static func index(_ name: String, _ properties: String...) -> FetchIndexDefinition {
    FetchIndexDefinition(name: name, elements: properties.map { FetchIndexDefinition.Element(property: $0) })
  }
}

extension Entity {
  /// The attributes that have values, with their paths. A composite attribute is replaced by its elements.
  var plainAttributes: [(path: String, attribute: Attribute)] {
    attributes.flatMap { attribute in
      attribute.elements.isEmpty
        ? [(attribute.name, attribute)] : attribute.elements.map { ("\(attribute.name).\($0.name)", $0) }
    }
  }
}
