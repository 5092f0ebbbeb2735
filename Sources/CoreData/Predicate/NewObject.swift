import Foundation
import StoreQuery
import StoreSchema

/// An object, or its temporary ID, in a predicate: what it refers to is settled when the predicate is used, as a save gives
/// the object another key, and a temporary key means another object in another context.
///
/// Sendable, unchecked: syntax trees are Sendable, but a predicate with managed objects stays on their queue.
enum NewObject: Hashable, CustomStringConvertible, @unchecked Sendable {
  case object(NSManagedObject)
  case id(NSManagedObjectID)
  /// What no store knows; an expression made of it is only carried.
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

  init?(_ object: UnsavedObject) {
    guard let known = object.base as? NewObject else { return nil }
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
    case .object(let object): "\(object.objectID)"
    case .id(let id): "\(id)"
    case .other(let box): "\(box.value)"
    }
  }

  /// What the objects of a context have to be compared with; without a context, the reference as it is.
  func reference(in core: ContextCore?) -> ObjectReference {
    switch self {
    case .object(let object):
      return object.key > 0 || core == nil || object.core === core ? object.reference : Self.nothing
    case .id(let id):
      guard let core else { return id.reference }
      // Once the object is saved, nothing is known by its temporary ID.
      guard id.isKnown(to: core) else { return Self.nothing }
      return core.registered(id.reference, store: .max)?.reference ?? Self.nothing
    case .other: return Self.nothing
    }
  }

  /// No object has the key zero.
  private static let nothing = ObjectReference(entity: 0, key: 0)
}
