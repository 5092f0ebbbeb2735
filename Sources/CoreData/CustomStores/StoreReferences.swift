import Foundation
import StoreSchema
import Synchronization

/// The keys of the reference objects of a store that a client implements.
///
/// Such a store names its objects by numbers or strings, unique in an entity hierarchy. Keys are assigned in the order
/// in which names become known, and are valid while the store is open.
final class StoreReferences: Sendable {
  fileprivate struct Name: Hashable {
    let root: Int
    /// A number and the same digits as a string are different names.
    let isNumber: Bool
    let text: String
  }

  private struct Entry {
    var entity: Entity
    let name: Name
    let object: any Sendable
    /// The last row of the object.
    var row: Row?
    var isGone = false
  }

  private struct State {
    var keys: [Name: Int64] = [:]
    /// By key; the first key is 1.
    var entries: [Entry] = []

    /// Adds an object with the name of another one. The name still refers to the other one.
    mutating func add(_ entity: Entity, _ other: Entry) -> Int64 {
      entries.append(Entry(entity: entity, name: other.name, object: other.object))
      return Int64(entries.count)
    }
  }

  private let state = Mutex(State())

  /// The key of a reference object, a string or a number. `entity` is the entity of the object, or a superentity of it.
  func key(for reference: Any, _ entity: Entity) -> Int64 {
    let (name, object) = Self.name(reference, entity.root)
    return state.withLock { state in
      if let known = state.keys[name] {
        let position = Int(known - 1)
        // A sub-entity is closer to the real entity.
        if !entity.subtree.contains(state.entries[position].entity.index) { state.entries[position].entity = entity }
        return known
      }
      state.entries.append(Entry(entity: entity, name: name, object: object))
      let key = Int64(state.entries.count)
      state.keys[name] = key
      return key
    }
  }

  /// The key for the text after the `p` of a URI: a known name, else a new string.
  func key(ofText text: String, _ entity: Entity) -> Int64 {
    let number = state.withLock { $0.keys[Name(root: entity.root, isNumber: true, text: text)] }
    return number ?? key(for: text, entity)
  }

  func reference(of key: Int64) -> Any? { entry(key)?.object }
  func text(of key: Int64) -> String { entry(key)?.name.text ?? "" }
  func entity(of key: Int64) -> Int? { entry(key)?.entity.index }

  private func entry(_ key: Int64) -> Entry? {
    state.withLock { state in key > 0 && key <= state.entries.count ? state.entries[Int(key - 1)] : nil }
  }

  // MARK: Rows

  // MARK: Names of deleted objects

  /// The key of the object that has a key's name now: the same key, or the key of another object where its own object
  /// was deleted.
  func present(_ key: Int64) -> Int64 {
    state.withLock { state in
      guard key > 0 && key <= state.entries.count, case let entry = state.entries[Int(key - 1)], entry.isGone
      else { return key }
      if let known = state.keys[entry.name] { return known }
      let new = state.add(entry.entity, entry)
      state.keys[entry.name] = new
      return new
    }
  }

  /// A key for a new object that gets the name of a deleted one, whose entity is `former`. The name refers to the
  /// deleted object until the commit calls ``claim(_:)``.
  func reserved(_ key: Int64, for entity: Entity, former: Entity?) -> Int64 {
    state.withLock { state in
      guard key > 0 && key <= state.entries.count else { return key }
      if let former { state.entries[Int(key - 1)].entity = former }
      return state.add(entity, state.entries[Int(key - 1)])
    }
  }

  /// The keys that names referred to before a commit; see ``claim(_:)``.
  struct Claims { fileprivate var former: [(name: Name, key: Int64?)] = [] }

  /// Makes the names of new objects refer to these objects.
  func claim(_ keys: [Int64]) -> Claims {
    state.withLock { state in
      var claims = Claims()
      for key in keys where key > 0 && key <= state.entries.count {
        let name = state.entries[Int(key - 1)].name
        if state.keys[name] == key { continue }
        claims.former.append((name, state.keys[name]))
        state.keys[name] = key
      }
      return claims
    }
  }

  /// Undoes ``claim(_:)`` after a failed commit.
  func giveBack(_ claims: Claims) {
    state.withLock { state in for (name, key) in claims.former { state.keys[name] = key } }
  }

  /// The row that was last read or saved.
  func row(of key: Int64) -> Row? { entry(key)?.row }

  func setRow(_ row: Row?, of key: Int64) {
    state.withLock { state in
      if key > 0 && key <= state.entries.count { state.entries[Int(key - 1)].row = row }
    }
  }

  /// Releases the names of deleted objects: an object that gets such a name later is another object, with its own key.
  func forget(_ keys: [Int64]) {
    if keys.isEmpty { return }
    state.withLock { state in
      for key in keys where key > 0 && key <= state.entries.count {
        let position = Int(key - 1)
        state.entries[position].isGone = true
        state.entries[position].row = nil
        if state.keys[state.entries[position].name] == key { state.keys[state.entries[position].name] = nil }
      }
    }
  }

  /// Whether the object of a key was deleted.
  func isGone(_ key: Int64) -> Bool { entry(key)?.isGone ?? false }

  private static func name(_ reference: Any, _ root: Int) -> (Name, any Sendable) {
    switch reference {
    case let text as String: (Name(root: root, isNumber: false, text: text), text)
    case let number as any FixedWidthInteger & Sendable:
      (Name(root: root, isNumber: true, text: "\(number)"), number)
    case let number as NSNumber: (Name(root: root, isNumber: true, text: number.stringValue), number.int64Value)
    case let uuid as UUID: (Name(root: root, isNumber: false, text: uuid.uuidString), uuid)
    default: misuse("A reference object must be a string, a whole number or a UUID, not a \(type(of: reference)).")
    }
  }
}
