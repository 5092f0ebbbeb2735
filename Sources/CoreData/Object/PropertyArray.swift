import Foundation
import StoreSchema

extension NSManagedObject {
  /// A live array of an ordered to-many relationship, or of a property whose value is an array or nil: changing it
  /// changes the property. A member of a relationship is not inserted again, and keeps its position; it replaces no
  /// other member.
  ///
  /// Another relationship, and a value of another type, stop the program.
  public final func mutableArrayValue(forKey key: String) -> NSMutableArray {
    if case .relationship(let index)? = info.keys[key], !info.relationships[index].relationship.isOrdered {
      misuse("'\(key)' of \(info.entity.name) has no order, so that it cannot be an array.")
    }
    return PropertyArray(self, key)
  }
}

/// `NSMutableArray` over a property of an object. Overridden are the primitive methods, those that Foundation
/// implements for its own class only, and those that would set the property again for each element.
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
    switch owner?.value(forKey: key) {
    case let set as NSOrderedSet: set.array
    case let array as NSArray: Array(array)
    case let array as [Any]: array
    case nil: []
    case let other?: misuse("The value of '\(key)' is a \(type(of: other)), and no array that could be changed.")
    }
  }

  /// Reads the elements, changes them, and sets them at once.
  private func change(_ body: (inout [Any]) -> Void) {
    var changed = elements
    body(&changed)
    let isSet = owner?.value(forKey: key) is NSOrderedSet
    owner?.setValue(isSet ? NSOrderedSet(array: changed) : changed as NSArray, forKey: key)
  }

  /// The objects that a change may add: of a relationship those that are not among `others`, each once.
  private func new(_ objects: [Any], besides others: [Any]) -> [Any] {
    guard owner?.value(forKey: key) is NSOrderedSet else { return objects }
    var known = Set(others.map { ObjectIdentifier($0 as AnyObject) })
    return objects.filter { known.insert(ObjectIdentifier($0 as AnyObject)).inserted }
  }

  private func replace(_ range: Range<Int>, with objects: [Any]) {
    change { elements in
      elements.removeSubrange(range)
      elements.insert(contentsOf: new(objects, besides: elements), at: range.lowerBound)
    }
  }

  override var count: Int {
    switch owner?.value(forKey: key) {
    case let set as NSOrderedSet: set.count
    case let array as NSArray: array.count
    default: elements.count
    }
  }

  override func object(at index: Int) -> Any {
    switch owner?.value(forKey: key) {
    case let set as NSOrderedSet: set.object(at: index)
    case let array as NSArray: array.object(at: index)
    default: elements[index]
    }
  }

  override func insert(_ anObject: Any, at index: Int) { replace(index..<index, with: [anObject]) }
  override func add(_ anObject: Any) { addObjects(from: [anObject]) }
  override func addObjects(from otherArray: [Any]) { change { $0 += new(otherArray, besides: $0) } }

  override func insert(_ objects: [Any], at indexes: IndexSet) {
    if objects.count != indexes.count { misuse("\(objects.count) objects cannot have \(indexes.count) indexes.") }
    change { elements in
      var skipped = 0
      for (object, index) in zip(objects, indexes) {
        let new = new([object], besides: elements)
        elements.insert(contentsOf: new, at: index - skipped)
        if new.isEmpty { skipped += 1 }
      }
    }
  }

  override func removeObject(at index: Int) { change { $0.remove(at: index) } }
  override func removeLastObject() { change { _ = $0.popLast() } }
  override func removeAllObjects() { change { $0 = [] } }

  override func removeObjects(in range: NSRange) {
    change { $0.removeSubrange(range.location..<range.location + range.length) }
  }

  override func replaceObject(at index: Int, with anObject: Any) { replaceObjects(at: [index], with: [anObject]) }

  override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
    if objects.count != indexes.count { misuse("\(objects.count) objects cannot have \(indexes.count) indexes.") }
    change { elements in
      let others = elements.indices.filter { !indexes.contains($0) }.map { elements[$0] }
      for (object, index) in zip(objects, indexes) where !new([object], besides: others).isEmpty {
        elements[index] = object
      }
    }
  }

  override func replaceObjects(in range: NSRange, withObjectsFrom otherArray: [Any]) {
    replace(range.location..<range.location + range.length, with: otherArray)
  }

  override func setArray(_ otherArray: [Any]) { change { $0 = otherArray } }
  override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) { change { $0.swapAt(idx1, idx2) } }
  override func sort(using sortDescriptors: [NSSortDescriptor]) { setArray(sortedArray(using: sortDescriptors)) }
}
