import Foundation
import StoreSchema

/// What happens to a relationship's destinations when its owner is deleted.
public enum NSDeleteRule: UInt, Sendable {
  /// Nothing: the destinations still refer to a deleted object.
  case noActionDeleteRule = 0
  /// The object is removed from the inverse relationship of the destinations.
  case nullifyDeleteRule = 1
  /// The destinations are deleted too.
  case cascadeDeleteRule = 2
  /// The save throws 1600 while there are destinations that are not deleted.
  case denyDeleteRule = 3
}

/// A relationship of an entity.
open class NSRelationshipDescription: NSPropertyDescription {
  /// The destination; nil where it is not known yet.
  open var destinationEntity: NSEntityDescription? {
    get { destination }
    set {
      requireEditable()
      destination = newValue
      destinationName = newValue?.name
    }
  }
  /// The relationship of the destination that leads back; nil for none. It must be set on both relationships.
  open var inverseRelationship: NSRelationshipDescription? {
    get { inverse }
    set {
      requireEditable()
      inverse = newValue
      inverseName = newValue?.name
    }
  }
  // Not owned, because entities point at each other; the model owns them all.
  var destination: NSEntityDescription? {
    get { destinationReference?.target }
    set { destinationReference = newValue?.reference }
  }
  private var destinationReference: BackReference<NSEntityDescription>?
  weak var inverse: NSRelationshipDescription?
  var destinationName: String?
  var inverseName: String?

  /// The most objects that the relationship may have at save: 1 for a to-one relationship, 0 for no limit.
  open var maxCount = 0 { willSet { requireEditable() } }
  /// The fewest objects that the relationship may have at save; 0 for no limit. An optional one may also be empty.
  open var minCount = 0 { willSet { requireEditable() } }
  /// What happens to the destinations when an object is deleted; `nullifyDeleteRule` by default, as Apple's header
  /// states.
  open var deleteRule = NSDeleteRule.nullifyDeleteRule { willSet { requireEditable() } }
  /// Whether the relationship has a set of destinations: true unless ``maxCount`` is 1.
  open var isToMany: Bool { maxCount != 1 }
  /// Whether the destinations of a to-many relationship have an order. Its value is an `NSOrderedSet` then.
  open var isOrdered = false { willSet { requireEditable() } }

  override class func makeEmpty() -> NSPropertyDescription { NSRelationshipDescription() }

  override func take(from other: NSPropertyDescription) {
    super.take(from: other)
    guard let other = other as? NSRelationshipDescription else { return }
    destination = other.destination
    inverse = other.inverse
    destinationName = other.destination?.name ?? other.destinationName
    inverseName = other.inverse?.name ?? other.inverseName
    maxCount = other.maxCount
    minCount = other.minCount
    deleteRule = other.deleteRule
    isOrdered = other.isOrdered
  }

  open override var versionHash: Data {
    isTransient ? Data() : Data(VersionHash.hash(of: definition(), hashing: entityIfAny?.name ?? ""))
  }

  /// The relationship in the form that stores use.
  func definition() -> RelationshipDefinition {
    var result = RelationshipDefinition(name: name, destination: destination?.name ?? destinationName ?? "")
    result.inverse = inverse?.name ?? inverseName
    result.isOptional = isOptional
    result.isOrdered = isOrdered
    result.minCount = minCount
    result.maxCount = maxCount
    result.deleteRule =
      switch deleteRule {
      case .noActionDeleteRule: .noAction
      case .nullifyDeleteRule: .nullify
      case .cascadeDeleteRule: .cascade
      case .denyDeleteRule: .deny
      }
    result.renamingIdentifier = renamingIdentifier ?? name
    result.versionHashModifier = versionHashModifier
    return result
  }
}

/// A property whose value is the result of a fetch: an array in the order of the request.
///
/// The request runs when the value is first read, and again after the object was refreshed
/// (https://developer.apple.com/documentation/coredata/nsfetchedpropertydescription). Its predicate may use
/// `$FETCH_SOURCE`, the object, and `$FETCHED_PROPERTY`, this description (`name` and `userInfo`).
open class NSFetchedPropertyDescription: NSPropertyDescription {
  /// The request whose result is the value. Nil is an error when the model is first used.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { willSet { requireEditable() } }

  override class func makeEmpty() -> NSPropertyDescription { NSFetchedPropertyDescription() }

  override func take(from other: NSPropertyDescription) {
    super.take(from: other)
    fetchRequest =
      (other as? NSFetchedPropertyDescription)?.fetchRequest?.copy() as? NSFetchRequest<any NSFetchRequestResult>
  }
}

/// A named expression for ``NSFetchRequest/propertiesToFetch``. Its name is the key of the result.
open class NSExpressionDescription: NSPropertyDescription {
  /// The expression to compute.
  open var expression: NSExpression? { willSet { requireEditable() } }
  /// The type of the computed value.
  open var expressionResultType = NSAttributeType.undefinedAttributeType { willSet { requireEditable() } }

  /// ``expressionResultType`` in its modern spelling.
  public final var resultType: NSAttributeDescription.AttributeType {
    get { NSAttributeDescription.AttributeType(rawValue: expressionResultType) }
    set { expressionResultType = newValue.rawValue }
  }

  override class func makeEmpty() -> NSPropertyDescription { NSExpressionDescription() }

  override func take(from other: NSPropertyDescription) {
    super.take(from: other)
    guard let other = other as? NSExpressionDescription else { return }
    expression = other.expression
    expressionResultType = other.expressionResultType
  }
}
