/// The links of one to-many relationship: the keys of each owner's destinations, in their order where the relationship
/// is ordered, else in key order.
struct AtomicLinks: Sendable {
  private let isOrdered: Bool
  /// One-way links belong to one owner each, which is found here.
  private let isOneWay: Bool
  private let loaded: AtomicLinkTable
  /// Those of owners whose links have changed since, which may have none any more.
  private var changed: [Int64: [Int64]] = [:]
  private var owners: [Int64: Int64] = [:]

  init(isOrdered: Bool, isOneWay: Bool) { self.init(AtomicLinkTable(), isOrdered: isOrdered, isOneWay: isOneWay) }

  /// Those of a table that is in the same order.
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

  /// The owner that a one-way link to `destination` begins at.
  func owner(of destination: Int64) -> Int64? { owners[destination] }

  // MARK: Changing

  /// What becomes of one owner's links.
  struct Edit {
    var removed: Set<Int64> = []
    /// In the order in which they come; one that is there, or comes twice, is there once.
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
      // As new objects come: behind all that are there, each once.
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

  /// Puts an owner's links into an order; what it does not name stays behind.
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
