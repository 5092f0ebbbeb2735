import StoreSchema
import Synchronization

/// The models of the cases.
public enum Fixtures {
  /// M1: people, teams and tags.
  public static func people() throws(SchemaError) -> Schema {
    var person = entity(
      "Person",
      [("name", .string), ("age", .integer16), ("email", .string), ("photo", .binaryData), ("born", .date)])
    person.uniquenessConstraints = [["email"]]
    person.relationships = [
      one("boss", "Person", inverse: "reports"), many("reports", "Person", inverse: "boss"),
      one("team", "Team", inverse: "members"), many("tags", "Tag", inverse: "people"),
    ]
    var team = entity("Team", [("title", .string)])
    team.relationships = [many("members", "Person", inverse: "team")]
    var tag = entity("Tag", [("label", .string)])
    tag.relationships = [many("people", "Person", inverse: "tags")]
    return try frozen("people", [person, team, tag])
  }

  /// The types of attributes with the names that M2 gives them.
  public static let types: [(name: String, type: AttributeType)] = [
    ("int16", .integer16), ("int32", .integer32), ("int64", .integer64), ("double", .double), ("float", .float),
    ("decimal", .decimal), ("bool", .boolean), ("string", .string), ("data", .binaryData), ("date", .date),
    ("uuid", .uuid), ("uri", .uri), ("transformable", .transformable),
  ]

  /// M2: an optional and a mandatory attribute of each type, a composite one, and binary data that may be stored
  /// outside the row.
  public static func allTypes() throws(SchemaError) -> Schema {
    var all = entity("AllTypes", types + [("number", .integer64)])
    for (name, type) in types {
      var attribute = AttributeDefinition(name: name + "Mandatory", type: type)
      attribute.isOptional = false
      all.attributes.append(attribute)
    }
    var position = AttributeDefinition(name: "place", type: .composite)
    position.elements = [
      AttributeDefinition(name: "city", type: .string), AttributeDefinition(name: "floor", type: .integer16),
    ]
    var large = AttributeDefinition(name: "large", type: .binaryData)
    large.allowsExternalBinaryDataStorage = true
    all.attributes += [position, large]
    return try frozen("allTypes", [all])
  }

  /// The derived attributes of M2.
  public static func derived() throws(SchemaError) -> Schema {
    var shelf = entity("Shelf", [("name", .string)])
    var count = AttributeDefinition(name: "count", type: .integer64)
    count.derivation = .count(relationship: "books")
    shelf.attributes.append(count)
    shelf.relationships = [many("books", "Book", inverse: "shelf")]
    var book = entity("Book", [("title", .string)])
    var shelfName = AttributeDefinition(name: "shelfName", type: .string)
    shelfName.derivation = .keyPath(["shelf", "name"])
    book.attributes.append(shelfName)
    book.relationships = [
      one("shelf", "Shelf", inverse: "books"), many("authors", "Author", inverse: "books"),
      many("likes", "Book", inverse: "likes"),
    ]
    for (name, relationship) in [("authorCount", "authors"), ("likeCount", "likes")] {
      var count = AttributeDefinition(name: name, type: .integer32)
      count.derivation = .count(relationship: relationship)
      book.attributes.append(count)
    }
    var author = entity("Author", [("name", .string)])
    author.relationships = [many("books", "Book", inverse: "authors")]
    return try frozen("derived", [shelf, book, author])
  }

  /// The aggregates of a box: the function, the item's attribute and the type of the result, by the name of the
  /// attribute.
  private static let boxAggregates: [(name: String, function: String, source: String, type: AttributeType)] = [
    ("sumInt", "sum", "int", .integer64), ("averageInt", "average", "int", .double),
    ("minInt", "min", "int", .integer64),
    ("maxInt", "max", "int", .integer64), ("sumSmall", "sum", "int", .integer16), ("doubleInt", "sum", "int", .double),
    ("sumDouble", "sum", "double", .double), ("averageDouble", "average", "double", .double),
    ("minDouble", "min", "double", .double), ("maxDouble", "max", "double", .double),
    ("wholeDouble", "sum", "double", .integer32), ("sumDecimal", "sum", "decimal", .decimal),
    ("minDecimal", "min", "decimal", .decimal), ("maxDecimal", "max", "decimal", .decimal),
    ("minText", "min", "text", .string), ("maxText", "max", "text", .string), ("minDate", "min", "date", .date),
    ("maxDate", "max", "date", .date), ("sumFlag", "sum", "flag", .integer64),
  ]
  static var aggregateNames: [String] { boxAggregates.map(\.name) }
  static func isSum(_ name: String) -> Bool { boxAggregates.contains { $0.name == name && $0.function == "sum" } }

  /// Boxes and nodes with derived attributes of every aggregate, over each kind of to-many relationship.
  public static func aggregates() throws(SchemaError) -> Schema {
    func derived(_ name: String, _ derivation: Derivation, _ type: AttributeType = .integer64) -> AttributeDefinition {
      var attribute = AttributeDefinition(name: name, type: type)
      attribute.derivation = derivation
      return attribute
    }
    func sum(_ name: String, _ relationship: String, _ attribute: String) -> AttributeDefinition {
      derived(name, .aggregate("sum", relationship: relationship, attribute: attribute))
    }
    var box = entity("Box", [("label", .string)])
    box.attributes += boxAggregates.map {
      derived($0.name, .aggregate($0.function, relationship: "items", attribute: $0.source), $0.type)
    }
    box.attributes += [
      sum("sumMarked", "marked", "int"), sum("sumLoose", "loose", "int"),
      derived("looseCount", .count(relationship: "loose")),
    ]
    box.relationships = [
      many("items", "Item", inverse: "box"), many("marked", "Item", inverse: "marks"), many("loose", "Item"),
    ]
    var item = entity(
      "Item",
      [
        ("int", .integer64), ("double", .double), ("decimal", .decimal), ("text", .string), ("date", .date),
        ("flag", .boolean),
      ])
    item.relationships = [one("box", "Box", inverse: "items"), many("marks", "Box", inverse: "marked")]
    var node = entity("Node", [("size", .integer64)])
    node.attributes += [
      sum("total", "children", "size"), sum("grand", "children", "total"), sum("friendly", "friends", "size"),
    ]
    node.relationships = [
      one("parent", "Node", inverse: "children"), many("children", "Node", inverse: "parent"),
      many("friends", "Node", inverse: "friends"),
    ]
    return try frozen("aggregates", [box, item, node])
  }

  /// M3: `Node`, abstract, and below it `File` and fifteen levels of folders; each level has an attribute of its own.
  public static func inheritance() throws(SchemaError) -> Schema {
    var node = entity("Node", [("name", .string), ("code", .string)])
    node.isAbstract = true
    node.uniquenessConstraints = [["code"]]
    node.relationships = [one("parent", "Node", inverse: "children"), many("children", "Node", inverse: "parent")]
    var file = entity("File", [("size", .integer64), ("kind", .string)])
    file.superentity = "Node"
    var definitions = [node, file]
    var parent = "Node"
    for level in 1...15 {
      var folder = entity("Folder\(level)", [("level\(level)", .integer64)])
      if level == 1 { folder.attributes.append(AttributeDefinition(name: "kind\(level)", type: .integer64)) }
      folder.superentity = parent
      parent = folder.name
      definitions.append(folder)
    }
    // The same name as in `File`, with another type.
    var drawer = entity("Drawer", [("kind", .integer64)])
    drawer.superentity = "Node"
    definitions.append(drawer)
    return try frozen("inheritance", definitions)
  }

  /// M4: ordered to-many with a to-one inverse, ordered many-to-many, and an ordered relationship without an inverse.
  public static func ordered() throws(SchemaError) -> Schema {
    var list = entity("List", [("name", .string)])
    list.relationships = [many("items", "Item", inverse: "list", ordered: true)]
    var item = entity("Item", [("name", .string)])
    item.relationships = [one("list", "List", inverse: "items")]
    var playlist = entity("Playlist", [("name", .string)])
    playlist.relationships = [many("songs", "Song", inverse: "playlists", ordered: true)]
    var song = entity("Song", [("name", .string)])
    song.relationships = [many("playlists", "Playlist", inverse: "songs", ordered: true)]
    return try frozen("ordered", [list, item, playlist, song])
  }

  /// M5: every shape of a relationship, with and without an inverse.
  public static func shapes() throws(SchemaError) -> Schema {
    var source = entity("Source", [("name", .string)])
    var target = entity("Target", [("name", .string)])
    source.relationships = [
      one("oneOne", "Target", inverse: "oneOneBack"), one("oneMany", "Target", inverse: "oneManyBack"),
      many("manyOne", "Target", inverse: "manyOneBack"), many("manyMany", "Target", inverse: "manyManyBack"),
      many("orderedOne", "Target", inverse: "orderedOneBack", ordered: true),
      many("orderedMany", "Target", inverse: "orderedManyBack", ordered: true),
      one("oneWay", "Target"), many("manyWay", "Target"), many("friends", "Source", inverse: "friends"),
    ]
    target.relationships = [
      one("oneOneBack", "Source", inverse: "oneOne"), many("oneManyBack", "Source", inverse: "oneMany"),
      one("manyOneBack", "Source", inverse: "manyOne"), many("manyManyBack", "Source", inverse: "manyMany"),
      one("orderedOneBack", "Source", inverse: "orderedOne"),
      many("orderedManyBack", "Source", inverse: "orderedMany"),
    ]
    return try frozen("shapes", [source, target])
  }

  /// Relationships of each shape that a deletion of `Source` must check, each with its own delete rule.
  public static func guarded() throws(SchemaError) -> Schema {
    func rule(_ rule: DeleteRule, _ relationship: RelationshipDefinition) -> RelationshipDefinition {
      var result = relationship
      result.deleteRule = rule
      return result
    }
    var source = entity("Source", [("name", .string)])
    var target = entity("Target", [("name", .string)])
    source.relationships = [
      rule(.nullify, many("members", "Target", inverse: "owner")),
      rule(.cascade, many("parts", "Target", inverse: "whole", ordered: true)),
      rule(.deny, many("held", "Target", inverse: "holder")),
      rule(.noAction, many("ignored", "Target", inverse: "ignorer")),
      rule(.cascade, many("cascading", "Target", inverse: "cascadingBack")),
      rule(.deny, many("denying", "Target", inverse: "denyingBack", ordered: true)),
      rule(.nullify, many("nullifying", "Target", inverse: "nullifyingBack")),
      rule(.cascade, many("wayDown", "Target")), rule(.deny, many("wayHeld", "Target")),
      rule(.nullify, many("wayNullified", "Target")), rule(.nullify, one("pair", "Target", inverse: "pair")),
      rule(.nullify, one("oneWay", "Target")),
    ]
    target.relationships = [
      one("owner", "Source", inverse: "members"), one("whole", "Source", inverse: "parts"),
      one("holder", "Source", inverse: "held"), one("ignorer", "Source", inverse: "ignored"),
      many("cascadingBack", "Source", inverse: "cascading"), many("denyingBack", "Source", inverse: "denying"),
      many("nullifyingBack", "Source", inverse: "nullifying"), one("pair", "Source", inverse: "pair"),
    ]
    return try frozen("guarded", [source, target])
  }

  /// M6: a thousand attributes.
  public static func wide() throws(SchemaError) -> Schema {
    try frozen("wide", [entity("Wide", (1...1000).map { ("a\($0)", $0 % 2 == 0 ? .string : .integer64) })])
  }

  /// M8: names with a meaning elsewhere, for example in SQL.
  public static let hostileNames = ["select", "group", "where", "日本", "Z_PK", "_", String(repeating: "n", count: 200)]

  /// M8: an entity and properties with such names.
  public static func names() throws(SchemaError) -> Schema {
    var order = entity("Order", hostileNames.map { ($0, .string) })
    order.relationships = [one("from", "Order", inverse: "to"), many("to", "Order", inverse: "from")]
    return try frozen("names", [order])
  }

  /// Properties and entities with names of columns and tables that the SQLite format uses itself.
  static func columnNames() throws(SchemaError) -> Schema {
    var key = entity("_PrimaryKey", ["_pk", "_ent", "_opt", "_pk1"].map { ($0, .string) })
    key.relationships = [one("_Pk2", "_Metadata", inverse: "_opt")]
    var data = entity("_Metadata", [("_pk", .integer64)])
    data.relationships = [many("_opt", "_PrimaryKey", inverse: "_Pk2")]
    return try frozen("columnNames", [key, data, entity("_PrimaryKey1", [("_pk", .string)])])
  }

  /// M1 with one more attribute: another version of the same model.
  public static func otherPeople() throws(SchemaError) -> Schema {
    var definitions = try people().definitions
    if let index = definitions.firstIndex(where: { $0.name == "Person" }) {
      definitions[index].attributes.append(AttributeDefinition(name: "nickname", type: .string))
    }
    return try frozen("otherPeople", definitions)
  }

  /// A model of which a store holds a part: `Leaf`, a subentity of `Base`, and `Member`. `Aside` and `Limb` are outside
  /// the part, and `Member` has relationships of every kind with `Aside`.
  public static func parts() throws(SchemaError) -> Schema {
    var base = entity("Base", [("name", .string)])
    base.isAbstract = true
    var (leaf, limb) = (entity("Leaf", [("size", .integer64)]), entity("Limb", [("length", .integer64)]))
    (leaf.superentity, limb.superentity) = ("Base", "Base")
    base.relationships = [many("members", "Member", inverse: "base")]
    var member = entity("Member", [("name", .string)])
    member.relationships = [
      one("base", "Base", inverse: "members"), one("aside", "Aside", inverse: "ofOne"),
      many("asides", "Aside", inverse: "ofMany"), many("oneWay", "Aside"),
    ]
    var aside = entity("Aside", [("name", .string)])
    aside.relationships = [
      many("ofOne", "Member", inverse: "aside", ordered: true), many("ofMany", "Member", inverse: "asides"),
      one("first", "Member"),
    ]
    return try frozen("parts", [base, leaf, limb, member, aside])
  }

  // MARK: Making

  /// Each model is frozen once in a process, because hashing it takes longer than many cases.
  private static func frozen(_ name: String, _ definitions: [EntityDefinition]) throws(SchemaError) -> Schema {
    if let known = known.withLock({ $0[name] }) { return known }
    let schema = try Schema(definitions)
    known.withLock { $0[name] = schema }
    return schema
  }

  private static let known = Mutex<[String: Schema]>([:])

  static func entity(_ name: String, _ attributes: [(String, AttributeType)]) -> EntityDefinition {
    var entity = EntityDefinition(name: name)
    entity.attributes = attributes.map { AttributeDefinition(name: $0.0, type: $0.1) }
    return entity
  }

  static func one(_ name: String, _ destination: String, inverse: String? = nil) -> RelationshipDefinition {
    var relationship = RelationshipDefinition(name: name, destination: destination)
    (relationship.inverse, relationship.maxCount) = (inverse, 1)
    return relationship
  }

  static func many(
    _ name: String, _ destination: String, inverse: String? = nil, ordered: Bool = false
  ) -> RelationshipDefinition {
    var relationship = RelationshipDefinition(name: name, destination: destination)
    (relationship.inverse, relationship.isOrdered) = (inverse, ordered)
    return relationship
  }
}
