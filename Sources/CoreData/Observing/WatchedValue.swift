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
  case destination(WatchedObject?)
  case members([WatchedObject], isOrdered: Bool)

  func isEqual(_ other: WatchedValue) -> Bool {
    switch (self, other) {
    case (.stored(let a), .stored(let b)): a.elementsEqual(b) { $0 == $1 || $0.isNaN && $1.isNaN }
    case (.external(let a, _), .external(let b, let read)): a == b || Self.haveOneContent(a, b, read)
    case (.made(let a), .made(let b)): NSManagedObject.areEqual(a, b)
    case (.destination(let a?), .destination(let b?)): a.isSame(b)
    case (.members(let a, let isOrdered), .members(let b, _)):
      a.elementsEqual(b) { $0.isSame($1) } || !isOrdered && a.count == b.count && Self.haveSameMembers(a, b)
    default: isNothing && other.isNothing
    }
  }

  private var isNothing: Bool {
    switch self {
    case .none: true
    case .stored(let values): values.allSatisfy(\.isNull)
    case .external(let value, _): value.isNull
    case .made(let value): value == nil
    case .destination(let object): object == nil
    case .members(let members, _): members.isEmpty
    }
  }

  private static func haveSameMembers(_ a: [WatchedObject], _ b: [WatchedObject]) -> Bool {
    let others = Dictionary(grouping: b, by: \.key)
    return a.allSatisfy { one in others[one.key]?.contains(where: one.isSame) == true }
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

/// A linked object. It is not held: it may hold the one that is observed.
struct WatchedObject {
  private weak var object: NSManagedObject?
  private let known: (key: Int64, store: UInt16)

  init(_ object: NSManagedObject) { (self.object, known) = (object, (object.key, object.storeIndex)) }

  /// An object that was not read.
  init(key: Int64, store: UInt16) { known = (key, store) }

  /// Changes when a new object is saved.
  var key: Int64 { object?.key ?? known.key }

  /// Objects are compared by their keys where one was released and read again, or is unread. Only an object that is
  /// saved can be.
  func isSame(_ other: WatchedObject) -> Bool {
    if let object, let other = other.object { return object === other }
    return key == other.key && (object?.storeIndex ?? known.store) == (other.object?.storeIndex ?? other.known.store)
  }
}

extension Value {
  fileprivate var isNaN: Bool { if case .double(let number) = self { number.isNaN } else { false } }
}

extension NSManagedObject {
  /// The present value of a key. Nil where it cannot be read: the client's next read reports the error. Members that
  /// were not read stay unread, unless the client is about to read them: objects that hold each other would stay alive.
  final func watchedValue(_ key: String, isBeingRead: Bool = false) -> WatchedValue? {
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
        return .destination(toOne(relationship).map(WatchedObject.init))
      }
      var members: [WatchedObject] = []
      let error = core.errors {
        let state = toMany(relationship)
        if state.isFault && !state.hasChanges && !isBeingRead {
          members = core.memberIDs(state, relationship, of: self).map { id in
            core.registry.object(id.reference, store: storeIndex).map(WatchedObject.init)
              ?? WatchedObject(key: id.key, store: storeIndex)
          }
        } else {
          members = loadedToMany(relationship).members.map(WatchedObject.init)
        }
      }
      return error == nil ? .members(members, isOrdered: relationship.isOrdered) : nil
    case .fetched: return WatchedValue.none
    }
  }
}
