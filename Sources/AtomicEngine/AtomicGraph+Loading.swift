import StoreProtocol
import StoreSchema
import StoreSupport

/// Builds a graph from the objects of a file, in flat arrays. Objects may come in any order; ascending or descending
/// keys are fastest.
///
/// A to-many relationship with a to-one inverse follows from the rows. All other links, and the order of ordered
/// relationships, are added with ``link(_:of:to:)``.
public struct AtomicGraphLoader {
  private var graph: AtomicGraph
  /// By entity hierarchy, in the order of their arrival; ``finish(highestNumber:)`` sorts them.
  private var keys: [[Int64]]
  private var rows: [[RowDraft]]
  /// By link table: the links that were added.
  private var lists: [AtomicLinkLists]
  /// By link table: the links that follow from rows.
  private var backLinks: [(owners: [Int64], destinations: [Int64])]
  private let toOnes: [[ToOne]]
  private let salvage: Salvage?
  /// By link table: the entity hierarchy of the owners, and the possible destinations.
  private let ownerTrees: [Int]
  private let destinations: [Destination]

  /// The objects that a relationship may refer to.
  private struct Destination {
    let hierarchy: Int
    /// Nil where any entity of the hierarchy is allowed.
    let entities: Range<Int>?

    init(_ relationship: Relationship, _ shape: StoreShape) {
      hierarchy = shape.hierarchies[relationship.destination]
      let root = shape.schema.entities[shape.schema.entities[relationship.destination].root]
      entities = relationship.destinations == root.subtree ? nil : relationship.destinations
    }
  }

  /// A relationship that rows store.
  private struct ToOne {
    let slot: Int
    let entitySlot: Int?
    let destination: Destination
    /// The link table of the inverse.
    let table: Int?
    /// The index in the relationships of the entity.
    let index: Int
  }

  /// For a damaged file: objects go to `salvage`, and no graph is built.
  public init(_ salvage: Salvage, _ numbering: AtomicNumbering) { self.init(salvage.schema, numbering, salvage) }

  /// `numbering` is that of the file. Keys are passed as numbers of the file.
  public init(_ schema: Schema, _ numbering: AtomicNumbering) { self.init(schema, numbering, nil) }

  private init(_ schema: Schema, _ numbering: AtomicNumbering, _ salvage: Salvage?) {
    self.salvage = salvage
    graph = AtomicGraph(schema)
    graph.numbering = numbering
    let shape = graph.shape
    keys = Array(repeating: [], count: shape.hierarchyCount)
    rows = Array(repeating: [], count: shape.hierarchyCount)
    lists = Array(repeating: AtomicLinkLists(), count: shape.toManys.count)
    backLinks = Array(repeating: ([], []), count: shape.toManys.count)
    ownerTrees = shape.toManys.map { shape.hierarchies[$0.declaringEntity] }
    destinations = shape.toManys.map { Destination($0, shape) }
    toOnes = schema.entities.map { entity in
      entity.relationships.indices.compactMap { index in
        let relationship = entity.relationships[index]
        guard let slot = relationship.slot else { return nil }
        return ToOne(
          slot: slot, entitySlot: relationship.entitySlot, destination: Destination(relationship, shape),
          table: shape.backLinks[entity.index].first { $0.slot == slot }?.table, index: index)
      }
    }
  }

  /// The table of a to-many relationship's links, to be looked up once.
  public func linkTable(of relationship: Relationship) -> Int? { graph.shape.table(of: relationship) }

  /// Adds an object. Throws `corrupt` for a key below 1.
  public mutating func add(_ row: consuming RowDraft) throws(StoreError) {
    if let salvage { return add(row, to: salvage) }
    let (key, hierarchy) = (row.key, graph.shape.hierarchies[row.entity])
    if key <= 0 { throw Self.wrong(key) }
    keys[hierarchy].append(key)
    rows[hierarchy].append(row)
  }

  /// Adds the destinations of one owner to the link table of a to-many relationship. They are in order where the
  /// relationship is ordered.
  public mutating func link(_ table: Int, of owner: Int64, to destinations: some Collection<Int64>) {
    if let salvage { return link(table, of: owner, to: destinations, in: salvage) }
    lists[table].append(destinations, of: owner)
  }

  /// Builds the graph of everything that was added. `highestNumber` is the one that the file states, which may be too
  /// low.
  ///
  /// Throws `corrupt` where two objects of the file have the same key, and where a destination does not exist or is of
  /// an entity that the relationship does not allow.
  public consuming func finish(highestNumber: Int64) throws(StoreError) -> AtomicGraph {
    for hierarchy in rows.indices { order(hierarchy) }
    try checkKeys()
    let highest = max(0, highestNumber, keys.lazy.compactMap(\.last).max() ?? 0)
    graph.highestKey = graph.numbering.highestKey(highest)
    if !graph.numbering.isPlain { try useKeys() }
    for hierarchy in rows.indices { try resolve(hierarchy) }
    for table in lists.indices { try checkLists(table) }
    for hierarchy in rows.indices {
      let rows = zip(rows[hierarchy], keys[hierarchy]).map { row, key in
        _ = row.seal(key: key, version: row.version)
        return row.sealedRow
      }
      graph.hierarchies[hierarchy] = AtomicHierarchy(keys[hierarchy], rows)
      // Objects that break a uniqueness constraint stay readable. The next save of them is refused.
      if !graph.uniqueness.isEmpty { for row in rows { _ = graph.uniqueness.add(row) } }
    }
    loadLinks()
    return graph
  }

  // MARK: Damaged files

  /// The key of a number, zero for a number without one: the salvage reports such keys.
  private func key(_ number: Int64, _ hierarchy: Int) -> Int64 {
    graph.numbering.key(number, hierarchy: hierarchy) ?? 0
  }

  private func add(_ row: RowDraft, to salvage: Salvage) {
    var own = row.key
    if !graph.numbering.isPlain {
      for toOne in toOnes[row.entity] where !row.isNull(toOne.slot) {
        _ = row.patch(toOne.slot, .int(key(row.view.int(toOne.slot), toOne.destination.hierarchy)))
      }
      own = key(own, graph.shape.hierarchies[row.entity])
    }
    _ = row.seal(key: own, version: row.version)
    salvage.add(row.sealedRow)
  }

  private func link(_ table: Int, of owner: Int64, to numbers: some Collection<Int64>, in salvage: Salvage) {
    let keys = numbers.map { key($0, destinations[table].hierarchy) }
    salvage.link(graph.shape.toManys[table], of: key(owner, ownerTrees[table]), to: keys)
  }

  // MARK: Objects

  /// Sorts the rows of an entity hierarchy by key.
  private mutating func order(_ hierarchy: Int) {
    if keys[hierarchy].isAscending { return }
    keys[hierarchy].reverse()
    rows[hierarchy].reverse()
    if keys[hierarchy].isAscending { return }
    let (keys, rows) = (keys[hierarchy], rows[hierarchy])
    let order = keys.indices.sorted { keys[$0] < keys[$1] }
    self.keys[hierarchy] = order.map { keys[$0] }
    self.rows[hierarchy] = order.map { rows[$0] }
  }

  private func checkKeys() throws(StoreError) {
    let filled = keys.filter { !$0.isEmpty }.sorted { ($0.first ?? 0) < ($1.first ?? 0) }
    let areApart = zip(filled, filled.dropFirst()).allSatisfy { ($0.last ?? 0) < ($1.first ?? 0) }
    if areApart && filled.allSatisfy(\.isAscending) { return }
    let all = filled.flatMap { $0 }.sorted()
    for (key, next) in zip(all, all.dropFirst()) where key == next { throw Self.wrong(key) }
  }

  private static func wrong(_ key: Int64) -> StoreError {
    StoreError(.corrupt, "The key \(key) is invalid, or two objects have it.")
  }

  /// Replaces the numbers of the file with keys.
  private mutating func useKeys() throws(StoreError) {
    let (numbering, shape) = (graph.numbering, graph.shape)
    func key(_ number: Int64, _ hierarchy: Int) throws(StoreError) -> Int64 {
      if let key = numbering.key(number, hierarchy: hierarchy) { return key }
      throw StoreError(.corrupt, "The number \(number) belongs to objects of another entity.")
    }
    for hierarchy in rows.indices {
      for (position, row) in rows[hierarchy].enumerated() {
        keys[hierarchy][position] = try key(row.key, hierarchy)
        for toOne in toOnes[row.entity] where !row.isNull(toOne.slot) {
          _ = row.patch(toOne.slot, .int(try key(row.view.int(toOne.slot), toOne.destination.hierarchy)))
        }
      }
    }
    for table in shape.toManys.indices {
      try lists[table].replaceKeys { (number) throws(StoreError) in
        try key(number, ownerTrees[table])
      } destinations: { (number) throws(StoreError) in
        try key(number, destinations[table].hierarchy)
      }
    }
  }

  /// Stores the entity of each destination in the references of rows, as only now all objects are known. Adds the links
  /// of the inverse relationships.
  private mutating func resolve(_ hierarchy: Int) throws(StoreError) {
    for position in rows[hierarchy].indices {
      let row = rows[hierarchy][position]
      for toOne in toOnes[row.entity] where !row.isNull(toOne.slot) {
        let key = row.view.int(toOne.slot)
        guard let destination = self.position(of: key, toOne.destination) else {
          throw missing(key, graph.schema.entities[row.entity].relationships[toOne.index], keys[hierarchy][position])
        }
        if let slot = toOne.entitySlot {
          _ = row.patch(slot, .int(Int64(rows[toOne.destination.hierarchy][destination].entity)))
        }
        if let table = toOne.table {
          backLinks[table].owners.append(key)
          backLinks[table].destinations.append(keys[hierarchy][position])
        }
      }
    }
  }

  private func checkLists(_ table: Int) throws(StoreError) {
    for index in lists[table].owners.indices {
      for key in lists[table].list(index) where position(of: key, destinations[table]) == nil {
        throw missing(key, graph.shape.toManys[table], lists[table].owners[index])
      }
    }
  }

  /// The index of a destination in its entity hierarchy, nil where the relationship does not allow it or it does not
  /// exist.
  @inline(__always)
  private func position(of key: Int64, _ destination: Destination) -> Int? {
    guard let position = keys[destination.hierarchy].position(ofKey: key) else { return nil }
    guard let entities = destination.entities else { return position }
    return entities.contains(rows[destination.hierarchy][position].entity) ? position : nil
  }

  private func missing(_ key: Int64, _ relationship: Relationship, _ owner: Int64) -> StoreError {
    StoreError(
      .corrupt,
      "The relationship \(relationship.name) of the object \(owner) leads to \(key), which is no object of its destination."
    )
  }

  // MARK: Links

  private mutating func loadLinks() {
    let shape = graph.shape
    for table in lists.indices {
      let relationship = shape.toManys[table]
      let links = self.links(table)
      graph.links[table] = AtomicLinks(
        links, isOrdered: relationship.isOrdered, isOneWay: relationship.storage == .destination)
      guard relationship.isOrdered else { continue }
      // Where an owner has two lists, the later one decides the order. Rows store no order.
      for index in lists[table].owners.indices {
        let (owner, list) = (lists[table].owners[index], lists[table].list(index))
        if !graph.links[table][owner].starts(with: list) { graph.links[table].order(owner, as: Array(list)) }
      }
    }
  }

  private mutating func links(_ table: Int) -> AtomicLinkTable {
    let relationship = graph.shape.toManys[table]
    if relationship.storage == .inverseToOne {
      defer { backLinks[table] = ([], []) }
      return AtomicLinkTable(grouping: backLinks[table], among: keys[ownerTrees[table]])
    }
    let reported = lists[table].table(isOrdered: relationship.isOrdered)
    guard let inverse = graph.shape.inverseTables[table] else { return reported }
    // Files list most links twice, once from each side. A link that only one side lists counts, too.
    let other = lists[inverse].table(isOrdered: false).reversed(among: keys[ownerTrees[table]])
    if other == reported { return reported }
    var all = lists[table]
    all.append(other)
    return all.table(isOrdered: relationship.isOrdered)
  }
}

extension AtomicGraph {
  /// Calls `body` with every row, one entity hierarchy after the other, in key order.
  public func forEachRow(_ body: (Row) throws(StoreError) -> Void) throws(StoreError) {
    for hierarchy in hierarchies { for row in hierarchy.rows { try body(row) } }
  }

  /// The key of a to-one destination for the file. Nil where there is none, and where the destination was deleted: a
  /// file with a dangling reference counts as damaged.
  public func destination(of row: Row, _ relationship: Relationship, slot: Int) -> Int64? {
    if row.isNull(slot) { return nil }
    let key = row.int(slot)
    return relationship.mayDangle && self.row(of: relationship.destination, key) == nil ? nil : key
  }

  /// The table of a to-many relationship's links, to be looked up once.
  public func linkTable(of relationship: Relationship) -> Int? { shape.table(of: relationship) }

  /// The keys of an owner's destinations in a link table, in order where the relationship is ordered.
  public func destinations(_ table: Int, _ owner: Int64) -> ArraySlice<Int64> { links[table][owner] }
}
