import StoreQuery
import StoreSchema

/// A result of a fetch before an object is made of it.
struct FoundObject {
  enum Content {
    /// A row of a view.
    case row(Row, view: ViewStamp)
    /// The key only.
    case key
    /// An object: it has unsaved changes, or a client's store gave it.
    case object(NSManagedObject)
  }

  let reference: ObjectReference
  /// The index of its store; `.max` for no store.
  let store: UInt16
  let content: Content
  /// The values of the sort keys; empty if nothing has to be sorted or merged.
  let keys: [Value]

  init(_ reference: ObjectReference, store: UInt16, _ content: Content, keys: [Value] = []) {
    (self.reference, self.store, self.content, self.keys) = (reference, store, content, keys)
  }

  init(_ object: NSManagedObject, keys: [Value]) {
    self.init(object.reference, store: object.storeIndex, .object(object), keys: keys)
  }

  /// Identifies an object among those of one root entity. Where the key is temporary, the store does not count: a child
  /// context may not know yet that its parent has assigned the object to another one.
  struct Identity: Hashable {
    private let store: UInt16
    private let key: Int64

    init(_ key: Int64, store: UInt16) { (self.key, self.store) = (key, key < 0 ? .max : store) }

    init(_ object: NSManagedObject) { self.init(object.key, store: object.storeIndex) }
  }
  var identity: Identity { Identity(reference.key, store: store) }

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

  /// Merges two lists that are in the order of the sorts.
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
  /// The part of a list between offset and limit.
  func cut<Element>(_ list: [Element]) -> [Element] {
    if offset == 0 && limit.map({ $0 >= list.count }) ?? true { return list }
    let tail = list.dropFirst(offset)
    return Array(limit.map { tail.prefix($0) } ?? tail)
  }

  /// The number of results between offset and limit.
  func cut(_ count: Int) -> Int {
    let rest = max(0, count - offset)
    return min(limit ?? rest, rest)
  }

  /// The plan for a store whose results are cut later, after up to `more` results were merged with them.
  func widened(by more: Int) -> FetchPlan {
    var plan = self
    plan.offset = 0
    // No limit if the sum overflows.
    plan.limit = limit.flatMap { limit in
      let (end, isTooFar) = limit.addingReportingOverflow(offset)
      let (sum, isTooLarge) = end.addingReportingOverflow(more)
      return isTooFar || isTooLarge ? nil : sum
    }
    return plan
  }
}
