import Foundation
import StoreSchema

/// The type of an attribute.
public enum NSAttributeType: UInt, Sendable {
  case undefinedAttributeType = 0
  case integer16AttributeType = 100
  case integer32AttributeType = 200
  case integer64AttributeType = 300
  case decimalAttributeType = 400
  case doubleAttributeType = 500
  case floatAttributeType = 600
  case stringAttributeType = 700
  case booleanAttributeType = 800
  case dateAttributeType = 900
  case binaryDataAttributeType = 1000
  case UUIDAttributeType = 1100
  case URIAttributeType = 1200
  case transformableAttributeType = 1800
  case objectIDAttributeType = 2000
  case compositeAttributeType = 2100
}

/// An attribute of an entity.
open class NSAttributeDescription: NSPropertyDescription {
  /// The modern spelling of ``NSAttributeType``.
  public struct AttributeType: RawRepresentable, Hashable, Sendable {
    public let rawValue: NSAttributeType
    public init(rawValue: NSAttributeType) { self.rawValue = rawValue }
    public static let undefined = Self(rawValue: .undefinedAttributeType)
    public static let integer16 = Self(rawValue: .integer16AttributeType)
    public static let integer32 = Self(rawValue: .integer32AttributeType)
    public static let integer64 = Self(rawValue: .integer64AttributeType)
    public static let decimal = Self(rawValue: .decimalAttributeType)
    public static let double = Self(rawValue: .doubleAttributeType)
    public static let float = Self(rawValue: .floatAttributeType)
    public static let string = Self(rawValue: .stringAttributeType)
    public static let boolean = Self(rawValue: .booleanAttributeType)
    public static let date = Self(rawValue: .dateAttributeType)
    public static let binaryData = Self(rawValue: .binaryDataAttributeType)
    public static let uuid = Self(rawValue: .UUIDAttributeType)
    public static let uri = Self(rawValue: .URIAttributeType)
    public static let transformable = Self(rawValue: .transformableAttributeType)
    public static let objectID = Self(rawValue: .objectIDAttributeType)
    public static let composite = Self(rawValue: .compositeAttributeType)
  }

  /// Changing it gives the attribute the value class that belongs to the new type.
  open var attributeType = NSAttributeType.undefinedAttributeType {
    willSet { requireEditable() }
    didSet { if attributeType != oldValue { valueClassName = nil } }
  }

  public final var type: AttributeType {
    get { AttributeType(rawValue: attributeType) }
    set { attributeType = newValue.rawValue }
  }

  private var valueClassName: String?
  /// The class of the attribute's values; of a transformable one, what the model says.
  open var attributeValueClassName: String? {
    get { valueClassName ?? Self.defaultClassName(attributeType) }
    set {
      requireEditable()
      valueClassName = newValue
    }
  }

  /// What a new object begins with. Not applied to objects that are fetched. A value that the attribute cannot have is
  /// an error when the model is first used.
  open var defaultValue: Any? { willSet { requireEditable() } }
  /// The registered name of the transformer of a transformable attribute; nil for the secure default.
  open var valueTransformerName: String? { willSet { requireEditable() } }
  /// Whether large binary values may be kept in files of their own. Part of the version hash.
  open var allowsExternalBinaryDataStorage = false { willSet { requireEditable() } }
  /// Whether the value is kept in persistent history when its object is deleted. Part of the version hash.
  open var preservesValueInHistoryOnDeletion = false { willSet { requireEditable() } }
  /// Kept for model files; there is no CloudKit here.
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

  /// The attribute as stores know it.
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
  /// `now()`, a key path, `canonical:(name)`, `items.@count`, `items.price.@sum` and the like.
  open var derivationExpression: NSExpression? {
    get { expression ?? derivation.map { ExpressionTree.expression(DerivationCoding.expression($0)) } }
    set {
      requireEditable()
      expression = newValue
      derivation = newValue.map { DerivationCoding.derivation(ExpressionTree.of($0)) }
    }
  }
  private var expression: NSExpression?
  open var filteringPredicate: NSPredicate? { willSet { requireEditable() } }

  override class func makeEmpty() -> NSPropertyDescription { NSDerivedAttributeDescription() }

  override func take(from other: NSPropertyDescription) {
    super.take(from: other)
    guard let other = other as? NSDerivedAttributeDescription else { return }
    expression = other.expression
    filteringPredicate = other.filteringPredicate
    derivation = other.derivation
  }

  /// The derivation as stores know it.
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
