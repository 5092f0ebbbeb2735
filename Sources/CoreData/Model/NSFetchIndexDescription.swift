import Foundation
import StoreSchema

public enum NSFetchIndexElementType: UInt, Sendable {
  case binary = 0
  case rTree = 1
}

/// One property of a fetch index.
open class NSFetchIndexElementDescription: NSObject, NSCopying {
  public let property: NSPropertyDescription?
  open var propertyName: String? { property?.name }
  open var collationType: NSFetchIndexElementType
  open var isAscending = true
  public internal(set) weak var indexDescription: NSFetchIndexDescription?

  public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
    self.property = property
    self.collationType = collationType
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchIndexElementDescription(
      property: property ?? NSPropertyDescription(), collationType: collationType)
    copy.isAscending = isAscending
    return copy
  }
}

/// An index that speeds up fetches on some properties of an entity. Not part of the version hash.
open class NSFetchIndexDescription: NSObject, NSCopying {
  open var name: String
  open var elements: [NSFetchIndexElementDescription] {
    didSet { for element in elements { element.indexDescription = self } }
  }
  public internal(set) var entity: NSEntityDescription? {
    get { owner?.target }
    set { owner = newValue?.reference }
  }
  private var owner: BackReference<NSEntityDescription>?
  /// Restricts the index to objects that meet it.
  open var partialIndexPredicate: NSPredicate?

  public init(name: String, elements: [NSFetchIndexElementDescription]?) {
    self.name = name
    self.elements = elements ?? []
    super.init()
    for element in self.elements { element.indexDescription = self }
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchIndexDescription(
      name: name, elements: elements.compactMap { $0.copy() as? NSFetchIndexElementDescription })
    copy.partialIndexPredicate = partialIndexPredicate
    return copy
  }

  /// The index as stores know it.
  func definition() -> FetchIndexDefinition {
    FetchIndexDefinition(
      name: name,
      elements: elements.map {
        FetchIndexDefinition.Element(
          property: $0.propertyName ?? "", isAscending: $0.isAscending, isRTree: $0.collationType == .rTree)
      })
  }
}
