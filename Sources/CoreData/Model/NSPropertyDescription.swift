import Foundation
import StoreSchema

/// A property of an entity: an attribute, a relationship, a fetched property or an expression.
///
/// Mutable until its model is first used by a coordinator; changing it later stops the program.
open class NSPropertyDescription: NSObject, NSCopying, NSSecureCoding {
  /// The entity that declares the property. Where there is none yet, an entity without a name and properties: what
  /// Objective-C reads of no object.
  open var entity: NSEntityDescription { entityIfAny ?? NSEntityDescription() }
  final var entityIfAny: NSEntityDescription? {
    get { owner?.target }
    set { owner = newValue?.reference }
  }
  private var owner: BackReference<NSEntityDescription>?
  /// The composite attribute that has this element.
  weak var composite: NSCompositeAttributeDescription?

  /// The property's name, unique within its entity. An empty name is an error when the model is first used.
  open var name = "" {
    willSet { requireEditable() }
    didSet { entityIfAny?.propertiesDidChange() }
  }
  /// Whether the property may be nil at save. True by default.
  open var isOptional = true { willSet { requireEditable() } }
  /// Whether the property is kept in memory only. False by default.
  open var isTransient = false { willSet { requireEditable() } }
  /// Entries that the client keeps with the property; empty unless set. They are not part of the version hash.
  /// They can also be set while the model is in use. Predicates of fetched properties read them each time. No other
  /// thread may read them while they are set.
  open var userInfo: [AnyHashable: Any]? = [:]
  /// A text that enters the version hash, so that two versions of an equal property differ; nil for none.
  open var versionHashModifier: String? { willSet { requireEditable() } }
  /// Whether there is a fetch index on this attribute only.
  @available(*, deprecated, message: "Use NSEntityDescription.indexes instead")
  open var isIndexed: Bool {
    get { indexedFlag }
    set {
      requireEditable()
      indexedFlag = newValue
    }
  }
  var indexedFlag = false
  /// Kept for model files. It has no effect, because nothing is indexed for Spotlight here.
  open var isIndexedBySpotlight = false { willSet { requireEditable() } }
  /// Kept for model files.
  @available(*, deprecated, message: "Spotlight integration is deprecated")
  open var isStoredInExternalRecord: Bool {
    get { externalRecordFlag }
    set {
      requireEditable()
      externalRecordFlag = newValue
    }
  }
  var externalRecordFlag = false

  private var renaming: String?
  /// The name by which the property is found in older versions of the model; its own name unless set.
  open var renamingIdentifier: String? {
    get { renaming ?? (name.isEmpty ? nil : name) }
    set {
      requireEditable()
      renaming = newValue
    }
  }

  private var predicates: [NSPredicate] = []
  private var warnings: [Any] = []
  /// The predicates that a value must meet at save; see ``setValidationPredicates(_:withValidationWarnings:)``.
  open var validationPredicates: [NSPredicate] { predicates }
  /// The texts or error codes to report, one for each of ``validationPredicates``.
  open var validationWarnings: [Any] { warnings }

  /// Sets the predicates that a value must meet at save, and the text or error code to report for each.
  ///
  /// - They are evaluated when the object is inserted or changed. `SELF` is the value: of an attribute, the object of a
  ///   to-one relationship, the set or ordered set of a to-many relationship. Nil is not evaluated.
  /// - The first predicate that is not met is reported.
  /// - A warning that is a number is the code of the error. Any other warning is the text of an error 1550; the model's
  ///   `localizationDictionary` may replace it (`ErrorString/…`).
  /// - Both lists have the same length, as Apple's documentation requires; otherwise the program stops.
  open func setValidationPredicates(
    _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
  ) {
    requireEditable()
    if (validationPredicates?.count ?? 0) != (validationWarnings?.count ?? 0) {
      misuse("\(name) has \(validationPredicates?.count ?? 0) validation predicates but another number of warnings.")
    }
    predicates = validationPredicates ?? []
    warnings = validationWarnings ?? []
  }

  /// A digest by which stores check whether they match the property: 32 bytes for attributes and relationships, empty
  /// for properties that no store keeps.
  open var versionHash: Data { Data() }

  /// A property without a name, in no entity.
  public override init() { super.init() }

  /// A copy that can be changed, in no entity.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = type(of: self).makeEmpty()
    copy.take(from: self)
    return copy
  }

  open class var supportsSecureCoding: Bool { true }

  /// Encodes an attribute, a relationship or a fetched property. For a relationship, only the names of destination and
  /// inverse are encoded.
  open func encode(with coder: NSCoder) { DescriptionCoding.encode(self, with: coder) }

  /// The encoded property, in no entity. Nil where it cannot be read, or is of another kind.
  public required convenience init?(coder: NSCoder) {
    guard let property = DescriptionCoding.property(coder) else { return nil }
    self.init()
    guard type(of: self).makeEmpty().isMember(of: type(of: property)) else { return nil }
    take(from: property)
  }

  class func makeEmpty() -> NSPropertyDescription { NSPropertyDescription() }

  func take(from other: NSPropertyDescription) {
    name = other.name
    isOptional = other.isOptional
    isTransient = other.isTransient
    userInfo = other.userInfo
    versionHashModifier = other.versionHashModifier
    indexedFlag = other.indexedFlag
    isIndexedBySpotlight = other.isIndexedBySpotlight
    externalRecordFlag = other.externalRecordFlag
    renaming = other.renaming
    predicates = other.predicates
    warnings = other.warnings
  }

  final func requireEditable() {
    var outermost: NSPropertyDescription = self
    while let composite = outermost.composite { outermost = composite }
    guard outermost.entityIfAny?.managedObjectModelIfAny?.isFrozen == true else { return }
    misuse("Can't modify an immutable model: change the property \(name) before a coordinator uses its model.")
  }

  /// Whether `object` is a description of the same kind with equal contents. The entity is not compared.
  open override func isEqual(_ object: Any?) -> Bool { DescriptionEquality.areEqual(self, object) }
  open override var hash: Int { name.hashValue }

  open override var description: String {
    "<\(Self.self) \(entityIfAny?.name ?? "?").\(name)\(isOptional ? "" : ", required")\(isTransient ? ", transient" : "")>"
  }
}
