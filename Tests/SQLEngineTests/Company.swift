import Foundation
import StoreSchema

/// The schema of the tests: a company with people, departments, tags and badges, and an entity with every attribute
/// type.
enum Company {
  static func schema() throws -> Schema {
    let person = entity(
      "Person", [("name", .string), ("age", .integer16), ("salary", .double)],
      [
        relationship("department", "Department", inverse: "people", toMany: false),
        relationship("tags", "Tag", inverse: "people"),
        relationship("badge", "Badge", inverse: "owner", toMany: false, .cascade),
        relationship("rankedIn", "Department", inverse: "ranking", toMany: false),
      ])
    var ranking = relationship("ranking", "Person", inverse: "rankedIn")
    ranking.isOrdered = true
    let department = entity(
      "Department", [("title", .string)], [relationship("people", "Person", inverse: "department"), ranking])
    var research = entity("Research", [("budget", .decimal)])
    research.superentity = "Department"
    var tag = entity("Tag", [("label", .string)], [relationship("people", "Person", inverse: "tags")])
    tag.attributes[0].isOptional = false
    tag.uniquenessConstraints = [["label"]]
    let badge = entity("Badge", [], [relationship("owner", "Person", inverse: "badge", toMany: false)])
    var values = entity(
      "Everything",
      [
        ("int16", .integer16), ("int32", .integer32), ("int64", .integer64), ("decimal", .decimal), ("double", .double),
        ("float", .float), ("string", .string), ("bool", .boolean), ("date", .date), ("data", .binaryData),
        ("uuid", .uuid), ("uri", .uri), ("list", .transformable), ("blob", .binaryData),
      ])
    values.attributes[values.attributes.count - 1].allowsExternalBinaryDataStorage = true
    return try Schema([person, department, research, tag, badge, values])
  }

  private static func entity(
    _ name: String, _ attributes: [(String, AttributeType)], _ relationships: [RelationshipDefinition] = []
  ) -> EntityDefinition {
    var entity = EntityDefinition(name: name)
    entity.attributes = attributes.map { AttributeDefinition(name: $0, type: $1) }
    entity.relationships = relationships
    return entity
  }

  private static func relationship(
    _ name: String, _ destination: String, inverse: String, toMany: Bool = true, _ deleteRule: DeleteRule = .nullify
  ) -> RelationshipDefinition {
    var relationship = RelationshipDefinition(name: name, destination: destination)
    (relationship.inverse, relationship.maxCount, relationship.deleteRule) = (inverse, toMany ? 0 : 1, deleteRule)
    return relationship
  }
}

/// A temporary folder that is removed at the end of the test.
final class Scratch: Sendable {
  let url = FileManager.default.temporaryDirectory.appending(path: "sql-\(UUID())")
  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(at: url) }
}
