import PropertyLists
import StoreQuery
import StoreSchema

extension SourceDecoding {
  /// The attributes, relationships and fetched properties of an entity in ascending byte order.
  mutating func properties(_ entity: XMLElement, of entityName: String) throws(ModelFileError) -> [PropertyRecord] {
    var result: [PropertyRecord] = []
    var names: Set<String> = []
    for element in entity.children {
      guard let kind = try kind(element, of: entityName) else { continue }
      let property = try property(element, kind: kind)
      guard names.insert(property.name).inserted else {
        throw ModelFileError(.malformed, "the entity \(entityName) has two properties named \(property.name)")
      }
      result.append(property)
    }
    return result.sorted { $0.name.precedesInBytes($1.name) }
  }

  private mutating func kind(
    _ element: XMLElement, of entityName: String
  ) throws(ModelFileError) -> PropertyRecord.Kind? {
    switch element.name {
    case "attribute": return .attribute(try attribute(element, nesting: 0))
    case "relationship": return .relationship(try relationship(element, of: entityName))
    case "fetchedProperty":
      guard let request = element.children("fetchRequest").first else {
        throw ModelFileError(.malformed, "a fetched property of \(entityName) has no fetch request")
      }
      return .fetchedProperty(try fetchRequest(request, name: nil))
    default: return nil
    }
  }

  private func property(
    _ element: XMLElement, kind: PropertyRecord.Kind
  ) throws(ModelFileError) -> PropertyRecord {
    let name = try element.required("name")
    let isFetched = if case .fetchedProperty = kind { true } else { false }
    let isDerived = if case .attribute(let attribute) = kind { attribute.derivation != nil } else { false }
    var property = PropertyRecord(
      name: name, kind: kind, isOptional: element.flag("optional"),
      isTransient: isFetched || element.flag("transient"), isIndexed: element.flag("indexed"),
      isReadOnly: isFetched || isDerived,
      renamingIdentifier: element.text("elementID") ?? element.text("renamingIdentifier"),
      versionHashModifier: element.text("versionHashModifier"), userInfo: element.userInfo,
      isIndexedBySpotlight: element.flag("spotlightIndexingEnabled"),
      isStoredInExternalRecord: element.flag("storedInTruthFile"))
    if case .attribute(let attribute) = kind {
      property.validations = try SourceValidation.validations(element, type: attribute.type)
    }
    return property
  }

  private func relationship(_ element: XMLElement, of entityName: String) throws(ModelFileError) -> RelationshipRecord {
    guard let destination = element.text("destinationEntity") else {
      let name = "\(entityName).\(element.attributes["name"] ?? "")"
      throw ModelFileError(.malformed, "the relationship \(name) has no destination entity; choose one")
    }
    let rules = ["No Action": 0, "Nullify": 1, "Cascade": 2, "Deny": 3]
    let rule = element.text("deletionRule") ?? "Nullify"
    guard let deleteRule = rules[rule] else { throw ModelFileError(.malformed, "the deletion rule \(rule) is unknown") }
    return RelationshipRecord(
      destinationEntity: destination, inverseName: element.text("inverseName"),
      minCount: try element.integer("minCount") ?? 0,
      maxCount: try element.integer("maxCount") ?? (element.flag("toMany") ? 0 : 1), deleteRule: deleteRule,
      isOrdered: element.flag("ordered"))
  }

  private mutating func attribute(_ element: XMLElement, nesting: Int) throws(ModelFileError) -> AttributeRecord {
    let name = try element.required("name")
    let typeName = element.text("attributeType") ?? AttributeTypeName.undefined.sourceName
    guard let type = AttributeTypeName(sourceName: typeName) else {
      throw ModelFileError(.unsupported, "the attribute \(name) is of the unknown type \(typeName)")
    }
    var attribute = AttributeRecord(
      type: type.rawValue, valueClassName: qualified(element.text("customClassName")) ?? type.valueClassName,
      valueTransformerName: element.text("valueTransformerName"),
      allowsExternalBinaryDataStorage: element.flag("allowsExternalBinaryDataStorage"),
      preservesValueInHistoryOnDeletion: element.flag("preserveAfterDeletion"),
      allowsCloudEncryption: element.flag("allowsCloudEncryption"))
    // The model also has the date as text, in the language of the user who saved it. The interval is used instead.
    if let interval = try element.double("defaultDateTimeInterval") {
      attribute.defaultValue = .date(interval)
    } else if let text = element.attributes["defaultValueString"] {
      attribute.defaultValue = SourceValue.value(text, type: type)
    }
    if element.flag("derived"), let text = element.text("derivationExpression") {
      attribute.derivation = try PredicateText.derivation(text, of: name)
    }
    if type == .composite {
      attribute.elements = try elements(named: try element.required("composite"), nesting: nesting)
    }
    return attribute
  }

  /// The attributes of a composite. Composites may contain other composites, but not themselves.
  private mutating func elements(named name: String, nesting: Int) throws(ModelFileError) -> [PropertyRecord] {
    guard let composite = composites[name] else { throw ModelFileError(.malformed, "there is no composite \(name)") }
    guard nesting < 16 else { throw ModelFileError(.malformed, "the composite \(name) contains itself") }
    var result: [PropertyRecord] = []
    for element in composite.children("attribute") {
      expansionsLeft -= 1
      guard expansionsLeft > 0 else { throw ModelFileError(.unsupported, "composites expand to more than is allowed") }
      result.append(try property(element, kind: .attribute(try attribute(element, nesting: nesting + 1))))
    }
    return result
  }
}

/// The conditions that attributes of a source model state.
enum SourceValidation {
  static func validations(_ element: XMLElement, type: Int) throws(ModelFileError) -> [ValidationRecord] {
    guard let type = AttributeTypeName(rawValue: type) else { return [] }
    var result: [ValidationRecord] = []
    for (isMinimum, prefix) in [(true, "min"), (false, "max")] {
      guard let bound = try bound(element, prefix, type) else { continue }
      let subject: Expression = type == .string ? .keyPath("length") : .evaluatedObject
      let comparison = Predicate.Comparison(
        subject, isMinimum ? .greaterThanOrEqualTo : .lessThanOrEqualTo, .constant(bound))
      let code: Int64 =
        switch type {
        case .string: isMinimum ? 1670 : 1660
        case .date: isMinimum ? 1640 : 1630
        default: isMinimum ? 1620 : 1610
        }
      result.append(ValidationRecord(.comparison(comparison), warning: .code(code)))
    }
    if let pattern = element.text("regularExpressionString") {
      let comparison = Predicate.Comparison(.evaluatedObject, .matches, .constant(.string(pattern)))
      result.append(ValidationRecord(.comparison(comparison), warning: .code(1680)))
    }
    return result
  }

  private static func bound(
    _ element: XMLElement, _ prefix: String, _ type: AttributeTypeName
  ) throws(ModelFileError) -> Value? {
    // The text form of a date is in the language of the user who saved the model.
    if type == .date { return try element.double(prefix + "DateTimeInterval").map(Value.date) }
    guard let text = element.text(prefix + "ValueString") else { return nil }
    let value = SourceValue.value(text, type: type == .string ? .integer64 : type)
    return value.isNull ? nil : value
  }
}
