/// The links of one to-many relationship: the keys of each owner's destinations, in their order where the relationship is
/// ordered, else in key order.
struct AtomicLinks: Sendable {
  private let isOrdered: Bool
  /// One-way links belong to one owner each, which is found here.
  private let isOneWay: Bool
  private var destinations: [Int64: [Int64]] = [:]
  private var owners: [Int64: Int64] = [:]

  init(isOrdered: Bool, isOneWay: Bool) {
    self.isOrdered = isOrdered
    self.isOneWay = isOneWay
  }

  subscript(owner: Int64) -> [Int64] { destinations[owner] ?? [] }

  /// The owner that a one-way link to `destination` begins at.
  func owner(of destination: Int64) -> Int64? { owners[destination] }

  /// Whether an owner's links, which no order was given to, lead to `destination`.
  func contains(_ destination: Int64, of owner: Int64) -> Bool {
    guard !isOrdered, let list = destinations[owner] else { return false }
    var (low, high) = (0, list.count)
    while low < high {
      let middle = (low + high) / 2
      if list[middle] < destination { low = middle + 1 } else { high = middle }
    }
    return low < list.count && list[low] == destination
  }

  var linkedOwners: Dictionary<Int64, [Int64]>.Keys { destinations.keys }

  // MARK: Loading

  /// Adds a link behind those that the owner has, whose destinations all have lower keys.
  mutating func append(_ destination: Int64, to owner: Int64) {
    destinations[owner, default: []].append(destination)
    if isOneWay { owners[destination] = owner }
  }

  /// Gives an owner its links, where it has none, links are in key order and have two ends. False where that is not so.
  mutating func load(_ keys: [Int64], of owner: Int64) -> Bool {
    if isOrdered || isOneWay || keys.isEmpty { return false }
    guard zip(keys, keys.dropFirst()).allSatisfy({ $0 < $1 }), destinations[owner] == nil else { return false }
    destinations[owner] = keys
    return true
  }

  // MARK: Changing

  /// What becomes of one owner's links.
  struct Edit {
    var removed: Set<Int64> = []
    /// In the order in which they come; one that is there, or comes twice, is there once.
    var added: [Int64] = []
  }

  mutating func apply(_ edit: Edit, to owner: Int64) {
    var list = destinations[owner] ?? []
    // Nobody else holds the list while it changes.
    destinations[owner] = nil
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
    if !list.isEmpty { destinations[owner] = list }
  }

  /// Puts an owner's links into an order; what it does not name stays behind.
  mutating func order(_ owner: Int64, as order: [Int64]) {
    guard isOrdered, let list = destinations[owner] else { return }
    let present = Set(list)
    var result: [Int64] = []
    var seen: Set<Int64> = []
    for key in order where present.contains(key) && seen.insert(key).inserted { result.append(key) }
    destinations[owner] = result + list.filter { !seen.contains($0) }
  }
}
