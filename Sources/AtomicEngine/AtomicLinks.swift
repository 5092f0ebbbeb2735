/// The links of one to-many relationship: the keys of each owner's destinations. They are in order where the
/// relationship is ordered, otherwise in key order.
struct AtomicLinks: Sendable {
  private let isOrdered: Bool
  /// A destination of a one-way relationship has one owner, which `owners` finds.
  private let isOneWay: Bool
  private let loaded: AtomicLinkTable
  /// The links of owners that have changed since loading. A list may be empty.
  private var changed: [Int64: [Int64]] = [:]
  private var owners: [Int64: Int64] = [:]

  init(isOrdered: Bool, isOneWay: Bool) { self.init(AtomicLinkTable(), isOrdered: isOrdered, isOneWay: isOneWay) }

  /// The links of a table that has the same order.
  init(_ loaded: AtomicLinkTable, isOrdered: Bool, isOneWay: Bool) {
    self.loaded = loaded
    self.isOrdered = isOrdered
    self.isOneWay = isOneWay
    if !isOneWay { return }
    for owner in loaded.owners { for destination in loaded[owner] { owners[destination] = owner } }
  }

  subscript(owner: Int64) -> ArraySlice<Int64> {
    if !changed.isEmpty, let list = changed[owner] { return list[...] }
    return loaded[owner]
  }

  /// The owner of a destination, nil where there is none. For one-way relationships only.
  func owner(of destination: Int64) -> Int64? { owners[destination] }

  // MARK: Changing

  /// A change of one owner's links.
  struct Edit {
    var removed: Set<Int64> = []
    /// In the order of their arrival. Destinations that the owner has, and duplicates, are ignored.
    var added: [Int64] = []
  }

  mutating func apply(_ edit: Edit, to owner: Int64) {
    var list = changed.removeValue(forKey: owner) ?? Array(loaded[owner])
    let removed = edit.removed.subtracting(edit.added)
    if !removed.isEmpty {
      list.removeAll { removed.contains($0) }
      if isOneWay { for gone in removed where owners[gone] == owner { owners[gone] = nil } }
    }
    if !edit.added.isEmpty {
      // New objects have the highest keys, so most additions can simply be appended.
      var last = list.last ?? 0
      let isBehind =
        !isOrdered
        && edit.added.allSatisfy { key in
          defer { last = key }
          return key > last
        }
      if isBehind {
        list.append(contentsOf: edit.added)
      } else {
        var known = Set(list)
        list.append(contentsOf: edit.added.filter { known.insert($0).inserted })
        if !isOrdered { list.sort() }
      }
      if isOneWay { for new in edit.added { owners[new] = owner } }
    }
    if !list.isEmpty || !loaded[owner].isEmpty { changed[owner] = list }
  }

  /// Sorts an owner's links by `order`. Links that `order` does not contain follow behind.
  mutating func order(_ owner: Int64, as order: [Int64]) {
    let list = self[owner]
    if !isOrdered || list.isEmpty { return }
    let present = Set(list)
    var result: [Int64] = []
    var seen: Set<Int64> = []
    for key in order where present.contains(key) && seen.insert(key).inserted { result.append(key) }
    changed[owner] = result + list.filter { !seen.contains($0) }
  }
}
