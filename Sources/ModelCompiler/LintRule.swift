/// A rule for source models. Its raw value names it in JSON and in the documentation.
///
/// The texts of rules marked "Apple's" were seen in the output of Apple's compiler; the others are our own, because the
/// compiler's are not known.
public enum LintRule: String, CaseIterable, Hashable, Sendable {
  // Errors: the model has no meaning.

  /// A relationship has no destination entity, or one that the model does not have.
  case destination
  /// The inverse of a relationship is not a relationship of the destination entity.
  case unknownInverse = "unknown-inverse"
  /// A property has a name that every managed object uses for something else.
  case reservedName = "reserved-name"
  /// Two properties of an entity, inherited ones included, have the same name, or names that differ by case alone.
  case doubleName = "double-name"
  /// The least number of a relationship's objects is larger than the greatest.
  case counts
  /// A fetch request or a fetched property is for an entity that the model does not have.
  case requestEntity = "request-entity"
  /// A configuration has an entity that the model does not have.
  case configurationEntity = "configuration-entity"
  /// A fetch index is for a property that the entity does not have.
  case indexProperty = "index-property"
  /// Two fetch indexes of an entity have the same name. Apple's text.
  case doubleIndex = "double-index"
  /// A uniqueness constraint is for a property that the entity does not have.
  case constraintProperty = "constraint-property"
  /// An attribute in a model for CloudKit is neither optional nor has a default value. Apple's text.
  case cloudDefault = "cloud-default"

  // Warnings.

  /// A to-one relationship has no inverse. Apple's text.
  case inverse
  /// A to-many relationship has no inverse. Apple's text.
  case inverseOfMany = "inverse-of-many"
  /// The inverse of a relationship has another inverse, or none. Apple's text.
  case reciprocal
  /// A relationship names another entity for its inverse than its destination. Only the inverse's name is compiled.
  case inverseEntity = "inverse-entity"
  /// Deleting an object leaves its destination's references to it as they are.
  case noAction = "no-action"
  /// A transformable attribute has no secure transformer. Apple's text.
  case transformer
  /// The text of a default value is not a value of the attribute's type, so the attribute has no default.
  case defaultValue = "default-value"
  /// The text of a least or greatest value is not a value of the attribute's type, so the attribute has no such bound.
  case boundValue = "bound-value"
  /// The least value of an attribute is larger than the greatest, or its default is outside both.
  case bounds
  /// The regular expression of an attribute is not valid.
  case pattern
  /// The name of an entity begins with a lower-case letter. Xcode does not accept such a name.
  case entityCase = "entity-case"
  /// The name of a property begins with an upper-case letter. Xcode does not accept such a name.
  case propertyCase = "property-case"
  /// A property has the name of an inherited one, but another kind, type or cardinality, or a destination that is no
  /// subentity of the inherited one. No store can be opened with such a model.
  case redefinition
  /// An entity has more than 100 properties.
  case propertyCount = "property-count"
  /// An abstract entity has no subentities, so no object of it can exist.
  case abstractLeaf = "abstract-leaf"
  /// A model for CloudKit has a uniqueness constraint, or a relationship that is ordered, required, without inverse or
  /// with the deletion rule Deny. Apple's framework does not open a store with it.
  case cloud

  /// What breaking the rule does.
  public var severity: ModelDiagnostic.Severity {
    switch self {
    case .destination, .unknownInverse, .reservedName, .doubleName, .counts, .requestEntity, .configurationEntity,
      .indexProperty, .doubleIndex, .constraintProperty, .redefinition, .cloudDefault:
      .error
    case .inverse, .inverseOfMany, .reciprocal, .inverseEntity, .noAction, .transformer, .defaultValue, .boundValue,
      .bounds, .pattern, .entityCase, .propertyCase, .propertyCount, .abstractLeaf, .cloud:
      .warning
    }
  }
}
