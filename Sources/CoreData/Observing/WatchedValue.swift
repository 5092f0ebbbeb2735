import Foundation
import StoreSchema

/// The value of an observed property, as far as it is needed to see that it has changed.
enum WatchedValue {
  /// Of a property that has no value of its own, and of an object that is gone.
  case none
  /// The slots of an attribute.
  case stored([Value])
  /// An attribute that may be outside the row. The bytes are the value, or the name of a file whose content `read` returns.
  case external(Value, read: () -> Data?)
  /// A transient or transformable value.
  case made(Any?)
  case destination(NSManagedObject?)
  case members(ContiguousArray<NSManagedObject>, isOrdered: Bool)

  func isEqual(_ other: WatchedValue) -> Bool {
    switch (self, other) {
    case (.none, .none): true
    case (.stored(let a), .stored(let b)): a == b
    case (.external(let a, _), .external(let b, let read)): a == b || Self.isMoved(a, b, read)
    case (.made(let a), .made(let b)): NSManagedObject.areEqual(a, b)
    case (.destination(let a), .destination(let b)): a === b
    case (.members(let a, let isOrdered), .members(let b, _)):
      a.elementsEqual(b, by: ===)
        || !isOrdered && a.count == b.count && Set(a.map(ObjectIdentifier.init)) == Set(b.map(ObjectIdentifier.init))
    default: false
    }
  }

  /// Whether a value that was inline is now the content of a file, as after a save.
  private static func isMoved(_ old: Value, _ new: Value, _ read: () -> Data?) -> Bool {
    guard case .data(let old) = old, case .data(let new) = new, old.first == 1, new.first == 2 else { return false }
    return read() == old.dropFirst()
  }
}

extension NSManagedObject {
  /// The present value of a key. Nil where it cannot be read: the client's next read reports the error.
  final func watchedValue(_ key: String) -> WatchedValue? {
    guard let core, let found = info.keys[key], !flags.contains(.gone) else { return WatchedValue.none }
    if flags.contains(.fault), core.look(at: self) != nil { return nil }
    if flags.contains(.inaccessible) { return WatchedValue.none }
    switch found {
    case .attribute(let index):
      let attribute = info.attributes[index].attribute
      if attribute.type == .transformable { return .made(transformed(info.attributes[index])) }
      if info.externalSlots.contains(attribute.slot) {
        return .external(stored(attribute.slot)) { [unowned self] in externalData(attribute.slot) }
      }
      return .stored((attribute.elements.isEmpty ? [attribute] : attribute.elements).map { stored($0.slot) })
    case .transient(let index): return .made(transient(index))
    case .relationship(let index):
      let relationship = info.relationships[index].relationship
      if !relationship.isToMany { return .destination(toOne(relationship)) }
      if core.errors({ _ = loadedToMany(relationship) }) != nil { return nil }
      return .members(toMany(relationship).members, isOrdered: relationship.isOrdered)
    case .fetched: return WatchedValue.none
    }
  }
}
