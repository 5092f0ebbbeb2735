import Foundation
import StoreQuery
import StoreSchema

/// Turns the values of one comparison into `Value`s that can be compared. An attribute's value stays as it is. A
/// managed object becomes its ID, as in fetches. A value of any other class becomes a number, and equal values get the
/// same number.
final class ComparedValues {
  /// One ID of each store and context whose objects have occurred. The same key in another store is another object.
  private var homes: [NSManagedObjectID] = []
  private var others: [Other: Int64] = [:]

  private enum Other: Hashable {
    case hashable(AnyHashable)
    case instance(ObjectIdentifier)
    /// Values without an equality are equal to no other value.
    case unknown(Int)
  }

  func value(_ operand: Any?) -> Value {
    if let value = operand as? Value { return value }
    guard let value = AttributeCoding.flattened(operand) else { return .null }
    switch ObjectInPredicate(value) {
    case .object(let object): return reference(object.ownID)
    case .id(let id): return reference(id)
    default: return PredicateArgument.constant(value) ?? number(other(value))
    }
  }

  private func reference(_ id: NSManagedObjectID) -> Value {
    let home = homes.firstIndex { $0.sharesKeys(with: id) } ?? homes.count
    if home == homes.count { homes.append(id) }
    return .reference(ObjectReference(entity: home, key: id.key))
  }

  private func number(_ other: Other) -> Value {
    let number = others[other] ?? Int64(others.count)
    others[other] = number
    return .reference(ObjectReference(entity: -1, key: number))
  }

  private func other(_ value: Any) -> Other {
    switch value {
    case let hashable as any Hashable: .hashable(AnyHashable(hashable))
    case let object as AnyObject where type(of: value) is AnyClass: .instance(ObjectIdentifier(object))
    default: .unknown(others.count)
    }
  }
}
