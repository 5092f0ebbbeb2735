import StoreProtocol
import StoreQuery
import StoreSchema

/// What a child context reads from its parent: the parent's present state, unsaved changes included.
///
/// Every read runs on the parent's queue, and hands over rows and references only. The parent's objects stay there.
extension RowOrigin {
  /// The rows of keys in the hierarchy of a root entity.
  func rowsOfParent(_ keys: [Int64], root: Int, _ core: ContextCore) throws(StoreError) -> [Row] {
    try core.readParent { (parent) throws(StoreError) in
      try parent.presentRows(keys, root: root, store: index)
    }
  }

  /// The results of a fetch: objects of the child, or keys where no rows are read.
  func resultsOfParent(_ run: FetchRun, _ reader: StoreFetcher, _ core: ContextCore) throws -> [FoundObject] {
    let part = run.fetch.part(reader.plan, of: store, readsRows: run.readsRows)
    let found = try core.askParent { try $0.presentResults(part, readsSortKeys: reader.readsSortKeys) }
    if !run.readsRows { return found.map { FoundObject($0.reference, store: index, .key, keys: $0.sortKeys) } }
    let refreshes = run.fetch.parameters.shouldRefreshRefetchedObjects
    let objects = core.objects(of: found, self, refreshes: refreshes)
    return zip(objects, found).map { FoundObject($0, keys: $1.sortKeys) }
  }

  func countOfParent(_ run: FetchRun, _ plan: FetchPlan, _ core: ContextCore) throws -> Int {
    let part = run.fetch.part(plan, of: store, readsRows: false)
    return try core.askParent { parent in
      parent.endEventToRead()
      return try parent.count(parent.fetchRun(part))
    }
  }

  /// The count of a fetch in the parent, without some objects. For a client's store, which gets the request unchanged,
  /// so that no condition can leave out the objects.
  func countOfParent(
    _ run: FetchRun, _ plan: FetchPlan, _ core: ContextCore, without objects: [NSManagedObject]
  ) throws -> Int {
    let part = run.fetch.part(plan, of: store, readsRows: false)
    let found = try core.askParent { try $0.presentResults(part, readsSortKeys: false) }
    let keys = Set(objects.map(\.key))
    return found.count { !keys.contains($0.reference.key) }
  }

  /// The members of a relationship for each owner, as objects of the child.
  func membersOfParent(
    _ relationship: Relationship, _ owners: [NSManagedObject], _ core: ContextCore
  ) throws(StoreError) -> [ContiguousArray<NSManagedObject>] {
    let found = try core.readParent { (parent) throws(StoreError) in
      try parent.presentMembers(of: relationship, owners.map(ChildChanges.Target.init))
    }
    return zip(owners, found).map {
      ContiguousArray(core.objects(of: $1, core.origin($0.storeIndex) ?? self, keepsRows: true))
    }
  }

  func memberIDsOfParent(
    _ relationship: Relationship, _ owner: NSManagedObject, _ core: ContextCore
  ) throws(StoreError) -> [NSManagedObjectID] {
    let found = try core.readParent { (parent) throws(StoreError) in
      try parent.presentMembers(of: relationship, [ChildChanges.Target(owner)])
    }
    return found[0].compactMap { core.id($0.reference, store: owner.storeIndex) }
  }

  /// Gives objects that are not faults their newest rows, and makes faults of those whose values differ.
  func refresh(_ keys: [Int64], root: Int, _ core: ContextCore) throws(StoreError) {
    if case .parent = try access() {
      let rows = try rowsOfParent(keys, root: root, core)
      _ = core.objects(of: rows.map { PresentObject($0.reference, row: $0) }, self, refreshes: true)
      return
    }
    try read(core) { (view) throws(StoreError) in
      var maker = ObjectMaker(core, self, root: root, view: view.stamp, refreshes: true)
      try view.snapshot.rows(of: root, keys: keys) { maker.add($0) }
      _ = maker.finish()
    }
  }
}

/// An object of a parent context, as the parent hands it to a child.
struct PresentObject {
  let reference: ObjectReference
  /// Nil for a fault that the parent has no row of.
  let row: Row?
  /// The values of the sort keys of a fetch; empty if nothing has to be sorted or merged.
  let sortKeys: [Value]

  init(_ reference: ObjectReference, row: Row?, sortKeys: [Value] = []) {
    (self.reference, self.row, self.sortKeys) = (reference, row, sortKeys)
  }
}

/// The child's side.
extension ContextCore {
  /// Runs `body`. While `child` defers the calls of `awakeFromFetch`, those of this context are deferred with them.
  private func deferringAwakenings<R>(for child: ContextCore, _ body: () throws -> R) rethrows -> R {
    guard child.activity.deferredAwakenings != nil else { return try body() }
    let former = activity.deferredAwakenings
    activity.deferredAwakenings = []
    defer {
      child.activity.deferredAwakenings? += activity.deferredAwakenings ?? []
      activity.deferredAwakenings = former
    }
    return try body()
  }

  /// Runs `body` with the parent, on the parent's queue, and returns its result.
  ///
  /// Keys in the request and in the result mean the same in both contexts: where another context has given objects
  /// permanent keys meanwhile, the child takes them up, and `body` runs again.
  func askParent<R>(_ body: (ContextCore) throws -> R) throws -> R {
    guard let parent else { misuse("A root context has no parent to read from.") }
    while true {
      takeUpKeys()
      let known = keysTakenUp
      // A merge in the parent would call observers.
      let result: R? = try parent.runForChild(takesUpMarks: activity.deferredAwakenings == nil) {
        parent.takeUpKeys()
        if parent.keysTakenUp != known { return nil }
        let result = try parent.deferringAwakenings(for: self) { try body(parent) }
        return parent.keysTakenUp == known ? result : nil
      }
      if let result { return result }
    }
  }

  /// The same for reads that throw errors of stores only.
  func readParent<R>(_ body: (ContextCore) throws(StoreError) -> R) throws(StoreError) -> R {
    do { return try askParent(body) } catch let error as StoreError { throw error } catch {
      throw StoreError(.io, "The parent context could not be read.", cause: "\(error)")
    }
  }

  /// The objects of this context for objects of its parent: registered ones, which get the row if they are faults, and
  /// new faults. With `refreshes`, unchanged objects that have other values become faults with the row. With
  /// `keepsRows`, faults do not get the row that keep their own; see ``RowKeeping``.
  func objects(
    of found: [PresentObject], _ origin: RowOrigin, refreshes: Bool = false, keepsRows: Bool = false
  ) -> [NSManagedObject] {
    guard let frozen, !found.isEmpty else { return [] }
    let objects = found.map { present in
      guard let object = registry.object(present.reference, store: origin.index) else {
        let info = frozen.infos[present.reference.entity]
        return makeObject(info, key: present.reference.key, store: origin.index, row: present.row)
      }
      guard let row = present.row, object.info.entity.index == row.entity else { return object }
      let former = object.flags
      if object.flags.isFault {
        if refreshes, let known = object.row, !known.hasEqualBytes(row) { refetched.add(object, former) }
        if !keepsRows || object.row == nil || !keepsRow(of: object) { object.take(row) }
      } else if refreshes, !object.flags.hasChanges {
        if object.row?.hasEqualBytes(row) == true {
          object.unloadMembers()
          // Children of this context compare rows to know whether the members are the same.
          object.row = row
        } else {
          turnIntoFault(object)
          refetched.add(object, former)
          // Code of the client may have read the object again meanwhile.
          if object.flags.isFault { object.row = row }
        }
      }
      return object
    }
    noteRows(of: zip(objects, found).compactMap { $1.row == nil ? nil : $0 })
    return objects
  }

  /// Gives a fault that has a row the parent's present one. After an error, which is written to standard error, the
  /// fault keeps its row.
  func takeRowOfParent(_ object: NSManagedObject, _ origin: RowOrigin) {
    do {
      guard let row = try origin.row(object.key, root: object.info.root, self) else {
        // Its temporary key may have become a key in another store meanwhile.
        if object.storeIndex != origin.index, let other = self.origin(object.storeIndex) {
          return takeRowOfParent(object, other)
        }
        object.row = nil
        becameInaccessible(object)
        return
      }
      if row.entity == object.info.entity.index { object.take(row) }
    } catch {
      report("\(object.ownID.uri) could not be read from the parent context, and keeps its former values: \(error)")
    }
  }
}

/// The parent's side. Its functions are called on the parent's queue.
extension ContextCore {
  /// The rows that children see: packed from changed objects, and as they are for the others. Deleted objects have
  /// none. Objects that this context does not have are not made.
  func presentRows(_ keys: [Int64], root: Int, store: UInt16) throws(StoreError) -> [Row] {
    var rows: [Row] = []
    var unread: [Int64] = []
    for key in keys {
      let new = family.newKey(of: key)
      // The child has another key and another store for it by now.
      if let new, new.store != store { continue }
      let key = new?.permanent ?? key
      guard let object = registry.object(key, root: root, store: store) else {
        unread.append(key)
        continue
      }
      // What is known as gone is looked for again: a parent may have taken its deletion back.
      if object.flags.contains(.inaccessible) && !object.flags.contains(.listed) {
        unread.append(object.key)
      } else if !object.flags.isDeleted {
        if let row = try presentRow(of: object) { rows.append(row) } else { unread.append(object.key) }
      }
    }
    let stored = unread.filter { canBeStored(ObjectReference(entity: root, key: $0)) }
    if stored.isEmpty { return rows }
    let first = rows.count
    try origin(store)?.rows(stored, root: root, self) { rows.append($0) }
    if changes.hasInaccessible {
      for row in rows[first...] { registry.object(row.key, root: root, store: store).map(lookAgain) }
    }
    return rows
  }

  /// Nil where only the origin knows the object's row.
  private func presentRow(of object: NSManagedObject) throws(StoreError) -> Row? {
    guard object.flags.hasChanges else { return object.flags.isFault ? nil : object.row }
    if object.flags.isSuperset(of: [.fault, .stored]) {
      // A changed object may be a fault again. Its values must be read before they are packed.
      if let error = look(at: object) { throw error }
      if object.flags.contains(.inaccessible) { return nil }
    }
    do { return try packPresent(object) } catch {
      throw StoreError(
        .invalidArgument, "A value in the parent context cannot be encoded.", context: ["object": "\(object.ownID)"],
        cause: "\(error)")
    }
  }

  private func present(_ object: NSManagedObject, _ sortKeys: [Value] = []) throws(StoreError) -> PresentObject {
    PresentObject(object.reference, row: try presentRow(of: object) ?? object.row, sortKeys: sortKeys)
  }

  /// The results of a fetch, with their rows where the fetch reads rows. The sort keys are the values that have
  /// decided the order: an object may have been read before its store got another value.
  func presentResults(_ part: ResolvedFetch, readsSortKeys: Bool) throws -> [PresentObject] {
    endEventToRead()
    return try keepingRowsOfParent {
      var run = fetchRun(part)
      if run.readsRows && !readsSortKeys {
        let objects = try fetchObjects(run)
        return try keepingRows { try objects.map { try present($0) } }
      }
      run.isForMerging = readsSortKeys
      let found = try results(run)
      if !run.readsRows { return found.map { PresentObject($0.reference, row: nil, sortKeys: $0.keys) } }
      let keys = Dictionary(found.map { ($0.identity, $0.keys) }) { first, _ in first }
      let objects = try objects(of: found, run)
      return try keepingRows { try objects.map { try present($0, keys[FoundObject.Identity($0)] ?? []) } }
    }
  }

  /// The living members of a relationship for each owner.
  func presentMembers(
    of relationship: Relationship, _ owners: [ChildChanges.Target]
  ) throws(StoreError) -> [[PresentObject]] {
    let objects = owners.map { object($0.reference, store: $0.store) }
    // Where this fails, reading the members one by one fails too.
    if owners.count > 1 { _ = errors { try? prefetchToMany(relationship, objects.compactMap { $0 }) } }
    let members = try objects.map { (owner) throws(StoreError) in try presentMembers(of: relationship, owner) }
    // A fault may have an older row than the one that it would fire with.
    try readRows(of: members.flatMap { $0 })
    return try members.map { (members) throws(StoreError) in
      try members.map { (member) throws(StoreError) in try present(member) }
    }
  }

  private func presentMembers(
    of relationship: Relationship, _ owner: NSManagedObject?
  ) throws(StoreError) -> [NSManagedObject] {
    guard let owner else { return [] }
    if owner.flags.contains(.inaccessible) && !owner.flags.contains(.listed) {
      // What is known as gone is looked for again, as in ``presentRows(_:root:store:)``.
      if try origin(owner.storeIndex)?.row(owner.key, root: owner.info.root, self) == nil { return [] }
      lookAgain(for: owner)
    }
    if let error = look(at: owner) { throw error }
    if owner.flags.contains(.inaccessible) { return [] }
    var members: ContiguousArray<NSManagedObject> = []
    if let error = errors({ members = owner.loadedToMany(relationship).members }) { throw error }
    return members.filter { !$0.flags.isDeleted }
  }
}
