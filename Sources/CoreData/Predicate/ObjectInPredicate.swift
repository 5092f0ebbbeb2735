import Foundation
import StoreQuery
import StoreSchema

/// An object or an ID in a predicate. Its reference is determined when the predicate is used, for three reasons:
/// - A save gives a new object another key.
/// - A temporary key is another object in another family of contexts.
/// - A key is another object in another store.
///
/// Sendable, unchecked: syntax trees are Sendable, but a predicate with managed objects stays on their queue.
enum ObjectInPredicate: Hashable, CustomStringConvertible, @unchecked Sendable {
  case object(NSManagedObject)
  case id(NSManagedObjectID)
  /// A value that no store has. An expression with it can be made and printed only.
  case other(Box)

  final class Box: Hashable {
    let value: Any
    init(_ value: Any) { self.value = value }
    static func == (a: Box, b: Box) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  init?(_ value: Any) {
    switch value {
    case let object as NSManagedObject: self = .object(object)
    case let id as NSManagedObjectID: self = .id(id)
    default: return nil
    }
  }

  init?(_ object: ObjectConstant) {
    guard let known = object.base as? ObjectInPredicate else { return nil }
    self = known
  }

  var value: Any {
    switch self {
    case .object(let object): object
    case .id(let id): id
    case .other(let box): box.value
    }
  }

  var description: String {
    switch self {
    case .object(let object): "\(object.ownID)"
    case .id(let id): "\(id)"
    case .other(let box): "\(box.value)"
    }
  }

  /// The reference to the object in one store of the context's coordinator, or in any of its stores if `store` is nil.
  /// If the object is not in the store, the result is a reference that no object has.
  func reference(in core: ContextCore, at store: UInt16?) -> ObjectReference {
    func isThere(_ storeIndex: UInt16) -> Bool { store == nil || store == .max || store == storeIndex }
    switch self {
    case .object(let object):
      guard object.core === core else { return Self.id(object.ownID).reference(in: core, at: store) }
      return object.key <= 0 || isThere(object.storeIndex) ? object.reference : Self.nothing
    case .id(let id):
      guard id.isKnown(to: core) else { return Self.nothing }
      let (present, storeIndex) = core.present(id)
      let key = present.key
      if key <= 0 {
        // After a save no object of a root context is found by its temporary ID.
        if let known = core.registry.object(id.reference, store: .max) { return known.reference }
        return core.canBeStored(id.reference) ? id.reference : Self.nothing
      }
      guard storeIndex != .max, isThere(storeIndex) else { return Self.nothing }
      return core.frozen?.reference(of: id, key: key) ?? Self.nothing
    case .other: return Self.nothing
    }
  }

  /// No object has the key zero.
  private static let nothing = ObjectReference(entity: 0, key: 0)
}

extension FrozenModel {
  /// The ID may belong to another stack. Its entity then has another model, and may have another index there.
  fileprivate func reference(of id: NSManagedObjectID, key: Int64) -> ObjectReference? {
    schema.entity(named: id.info.entity.name).map { ObjectReference(entity: $0.index, key: key) }
  }
}
