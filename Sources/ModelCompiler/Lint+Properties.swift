import Foundation
import ModelFiles
import StoreQuery
import StoreSchema

extension Lint {
  mutating func check(_ property: PropertySource, of entity: EntityRecord) {
    guard let record = self.property(property.name, of: entity.name) else { return }
    let name = "\(entity.name).\(property.name)"
    switch record.kind {
    case .attribute(let attribute):
      check(attribute, record, name, inCloud: isForCloudKit(entity.name))
      let isText = attribute.type == AttributeTypeName.string.rawValue
      checkTexts(property, name, bound: isText ? "no length" : "not of its type")
    case .relationship(let relationship):
      check(relationship, record, of: entity, name)
      let destination = relationship.destinationEntity
      if let other = property.inverseEntity, !lineage(destination).contains(where: { $0.name == other }) {
        add(
          .inverseEntity, name,
          "\(name) has an inverse of the entity \(other), but the destination \(destination); choose the inverse again")
      }
    case .fetchedProperty(let request):
      if entities[request.entityName] == nil {
        add(
          .requestEntity, name, "\(name) fetches the entity \(request.entityName), which the model does not have")
      }
    }
  }

  // MARK: Attributes

  /// The attributes of composites, as far as their values cannot be read.
  mutating func checkComposites() {
    for composite in source.composites {
      for attribute in composite.properties {
        checkTexts(attribute, "\(composite.name).\(attribute.name)", bound: "not of its type")
      }
    }
  }

  private mutating func checkTexts(_ property: PropertySource, _ name: String, bound kind: String) {
    if let text = property.unreadableDefault {
      add(.defaultValue, name, "\(name) has the default value \"\(text)\", which is not of its type; correct it")
    }
    for (word, text) in [("minimum", property.unreadableMinimum), ("maximum", property.unreadableMaximum)] {
      guard let text else { continue }
      add(.boundValue, name, "\(name) has the \(word) \"\(text)\", which is \(kind); correct it")
    }
  }

  /// The names of transformers that decode any class.
  private static let insecureTransformers: Set<String> = ["NSUnarchiveFromData", "NSKeyedUnarchiveFromData"]

  private mutating func check(
    _ attribute: AttributeRecord, _ property: PropertyRecord, _ name: String, inCloud: Bool
  ) {
    if AttributeTypeName(rawValue: attribute.type) == .transformable,
      attribute.valueTransformerName.map(Self.insecureTransformers.contains) ?? true
    {
      add(
        .transformer, name,
        """
        \(name) is using a nil or insecure value transformer. Please switch to \
        NSSecureUnarchiveFromDataTransformerName or a custom NSValueTransformer subclass of \
        NSSecureUnarchiveFromDataTransformer
        """)
    }
    // A composite and a derived attribute cannot have a default value.
    let mayHaveDefault = attribute.elements == nil && attribute.derivation == nil
    if inCloud, mayHaveDefault, !property.isOptional, !property.isTransient, attribute.defaultValue.isNull {
      add(.cloudDefault, name, "\(name) must have a default value")
    }
    checkBounds(attribute, property, name)
    for pattern in property.validations.compactMap(\.pattern) {
      do { _ = try NSRegularExpression(pattern: pattern) } catch {
        add(.pattern, name, "\(name) has the regular expression \(pattern), which is not valid; no value can match it")
      }
    }
  }

  private mutating func checkBounds(_ attribute: AttributeRecord, _ property: PropertyRecord, _ name: String) {
    let bounds = property.validations.compactMap(\.bound)
    let least = bounds.first { $0.isMinimum }?.value
    let greatest = bounds.first { !$0.isMinimum }?.value
    if let least, let greatest, least > greatest {
      add(.bounds, name, "\(name) has the minimum \(least) and the maximum \(greatest), so no value is valid")
    } else if let value = attribute.defaultValue.measure {
      if let least, value < least { add(.bounds, name, "\(name) has a default value below its minimum \(least)") }
      if let greatest, value > greatest {
        add(.bounds, name, "\(name) has a default value above its maximum \(greatest)")
      }
    }
  }

  // MARK: Relationships

  private mutating func check(
    _ relationship: RelationshipRecord, _ property: PropertyRecord, of entity: EntityRecord, _ name: String
  ) {
    let destination = relationship.destinationEntity
    guard entities[destination] != nil else {
      return add(.destination, name, "\(name) has the destination \(destination), which the model does not have")
    }
    if relationship.maxCount > 0, relationship.minCount > relationship.maxCount {
      add(
        .counts, name,
        "\(name) has at least \(relationship.minCount) and at most \(relationship.maxCount) objects; correct the counts"
      )
    }
    if relationship.deleteRule == 0 {
      add(.noAction, name, "Setting the No Action Delete Rule on \(name) is an advanced setting")
    }
    checkInverse(relationship, of: entity, name)
    if isForCloudKit(entity.name) { checkForCloudKit(relationship, property, name) }
  }

  private mutating func checkInverse(_ relationship: RelationshipRecord, of entity: EntityRecord, _ name: String) {
    guard let inverseName = relationship.inverseName else {
      guard relationship.maxCount != 1 else { return add(.inverse, name, "\(name) should have an inverse") }
      return add(
        .inverseOfMany, name,
        """
        \(name) does not have an inverse; this is an advanced setting (no object can be in multiple destinations for a \
        specific relationship)
        """)
    }
    guard case .relationship(let inverse)? = property(inverseName, of: relationship.destinationEntity)?.kind else {
      return add(
        .unknownInverse, name,
        "\(name) has the inverse \(relationship.destinationEntity).\(inverseName), which is not a relationship")
    }
    // The name behind the last point. The inverse leads to the entity or to one that it inherits from.
    guard inverse.inverseName == String(name.dropFirst(entity.name.count + 1)),
      lineage(entity.name).contains(where: { $0.name == inverse.destinationEntity })
    else {
      return add(
        .reciprocal, name, "The inverse relationship for \(name) does not reciprocate an inverse relationship")
    }
  }

  private mutating func checkForCloudKit(
    _ relationship: RelationshipRecord, _ property: PropertyRecord, _ name: String
  ) {
    if !property.isOptional { add(.cloud, name, "\(name) must be optional, because CloudKit requires it") }
    if relationship.inverseName == nil {
      add(.cloud, name, "\(name) must have an inverse, because CloudKit requires it")
    }
    if relationship.isOrdered, relationship.maxCount != 1 {
      add(.cloud, name, "\(name) is ordered, which CloudKit does not support; keep the order in an attribute")
    }
    if relationship.deleteRule == 3 {
      add(.cloud, name, "\(name) has the deletion rule Deny, which CloudKit does not support; choose another")
    }
  }
}

extension ValidationRecord {
  /// The pattern that the value must match.
  fileprivate var pattern: String? {
    guard case .comparison(let comparison) = predicate, comparison.op == .matches,
      case .literal(let literal) = comparison.right, case .string(let text) = literal.value
    else { return nil }
    return text
  }

  /// The least or greatest value, where it is a number.
  fileprivate var bound: (value: Double, isMinimum: Bool)? {
    guard case .comparison(let comparison) = predicate, case .literal(let literal) = comparison.right,
      [.greaterThanOrEqualTo, .lessThanOrEqualTo].contains(comparison.op), let value = literal.value.number
    else { return nil }
    return (value, comparison.op == .greaterThanOrEqualTo)
  }
}

extension Value {
  fileprivate var number: Double? {
    switch self {
    case .int(let value): Double(value)
    case .double(let value), .date(let value): value
    case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue
    default: nil
    }
  }

  /// What is compared with bounds: a number, or the length of a text.
  fileprivate var measure: Double? {
    if case .string(let text) = self { return Double(text.utf16.count) }
    return number
  }
}
