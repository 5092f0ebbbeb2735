import StoreProtocol
import StoreSchema

/// The members of to-many relationships.
extension RowOrigin {
  /// The stored members of a relationship, as objects of the context.
  func members(
    of relationship: Relationship, _ owner: NSManagedObject, _ core: ContextCore
  ) throws -> ContiguousArray<NSManagedObject> {
    switch try access() {
    case .parent: return try membersOfParent(relationship, [owner], core)[0]
    case .requests(let engine): return try engine.members(relationship, of: owner, core)
    case .views: break
    }
    if owner.flags.contains(.rowOfOthers) { try catchUp(with: [owner]) }
    var rows: ContiguousArray<Row> = []
    let view = try read(core) { (view) throws(StoreError) in
      try view.snapshot.destinations(of: relationship, owners: [owner.key]) { rows.append($1) }
      return view.stamp
    }
    return objects(rows, of: relationship, view, core)
  }

  /// The IDs of the stored members of a relationship. No object is made.
  func memberIDs(
    of relationship: Relationship, _ owner: NSManagedObject, _ core: ContextCore
  ) throws -> [NSManagedObjectID] {
    switch try access() {
    case .parent: return try memberIDsOfParent(relationship, owner, core)
    case .requests(let engine): return try engine.memberIDs(relationship, of: owner, core)
    case .views: break
    }
    if owner.flags.contains(.rowOfOthers) { try catchUp(with: [owner]) }
    var found: [NSManagedObjectID] = []
    try read(core) { (view) throws(StoreError) in
      try view.snapshot.destinations(of: relationship, owners: [owner.key]) { _, row in
        if let id = core.id(ObjectReference(entity: row.entity, key: row.key), store: index) { found.append(id) }
      }
    }
    return found
  }

  /// Reads the members of a relationship for many owners with one request. The owners must have their rows.
  func loadMembers(
    of relationship: Relationship, _ owners: [NSManagedObject], _ core: ContextCore
  ) throws(StoreError) {
    switch try access() {
    case .parent:
      for (owner, members) in zip(owners, try membersOfParent(relationship, owners, core)) {
        core.fill(owner.toMany(relationship), with: members, relationship, of: owner)
      }
      return
    case .requests:
      for owner in owners { core.load(owner.toMany(relationship), relationship, of: owner) }
      return
    case .views: break
    }
    try catchUp(with: owners)
    try read(core) { (view) throws(StoreError) in
      if relationship.storage == .inverseToOne {
        try loadOnce(relationship, owners, view, core)
      } else {
        try loadShared(relationship, owners, view, core)
      }
    }
  }

  /// Reads members that have one owner each. Their objects are made together, and each owner gets its part of them.
  private func loadOnce(
    _ relationship: Relationship, _ owners: [NSManagedObject], _ view: StoreView, _ core: ContextCore
  ) throws(StoreError) {
    guard let frozen = core.frozen else { return }
    let root = frozen.schema.entities[relationship.destination].root
    var maker = ObjectMaker(core, self, root: root, view: view.stamp)
    var (parts, count): ([Int64: Range<Int>], Int) = ([:], 0)
    parts.reserveCapacity(owners.count)
    var (last, start) = (Int64(0), 0)
    try view.snapshot.destinations(of: relationship, owners: owners.map(\.key)) { (owner: Int64, row: consuming Row) in
      if owner != last {
        parts[last] = start..<count
        (last, start) = (owner, count)
      }
      count += 1
      maker.add(row)
    }
    parts[last] = start..<count
    let objects = maker.finish()
    for owner in owners {
      let read = ContiguousArray(objects[parts[owner.key] ?? 0..<0])
      core.fill(owner.toMany(relationship), with: read, relationship, of: owner)
    }
  }

  /// Reads members that may have several owners. Each is read once for every owner.
  private func loadShared(
    _ relationship: Relationship, _ owners: [NSManagedObject], _ view: StoreView, _ core: ContextCore
  ) throws(StoreError) {
    var groups: [Int64: ContiguousArray<Row>] = [:]
    try view.snapshot.destinations(of: relationship, owners: owners.map(\.key)) { groups[$0, default: []].append($1) }
    for owner in owners {
      let read = objects(groups[owner.key] ?? [], of: relationship, view.stamp, core)
      core.fill(owner.toMany(relationship), with: read, relationship, of: owner)
    }
  }

  /// The objects of rows that were read as members.
  private func objects(
    _ rows: ContiguousArray<Row>, of relationship: Relationship, _ view: ViewStamp, _ core: ContextCore
  ) -> ContiguousArray<NSManagedObject> {
    guard let frozen = core.frozen else { return [] }
    var maker = ObjectMaker(core, self, root: frozen.schema.entities[relationship.destination].root, view: view)
    for row in rows { maker.add(row) }
    return ContiguousArray(maker.finish())
  }
}
