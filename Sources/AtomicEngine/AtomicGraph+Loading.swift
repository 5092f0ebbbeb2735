import StoreProtocol
import StoreSchema

/// Makes a graph of what a file holds.
///
/// Links of to-many relationships whose other side is to-one follow from the rows; all other links, and the order of ordered
/// ones, are told with ``link(_:of:to:)``.
public struct AtomicGraphLoader {
  private var graph: AtomicGraph
  private var rows: [[Row]]
  /// By the numbers in the file.
  private var entities: [Int64: Int] = [:]
  private var lists: [(relationship: Relationship, owner: Int64, destinations: [Int64])] = []

  /// `numbering` is the file's; keys are given as its numbers until ``finish(highestNumber:)``.
  public init(_ schema: Schema, _ numbering: AtomicNumbering) {
    graph = AtomicGraph(schema)
    graph.numbering = numbering
    rows = Array(repeating: [], count: graph.shape.treeCount)
  }

  /// Adds an object. Throws `corrupt` for a key that another object has, in whatever tree.
  public mutating func add(_ row: Row) throws(StoreError) {
    guard row.key > 0, entities.updateValue(row.entity, forKey: row.key) == nil else {
      throw StoreError(.corrupt, "The key \(row.key) is none, or two objects have it.")
    }
    rows[graph.shape.tree[row.entity]].append(row)
  }

  /// Tells the destinations of a to-many relationship of one object, in their order where it is ordered.
  public mutating func link(_ relationship: Relationship, of owner: Int64, to destinations: [Int64]) {
    lists.append((relationship, owner, destinations))
  }

  /// The graph with everything that was added. `highestNumber` is the one that the file has, which may be too low.
  ///
  /// Throws `corrupt` where a link leads to no object, or to one that the relationship does not lead to.
  public consuming func finish(highestNumber: Int64) throws(StoreError) -> AtomicGraph {
    let shape = graph.shape
    let highest = max(0, highestNumber, entities.keys.max() ?? 0)
    graph.highestKey = graph.numbering.highestKey(highest)
    for rows in rows { try resolve(rows) }
    for (relationship, owner, destinations) in lists { for key in destinations { try check(key, relationship, owner) } }
    if !graph.numbering.isPlain { try useKeys() }
    for (tree, rows) in rows.enumerated() {
      graph.trees[tree].insert(rows)
      loadRows(of: tree, shape)
    }
    loadLists(shape)
    return graph
  }

  /// Takes over what follows from the rows of a tree: links whose other side is to-one, in key order, and unique values.
  private mutating func loadRows(of tree: Int, _ shape: StoreShape) {
    let isConstrained = !graph.uniqueness.isEmpty
    for row in graph.trees[tree].rows {
      for (slot, table) in shape.backLinks[row.entity] where !row.isNull(slot) {
        graph.links[table].append(row.key, to: row.int(slot))
      }
      // What contradicts a constraint stays: it can be read, and is refused when it is saved again.
      if isConstrained { _ = graph.uniqueness.add(row) }
    }
  }

  /// Takes over the links that are in no row. Files tell most of them twice, once for each side.
  private mutating func loadLists(_ shape: StoreShape) {
    var edits = Array(repeating: [Int64: AtomicLinks.Edit](), count: shape.toManys.count)
    var tables: [(table: Int, inverse: Int?)] = []
    for (relationship, owner, destinations) in lists {
      guard relationship.storage != .inverseToOne, let table = shape.table(of: relationship) else {
        tables.append((-1, nil))
        continue
      }
      tables.append((table, shape.inverseTables[table]))
      if !graph.links[table].load(destinations, of: owner) {
        edits[table][owner, default: .init()].added += destinations
      }
    }
    for ((_, owner, destinations), (_, inverse)) in zip(lists, tables) {
      guard let inverse else { continue }
      for key in destinations where !graph.links[inverse].contains(owner, of: key) {
        edits[inverse][key, default: .init()].added.append(owner)
      }
    }
    for table in edits.indices {
      for (owner, edit) in edits[table] { graph.links[table].apply(edit, to: owner) }
    }
    for (relationship, owner, destinations) in lists where relationship.isOrdered {
      if let table = shape.table(of: relationship) { graph.links[table].order(owner, as: destinations) }
    }
  }

  /// Gives the references of rows the entities of their destinations, which are known only now.
  private func resolve(_ rows: [Row]) throws(StoreError) {
    for row in rows {
      for relationship in graph.schema.entities[row.entity].relationships {
        guard let slot = relationship.slot, !row.isNull(slot) else { continue }
        let key = row.int(slot)
        try check(key, relationship, row.key)
        if let place = relationship.entitySlot, let entity = entities[key] { _ = row.patch(place, .int(Int64(entity))) }
      }
    }
  }

  /// Puts keys in the place of numbers, which are known to lead to objects.
  private mutating func useKeys() throws(StoreError) {
    let (numbering, shape) = (graph.numbering, graph.shape)
    func key(_ number: Int64, _ entity: Int) throws(StoreError) -> Int64 {
      if let key = numbering.key(number, tree: shape.tree[entity]) { return key }
      throw StoreError(.corrupt, "The number \(number) belongs to objects of another entity.")
    }
    for row in rows.joined() {
      row.resolve(key: try key(row.key, row.entity), version: row.version, referenceSlots: [], keys: [])
      for relationship in graph.schema.entities[row.entity].relationships {
        guard let slot = relationship.slot, !row.isNull(slot) else { continue }
        _ = row.patch(slot, .int(try key(row.int(slot), relationship.destination)))
      }
    }
    for index in lists.indices {
      let relationship = lists[index].relationship
      lists[index].owner = try key(lists[index].owner, relationship.declaringEntity)
      for place in lists[index].destinations.indices {
        lists[index].destinations[place] = try key(lists[index].destinations[place], relationship.destination)
      }
    }
  }

  private func check(_ key: Int64, _ relationship: Relationship, _ owner: Int64) throws(StoreError) {
    guard let entity = entities[key], relationship.destinations.contains(entity) else {
      throw StoreError(
        .corrupt,
        "The relationship \(relationship.name) of the object \(owner) leads to \(key), which is no such object.")
    }
  }
}

extension AtomicGraph {
  /// Calls `body` with every row, tree by tree in key order.
  public func forEachRow(_ body: (Row) throws(StoreError) -> Void) throws(StoreError) {
    for tree in trees { for row in tree.rows { try body(row) } }
  }

  /// The table of a to-many relationship's links, to be looked up once.
  public func linkTable(of relationship: Relationship) -> Int? { shape.table(of: relationship) }

  /// The keys of the destinations that a table of links has for an owner, in order where the relationship is ordered.
  public func destinations(_ table: Int, _ owner: Int64) -> [Int64] { links[table][owner] }
}
