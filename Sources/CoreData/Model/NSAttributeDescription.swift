import Foundation
import StoreSchema

/// The type of an attribute.
public enum NSAttributeType: UInt, Sendable {
  /// No type. Stores keep no such attribute: it must be transient.
  case undefinedAttributeType = 0
  /// A whole number of 16 bits. A value outside of its range is an error of validation.
  case integer16AttributeType = 100
  /// A whole number of 32 bits. A value outside of its range is an error of validation.
  case integer32AttributeType = 200
  /// A whole number of 64 bits.
  case integer64AttributeType = 300
  /// A decimal number of up to 38 digits, an `NSDecimalNumber`.
  case decimalAttributeType = 400
  /// A floating-point number of 64 bits. A value that is not a number (NaN) is an error of validation.
  case doubleAttributeType = 500
  /// A floating-point number of 32 bits. A value that is not a number (NaN) is an error of validation.
  case floatAttributeType = 600
  /// A string.
  case stringAttributeType = 700
  /// A truth value.
  case booleanAttributeType = 800
  /// A date. Stores keep it in seconds since 2001-01-01T00:00:00Z, with the fraction of a `Double`.
  case dateAttributeType = 900
  /// Bytes, a `Data`.
  case binaryDataAttributeType = 1000
  /// A `UUID`, of 16 bytes.
  case UUIDAttributeType = 1100
  /// A `URL`, stored as text.
  case URIAttributeType = 1200
  /// A value that a ``ValueTransformer`` turns into data. Predicates cannot look into it.
  case transformableAttributeType = 1800
  /// An ``NSManagedObjectID``, as a type of results. A store keeps no such attribute.
  case objectIDAttributeType = 2000
  /// A dictionary of named elements; see ``NSCompositeAttributeDescription``.
  case compositeAttributeType = 2100
}

/// An attribute of an entity: a property that has a value of one type.
open class NSAttributeDescription: NSPropertyDescription {
  /// The modern spelling of ``NSAttributeType``.
  public struct AttributeType: RawRepresentable, Hashable, Sendable {
    /// The type as an ``NSAttributeType``.
    public let rawValue: NSAttributeType
    /// The type for an ``NSAttributeType``.
    public init(rawValue: NSAttributeType) { self.rawValue = rawValue }
    /// ``NSAttributeType/undefinedAttributeType``: no type.
    public static let undefined = Self(rawValue: .undefinedAttributeType)
    /// ``NSAttributeType/integer16AttributeType``: a whole number of 16 bits.
    public static let integer16 = Self(rawValue: .integer16AttributeType)
    /// ``NSAttributeType/integer32AttributeType``: a whole number of 32 bits.
    public static let integer32 = Self(rawValue: .integer32AttributeType)
    /// ``NSAttributeType/integer64AttributeType``: a whole number of 64 bits.
    public static let integer64 = Self(rawValue: .integer64AttributeType)
    /// ``NSAttributeType/decimalAttributeType``: a decimal number.
    public static let decimal = Self(rawValue: .decimalAttributeType)
    /// ``NSAttributeType/doubleAttributeType``: a floating-point number of 64 bits.
    public static let double = Self(rawValue: .doubleAttributeType)
    /// ``NSAttributeType/floatAttributeType``: a floating-point number of 32 bits.
    public static let float = Self(rawValue: .floatAttributeType)
    /// ``NSAttributeType/stringAttributeType``: a string.
    public static let string = Self(rawValue: .stringAttributeType)
    /// ``NSAttributeType/booleanAttributeType``: a truth value.
    public static let boolean = Self(rawValue: .booleanAttributeType)
    /// ``NSAttributeType/dateAttributeType``: a date.
    public static let date = Self(rawValue: .dateAttributeType)
    /// ``NSAttributeType/binaryDataAttributeType``: bytes.
    public static let binaryData = Self(rawValue: .binaryDataAttributeType)
    /// ``NSAttributeType/UUIDAttributeType``: a `UUID`.
    public static let uuid = Self(rawValue: .UUIDAttributeType)
    /// ``NSAttributeType/URIAttributeType``: a `URL`.
    public static let uri = Self(rawValue: .URIAttributeType)
    /// ``NSAttributeType/transformableAttributeType``: a value that a transformer turns into data.
    public static let transformable = Self(rawValue: .transformableAttributeType)
    /// ``NSAttributeType/objectIDAttributeType``: an object ID, as a type of results.
    public static let objectID = Self(rawValue: .objectIDAttributeType)
    /// ``NSAttributeType/compositeAttributeType``: a dictionary of named elements.
    public static let composite = Self(rawValue: .compositeAttributeType)
  }

  /// The type of the attribute's values. Changing it sets ``attributeValueClassName`` to the class of the new type.
  open var attributeType = NSAttributeType.undefinedAttributeType {
    willSet { requireEditable() }
    didSet { if attributeType != oldValue { valueClassName = nil } }
  }

  /// ``attributeType`` in its modern spelling.
  public final var type: AttributeType {
    get { AttributeType(rawValue: attributeType) }
    set { attributeType = newValue.rawValue }
  }

  private var valueClassName: String?
  /// The name of the class of the attribute's values. Nil for an undefined or transformable attribute whose model names
  /// no class.
  open var attributeValueClassName: String? {
    get { valueClassName ?? Self.defaultClassName(attributeType) }
    set {
      requireEditable()
      valueClassName = newValue
    }
  }

  /// The initial value of a new object; nil for none. Fetched objects do not get it.
  ///
  /// A default of the wrong type is an error when the model is first used.
  open var defaultValue: Any? { willSet { requireEditable() } }
  /// The registered name of the transformer of a transformable attribute; nil for the secure default.
  open var valueTransformerName: String? { willSet { requireEditable() } }
  /// Whether large binary values may be kept in files of their own. Part of the version hash.
  open var allowsExternalBinaryDataStorage = false { willSet { requireEditable() } }
  /// Whether the value is kept in persistent history when its object is deleted. Part of the version hash.
  open var preservesValueInHistoryOnDeletion = false { willSet { requireEditable() } }
  /// Kept for model files. It has no effect, because there is no CloudKit here.
  open var allowsCloudEncryption = false { willSet { requireEditable() } }

  override class func makeEmpty() -> NSPropertyDescription { NSAttributeDescription() }

  override func take(from other: NSPropertyDescription) {
    super.take(from: other)
    guard let other = other as? NSAttributeDescription else { return }
    attributeType = other.attributeType
    valueClassName = other.valueClassName
    defaultValue = other.defaultValue
    valueTransformerName = other.valueTransformerName
    allowsExternalBinaryDataStorage = other.allowsExternalBinaryDataStorage
    preservesValueInHistoryOnDeletion = other.preservesValueInHistoryOnDeletion
    allowsCloudEncryption = other.allowsCloudEncryption
  }

  open override var versionHash: Data { isTransient ? Data() : Data(VersionHash.hash(of: definition())) }

  private static func defaultClassName(_ type: NSAttributeType) -> String? {
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .booleanAttributeType:
      "NSNumber"
    case .decimalAttributeType: "NSDecimalNumber"
    case .stringAttributeType: "NSString"
    case .dateAttributeType: "NSDate"
    case .binaryDataAttributeType: "NSData"
    case .UUIDAttributeType: "NSUUID"
    case .URIAttributeType: "NSURL"
    case .compositeAttributeType: "NSDictionary"
    case .objectIDAttributeType: "NSManagedObjectID"
    case .transformableAttributeType, .undefinedAttributeType: nil
    }
  }

  /// The element at a dotted path below a composite attribute.
  final func element(_ path: String) -> NSAttributeDescription? {
    var current: NSAttributeDescription? = self
    for name in path.split(separator: ".") {
      current = (current as? NSCompositeAttributeDescription)?.elements.first { $0.name == name }
    }
    return current
  }

  /// The attribute in the form that stores use.
  func definition() -> AttributeDefinition {
    var result = AttributeDefinition(name: name, type: AttributeType_(attributeType))
    result.isOptional = isOptional
    result.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
    result.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
    result.renamingIdentifier = renamingIdentifier ?? name
    result.versionHashModifier = versionHashModifier
    return result
  }
}

private func AttributeType_(_ type: NSAttributeType) -> StoreSchema.AttributeType {
  StoreSchema.AttributeType(rawValue: Int32(type.rawValue)) ?? .undefined
}

/// An attribute that the store computes at save from other values.
open class NSDerivedAttributeDescription: NSAttributeDescription {
  /// How the store computes the value: `now()`, a key path, `canonical:(name)`, `items.@count`, `items.price.@sum` and
  /// the like. Nil is an error when the model is first used.
  open var derivationExpression: NSExpression? {
    get { expression ?? derivation.map { ExpressionTree.expression(DerivationCoding.expression($0)) } }
    set {
      requireEditable()
      expression = newValue
      derivation = newValue.map { DerivationCoding.derivation(ExpressionTree.of($0)) }
    }
  }
  private var expression: NSExpression?
  /// A predicate of the model. It is kept and copied, but does not affect the value.
  open var filteringPredicate: NSPredicate? { willSet { requireEditable() } }

  override class func makeEmpty() -> NSPropertyDescription { NSDerivedAttributeDescription() }

  override func take(from other: NSPropertyDescription) {
    super.take(from: other)
    guard let other = other as? NSDerivedAttributeDescription else { return }
    expression = other.expression
    filteringPredicate = other.filteringPredicate
    derivation = other.derivation
  }

  /// The derivation in the form that stores use.
  var derivation: Derivation?

  override func definition() -> AttributeDefinition {
    var result = super.definition()
    result.derivation = derivation ?? .unsupported("")
    return result
  }
}

/// An attribute whose value is a dictionary of named elements, each stored on its own.
open class NSCompositeAttributeDescription: NSAttributeDescription {
  /// The elements, which may be composites again, but not transient.
  open var elements: [NSAttributeDescription] = [] {
    willSet { requireEditable() }
    didSet {
      for element in oldValue where element.composite === self { element.composite = nil }
      for element in elements {
        var outer: NSCompositeAttributeDescription? = self
        while let composite = outer {
          if composite === element { misuse("The composite attribute \(name) cannot be an element of itself.") }
          outer = composite.composite
        }
        element.composite = self
      }
    }
  }

  /// An attribute of the composite type, without a name or elements.
  public override init() {
    super.init()
    attributeType = .compositeAttributeType
  }

  override class func makeEmpty() -> NSPropertyDescription { NSCompositeAttributeDescription() }

  override func take(from other: NSPropertyDescription) {
    super.take(from: other)
    guard let other = other as? NSCompositeAttributeDescription else { return }
    elements = other.elements.compactMap { $0.copy() as? NSAttributeDescription }
  }

  override func definition() -> AttributeDefinition {
    var result = super.definition()
    result.elements = elements.map { $0.definition() }
    return result
  }
}
