import StoreProtocol
import StoreSchema
import StoreSupport

/// Applies one change set to a copy of a graph.
///
/// The steps, in order:
/// - version checks and uniqueness
/// - rows
/// - links
/// - checks of destinations that do not exist, and of links that a deletion must not leave
/// - links of deleted objects
/// - derived attributes
struct AtomicCommit {
  /// The graph with the steps applied so far. The caller discards it where the commit has conflicts.
  private(set) var graph: AtomicGraph
  private let before: AtomicGraph
  private let changes: SealedChanges
  /// The stored objects that new links lead to.
  private let targets: [ObjectReference]
  /// New objects whose keys the caller has chosen.
  private let given: [ObjectReference]
  private var conflicts: [Conflict] = []
  /// The changes of links, by link table and owner.
  private var edits: [[Int64: AtomicLinks.Edit]]
  private var shape: StoreShape { graph.shape }

  enum Result {
    case conflicts([Conflict])
    case applied(AtomicGraph, SealedChanges, touched: [ObjectReference])
  }

  /// Throws `invalidArgument` for a new object whose key is in use.
  init(_ graph: AtomicGraph, _ changes: ChangeSet, isRehearsal: Bool = false) throws(StoreError) {
    self.graph = graph
    before = graph
    let draft = CommitDraft(changes, graph.schema, isRehearsal: isRehearsal)
    (targets, given) = (draft.targets, draft.givenKeys)
    for object in given where graph.row(of: object.entity, object.key) != nil {
      throw StoreError(
        .invalidArgument,
        "An object with the key \(object.key) exists already. Take keys for new objects from allocateKeys.")
    }
    try self.graph.raiseHighestKey(to: given.lazy.map(\.key).max() ?? 0)
    let keys = try self.graph.takeKeys(draft.keyNeeds.reduce(0) { $0 + $1.count })
    self.changes = try draft.seal(all: keys)
    edits = Array(repeating: [:], count: graph.links.count)
  }

  mutating func run() throws(StoreError) -> Result {
    check()
    if !conflicts.isEmpty { return .conflicts(changes.unsealed(conflicts)) }
    judgeUniqueness()
    if !conflicts.isEmpty { return .conflicts(changes.unsealed(conflicts)) }
    deleteRows()
    updateRows()
    insertRows()
    try graph.separateHierarchies(given)
    changeLinks()
    judgeTargets()
    judgeDeletions()
    if !conflicts.isEmpty { return .conflicts(changes.unsealed(conflicts)) }
    dropLinks()
    let touched = derive()
    return .applied(graph, changes, touched: touched)
  }

  /// Computes derived attributes. Returns the objects whose stored values differ from the change set.
  private mutating func derive() -> [ObjectReference] {
    if shape.derivations.isEmpty { return [] }
    var changed = Set(changes.updates.map(\.row.reference))
    for row in changes.insertions { changed.insert(row.reference) }
    let owners = edits.map { Set($0.keys) }
    return AtomicDerivation.run(&graph, changed: changed, owners: owners).sorted {
      ($0.entity, $0.key) < ($1.entity, $1.key)
    }
  }

  // MARK: Checks

  private mutating func check() {
    for update in changes.updates { check(update.row.reference, update.versionRead) }
    for deletion in changes.deletions { check(deletion.reference, deletion.versionRead) }
    for check in changes.checks { self.check(check.reference, check.versionRead) }
  }

  private mutating func check(_ reference: ObjectReference, _ versionRead: Int64) {
    let stored = before.row(of: reference.entity, reference.key)
    if let stored, stored.version == versionRead, stored.entity == reference.entity { return }
    conflicts.append(Conflict(reference: reference, versionRead: versionRead, kind: .version(persisted: stored)))
  }

  /// Checks uniqueness for the state after the save. All old values are removed before the first new one is added.
  private mutating func judgeUniqueness() {
    if graph.uniqueness.isEmpty { return }
    for deletion in changes.deletions {
      if let row = before.row(of: deletion.reference.entity, deletion.reference.key) { graph.uniqueness.remove(row) }
    }
    for update in changes.updates {
      if let row = before.row(of: update.row.entity, update.row.key) { graph.uniqueness.remove(row) }
    }
    for update in changes.updates { enter(update.row, update.versionRead) }
    for row in changes.insertions { enter(row, 0) }
  }

  private mutating func enter(_ row: Row, _ versionRead: Int64) {
    guard let (slots, other) = graph.uniqueness.add(row) else { return }
    // The object that gets the values has the conflict, whichever comes first.
    if !changes.gives(slots, to: row.reference),
      let update = changes.updates.first(where: { $0.row.reference == other })
    {
      note(slots, of: update.row, update.versionRead, other: row.reference)
    } else {
      note(slots, of: row, versionRead, other: other)
    }
  }

  private mutating func note(_ slots: [Int], of row: Row, _ versionRead: Int64, other: ObjectReference) {
    let persisted = changes.gives(slots, to: other) ? nil : before.row(of: other.entity, other.key)
    conflicts.append(
      Conflict(
        reference: row.reference, versionRead: versionRead,
        kind: .constraint(slots: slots, other: other, persisted: persisted)))
  }

  // MARK: Rows

  private mutating func deleteRows() {
    var gone = Array(repeating: Set<Int64>(), count: shape.hierarchyCount)
    for deletion in changes.deletions {
      let (entity, key) = (deletion.reference.entity, deletion.reference.key)
      gone[shape.hierarchies[entity]].insert(key)
      guard let row = before.row(of: entity, key) else { continue }
      for (slot, table) in shape.backLinks[entity] where !row.isNull(slot) {
        edits[table][row.int(slot), default: .init()].removed.insert(key)
      }
    }
    for (hierarchy, keys) in gone.enumerated() where !keys.isEmpty { graph.hierarchies[hierarchy].remove(keys) }
  }

  private mutating func updateRows() {
    for update in changes.updates {
      let row = update.row
      let hierarchy = shape.hierarchies[row.entity]
      guard let position = graph.hierarchies[hierarchy].position(of: row.key) else { continue }
      let old = graph.hierarchies[hierarchy].rows[position]
      for (slot, table) in shape.backLinks[row.entity] where update.changed.contains(slot) {
        if !old.isNull(slot) { edits[table][old.int(slot), default: .init()].removed.insert(row.key) }
        if !row.isNull(slot) { edits[table][row.int(slot), default: .init()].added.append(row.key) }
      }
      graph.hierarchies[hierarchy].replace(at: position, with: row)
    }
  }

  private mutating func insertRows() {
    var new = Array(repeating: [Row](), count: shape.hierarchyCount)
    // Rows of one entity are adjacent, so its links are looked up once.
    var (entity, hierarchy, links) = (-1, 0, [(slot: Int, table: Int)]())
    for row in changes.insertions {
      if row.entity != entity {
        entity = row.entity
        (hierarchy, links) = (shape.hierarchies[entity], shape.backLinks[entity])
      }
      for (slot, table) in links where !row.isNull(slot) {
        edits[table][row.int(slot), default: .init()].added.append(row.key)
      }
      new[hierarchy].append(row)
    }
    for (hierarchy, rows) in new.enumerated() where !rows.isEmpty { graph.hierarchies[hierarchy].insert(rows) }
  }

  // MARK: Links

  /// Applies all removals, then all additions, then all orders. Otherwise a member that moves to another owner could
  /// lose its new owner.
  private mutating func changeLinks() {
    for change in changes.links {
      guard let table = table(of: change), shape.toManys[table].storage != .inverseToOne else { continue }
      collect(change, table)
    }
    apply(edits)
    for change in changes.links {
      guard let order = change.order, let table = table(of: change) else { continue }
      graph.links[table].order(changes.permanentKey(change.owner), as: order.map { changes.permanentKey($0.key) })
    }
  }

  private mutating func apply(_ edits: [[Int64: AtomicLinks.Edit]]) {
    for table in edits.indices {
      // An object that one owner loses in a one-way relationship may be another owner's new destination.
      for (owner, edit) in edits[table] where !edit.removed.isEmpty {
        graph.links[table].apply(.init(removed: edit.removed.subtracting(edit.added)), to: owner)
      }
      for (owner, edit) in edits[table] where !edit.added.isEmpty {
        graph.links[table].apply(.init(added: edit.added), to: owner)
      }
    }
  }

  /// Removes the links of deleted objects that no row stores.
  private mutating func dropLinks() {
    if changes.deletions.isEmpty { return }
    var drops = Array(repeating: [Int64: AtomicLinks.Edit](), count: edits.count)
    for deletion in changes.deletions {
      let (entity, key) = (deletion.reference.entity, deletion.reference.key)
      for table in shape.ownTables[entity] {
        let destinations = graph.links[table][key]
        if destinations.isEmpty { continue }
        drops[table][key, default: .init()].removed.formUnion(destinations)
        guard let inverse = shape.inverseTables[table] else { continue }
        for destination in destinations { drops[inverse][destination, default: .init()].removed.insert(key) }
      }
      for table in shape.oneWaysInto[entity] {
        if let owner = graph.links[table].owner(of: key) { drops[table][owner, default: .init()].removed.insert(key) }
      }
    }
    apply(drops)
    // The derived attributes of these owners change, too.
    if shape.derivations.isEmpty { return }
    for (table, drops) in drops.enumerated() {
      for (owner, drop) in drops { edits[table][owner, default: .init()].removed.formUnion(drop.removed) }
    }
  }

  // MARK: Checks of links

  private mutating func judgeTargets() {
    for target in targets where graph.row(of: target.entity, target.key) == nil {
      conflicts.append(Conflict(reference: target, versionRead: 0, kind: .version(persisted: nil)))
    }
  }

  private mutating func judgeDeletions() {
    for deletion in changes.deletions {
      let entity = graph.schema.entities[deletion.reference.entity]
      for relationship in entity.guardedMembers + entity.guardedLinks {
        guard let table = shape.table(of: relationship) else { continue }
        let referrers = graph.links[table][deletion.reference.key].compactMap {
          graph.row(of: relationship.destination, $0)?.reference
        }
        if referrers.isEmpty { continue }
        conflicts.append(
          Conflict(
            reference: deletion.reference, versionRead: deletion.versionRead,
            kind: .referrers(relationship: relationship.index, referrers)))
      }
    }
  }

  private func table(of change: ChangeSet.LinkChange) -> Int? {
    shape.table(of: graph.schema.entities[change.entity].relationships[change.relationship])
  }

  private mutating func collect(_ change: ChangeSet.LinkChange, _ table: Int) {
    let owner = changes.permanentKey(change.owner)
    let inverse = shape.inverseTables[table]
    for destination in change.removed {
      let key = changes.permanentKey(destination.key)
      edits[table][owner, default: .init()].removed.insert(key)
      if let inverse { edits[inverse][key, default: .init()].removed.insert(owner) }
    }
    for destination in change.added {
      let key = changes.permanentKey(destination.key)
      // The former owner loses the destination, as it does where the destination's row stores the link.
      if inverse == nil, let former = before.links[table].owner(of: key), former != owner {
        edits[table][former, default: .init()].removed.insert(key)
      }
      edits[table][owner, default: .init()].added.append(key)
      if let inverse { edits[inverse][key, default: .init()].added.append(owner) }
    }
  }
}
