import Foundation
import StoreSchema

/// `NSMutableOrderedSet` over an ordered relationship.
///
/// Some of Foundation's methods cannot be overridden and read the content of the set itself: `array`, `firstObject`,
/// `for` loops. So the set also contains the members: as of its creation, and with each change through it. The context
/// keeps the views of an event, because clients often get one again for each object that they add.
final class RelationshipOrderedSet: NSMutableOrderedSet {
  private let owner: NSManagedObject?
  private let relationship: Relationship?

  struct Key: Hashable {
    let owner: ObjectIdentifier
    let relationship: Int
  }

  static func view(of owner: NSManagedObject, _ relationship: Relationship) -> RelationshipOrderedSet {
    let key = Key(owner: ObjectIdentifier(owner), relationship: relationship.toManyIndex ?? 0)
    if let known = owner.core?.orderedViews[key] {
      known.holdAll()
      return known
    }
    let view = RelationshipOrderedSet(owner, relationship)
    // A deleted object may outlive its context.
    guard let core = owner.core, !owner.flags.contains(.gone) else { return view }
    if core.orderedViews.count >= 64 { core.orderedViews = [:] }
    var views = core.orderedViews
    views[key] = view
    core.orderedViews = views
    return view
  }

  private init(_ owner: NSManagedObject, _ relationship: Relationship) {
    self.owner = owner
    self.relationship = relationship
    super.init(capacity: 0)
    // A former view may have had the same address.
    state?.holder = nil
    holdAll()
  }

  override init(capacity numItems: Int) {
    owner = nil
    relationship = nil
    super.init(capacity: numItems)
  }

  required convenience init(arrayLiteral elements: Any...) {
    self.init(capacity: elements.count)
  }

  required init?(coder aDecoder: NSCoder) { nil }

  private var state: ToManyState? { relationship.flatMap { owner?.loadedToMany($0) } }
  var members: ContiguousArray<NSManagedObject> { state?.members ?? [] }

  // MARK: Reading

  /// Foundation's methods that are not overridden read the count before they read the content.
  override var count: Int {
    if isHolding { return super.count }
    holdAll()
    return state?.members.count ?? 0
  }

  override func object(at idx: Int) -> Any {
    let members = members
    guard members.indices.contains(idx) else { misuse("index \(idx) is out of range.") }
    return members[idx]
  }

  override func index(of object: Any) -> Int {
    (object as? NSManagedObject).flatMap { state?.position(of: $0) } ?? NSNotFound
  }

  override func contains(_ object: Any) -> Bool {
    isHolding ? super.contains(object) : index(of: object) != NSNotFound
  }

  // MARK: One member

  override func insert(_ object: Any, at idx: Int) {
    guard let object = object as? NSManagedObject, let relationship, !contains(object) else { return }
    guard idx >= 0, idx <= count else { misuse("index \(idx) is out of range.") }
    let isExact = holdAll()
    let isLast = idx == members.count
    if isExact { super.insert(object, at: idx) }
    owner?.add(object, to: relationship, at: isLast ? nil : idx)
    if isExact { state?.holder = ObjectIdentifier(self) }
    owner?.tellObservers()
  }

  override func removeObject(at idx: Int) {
    guard let relationship, members.indices.contains(idx) else { return }
    let member = members[idx]
    let isExact = holdAll()
    if isExact { super.removeObject(at: idx) }
    owner?.remove(member, from: relationship)
    if isExact { state?.holder = ObjectIdentifier(self) }
    owner?.tellObservers()
  }

  override func replaceObject(at idx: Int, with obj: Any) { replaceObjects(at: [idx], with: [obj]) }

  override func setObject(_ obj: Any, at idx: Int) { idx == count ? add(obj) : replaceObject(at: idx, with: obj) }

  override func add(_ object: Any) { insert(object, at: count) }

  override func remove(_ object: Any) {
    let index = index(of: object)
    if index != NSNotFound { removeObject(at: index) }
  }

  // MARK: Several

  override func add(_ objects: UnsafePointer<AnyObject>!, count: Int) {
    for index in 0..<count { add(objects[index]) }
  }

  override func addObjects(from array: [Any]) { for object in array { add(object) } }

  override func insert(_ objects: [Any], at indexes: IndexSet) {
    for (object, index) in zip(objects, indexes) { insert(object, at: index) }
  }

  override func removeObjects(at indexes: IndexSet) {
    change { members in for index in indexes.reversed() { members.remove(at: index) } }
  }

  override func removeObjects(in range: NSRange) {
    guard let range = Range(range) else { return }
    change { $0.removeSubrange(range) }
  }

  override func removeObjects(in array: [Any]) {
    let gone = Set(array.compactMap { $0 as? NSManagedObject })
    leave { !gone.contains($0) }
  }

  override func removeAllObjects() { change { $0 = [] } }

  /// An object that is a member already replaces none.
  override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
    change { members in
      var known = Set(members)
      for case (let object as NSManagedObject, let index) in zip(objects, indexes)
      where known.insert(object).inserted {
        guard members.indices.contains(index) else { misuse("index \(index) is out of range.") }
        known.remove(members[index])
        members[index] = object
      }
    }
  }

  override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) { change { $0.swapAt(idx1, idx2) } }

  override func moveObjects(at indexes: IndexSet, to idx: Int) {
    change { members in
      let moved = indexes.map { members[$0] }
      for index in indexes.reversed() { members.remove(at: index) }
      members.insert(contentsOf: moved, at: idx)
    }
  }

  // MARK: Other sets

  override func minus(_ other: NSOrderedSet) { leave { !other.contains($0) } }

  override func minusSet(_ other: Set<AnyHashable>) { leave { !other.contains($0) } }

  override func intersect(_ other: NSOrderedSet) { leave { other.contains($0) } }

  override func intersectSet(_ other: Set<AnyHashable>) { leave { other.contains($0) } }

  override func union(_ other: NSOrderedSet) { addObjects(from: other.array) }

  override func unionSet(_ other: Set<AnyHashable>) { addObjects(from: other.map(\.base)) }

  // MARK: Order

  override func sort(comparator cmptr: (Any, Any) -> ComparisonResult) {
    sortRange(NSRange(location: 0, length: count), usingComparator: cmptr)
  }

  override func sort(options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult) {
    sortRange(NSRange(location: 0, length: count), options: opts, usingComparator: cmptr)
  }

  override func sortRange(
    _ range: NSRange, options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult
  ) {
    guard let range = Range(range) else { return }
    change { members in
      members.replaceSubrange(range, with: members[range].sorted { cmptr($0, $1) == .orderedAscending })
    }
  }

  override func sort(using sortDescriptors: [NSSortDescriptor]) {
    change { members in
      let sorted = (Array(members) as NSArray).sortedArray(using: sortDescriptors)
      members = sorted.compactMap { $0 as? NSManagedObject }
    }
  }

  // MARK: Changing

  private func leave(_ isLeft: (NSManagedObject) -> Bool) { change { $0 = $0.filter(isLeft) } }

  private func change(_ body: (inout [NSManagedObject]) -> Void) {
    guard let owner, let relationship else { return }
    var changed = Array(members)
    body(&changed)
    owner.setToMany(relationship, changed)
    holdAll()
    owner.tellObservers()
  }

  /// Makes the content equal to the members, where these were changed another way. Returns false where the store has
  /// returned a member twice, which the set cannot contain: then it is filled again after each change.
  @discardableResult private func holdAll() -> Bool {
    guard let state else { return false }
    if state.holder == ObjectIdentifier(self) { return true }
    // Foundation's methods read the count and the members.
    isHolding = true
    defer { isHolding = false }
    super.removeAllObjects()
    for member in state.members { super.insert(member, at: super.count) }
    let isExact = super.count == state.members.count
    if isExact { state.holder = ObjectIdentifier(self) }
    return isExact
  }

  private var isHolding = false
}
