import Foundation
import StoreQuery
import StoreSchema

/// How a fetch index orders the values of a property.
public enum NSFetchIndexElementType: UInt, Sendable {
  /// By the order of the values.
  case binary = 0
  /// By ranges of numbers or dates, in an R-tree.
  case rTree = 1
}

/// One property of a fetch index.
open class NSFetchIndexElementDescription: NSObject, NSCopying, NSCoding {
  /// The property that is indexed.
  open var property: NSPropertyDescription? { indexedProperty }
  final let indexedProperty: NSPropertyDescription?
  /// The name of the property that is indexed.
  open var propertyName: String? { indexedProperty?.name }
  /// How the values are ordered. Changing it stops the program once the model is in use.
  open var collationType: NSFetchIndexElementType { willSet { index?.requireEditable() } }
  /// Whether the index is in ascending order; true by default.
  open var isAscending = true { willSet { index?.requireEditable() } }
  /// The index that has this element; nil where there is none.
  open var indexDescription: NSFetchIndexDescription? { index }
  final weak var index: NSFetchIndexDescription?

  /// An ascending element on a property.
  public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
    indexedProperty = property
    self.collationType = collationType
  }

  /// Nil where the coder has no element, or one that cannot be read.
  public required init?(coder: NSCoder) {
    guard let read = DescriptionCoding.indexes(coder)?.first?.elements.first else { return nil }
    indexedProperty = read.indexedProperty
    collationType = read.collationType
    isAscending = read.isAscending
  }

  /// Encodes the element with its property.
  open func encode(with coder: NSCoder) {
    guard let copy = copy() as? NSFetchIndexElementDescription else { return }
    DescriptionCoding.encode(NSFetchIndexDescription(name: "index", elements: [copy]), with: coder)
  }

  /// A copy on the same property, in no index.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchIndexElementDescription(
      property: indexedProperty ?? NSPropertyDescription(), collationType: collationType)
    copy.isAscending = isAscending
    return copy
  }

  /// Whether `object` is an element on a property of the same name, of the same kind and direction.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSFetchIndexElementDescription else { return false }
    return other === self
      || (other.propertyName == propertyName && other.collationType == collationType
        && other.isAscending == isAscending)
  }
  open override var hash: Int { propertyName.hashValue }
}

/// An index that speeds up fetches on some properties of an entity. Not part of the version hash.
open class NSFetchIndexDescription: NSObject, NSCopying, NSCoding {
  /// The name of the index, unique within its entity.
  open var name: String { willSet { requireEditable() } }
  /// The indexed properties, the most significant first.
  open var elements: [NSFetchIndexElementDescription] {
    willSet { requireEditable() }
    didSet { for element in elements { element.index = self } }
  }
  /// The entity whose ``NSEntityDescription/indexes`` has the index; nil where there is none.
  open var entity: NSEntityDescription? { indexedEntity }
  final var indexedEntity: NSEntityDescription? {
    get { owner?.target }
    set { owner = newValue?.reference }
  }
  private var owner: BackReference<NSEntityDescription>?
  /// Limits the index to objects that match the predicate; nil for all objects.
  open var partialIndexPredicate: NSPredicate? { willSet { requireEditable() } }

  /// An index on the elements. Nil stands for no elements.
  public init(name: String, elements: [NSFetchIndexElementDescription]?) {
    self.name = name
    self.elements = elements ?? []
    super.init()
    for element in self.elements { element.index = self }
  }

  /// Nil where the coder has no index, or one that cannot be read.
  public required init?(coder: NSCoder) {
    guard let read = DescriptionCoding.indexes(coder)?.first else { return nil }
    (name, elements, partialIndexPredicate) = (read.name, read.elements, read.partialIndexPredicate)
    super.init()
    for element in elements { element.index = self }
  }

  /// Encodes the index with the properties of its elements.
  open func encode(with coder: NSCoder) { DescriptionCoding.encode(self, with: coder) }

  /// A copy with copies of the elements, in no entity.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchIndexDescription(
      name: name, elements: elements.compactMap { $0.copy() as? NSFetchIndexElementDescription })
    copy.partialIndexPredicate = partialIndexPredicate
    return copy
  }

  final func requireEditable() {
    guard indexedEntity?.managedObjectModelIfAny?.isFrozen == true else { return }
    misuse("Can't modify an immutable model: change the index \(name) before a coordinator uses its model.")
  }

  /// Whether `object` is an index with the same name, elements and predicate.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSFetchIndexDescription else { return false }
    return other === self
      || (other.name == name && other.elements == elements
        && DescriptionEquality.haveSameMeaning(other.partialIndexPredicate, partialIndexPredicate))
  }
  open override var hash: Int { name.hashValue }

  /// The index in the form that stores use.
  func definition() -> FetchIndexDefinition {
    FetchIndexDefinition(
      name: name,
      elements: elements.map {
        FetchIndexDefinition.Element(
          property: $0.propertyName ?? "", isAscending: $0.isAscending, isRTree: $0.collationType == .rTree)
      }, partialPredicate: partialIndexPredicate.flatMap(PredicateTree.of)?.format)
  }
}
