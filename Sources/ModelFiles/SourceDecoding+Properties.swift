import PropertyLists
import StoreQuery
import StoreSchema

extension SourceDecoding {
  /// The attributes, relationships and fetched properties of an entity in ascending byte order.
  mutating func properties(_ entity: XMLElement, of entityName: String) throws(ModelFileError) -> [PropertyRecord] {
    var result: [PropertyRecord] = []
    var names: Set<String> = []
    for element in entity.children {
      do {
        guard let kind = try kind(element) else { continue }
        result.append(try property(element, kind: kind))
      } catch {
        throw error.at(element.text("name").map { "\(entityName).\($0)" } ?? entityName)
      }
      guard let name = result.last?.name, names.insert(name).inserted else {
        throw ModelFileError(
          .malformed, "the entity \(entityName) has two properties named \(result.last?.name ?? "")",
          element: "\(entityName).\(result.last?.name ?? "")")
      }
    }
    return result.sorted { $0.name.precedesInBytes($1.name) }
  }

  private mutating func kind(_ element: XMLElement) throws(ModelFileError) -> PropertyRecord.Kind? {
    switch element.name {
    case "attribute": return .attribute(try attribute(element, nesting: 0))
    case "relationship": return .relationship(try relationship(element))
    case "fetchedProperty":
      guard let request = element.children("fetchRequest").first else {
        throw ModelFileError(.malformed, "the fetched property has no fetch request")
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

  private func relationship(_ element: XMLElement) throws(ModelFileError) -> RelationshipRecord {
    guard let destination = element.text("destinationEntity") else {
      throw ModelFileError(.malformed, "the relationship has no destination entity; choose one")
    }
    let rules = ["No Action": 0, "Nullify": 1, "Cascade": 2, "Deny": 3]
    let rule = element.text("deletionRule") ?? "Nullify"
    guard let deleteRule = rules[rule] else { throw ModelFileError(.malformed, "the deletion rule \(rule) is unknown") }
    return RelationshipRecord(
      destinationEntity: destination, inverseName: element.text("inverseName"),
      minCount: try element.count("minCount") ?? 0,
      maxCount: try element.count("maxCount") ?? (element.flag("toMany") ? 0 : 1), deleteRule: deleteRule,
      isOrdered: element.flag("ordered"))
  }

  private mutating func attribute(_ element: XMLElement, nesting: Int) throws(ModelFileError) -> AttributeRecord {
    let typeName = element.text("attributeType") ?? AttributeTypeName.undefined.sourceName
    guard let type = AttributeTypeName(sourceName: typeName) else {
      throw ModelFileError(.unsupported, "the attribute is of the unknown type \(typeName)")
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
    if element.flag("derived") {
      guard let text = element.text("derivationExpression") else {
        throw ModelFileError(.malformed, "the derived attribute has no derivation expression; write one")
      }
      attribute.derivation = try PredicateText.derivation(text)
    }
    if type == .composite {
      attribute.elements = try elements(named: try element.required("composite"), nesting: nesting)
    }
    return attribute
  }

  /// The attributes of a composite. Composites may contain other composites, but not themselves, so the recursion
  /// ends at ``ModelRecord/compositeLimit``.
  private mutating func elements(named name: String, nesting: Int) throws(ModelFileError) -> [PropertyRecord] {
    guard let composite = composites[name] else { throw ModelFileError(.malformed, "there is no composite \(name)") }
    guard nesting < ModelRecord.compositeLimit else {
      throw ModelFileError(.malformed, "the composite \(name) contains itself", element: name)
    }
    var result: [PropertyRecord] = []
    for element in composite.children("attribute") {
      expansionsLeft -= 1
      guard expansionsLeft > 0 else { throw ModelFileError(.unsupported, "composites expand to more than is allowed") }
      do {
        result.append(try property(element, kind: .attribute(try attribute(element, nesting: nesting + 1))))
      } catch {
        throw error.at(element.text("name").map { "\(name).\($0)" } ?? name)
      }
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
    let value = SourceValue.value(text, type: type.typeOfBounds)
    return value.isNull ? nil : value
  }

  /// The text of a bound where it is none: the attribute then has no such bound. `prefix` is `min` or `max`.
  static func unreadableBound(_ element: XMLElement, _ prefix: String, _ type: AttributeTypeName) -> String? {
    guard let text = element.text(prefix + "ValueString") else { return nil }
    if type == .date { return element.text(prefix + "DateTimeInterval") == nil ? text : nil }
    return SourceValue.value(text, type: type.typeOfBounds).isNull ? text : nil
  }
}

extension AttributeTypeName {
  /// The type of the least and the greatest value. A text has a least and a greatest length. A bound of a number may be
  /// out of the range of its type: each value keeps it, or none does.
  fileprivate var typeOfBounds: AttributeTypeName {
    if self == .float { return .double }
    return [.string, .integer16, .integer32].contains(self) ? .integer64 : self
  }
}
