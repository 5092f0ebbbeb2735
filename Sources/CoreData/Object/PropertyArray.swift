import Foundation
import StoreSchema

extension NSManagedObject {
  /// A live array of an ordered to-many relationship, or of a property whose value is an array or nil: changing it
  /// changes the property. An object that is a member already is not inserted again into a relationship.
  ///
  /// Another relationship, and a value of another type, stop the program.
  public final func mutableArrayValue(forKey key: String) -> NSMutableArray {
    if case .relationship(let index)? = info.keys[key], !info.relationships[index].relationship.isOrdered {
      misuse("'\(key)' of \(info.entity.name) has no order, so that it cannot be an array.")
    }
    return PropertyArray(self, key)
  }
}

/// `NSMutableArray` over a property of an object. Only the primitive methods are overridden; the others use them.
final class PropertyArray: NSMutableArray {
  private let owner: NSManagedObject?
  private let key: String

  init(_ owner: NSManagedObject, _ key: String) {
    (self.owner, self.key) = (owner, key)
    super.init(capacity: 0)
  }

  override init(capacity numItems: Int) {
    (owner, key) = (nil, "")
    super.init(capacity: numItems)
  }

  required init?(coder: NSCoder) { nil }

  required convenience init(arrayLiteral elements: Any...) { self.init(capacity: elements.count) }

  required init(objects: UnsafePointer<AnyObject>?, count cnt: Int) {
    (owner, key) = (nil, "")
    super.init(objects: objects, count: cnt)
  }

  private var elements: [Any] {
    get {
      switch owner?.value(forKey: key) {
      case let set as NSOrderedSet: set.array
      case let array as NSArray: Array(array)
      case let array as [Any]: array
      case nil: []
      case let other?: misuse("The value of '\(key)' is a \(type(of: other)), and no array that could be changed.")
      }
    }
    set {
      let isSet = owner?.value(forKey: key) is NSOrderedSet
      owner?.setValue(isSet ? NSOrderedSet(array: newValue) : newValue as NSArray, forKey: key)
    }
  }

  override var count: Int { elements.count }
  override func object(at index: Int) -> Any { elements[index] }
  override func insert(_ anObject: Any, at index: Int) { elements.insert(anObject, at: index) }
  override func removeObject(at index: Int) { elements.remove(at: index) }
  override func add(_ anObject: Any) { elements.append(anObject) }
  override func removeLastObject() { _ = elements.popLast() }
  override func replaceObject(at index: Int, with anObject: Any) { elements[index] = anObject }
}
