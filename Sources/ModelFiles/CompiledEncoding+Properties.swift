import PropertyLists
import StoreQuery
import StoreSchema

extension CompiledEncoding {
  mutating func encode(_ property: PropertyRecord, of entity: String) throws(ModelFileError) {
    let reference = self.property(property.name, of: entity)
    var values = try common(property)
    values["NSEntity"] = self.entity(entity).value
    let className: [String]
    switch property.kind {
    case .attribute(let attribute): className = try encode(attribute, into: &values)
    case .relationship(let relationship): className = encode(relationship, into: &values)
    case .fetchedProperty(let request):
      values["NSFetchRequest"] = try fetchRequest(request).value
      values["_NSFetchRequestEntityName"] = string(request.entityName)
      className = ["NSFetchedPropertyDescription"]
    }
    writer.fill(reference, classes: className + ["NSPropertyDescription", "NSObject"], values: values)
  }

  private mutating func common(_ property: PropertyRecord) throws(ModelFileError) -> [String: PropertyList] {
    var values: [String: PropertyList] = [
      "NSPropertyName": string(property.name), "NSRenamingIdentifier": string(property.renamingIdentifier),
      "_P": .integer(summary(of: property)),
    ]
    let flags = [
      ("NSIsOptional", property.isOptional), ("NSIsTransient", property.isTransient),
      ("NSIsIndexed", property.isIndexed), ("NSIsReadOnly", property.isReadOnly),
      (OwnKeys.spotlight, property.isIndexedBySpotlight), (OwnKeys.externalRecord, property.isStoredInExternalRecord),
    ]
    for (key, isSet) in flags where isSet { values[key] = .bool(true) }
    if let modifier = property.versionHashModifier { values["NSVersionHashModifier"] = string(modifier) }
    if !property.userInfo.isEmpty { values["NSUserInfo"] = userInfo(property.userInfo) }
    guard !property.validations.isEmpty else { return values }
    var predicates: [Reference] = []
    for validation in property.validations { predicates.append(try encode(validation.predicate, depth: 0)) }
    let warnings = property.validations.map { validation in
      switch validation.warning {
      case .text(let text): writer.add(.string(text))
      case .code(let code): writer.add(.integer(code))
      case nil: writer.addNullObject()
      }
    }
    values["NSValidationPredicates"] = writer.add(array: predicates).value
    values["NSValidationWarnings"] = writer.add(array: warnings).value
    return values
  }

  /// The bits of "_P". They repeat other keys.
  private func summary(of property: PropertyRecord) -> Int64 {
    let isOrdered = if case .relationship(let relationship) = property.kind { relationship.isOrdered } else { false }
    let bits: [(Int64, Bool)] = [
      (1, true), (2, property.isOptional), (4, property.isReadOnly), (8, property.isTransient),
      (16, property.validations.isEmpty), (32, property.validations.isEmpty), (64, property.userInfo.isEmpty),
      (128, true), (1024, isOrdered),
    ]
    return bits.reduce(0) { $1.1 ? $0 | $1.0 : $0 }
  }

  private mutating func encode(
    _ relationship: RelationshipRecord, into values: inout [String: PropertyList]
  ) -> [String] {
    let destination = relationship.destinationEntity
    values["NSDestinationEntity"] = entity(destination).value
    values["_NSDestinationEntityName"] = string(destination)
    values["NSInverseRelationship"] = property(relationship.inverseName, of: destination).value
    values["_NSInverseRelationshipName"] = string(relationship.inverseName)
    values["NSMinCount"] = .integer(Int64(relationship.minCount))
    values["NSMaxCount"] = .integer(Int64(relationship.maxCount))
    values["NSDeleteRule"] = .integer(Int64(relationship.deleteRule))
    if relationship.isOrdered { values["NSIsOrdered"] = .bool(true) }
    return ["NSRelationshipDescription"]
  }

  /// Recurses into nested composites, up to ``ModelRecord/compositeLimit``.
  private mutating func encode(
    _ attribute: AttributeRecord, into values: inout [String: PropertyList], nesting: Int = 0
  ) throws(ModelFileError) -> [String] {
    let type = AttributeTypeName(rawValue: attribute.type)
    guard let value = CompiledValue.reference(to: attribute.defaultValue, type: type, in: &writer) else {
      throw ModelFileError(.unsupported, "a default value is a reference to an object")
    }
    let flags =
      (attribute.allowsExternalBinaryDataStorage ? AttributeFlags.allowsExternalBinaryDataStorage : 0)
      | (attribute.preservesValueInHistoryOnDeletion ? AttributeFlags.preservesValueInHistoryOnDeletion : 0)
    values["NSAttributeType"] = .integer(Int64(attribute.type))
    values["NSAttributeValueClassName"] = string(attribute.valueClassName)
    values["NSDefaultValue"] = value.value
    values["NSValueTransformerName"] = string(attribute.valueTransformerName)
    values["NSFlagsKey"] = .integer(flags)
    if attribute.allowsCloudEncryption { values[OwnKeys.cloudEncryption] = .bool(true) }
    if let derivation = attribute.derivation {
      values["NSDerivationExpression"] = try encode(derivation, depth: 0).value
      values["NSFilteringPredicate"] = Reference.null.value
      return ["NSDerivedAttributeDescription", "NSAttributeDescription"]
    }
    guard let elements = attribute.elements else { return ["NSAttributeDescription"] }
    guard nesting < ModelRecord.compositeLimit else {
      throw ModelFileError(.unsupported, "composite attributes are nested too deeply")
    }
    var references: [Reference] = []
    for element in elements {
      guard case .attribute(let inner) = element.kind else {
        throw ModelFileError(.unsupported, "the element \(element.name) of a composite is no attribute")
      }
      var fields = try common(element)
      let className = try encode(inner, into: &fields, nesting: nesting + 1)
      references.append(writer.add(classes: className + ["NSPropertyDescription", "NSObject"], values: fields))
    }
    values["NSCompositeElements"] = writer.add(array: references, isMutable: true).value
    return ["NSCompositeAttributeDescription", "NSAttributeDescription"]
  }

  mutating func fetchRequest(_ request: FetchRequestRecord) throws(ModelFileError) -> Reference {
    let bits: [(Int64, Bool)] = [
      (FetchRequestFlags.returnsDistinctResults, request.returnsDistinctResults),
      (FetchRequestFlags.includesSubentities, request.includesSubentities),
      (FetchRequestFlags.includesPropertyValues, request.includesPropertyValues),
      (FetchRequestFlags.returnsObjectsAsFaults, request.returnsObjectsAsFaults),
      (FetchRequestFlags.includesPendingChanges, request.includesPendingChanges),
    ]
    let properties = request.propertiesToFetch.map { writer.add(array: strings($0)) } ?? .null
    var values: [String: PropertyList] = [
      "NSEntity": entity(request.entityName).value, "NSPredicate": try optional(request.predicate).value,
      "NSSortDescriptors": list(request.sortDescriptors.map { encode($0) }).value,
      "NSFetchLimit": .integer(Int64(request.fetchLimit)), "NSFetchOffset": .integer(Int64(request.fetchOffset)),
      "NSBatchSize": .integer(Int64(request.fetchBatchSize)), "NSResultType": .integer(Int64(request.resultType)),
      "NSHasFetchRequestFlags": .bool(true),
      "NSFetchRequestFlags": .integer(bits.reduce(0) { $1.1 ? $0 | $1.0 : $0 }),
      "NSValuesToFetch": properties.value,
      "NSValuesToGroupBy": list(strings(request.propertiesToGroupBy)).value,
      "NSHavingPredicate": try optional(request.havingPredicate).value,
      "NSRelationshipKeyPathsForPrefetching": list(strings(request.relationshipKeyPathsForPrefetching)).value,
      "NSAllocationType": .integer(0),
    ]
    if entity(request.entityName) == .null { values[OwnKeys.requestEntity] = string(request.entityName) }
    if request.shouldRefreshRefetchedObjects { values[OwnKeys.refreshesObjects] = .bool(true) }
    return writer.add(classes: ["NSFetchRequest", "NSPersistentStoreRequest", "NSObject"], values: values)
  }

  /// An array, or nil if it is empty: Apple writes the lists of a fetch request so.
  private mutating func list(_ elements: [Reference]) -> Reference {
    elements.isEmpty ? .null : writer.add(array: elements)
  }

  mutating func encode(_ sort: SortRecord) -> Reference {
    writer.add(
      classes: ["NSSortDescriptor", "NSObject"],
      values: [
        "NSKey": string(sort.key), "NSAscending": .bool(sort.isAscending), "NSSelector": string(sort.selector),
        "NSReverseNullOrder": .bool(false),
      ])
  }
}
