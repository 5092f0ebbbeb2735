import Foundation
import ModelFiles
import StoreQuery
import StoreSchema

/// Compiles mapping models, as Apple's `mapc` does: `AtoB.xcmappingmodel` becomes `AtoB.cdm`.
///
/// The forms of generated names and expressions are those of the one compiled mapping model whose source is known.
public struct MappingCompiler: Sendable {
  private let old: ModelRecord
  private let new: ModelRecord
  private let oldEntities: [String: EntityRecord]
  private let newEntities: [String: EntityRecord]
  /// The entities of the newer model that others inherit from.
  private let parents: Set<String>

  /// A compiler of mappings from the older model to the newer one.
  public init(from old: ModelRecord, to new: ModelRecord) {
    (self.old, self.new) = (old, new)
    (oldEntities, newEntities) = (Self.byName(old), Self.byName(new))
    parents = Set(new.entities.compactMap(\.superentity))
  }

  private static func byName(_ model: ModelRecord) -> [String: EntityRecord] {
    Dictionary(model.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The compiled form of a mapping model. Throws `malformed` where a mapping is for an entity or a property that its
  /// model does not have.
  public func compile(_ source: MappingSource) throws(ModelFileError) -> MappingRecord {
    let (oldHashes, newHashes) = (old.versionHashes, new.versionHashes)
    var mappings: [EntityMappingRecord] = []
    var names: Set<String> = []
    let byDestination = Dictionary(grouping: source.entityMappings) { $0.destinationEntity ?? "" }
    for mapping in source.entityMappings {
      let from = try entity(mapping.sourceEntity, in: oldEntities, "older")
      let to = try entity(mapping.destinationEntity, in: newEntities, "newer")
      var record = EntityMappingRecord(
        name: name(of: mapping), type: type(of: mapping), sourceEntity: from?.name, destinationEntity: to?.name)
      guard names.insert(record.name).inserted else {
        throw ModelFileError(.malformed, "two mappings have the name \(record.name); give one another name")
      }
      record.sourceHash = from.flatMap { oldHashes[$0.name] }
      record.destinationHash = to.flatMap { newHashes[$0.name] }
      record.sourceExpression = mapping.sourceExpression ?? from.map { fetch($0.name, mapping.filter) }
      record.policyClassName = mapping.policyClassName
      record.userInfo = mapping.userInfo
      let (before, after) = (properties(of: from, in: oldEntities), properties(of: to, in: newEntities))
      record.attributeMappings = try mapping.attributes.map { property throws(ModelFileError) in
        try require(property, after, record.name)
        return Self.record(property, attribute(property, before))
      }
      record.relationshipMappings = try mapping.relationships.map { property throws(ModelFileError) in
        try require(property, after, record.name)
        let expression = relationship(property, before, after, byDestination)
        return Self.record(property, expression)
      }
      mappings.append(record)
    }
    return MappingRecord(entityMappings: mappings)
  }

  private static func record(
    _ property: MappingSource.PropertyMapping, _ expression: StoreQuery.Expression?
  ) -> PropertyMappingRecord {
    var record = PropertyMappingRecord(name: property.name, valueExpression: expression)
    record.userInfo = property.userInfo
    return record
  }

  // MARK: Entities

  private func entity(
    _ name: String?, in entities: [String: EntityRecord], _ which: String
  ) throws(ModelFileError) -> EntityRecord? {
    guard let name else { return nil }
    if let entity = entities[name] { return entity }
    throw ModelFileError(.malformed, "a mapping is for the entity \(name), which the \(which) model does not have")
  }

  private func name(of mapping: MappingSource.EntityMapping) -> String {
    if let name = mapping.name { return name }
    guard let from = mapping.sourceEntity, let to = mapping.destinationEntity else {
      return mapping.destinationEntity ?? mapping.sourceEntity ?? ""
    }
    return "\(from)To\(to)"
  }

  /// Apple's compiler makes no difference between copies and transformations.
  private func type(of mapping: MappingSource.EntityMapping) -> Int {
    if mapping.policyClassName != nil { return 1 }
    if mapping.sourceEntity == nil { return 2 }
    return mapping.destinationEntity == nil ? 3 : 4
  }

  private func fetch(_ entity: String, _ filter: String?) -> StoreQuery.Expression {
    let request = StoreQuery.Expression.function(
      "fetchRequestForSourceEntityNamed:predicateString:",
      [.constant(.string(entity)), .constant(.string(filter ?? "TRUEPREDICATE"))], target: .variable("manager"))
    return .fetch(request, context: .keyPathOf(.variable("manager"), "sourceContext"), countOnly: false)
  }

  // MARK: Properties

  /// The properties of an entity by name, the inherited ones included.
  private func properties(
    of entity: EntityRecord?, in entities: [String: EntityRecord]
  ) -> [String: PropertyRecord] {
    var result: [String: PropertyRecord] = [:]
    var seen: Set<String> = []
    var next = entity
    while let current = next, seen.insert(current.name).inserted {
      for property in current.properties where result[property.name] == nil { result[property.name] = property }
      next = current.superentity.flatMap { entities[$0] }
    }
    return result
  }

  private func require(
    _ property: MappingSource.PropertyMapping, _ known: [String: PropertyRecord], _ mapping: String
  ) throws(ModelFileError) {
    guard known[property.name] == nil else { return }
    throw ModelFileError(
      .malformed, "the mapping \(mapping) is for the property \(property.name), which its entity does not have")
  }

  /// The value of the attribute with the same name; nil where the older entity has none.
  private func attribute(
    _ property: MappingSource.PropertyMapping, _ before: [String: PropertyRecord]
  ) -> StoreQuery.Expression? {
    if let expression = property.valueExpression { return expression }
    guard case .attribute? = before[property.name]?.kind else { return nil }
    return value(property.name)
  }

  private func value(_ path: String) -> StoreQuery.Expression { .keyPathOf(.variable("source"), path) }

  /// The objects that were made of the destinations: by the mapping of their entity where there is one for all of them,
  /// otherwise by the relationship.
  private func relationship(
    _ property: MappingSource.PropertyMapping, _ before: [String: PropertyRecord], _ after: [String: PropertyRecord],
    _ mappings: [String: [MappingSource.EntityMapping]]
  ) -> StoreQuery.Expression? {
    if let expression = property.valueExpression { return expression }
    let path = property.sourceKeyPath.map(expression) ?? value(property.name)
    if let name = property.mappingName { return instances("destinationInstancesForEntityMappingNamed", name, path) }
    // `$source.owner` names the relationship that is followed.
    let name = property.sourceKeyPath.map { String($0.dropFirst($0.hasPrefix("$source.") ? 8 : 0)) } ?? property.name
    guard case .relationship? = before[name]?.kind,
      case .relationship(let relationship)? = after[property.name]?.kind
    else { return nil }
    let fitting = mappings[relationship.destinationEntity] ?? []
    let hasSubentities = parents.contains(relationship.destinationEntity)
    if fitting.count == 1, !hasSubentities {
      return instances("destinationInstancesForEntityMappingNamed", self.name(of: fitting[0]), path)
    }
    return instances("destinationInstancesForSourceRelationshipNamed", name, path)
  }

  private func instances(_ function: String, _ name: String, _ path: StoreQuery.Expression) -> StoreQuery.Expression {
    .function("\(function):sourceInstances:", [.constant(.string(name)), path], target: .variable("manager"))
  }

  /// `$source` or `$source.pets`, as Xcode saves it.
  private func expression(_ path: String) -> StoreQuery.Expression {
    path == "$source" ? .variable("source") : value(path.hasPrefix("$source.") ? String(path.dropFirst(8)) : path)
  }
}
