import Foundation
import StoreSchema

/// The value of an observed property, as far as it is needed to see that it has changed.
enum WatchedValue {
  /// Of a property that has no value of its own, and of an object that is gone.
  case none
  /// The slots of an attribute.
  case stored([Value])
  /// An attribute that may be outside the row. The bytes are the value, or the name of a file whose content `read`
  /// returns.
  case external(Value, read: (Data) -> Data?)
  /// A transient or transformable value.
  case made(Any?)
  /// The object is not held: it may hold this one.
  case destination(WeakObject?, key: Int64, store: UInt16)
  case members(ContiguousArray<NSManagedObject>, isOrdered: Bool)

  func isEqual(_ other: WatchedValue) -> Bool {
    switch (self, other) {
    case (.stored(let a), .stored(let b)): a.elementsEqual(b) { $0 == $1 || $0.isNaN && $1.isNaN }
    case (.external(let a, _), .external(let b, let read)): a == b || Self.haveOneContent(a, b, read)
    case (.made(let a), .made(let b)): NSManagedObject.areEqual(a, b)
    case (.destination(let a, let key, let store), .destination(let b, let otherKey, let otherStore)):
      // A key changes when a new object is saved, and only an object that is saved can be released and read again.
      if let a = a?.object, let b = b?.object { a === b } else { key == otherKey && store == otherStore }
    case (.members(let a, let isOrdered), .members(let b, _)):
      a.elementsEqual(b, by: ===)
        || !isOrdered && a.count == b.count && Set(a.map(ObjectIdentifier.init)) == Set(b.map(ObjectIdentifier.init))
    default: isNothing && other.isNothing
    }
  }

  private var isNothing: Bool {
    switch self {
    case .none: true
    case .stored(let values): values.allSatisfy(\.isNull)
    case .external(let value, _): value.isNull
    case .made(let value): value == nil
    case .destination(_, let key, _): key == 0
    case .members(let members, _): members.isEmpty
    }
  }

  /// Whether one value is inline, and the other has the same content in a file, as after a save.
  private static func haveOneContent(_ old: Value, _ new: Value, _ read: (Data) -> Data?) -> Bool {
    guard case .data(let old) = old, case .data(let new) = new, let form = old.first, let newForm = new.first
    else { return false }
    if (form == 2) == (newForm == 2) { return false }
    let (inline, name) = form == 2 ? (new, old) : (old, new)
    return read(name) == inline.dropFirst()
  }
}

extension Value {
  fileprivate var isNaN: Bool { if case .double(let number) = self { number.isNaN } else { false } }
}

extension NSManagedObject {
  /// The present value of a key. Nil where it cannot be read: the client's next read reports the error.
  final func watchedValue(_ key: String) -> WatchedValue? {
    // A deleted object keeps its values when the deletion is saved.
    if flags.contains(.gone) { return nil }
    guard let core, let found = info.keys[key] else { return WatchedValue.none }
    if flags.contains(.fault), core.look(at: self) != nil { return nil }
    switch found {
    case .attribute(let index):
      let attribute = info.attributes[index].attribute
      if attribute.type == .transformable { return .made(transformed(info.attributes[index])) }
      if info.externalSlots.contains(attribute.slot) {
        return .external(stored(attribute.slot)) { [unowned self] name in
          var data: Data?
          _ = core.errors { data = core.externalData(name.dropFirst(), of: self) }
          return data
        }
      }
      return .stored(attribute.slots.map { stored($0) })
    case .transient(let index): return .made(transient(index))
    case .relationship(let index):
      let relationship = info.relationships[index].relationship
      if !relationship.isToMany {
        let object = toOne(relationship)
        return .destination(object.map(WeakObject.init), key: object?.key ?? 0, store: object?.storeIndex ?? 0)
      }
      if core.errors({ _ = loadedToMany(relationship) }) != nil { return nil }
      return .members(toMany(relationship).members, isOrdered: relationship.isOrdered)
    case .fetched: return WatchedValue.none
    }
  }
}
