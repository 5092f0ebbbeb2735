import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// `coredata store verify`: checks a store for damage.
enum VerifyCommand {
  static let command = Command(
    words: ["store", "verify"], operands: ["PATH"],
    options: [
      Option(name: "--apple", help: "also report valid content that Apple's framework would not write"), .json, .model,
    ],
    summary: "Checks a store for damage",
    discussion: """
      Checks the database itself, every value against its type, every reference, both sides of relationships, order keys, keys
      and the recorded highest keys, versions, rows without an owner, external files and the metadata. Writes one finding on each
      line, {"kind":…,"entity":…,"key":…,"property":…,"text":…} with --json. The exit status is 1 if there are any.
      """
  ) { invocation, output in
    let store = try OpenedStore(invocation.operands[0], model: invocation.value("--model"))
    let report = FindingReport(output, isJSON: invocation.has("--json"))
    let inspection = try Inspection(store.engine)
    try inspection.findings { finding in
      if finding.kind != .foreign || invocation.has("--apple") { report.add(finding) }
    }
    let progress = Progress("objects")
    for entity in store.entities {
      try inspection.objects(of: entity.index) { object in
        for finding in ObjectCheck(object, store.schema).findings { report.add(finding) }
        progress.step()
      }
    }
    progress.end()
    report.end("finding", "findings")
    return report.count == 0
  }
}

/// The faults of one object.
struct ObjectCheck {
  private let object: InspectedObject
  private let schema: Schema
  private let entity: Entity

  init(_ object: InspectedObject, _ schema: Schema) {
    self.object = object
    self.schema = schema
    entity = schema.entities[object.reference.entity]
  }

  var findings: [StoreFinding] {
    var result: [StoreFinding] = []
    func add(_ kind: StoreFinding.Kind, _ text: String, _ property: String? = nil) {
      result.append(
        StoreFinding(kind, text, entity: entity.name, key: object.reference.key, property: property))
    }
    if object.version.map({ $0 < 1 }) ?? true {
      add(.version, "the version is \(object.version.map(String.init) ?? "missing")")
    }
    for attribute in entity.attributes {
      let leaves = attribute.leaves
      for leaf in leaves {
        guard case .invalid(let reason) = object.values[leaf.slot] else { continue }
        add(.value, reason, leaf === attribute ? attribute.name : "\(attribute.name).\(leaf.name)")
      }
    }
    for relationship in entity.relationships {
      switch object.relationships[relationship.index] {
      case .invalid(let reason): add(relationship.isOrdered ? .order : .reference, reason, relationship.name)
      case .objects(let targets):
        for target in targets { target.defect.map { add(.reference, $0, relationship.name) } }
      }
    }
    return result
  }
}
