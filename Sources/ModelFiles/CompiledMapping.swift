import Foundation
import PropertyLists
import StoreQuery

/// Reads and writes compiled mapping models: `.cdm` files, which are keyed archives.
///
/// The keys were seen in one file of Apple's compiler. The archive that is written has the same objects with the same
/// classes, keys and values.
public enum CompiledMapping {
  /// Reads the archive `data`. Throws `notAModel` for another archive, and `malformed` for a damaged one.
  public static func read(_ data: Data) throws(ModelFileError) -> MappingRecord {
    let archive: KeyedArchiveReader
    do { archive = try KeyedArchiveReader(data) } catch { throw ModelFileError(error) }
    guard let root = archive.root(), root.isKind(of: "NSMappingModel") else {
      throw ModelFileError(.notAModel, "the archive holds no mapping model")
    }
    var decoding = CompiledDecoding(objects: archive.objects.count, bytes: data.count)
    var mappings: [EntityMappingRecord] = []
    for object in root["NSEntityMappings"]?.array ?? [] { mappings.append(try decoding.entityMapping(object)) }
    return MappingRecord(entityMappings: mappings)
  }

  /// The archive of a mapping model. Equal ones give equal bytes. Throws `unsupported` for expressions that have no
  /// archived form.
  public static func write(_ mapping: MappingRecord) throws(ModelFileError) -> Data {
    var encoding = CompiledEncoding(ModelRecord())
    var references: [CompiledEncoding.Reference] = []
    var byName: [String: CompiledEncoding.Reference] = [:]
    for entity in mapping.entityMappings {
      let reference = try encoding.encode(entity)
      references.append(reference)
      byName[entity.name] = reference
    }
    let root = encoding.writer.add(
      classes: ["NSMappingModel", "NSObject"],
      values: [
        "NSEntityMappings": encoding.writer.add(array: references).value,
        "NSEntityMappingsByName": encoding.writer.add(dictionary: byName, isMutable: true).value,
      ])
    return encoding.writer.archive(root: root)
  }
}

extension CompiledDecoding {
  fileprivate mutating func entityMapping(_ object: ArchivedObject) throws(ModelFileError) -> EntityMappingRecord {
    try spend()
    var mapping = EntityMappingRecord(
      name: object["NSMappingName"]?.string ?? "", type: Int(clamping: object["NSMappingType"]?.integer ?? 0),
      sourceEntity: object["NSSourceEntityName"]?.string,
      destinationEntity: object["NSDestinationEntityName"]?.string)
    mapping.sourceHash = object["NSSourceEntityVersionHash"]?.data
    mapping.destinationHash = object["NSDestinationEntityVersionHash"]?.data
    mapping.sourceExpression = try optionalExpression(object["NSSourceExpression"])
    mapping.attributeMappings = try propertyMappings(object["NSAttributeMappings"])
    mapping.relationshipMappings = try propertyMappings(object["NSRelationshipMappings"])
    mapping.policyClassName = object["NSEntityMigrationPolicyClassName"]?.string
    mapping.userInfo = object["NSUserInfo"] == nil ? nil : try userInfo(object)
    return mapping
  }

  private mutating func propertyMappings(
    _ object: ArchivedObject?
  ) throws(ModelFileError) -> [PropertyMappingRecord]? {
    guard let elements = object?.array else { return nil }
    var result: [PropertyMappingRecord] = []
    for element in elements {
      try spend()
      var mapping = PropertyMappingRecord(
        name: try name(of: element, "NSDestinationPropertyName"),
        valueExpression: try optionalExpression(element["NSValueExpression"]))
      mapping.userInfo = element["NSUserInfo"] == nil ? nil : try userInfo(element)
      result.append(mapping)
    }
    return result
  }
}

extension CompiledEncoding {
  fileprivate mutating func encode(_ mapping: EntityMappingRecord) throws(ModelFileError) -> Reference {
    let values: [String: PropertyList] = [
      "NSMappingName": string(mapping.name), "NSMappingType": .integer(Int64(clamping: mapping.type)),
      "NSSourceEntityName": string(mapping.sourceEntity), "NSDestinationEntityName": string(mapping.destinationEntity),
      "NSSourceEntityVersionHash": data(mapping.sourceHash),
      "NSDestinationEntityVersionHash": data(mapping.destinationHash),
      "NSSourceExpression": try expression(mapping.sourceExpression),
      "NSAttributeMappings": try encode(mapping.attributeMappings),
      "NSRelationshipMappings": try encode(mapping.relationshipMappings),
      "NSEntityMigrationPolicyClassName": string(mapping.policyClassName),
      "NSUserInfo": optionalUserInfo(mapping.userInfo),
    ]
    return writer.add(classes: ["NSEntityMapping", "NSObject"], values: values)
  }

  private mutating func data(_ bytes: Data?) -> PropertyList { (bytes.map { writer.add(.data($0)) } ?? .null).value }

  private mutating func optionalUserInfo(_ entries: [String: PropertyList]?) -> PropertyList {
    entries.map { userInfo($0) } ?? Reference.null.value
  }

  private mutating func expression(_ expression: StoreQuery.Expression?) throws(ModelFileError) -> PropertyList {
    guard let expression else { return Reference.null.value }
    return try encode(expression, depth: 0).value
  }

  private mutating func encode(_ mappings: [PropertyMappingRecord]?) throws(ModelFileError) -> PropertyList {
    guard let mappings else { return Reference.null.value }
    var references: [Reference] = []
    for mapping in mappings {
      references.append(
        writer.add(
          classes: ["NSPropertyMapping", "NSObject"],
          values: [
            "NSDestinationPropertyName": string(mapping.name),
            "NSValueExpression": try expression(mapping.valueExpression),
            "NSUserInfo": optionalUserInfo(mapping.userInfo), "NSPropertyTransforms": Reference.null.value,
          ]))
    }
    return writer.add(array: references).value
  }
}
