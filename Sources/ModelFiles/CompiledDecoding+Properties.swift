import PropertyLists
import StoreQuery
import StoreSchema

/// Bits of NSFlagsKey of an attribute.
enum AttributeFlags {
  static let allowsExternalBinaryDataStorage: Int64 = 4
  static let preservesValueInHistoryOnDeletion: Int64 = 16
}

/// Bits of NSFetchRequestFlags. The bits 2 and 8 are inferred from the order of the others.
enum FetchRequestFlags {
  static let returnsDistinctResults: Int64 = 1
  static let includesSubentities: Int64 = 2
  static let includesPropertyValues: Int64 = 4
  static let returnsObjectsAsFaults: Int64 = 8
  static let includesPendingChanges: Int64 = 16
}

extension CompiledDecoding {
  mutating func property(_ archived: ArchivedObject) throws(ModelFileError) -> PropertyRecord {
    try spend()
    // A proxy stands for the property of another entity. Where the entity inherits nothing, that property is its own.
    let object = archived["NSUnderlyingProperty"] ?? archived
    return PropertyRecord(
      name: try name(of: object, "NSPropertyName"), kind: try kind(object),
      isOptional: object["NSIsOptional"]?.bool ?? false, isTransient: object["NSIsTransient"]?.bool ?? false,
      isIndexed: object["NSIsIndexed"]?.bool ?? false, isReadOnly: object["NSIsReadOnly"]?.bool ?? false,
      renamingIdentifier: object["NSRenamingIdentifier"]?.string,
      versionHashModifier: object["NSVersionHashModifier"]?.string, userInfo: try userInfo(object),
      validations: try validations(object), isIndexedBySpotlight: object[OwnKeys.spotlight]?.bool ?? false,
      isStoredInExternalRecord: object[OwnKeys.externalRecord]?.bool ?? false)
  }

  private mutating func kind(_ object: ArchivedObject) throws(ModelFileError) -> PropertyRecord.Kind {
    if object.isKind(of: "NSAttributeDescription") { return .attribute(try attribute(object, nesting: 0)) }
    if object.isKind(of: "NSRelationshipDescription") { return .relationship(try relationship(object)) }
    if object.isKind(of: "NSFetchedPropertyDescription") {
      guard let request = object["NSFetchRequest"] else {
        throw ModelFileError(.malformed, "a fetched property has no fetch request")
      }
      let entity = object["_NSFetchRequestEntityName"]?.string
      return .fetchedProperty(try fetchRequest(request, name: nil, entityName: entity))
    }
    throw ModelFileError(.unsupported, "a property is of the class \(object.className ?? "none")")
  }

  private mutating func validations(_ object: ArchivedObject) throws(ModelFileError) -> [ValidationRecord] {
    let warnings = object["NSValidationWarnings"]?.array ?? []
    var result: [ValidationRecord] = []
    for (index, predicate) in (object["NSValidationPredicates"]?.array ?? []).enumerated() {
      let warning = warnings.indices.contains(index) ? warnings[index] : nil
      result.append(
        ValidationRecord(
          try self.predicate(predicate, depth: 0),
          warning: warning?.string.map(ValidationRecord.Warning.text)
            ?? warning?.integer.map(ValidationRecord.Warning.code)))
    }
    return result
  }

  private func relationship(_ object: ArchivedObject) throws(ModelFileError) -> RelationshipRecord {
    let destination =
      object["_NSDestinationEntityName"]?.string ?? object["NSDestinationEntity"]?["NSEntityName"]?.string
    guard let destination else { throw ModelFileError(.malformed, "a relationship has no destination") }
    return RelationshipRecord(
      destinationEntity: destination,
      inverseName: object["_NSInverseRelationshipName"]?.string
        ?? object["NSInverseRelationship"]?["NSPropertyName"]?.string,
      minCount: try integer(object, "NSMinCount"), maxCount: try integer(object, "NSMaxCount"),
      deleteRule: try integer(object, "NSDeleteRule"), isOrdered: object["NSIsOrdered"]?.bool ?? false)
  }

  private mutating func attribute(_ object: ArchivedObject, nesting: Int) throws(ModelFileError) -> AttributeRecord {
    let type = try integer(object, "NSAttributeType")
    let flags = object["NSFlagsKey"]?.integer ?? 0
    let defaultValue = try CompiledValue.defaultValue(object["NSDefaultValue"], type: type)
    if case .data(let bytes) = defaultValue { try spend(bytes: bytes.count) }
    var attribute = AttributeRecord(
      type: type, valueClassName: object["NSAttributeValueClassName"]?.string,
      defaultValue: defaultValue,
      valueTransformerName: object["NSValueTransformerName"]?.string.flatMap { $0.isEmpty ? nil : $0 },
      allowsExternalBinaryDataStorage: flags & AttributeFlags.allowsExternalBinaryDataStorage != 0,
      preservesValueInHistoryOnDeletion: flags & AttributeFlags.preservesValueInHistoryOnDeletion != 0,
      allowsCloudEncryption: object[OwnKeys.cloudEncryption]?.bool ?? false,
      derivation: try optionalExpression(object["NSDerivationExpression"]))
    guard object.isKind(of: "NSCompositeAttributeDescription") else { return attribute }
    guard nesting < ModelRecord.compositeLimit else {
      throw ModelFileError(.malformed, "a composite attribute contains itself")
    }
    var elements: [PropertyRecord] = []
    for element in object["NSCompositeElements"]?.array ?? [] {
      var record = try property(element, elementOf: nesting)
      record.isReadOnly = element["NSIsReadOnly"]?.bool ?? false
      elements.append(record)
    }
    attribute.elements = elements
    return attribute
  }

  private mutating func property(
    _ element: ArchivedObject, elementOf nesting: Int
  ) throws(ModelFileError) -> PropertyRecord {
    try spend()
    guard element.isKind(of: "NSAttributeDescription") else {
      throw ModelFileError(.malformed, "an element of a composite is no attribute")
    }
    return PropertyRecord(
      name: try name(of: element, "NSPropertyName"), kind: .attribute(try attribute(element, nesting: nesting + 1)),
      isOptional: element["NSIsOptional"]?.bool ?? false, isTransient: element["NSIsTransient"]?.bool ?? false,
      renamingIdentifier: element["NSRenamingIdentifier"]?.string,
      versionHashModifier: element["NSVersionHashModifier"]?.string, userInfo: try userInfo(element),
      validations: try validations(element))
  }

  func sortDescriptor(_ object: ArchivedObject) throws(ModelFileError) -> SortRecord {
    SortRecord(
      key: try name(of: object, "NSKey"), isAscending: object["NSAscending"]?.bool ?? false,
      selector: object["NSSelector"]?.string)
  }

  mutating func fetchRequest(
    _ object: ArchivedObject, name: String?, entityName: String? = nil
  ) throws(ModelFileError) -> FetchRequestRecord {
    try spend()
    let named = object["NSEntity"]?["NSEntityName"]?.string ?? object[OwnKeys.requestEntity]?.string
    guard let entity = entityName ?? named else {
      throw ModelFileError(.malformed, "the fetch request \(name ?? "of a fetched property") has no entity")
    }
    var request = FetchRequestRecord(
      name: name, entityName: entity, predicate: try optionalPredicate(object["NSPredicate"]),
      resultType: try integer(object, "NSResultType"))
    for descriptor in object["NSSortDescriptors"]?.array ?? [] {
      try spend()
      request.sortDescriptors.append(try sortDescriptor(descriptor))
    }
    request.fetchLimit = rows(object, "NSFetchLimit")
    request.fetchOffset = rows(object, "NSFetchOffset")
    request.fetchBatchSize = rows(object, "NSBatchSize")
    if let properties = object["NSValuesToFetch"] { request.propertiesToFetch = try names(properties) }
    request.propertiesToGroupBy = try names(object["NSValuesToGroupBy"])
    request.relationshipKeyPathsForPrefetching = try names(object["NSRelationshipKeyPathsForPrefetching"])
    request.havingPredicate = try optionalPredicate(object["NSHavingPredicate"])
    request.shouldRefreshRefetchedObjects = object[OwnKeys.refreshesObjects]?.bool ?? false
    if object["NSHasFetchRequestFlags"]?.bool == true, let flags = object["NSFetchRequestFlags"]?.integer {
      request.includesSubentities = flags & FetchRequestFlags.includesSubentities != 0
      request.includesPropertyValues = flags & FetchRequestFlags.includesPropertyValues != 0
      request.includesPendingChanges = flags & FetchRequestFlags.includesPendingChanges != 0
      request.returnsObjectsAsFaults = flags & FetchRequestFlags.returnsObjectsAsFaults != 0
      request.returnsDistinctResults = flags & FetchRequestFlags.returnsDistinctResults != 0
    }
    return request
  }

  private mutating func names(_ list: ArchivedObject?) throws(ModelFileError) -> [String] {
    var result: [String] = []
    for element in list?.array ?? [] {
      try spend()
      // An expression description has a name, too, but it names no property.
      let isProperty = !element.isKind(of: "NSExpressionDescription")
      guard isProperty, let name = element.string ?? element["NSPropertyName"]?.string else {
        throw ModelFileError(.unsupported, "a fetch request names a property by a \(element.className ?? "list")")
      }
      result.append(name)
    }
    return result
  }

  /// A number of rows. It may exceed 32 bits, unlike all other numbers of a model.
  private func rows(_ object: ArchivedObject, _ key: String) -> Int { Int(clamping: object[key]?.integer ?? 0) }
}

/// This library's keys for values that no known key of Apple's compiled models holds. Unarchivers ignore unknown keys.
enum OwnKeys {
  static let spotlight = "OCDIsIndexedBySpotlight"
  static let externalRecord = "OCDIsStoredInExternalRecord"
  static let refreshesObjects = "OCDShouldRefreshRefetchedObjects"
  /// The name of an entity that is not in the model.
  static let requestEntity = "OCDFetchRequestEntityName"
  static let cloudEncryption = "OCDAllowsCloudEncryption"
}
