import CoreData
import Foundation
import ModelFiles
import StoreSchema

/// `coredata model describe`: the entities of a model with their version hashes.
enum DescribeCommand {
  static let command = Command(
    words: ["model", "describe"], operands: ["PATH"], options: [.json],
    summary: "Describes a model file, or the model of a store",
    discussion: """
      PATH is a .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store. A store's model is the one that it contains, or one inferred
      from its tables. Version hashes are computed from the model; the hashes in a store are shown beside them.
      """
  ) { invocation, output in
    let described = try DescribedModel(invocation.operands[0])
    if invocation.has("--json") {
      output.line(described.json)
    } else {
      described.write(to: output)
    }
    return true
  }
}

/// A model, with the version hashes of the store that it was found in.
struct DescribedModel {
  private let model: NSManagedObjectModel
  private let storedHashes: [String: Data]
  private let entities: [NSEntityDescription]
  /// By entity name. Computed once, because each hash depends on the whole model.
  private let hashes: [String: Data]

  init(_ path: String) throws {
    let shown = try ToolModel.shown(path)
    (model, storedHashes) = (shown.model, shown.hashes)
    hashes = model.entityVersionHashesByName
    entities = model.entities.sorted { UTF8Order.isLess($0.name ?? "", $1.name ?? "") }
  }

  private var checksum: String {
    VersionHash.checksum(of: hashes.mapValues(Array.init))
  }

  private static func hex(_ data: Data) -> String {
    data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private func hash(_ entity: NSEntityDescription) -> Data { hashes[entity.name ?? ""] ?? Data() }

  private func attributes(_ entity: NSEntityDescription) -> [NSAttributeDescription] {
    own(entity).compactMap { $0 as? NSAttributeDescription }
  }

  private func relationships(_ entity: NSEntityDescription) -> [NSRelationshipDescription] {
    own(entity).compactMap { $0 as? NSRelationshipDescription }
  }

  /// The properties that the entity itself declares, by name.
  private func own(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
    let inherited = Set(entity.superentity?.propertiesByName.keys.map { $0 } ?? [])
    return entity.properties.filter { !inherited.contains($0.name) }.sorted { UTF8Order.isLess($0.name, $1.name) }
  }

  private static func typeName(_ attribute: NSAttributeDescription) -> String {
    (AttributeTypeName(rawValue: Int(attribute.attributeType.rawValue)) ?? .undefined).sourceName
  }

  // MARK: JSON

  var json: String {
    JSONText.ordered([
      ("versionChecksum", JSONText.string(checksum)), ("entities", JSONText.array(entities.map(json))),
    ])
  }

  private func json(_ entity: NSEntityDescription) -> String {
    JSONText.ordered([
      ("name", JSONText.optional(entity.name)), ("superentity", JSONText.optional(entity.superentity?.name)),
      ("isAbstract", entity.isAbstract ? "true" : "false"),
      ("versionHash", JSONText.string(Self.hex(hash(entity)))),
      ("storedHash", JSONText.optional(storedHashes[entity.name ?? ""].map(Self.hex))),
      (
        "attributes",
        JSONText.array(
          attributes(entity).map { attribute in
            JSONText.ordered([
              ("name", JSONText.string(attribute.name)), ("type", JSONText.string(Self.typeName(attribute))),
              ("optional", attribute.isOptional ? "true" : "false"),
            ])
          })
      ), ("relationships", JSONText.array(relationships(entity).map(json))),
    ])
  }

  private func json(_ relationship: NSRelationshipDescription) -> String {
    JSONText.ordered([
      ("name", JSONText.string(relationship.name)),
      ("destination", JSONText.optional(relationship.destinationEntity?.name)),
      ("inverse", JSONText.optional(relationship.inverseRelationship?.name)),
      ("toMany", relationship.isToMany ? "true" : "false"),
      ("ordered", relationship.isToMany && relationship.isOrdered ? "true" : "false"),
    ])
  }

  // MARK: Text

  func write(to output: Output) {
    // Names come from a file, so control characters are escaped.
    func write(_ text: String) { output.line(Terminal.harmless(text)) }

    write("checksum \(checksum)\(model.isInferred ? " (inferred from the tables)" : "")")
    for entity in entities {
      let parent = entity.superentity?.name.map { ": \($0)" } ?? ""
      let title = Terminal.styled(Terminal.harmless("\(entity.name ?? "")\(parent)"), .strong, on: .standardOutput)
      output.line("\n\(title)\(entity.isAbstract ? " (abstract)" : "")  \(Self.hex(hash(entity)))")
      if let stored = storedHashes[entity.name ?? ""], stored != hash(entity) {
        write("  the store has \(Self.hex(stored))")
      }
      for attribute in attributes(entity) {
        write("  \(attribute.name)  \(Self.typeName(attribute))\(attribute.isOptional ? "?" : "")")
      }
      for relationship in relationships(entity) {
        let arrow = relationship.isToMany ? (relationship.isOrdered ? "⇉ ordered" : "⇉") : "→"
        let inverse = relationship.inverseRelationship.map { " ⇄ \($0.name)" } ?? ""
        write("  \(relationship.name)  \(arrow) \(relationship.destinationEntity?.name ?? "")\(inverse)")
      }
    }
  }
}
