import Foundation
import StoreSchema

/// What the functions that Core Data makes for a to-many relationship do, such as `addToStudents(_:)` and
/// `removeFromStudents(at:)`. Generated and rewritten classes call them.
///
/// An index beyond the members, or an element that is no managed object, stops the program.
extension NSManagedObject {
  /// Adds objects to a relationship, and this object to their inverses. An ordered relationship gets those that it does
  /// not have at its end.
  public final func add<Members>(contentsOf objects: some Sequence, to property: borrowing ManagedProperty<Members>) {
    for object in elements(objects, property) { add(object, to: property) }
  }

  /// Removes objects from a relationship, and this object from their inverses.
  public final func remove<Members>(
    contentsOf objects: some Sequence, from property: borrowing ManagedProperty<Members>
  ) {
    for object in elements(objects, property) { remove(object, from: property) }
  }

  /// Removes the members that are not among the objects.
  public final func intersect<Members>(_ property: borrowing ManagedProperty<Members>, with objects: some Sequence) {
    let kept = Set(elements(objects, property))
    for member in _toMany(property.key) where !kept.contains(member) { remove(member, from: property) }
  }

  /// Inserts an object into an ordered relationship.
  public final func insert<Members>(
    _ object: NSManagedObject, into property: borrowing ManagedProperty<Members>, at index: Int
  ) {
    mutableOrderedSetValue(forKey: property.name).insert(object, at: index)
  }

  /// Inserts objects into an ordered relationship: the first at the first index, and so on.
  public final func insert<Members>(
    contentsOf objects: some Sequence, into property: borrowing ManagedProperty<Members>, at indexes: IndexSet
  ) {
    mutableOrderedSetValue(forKey: property.name).insert(elements(objects, property), at: indexes)
  }

  /// Removes the object at an index of an ordered relationship.
  public final func remove<Members>(at index: Int, from property: borrowing ManagedProperty<Members>) {
    mutableOrderedSetValue(forKey: property.name).removeObject(at: index)
  }

  /// Removes the objects at indexes of an ordered relationship.
  public final func remove<Members>(at indexes: IndexSet, from property: borrowing ManagedProperty<Members>) {
    mutableOrderedSetValue(forKey: property.name).removeObjects(at: indexes)
  }

  /// Replaces the object at an index of an ordered relationship.
  public final func replace<Members>(
    at index: Int, in property: borrowing ManagedProperty<Members>, with object: NSManagedObject
  ) {
    mutableOrderedSetValue(forKey: property.name).replaceObject(at: index, with: object)
  }

  /// Replaces the objects at indexes of an ordered relationship.
  public final func replace<Members>(
    at indexes: IndexSet, in property: borrowing ManagedProperty<Members>, withContentsOf objects: some Sequence
  ) {
    mutableOrderedSetValue(forKey: property.name).replaceObjects(at: indexes, with: elements(objects, property))
  }

  private func elements<Members>(_ objects: some Sequence, _ property: borrowing ManagedProperty<Members>)
    -> [NSManagedObject]
  {
    objects.map { element in
      guard let object = element as? NSManagedObject else {
        misuse("'\(property.name)' of \(info.entity.name) has managed objects as members, and no \(type(of: element)).")
      }
      return object
    }
  }
}

/// The same with indexes as Foundation's class, which is the type that Xcode generates.
extension NSManagedObject {
  /// Inserts objects into an ordered relationship: the first at the first index, and so on.
  public final func insert<Members>(
    contentsOf objects: some Sequence, into property: borrowing ManagedProperty<Members>, at indexes: NSIndexSet
  ) { insert(contentsOf: objects, into: property, at: Self.indexes(indexes)) }

  /// Removes the objects at indexes of an ordered relationship.
  public final func remove<Members>(at indexes: NSIndexSet, from property: borrowing ManagedProperty<Members>) {
    remove(at: Self.indexes(indexes), from: property)
  }

  /// Replaces the objects at indexes of an ordered relationship.
  public final func replace<Members>(
    at indexes: NSIndexSet, in property: borrowing ManagedProperty<Members>, withContentsOf objects: some Sequence
  ) { replace(at: Self.indexes(indexes), in: property, withContentsOf: objects) }

  private static func indexes(_ set: NSIndexSet) -> IndexSet {
    var result = IndexSet()
    set.enumerateRanges { range, _ in result.insert(integersIn: range.location..<range.location + range.length) }
    return result
  }
}

extension NSManagedObject {
  /// The primitive value of a property: see ``primitiveValue(forKey:)``. Core Data has a `primitiveName` for each
  /// property `name`.
  ///
  /// A value of another type stops the program; nil reads as an empty value where the type is not optional.
  public final func primitiveValue<Value>(of property: borrowing ManagedProperty<Value>) -> Value {
    guard let value = KeyValueConversion.value(primitiveValue(forKey: property.name), as: Value.self) else {
      if let empty: Value = EmptyValue.find() { return empty }
      misuse(
        "The primitive value of '\(property.name)' of \(info.entity.name) is not a \(Value.self), the accessor's type.")
    }
    return value
  }

  /// Sets the primitive value of a property: see ``setPrimitiveValue(_:forKey:)``.
  public final func setPrimitiveValue<Value>(_ value: Value, of property: borrowing ManagedProperty<Value>) {
    setPrimitiveValue(AttributeCoding.flattened(value), forKey: property.name)
  }
}
