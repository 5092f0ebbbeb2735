import Foundation
import StoreSchema

extension NSManagedObject {
  /// A live view of a to-many relationship: changing it changes the relationship and its inverse. Another key stops the
  /// program.
  public final func mutableSetValue(forKey key: String) -> NSMutableSet {
    guard case .relationship(let index)? = info.keys[key], info.relationships[index].relationship.isToMany else {
      misuse("'\(key)' is not a to-many relationship of \(info.entity.name).")
    }
    return RelationshipSet(self, info.relationships[index].relationship)
  }

  /// A live view of an ordered to-many relationship: changing it changes the relationship and its inverse. Another key
  /// stops the program.
  public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    guard case .relationship(let index)? = info.keys[key], info.relationships[index].relationship.isOrdered else {
      misuse("'\(key)' is not an ordered to-many relationship of \(info.entity.name).")
    }
    return RelationshipOrderedSet.view(of: self, info.relationships[index].relationship)
  }

  /// The live view of the relationship named by the last key of a dotted path. Its owner is the object at the path
  /// before it.
  ///
  /// Stops the program where that path leads to nil, because then there is no relationship to change.
  public final func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
    let (owner, key) = owner(of: keyPath)
    return owner.mutableSetValue(forKey: key)
  }

  /// As ``mutableSetValue(forKeyPath:)``, for an ordered relationship.
  public final func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
    let (owner, key) = owner(of: keyPath)
    return owner.mutableOrderedSetValue(forKey: key)
  }

  /// The value by ``value(forKey:)``, or the live view of a to-many relationship, unless a custom accessor or an
  /// override gives another value than the relationship's.
  ///
  /// ``value(forKey:)`` gives an `NSSet` or `NSOrderedSet`, which cannot be changed. On Apple's platforms it can,
  /// although the documentation calls it immutable
  /// (https://developer.apple.com/documentation/objectivec/nsobject-swift.class/mutablesetvalue(forkey:)). So rewritten
  /// sources call this function where they cast the value to a set that can be changed.
  public final func mutableValue(forKey key: String) -> Any? {
    let value = value(forKey: key)
    guard case .relationship(let index)? = info.keys[key], let value = value as AnyObject?,
      value === modelledValue(forKey: key) as AnyObject?
    else { return value }
    let relationship = info.relationships[index].relationship
    if !relationship.isToMany { return value }
    return relationship.isOrdered ? mutableOrderedSetValue(forKey: key) : mutableSetValue(forKey: key)
  }

  /// As ``mutableValue(forKey:)``, for a dotted path. Its owner is the object at the path before the last key.
  public final func mutableValue(forKeyPath keyPath: String) -> Any? {
    let (owner, key) = objectAndKey(keyPath)
    return owner.map { $0.mutableValue(forKey: key) } ?? value(forKeyPath: keyPath)
  }

  private func owner(of keyPath: String) -> (NSManagedObject, key: String) {
    let (owner, key) = objectAndKey(keyPath)
    guard let owner else {
      misuse("'\(keyPath.dropLast(key.count + 1))' of \(info.entity.name) refers to no object with '\(key)'.")
    }
    return (owner, key)
  }

  /// The last key of a path, and the object at the path before it; nil where there is none.
  private func objectAndKey(_ keyPath: String) -> (NSManagedObject?, key: String) {
    guard let dot = keyPath.lastIndex(of: ".") else { return (self, keyPath) }
    let owner = value(forKeyPath: String(keyPath[..<dot])) as? NSManagedObject
    return (owner, String(keyPath[keyPath.index(after: dot)...]))
  }
}

/// `NSMutableSet` over a relationship. Only the primitive methods are overridden, which the others use, and the
/// description, which reads the content of Foundation's own set.
final class RelationshipSet: NSMutableSet {
  private let owner: NSManagedObject?
  private let relationship: Relationship?

  init(_ owner: NSManagedObject, _ relationship: Relationship) {
    self.owner = owner
    self.relationship = relationship
    super.init(capacity: 0)
  }

  required init(capacity numItems: Int) {
    owner = nil
    relationship = nil
    super.init(capacity: numItems)
  }

  required init?(coder: NSCoder) { nil }

  private var state: ToManyState? { relationship.flatMap { owner?.loadedToMany($0) } }

  override var count: Int { state?.members.count ?? 0 }

  override func member(_ object: Any) -> Any? {
    guard let object = object as? NSManagedObject, state?.contains(object) == true else { return nil }
    return object
  }

  override func objectEnumerator() -> NSEnumerator { NSArray(array: Array(state?.members ?? [])).objectEnumerator() }

  override func description(withLocale locale: Locale?) -> String {
    NSSet(array: allObjects).description(withLocale: locale)
  }

  override func add(_ object: Any) {
    guard let object = object as? NSManagedObject, let relationship else { return }
    owner?.add(object, to: relationship)
    owner?.tellObservers()
  }

  override func remove(_ object: Any) {
    guard let object = object as? NSManagedObject, let relationship else { return }
    owner?.remove(object, from: relationship)
    owner?.tellObservers()
  }
}
