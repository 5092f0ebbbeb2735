import Foundation
import RuntimeAccess
import StoreQuery
import StoreSchema

/// Replaces methods of Foundation's `NSSortDescriptor`, so that it compares and describes itself by its key, as on
/// Apple's platforms.
enum SortDescriptorPatch {
  static func apply() { _ = once }

  private static let once = VirtualTable.patch(
    NSSortDescriptor.self, plain: (Plain.self, PlainToo.self), donor: Comparing.self)

  private final class Plain: NSSortDescriptor {}
  private final class PlainToo: NSSortDescriptor {}

  private final class Comparing: NSSortDescriptor {
    override func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? NSSortDescriptor else { return false }
      if other === self { return true }
      guard let key, key == other.key, !comparesByBlock, !other.comparesByBlock else { return false }
      return ascending == other.ascending && selector == other.selector
    }

    /// Foundation's method reads no value through a key path that stands for a key.
    override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
      guard let key, keyPath is KeyPath<NSObject, _SortKey> else { return super.compare(object1, to: object2) }
      return SortedValue.compare(object1, object2, key, selector, isAscending: ascending)
    }

    override var hash: Int { (key?.hashValue ?? 0) &* 2 &+ (ascending ? 1 : 0) }
    override var description: String { "(\(key ?? "?"), \(ascending ? "ascending" : "descending"))" }
  }
}

/// Orders the values of a key of any two objects, as fetches order the values of a property.
enum SortedValue {
  static func compare(
    _ a: Any, _ b: Any, _ key: String, _ selector: Selector?, isAscending: Bool
  ) -> ComparisonResult {
    guard let order = SortComparison.TextOrder(selector: selector) else {
      misuse(
        "A sort descriptor by \(selector?.description ?? "") cannot compare: there are no selectors. Use a comparator.")
    }
    let (x, y) = (value(of: a, key), value(of: b, key))
    switch SortComparison.compare(x, y, order) {
    case .same: return .orderedSame
    case .ascending: return isAscending ? .orderedAscending : .orderedDescending
    case .descending: return isAscending ? .orderedDescending : .orderedAscending
    }
  }

  private static func value(of object: Any, _ key: String) -> Value {
    let value: Any? = key == "self" ? object : ObjectCollection.value(of: object, key)
    switch value.flatMap(ObjectInPredicate.init) {
    case .object(let object): return .reference(object.reference)
    case .id(let id): return .reference(id.reference)
    default: return ObjectSource.value(value)
    }
  }
}
