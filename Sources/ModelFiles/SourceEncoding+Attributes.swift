import StoreQuery
import StoreSchema

extension SourceEncoding {
  mutating func add(
    _ attribute: AttributeRecord, _ property: PropertyRecord, to attributes: inout [String: String], _ owner: String
  ) {
    let known = AttributeTypeName(rawValue: attribute.type)
    if known == nil { omit("\(owner) has the unknown type \(attribute.type).") }
    let type = known ?? .undefined
    attributes["attributeType"] = type == .undefined ? nil : type.sourceName
    if attribute.valueClassName != type.valueClassName { attributes["customClassName"] = attribute.valueClassName }
    attributes["valueTransformerName"] = attribute.valueTransformerName
    attributes["allowsExternalBinaryDataStorage"] = flag(attribute.allowsExternalBinaryDataStorage)
    attributes["preserveAfterDeletion"] = flag(attribute.preservesValueInHistoryOnDeletion)
    attributes["allowsCloudEncryption"] = flag(attribute.allowsCloudEncryption)
    if let derivation = attribute.derivation {
      attributes["derived"] = "YES"
      attributes["derivationExpression"] = PredicateText.text(ofDerivation: derivation)
    }
    if let elements = attribute.elements { attributes["composite"] = composite(elements, property.name) }
    attributes["usesScalarValueType"] = type.usualScalarUse
    if let text = SourceValue.text(attribute.defaultValue, type: type) {
      attributes[key("default", attribute.defaultValue)] = text
    } else if !attribute.defaultValue.isNull {
      omit("\(owner) has a default value that a source cannot express.")
    }
    add(property.validations, type, to: &attributes, owner)
  }

  /// The limits and the pattern that a source states. Xcode makes no other conditions.
  private mutating func add(
    _ validations: [ValidationRecord], _ type: AttributeTypeName, to attributes: inout [String: String], _ owner: String
  ) {
    let subject: Expression = type == .string ? .keyPath("length") : .evaluatedObject
    for validation in validations {
      guard case .comparison(let comparison) = validation.predicate, let value = comparison.right.literal else {
        omit("\(owner) has the condition \(validation.predicate.format), which a source cannot express.")
        continue
      }
      if let bound = bound(comparison, subject),
        let text = SourceValue.text(value, type: type == .string ? .integer64 : type)
      {
        attributes[key(bound, value)] = text
      } else if comparison.op == .matches, case .string(let pattern) = value {
        attributes["regularExpressionString"] = pattern
      } else {
        omit("\(owner) has the condition \(validation.predicate.format), which a source cannot express.")
      }
    }
  }

  /// Dates have attributes of their own, because the text of a date is in the language of the user.
  private func key(_ prefix: String, _ value: Value) -> String {
    if case .date = value { return prefix + "DateTimeInterval" }
    return prefix + "ValueString"
  }

  private func bound(_ comparison: Predicate.Comparison, _ subject: Expression) -> String? {
    guard comparison.left == subject else { return nil }
    return switch comparison.op {
    case .greaterThanOrEqualTo: "min"
    case .lessThanOrEqualTo: "max"
    default: nil
    }
  }
}

extension AttributeTypeName {
  /// The `usesScalarValueType` of a new attribute in Xcode; nil for types that have none.
  fileprivate var usualScalarUse: String? {
    switch self {
    case .integer16, .integer32, .integer64, .double, .float, .boolean: "YES"
    case .date, .uuid: "NO"
    default: nil
    }
  }
}
