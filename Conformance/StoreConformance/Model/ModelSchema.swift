import StoreSchema

/// The model of model runs: inheritance, uniqueness, every kind of link, values of most types.
struct ModelSchema: Sendable {
  let schema: Schema
  /// The names of attributes and of to-one relationships, sorted, by entity.
  private let attributes, toOnes: [String: [String]]

  init() throws(SchemaError) {
    var person = Fixtures.entity(
      "Person", [("name", .string), ("age", .integer16), ("email", .string), ("born", .date)])
    person.uniquenessConstraints = [["email"]]
    var photo = AttributeDefinition(name: "photo", type: .binaryData)
    photo.allowsExternalBinaryDataStorage = true
    person.attributes.append(photo)
    person.relationships = [
      Fixtures.one("boss", "Person", inverse: "reports"), Fixtures.many("reports", "Person", inverse: "boss"),
      Fixtures.one("team", "Team", inverse: "members"), Fixtures.many("tags", "Tag", inverse: "people"),
    ]
    var employee = Fixtures.entity("Employee", [("salary", .double), ("rate", .decimal), ("badge", .uuid)])
    employee.superentity = "Person"
    var team = Fixtures.entity("Team", [("title", .string), ("number", .integer64)])
    team.relationships = [Fixtures.many("members", "Person", inverse: "team")]
    var tag = Fixtures.entity("Tag", [("label", .string), ("isOn", .boolean)])
    tag.relationships = [Fixtures.many("people", "Person", inverse: "tags")]
    var list = Fixtures.entity("List", [("name", .string)])
    list.relationships = [Fixtures.many("items", "Item", inverse: "list", ordered: true)]
    var item = Fixtures.entity("Item", [("name", .string), ("link", .uri)])
    item.relationships = [Fixtures.one("list", "List", inverse: "items")]
    let schema = try Schema([person, employee, team, tag, list, item])
    func names(_ body: (Entity) -> [String]) -> [String: [String]] {
      Dictionary(uniqueKeysWithValues: schema.entities.map { ($0.name, body($0).sorted()) })
    }
    attributes = names { $0.attributes.map(\.name) }
    toOnes = names { $0.relationships.filter { !$0.isToMany }.map(\.name) }
    self.schema = schema
  }

  static let entities = ["Person", "Employee", "Team", "Tag", "List", "Item"]

  func attributes(of name: String) -> [String] { attributes[name] ?? [] }
  func toOnes(of name: String) -> [String] { toOnes[name] ?? [] }
}
