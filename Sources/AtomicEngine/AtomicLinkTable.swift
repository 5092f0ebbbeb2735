/// The links of one relationship as they were loaded. Flat arrays need no allocation per owner.
struct AtomicLinkTable: Sendable, Equatable {
  /// In ascending order without duplicates. Owners without links are left out.
  private(set) var owners: [Int64] = []
  /// The end of each owner's destinations.
  private(set) var ends: [Int] = []
  private(set) var destinations: [Int64] = []

  init() {}

  fileprivate init(_ owners: [Int64], _ ends: [Int], _ destinations: [Int64]) {
    (self.owners, self.ends, self.destinations) = (owners, ends, destinations)
  }

  /// Groups single links by owner. All owners must be among `keys`. The destinations of an owner keep their order.
  init(grouping links: (owners: [Int64], destinations: [Int64]), among keys: [Int64]) {
    var positions = [Int](repeating: 0, count: keys.count)
    for owner in links.owners { if let position = keys.position(ofKey: owner) { positions[position] += 1 } }
    var sum = 0
    for position in positions.indices {
      let count = positions[position]
      positions[position] = sum
      sum += count
      if count > 0 {
        owners.append(keys[position])
        ends.append(sum)
      }
    }
    destinations = Array(repeating: 0, count: sum)
    for (owner, destination) in zip(links.owners, links.destinations) {
      guard let position = keys.position(ofKey: owner) else { continue }
      destinations[positions[position]] = destination
      positions[position] += 1
    }
  }

  subscript(owner: Int64) -> ArraySlice<Int64> {
    guard let position = owners.position(ofKey: owner) else { return [] }
    return destinations[(position == 0 ? 0 : ends[position - 1])..<ends[position]]
  }

  /// The links of the inverse relationship. All destinations must be among `keys`, and the owners of each come in key
  /// order.
  func reversed(among keys: [Int64]) -> AtomicLinkTable {
    var links: (owners: [Int64], destinations: [Int64]) = (destinations, [])
    links.destinations.reserveCapacity(destinations.count)
    for position in owners.indices {
      while links.destinations.count < ends[position] { links.destinations.append(owners[position]) }
    }
    return AtomicLinkTable(grouping: links, among: keys)
  }

  fileprivate mutating func append(_ list: some Collection<Int64>, of owner: Int64) {
    destinations.append(contentsOf: list)
    owners.append(owner)
    ends.append(destinations.count)
  }
}

/// The links of one relationship, list by list as a file has them.
struct AtomicLinkLists {
  private(set) var owners: [Int64] = []
  private var ends: [Int] = []
  private(set) var destinations: [Int64] = []

  var isEmpty: Bool { owners.isEmpty }

  mutating func append(_ list: some Collection<Int64>, of owner: Int64) {
    if list.isEmpty { return }
    destinations.append(contentsOf: list)
    owners.append(owner)
    ends.append(destinations.count)
  }

  mutating func append(_ table: AtomicLinkTable) {
    let count = destinations.count
    destinations += table.destinations
    owners += table.owners
    ends += table.ends.lazy.map { $0 + count }
  }

  func list(_ index: Int) -> ArraySlice<Int64> { destinations[(index == 0 ? 0 : ends[index - 1])..<ends[index]] }

  /// Replaces all keys.
  mutating func replaceKeys<E: Error>(
    owners owner: (Int64) throws(E) -> Int64, destinations destination: (Int64) throws(E) -> Int64
  ) throws(E) {
    for index in owners.indices { owners[index] = try owner(owners[index]) }
    for index in destinations.indices { destinations[index] = try destination(destinations[index]) }
  }

  /// All links without duplicates. The destinations of an owner come in the order of the file if the relationship is
  /// ordered, otherwise in key order.
  func table(isOrdered: Bool) -> AtomicLinkTable {
    if owners.isAscending, owners.indices.allSatisfy({ list($0).isAscending }) {
      return AtomicLinkTable(owners, ends, destinations)
    }
    let order = owners.indices.sorted { (owners[$0], $0) < (owners[$1], $1) }
    var result = AtomicLinkTable()
    var links: [Int64] = []
    for (position, index) in order.enumerated() {
      links += list(index)
      if position + 1 < order.count, owners[order[position + 1]] == owners[index] { continue }
      if !links.isAscending {
        if !isOrdered { links.sort() }
        var known: Set<Int64> = []
        links.removeAll { !known.insert($0).inserted }
      }
      result.append(links, of: owners[index])
      links.removeAll(keepingCapacity: true)
    }
    return result
  }
}
