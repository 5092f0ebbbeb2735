import StoreQuery
import StoreSchema

/// A result of a fetch before it is an object.
struct FoundObject {
  enum Content {
    /// Its row, as a view has it.
    case row(Row, view: ViewStamp)
    /// Nothing but its key.
    case key
    /// An object with unsaved changes, or one that a client's store gave.
    case object(NSManagedObject)
  }

  let reference: ObjectReference
  /// The index of its store, `.max` for none.
  let store: UInt16
  let content: Content
  /// The values of the fetch's sort keys; empty where nothing is to be sorted or merged.
  let keys: [Value]

  init(_ reference: ObjectReference, store: UInt16, _ content: Content, keys: [Value] = []) {
    (self.reference, self.store, self.content, self.keys) = (reference, store, content, keys)
  }

  init(_ object: NSManagedObject, keys: [Value]) {
    self.init(object.reference, store: object.storeIndex, .object(object), keys: keys)
  }

  /// What it is stored as, among the objects of one tree.
  struct Place: Hashable {
    let store: UInt16
    let key: Int64
  }
  var place: Place { Place(store: store, key: reference.key) }

  func precedes(_ other: FoundObject, _ sorts: [ResolvedSort]) -> Bool {
    SortEvaluation.precedes(sorts, keys, other.keys) ?? isBefore(other)
  }

  /// See `NSManagedObject.isBefore(_:)`.
  private func isBefore(_ other: FoundObject) -> Bool {
    let (key, otherKey) = (reference.key, other.reference.key)
    if (key > 0) != (otherKey > 0) { return key > 0 }
    if store != other.store { return store < other.store }
    return key > 0 ? key < otherKey : key > otherKey
  }

  /// Two lists, each in the order of the sorts, as one.
  static func merged(_ a: [FoundObject], _ b: [FoundObject], _ sorts: [ResolvedSort]) -> [FoundObject] {
    if a.isEmpty || b.isEmpty { return a + b }
    var result: [FoundObject] = []
    result.reserveCapacity(a.count + b.count)
    var rest = b[...]
    for found in a {
      while let next = rest.first, next.precedes(found, sorts) {
        result.append(next)
        rest = rest.dropFirst()
      }
      result.append(found)
    }
    return result + rest
  }
}

extension FetchPlan {
  /// The part of a list that offset and limit leave.
  func cut<Element>(_ list: [Element]) -> [Element] {
    if offset == 0 && limit.map({ $0 >= list.count }) ?? true { return list }
    let tail = list.dropFirst(offset)
    return Array(limit.map { tail.prefix($0) } ?? tail)
  }

  /// How many of so many results offset and limit leave.
  func cut(_ count: Int) -> Int {
    let rest = max(0, count - offset)
    return min(limit ?? rest, rest)
  }

  /// The plan for what is cut later, after up to `more` results were put between those of one store.
  func widened(by more: Int) -> FetchPlan {
    var plan = self
    plan.offset = 0
    // No limit where the sum is too large to be one.
    plan.limit = limit.flatMap { limit in
      let (end, isTooFar) = limit.addingReportingOverflow(offset)
      let (sum, isTooLarge) = end.addingReportingOverflow(more)
      return isTooFar || isTooLarge ? nil : sum
    }
    return plan
  }
}
