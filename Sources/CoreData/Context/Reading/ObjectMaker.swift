import StoreSchema

/// Turns the rows of one read into objects: registered objects, which get the row if they have none, and new faults.
///
/// Some hundred rows at a time are merged with the cache and made objects of, while they are still in the processor's
/// cache. All rows belong to the hierarchy of one root entity, and no two of them to the same object.
struct ObjectMaker: ~Copyable {
  private let core: ContextCore
  private let origin: RowOrigin
  private let storeIndex: UInt16
  private let root: Int
  /// The view that the rows are read from.
  private let view: ViewStamp
  /// Whether the rows also refresh unchanged objects that are not faults, and make their to-many relationships be read
  /// again.
  private let refreshes: Bool

  private static let capacity = 256
  private let rows: UnsafeMutableBufferPointer<Row?>
  private var rowCount = 0
  private var objects: [NSManagedObject] = []
  /// How many of `objects` were made here.
  private var madeCount = 0

  /// Rows of one entity are adjacent, so the entity of the last row is kept.
  private var entity = -1
  /// Unmanaged, so neither is reference-counted: entities of a used model are never freed.
  private var description: Unmanaged<NSEntityDescription>?
  private var objectClass = NSManagedObject.self

  init(_ core: ContextCore, _ origin: RowOrigin, root: Int, view: ViewStamp, refreshes: Bool = false) {
    self.core = core
    self.origin = origin
    storeIndex = origin.index
    self.root = root
    self.view = view
    self.refreshes = refreshes
    rows = .allocate(capacity: Self.capacity)
    rows.initialize(repeating: nil)
  }

  deinit {
    rows.deinitialize()
    rows.deallocate()
  }

  @inline(__always)
  mutating func add(_ row: consuming Row) {
    // The memory there holds nil, which needs no deinitialization.
    (rows.baseAddress.unsafelyUnwrapped + rowCount).initialize(to: row)
    rowCount &+= 1
    if rowCount == Self.capacity { makeObjects() }
  }

  /// Whether there are so many rows that the total number is worth an estimate; see ``expect(_:)``.
  @inline(__always)
  var asksForCount: Bool { rowCount == 0 && objects.count == Self.capacity }

  /// Makes room for about `count` objects.
  mutating func expect(_ count: Int) {
    // Keys with gaps make the estimate too high, and a client's store may return any number.
    let count = max(0, min(count, 1 << 17))
    objects.reserveCapacity(count)
    origin.cache.expect(root, count)
    core.registry.expect(count, store: storeIndex, root: root)
  }

  /// The objects of all rows in their order.
  mutating func finish() -> [NSManagedObject] {
    makeObjects()
    return objects
  }

  private mutating func makeObjects() {
    if rowCount == 0 { return }
    core.rowKeeping.noteRows(isInBlock: core.queue.depth > 0)
    let chunk = UnsafeMutableBufferPointer(rebasing: rows[..<rowCount])
    rowCount = 0
    makeObjects(chunk)
  }

  /// Moves the rows out of the chunk into their objects.
  private mutating func makeObjects(_ chunk: UnsafeMutableBufferPointer<Row?>) {
    origin.cache.merge(root, RowChunk(rows: chunk), view: view)
    // If all registered objects were made here, none of them belongs to these rows: no object has two rows.
    let known =
      core.registry.count(store: storeIndex, root: root) == madeCount
      ? nil : core.registry.objects(of: RowChunk(rows: chunk), root: root, store: storeIndex)
    let first = objects.count
    let core = core
    guard let known else {
      for index in chunk.indices {
        if let row = chunk[index].take() { objects.append(make(row, in: core)) }
      }
      core.registry.add(objects[first...])
      madeCount += chunk.count
      return
    }
    var made: [NSManagedObject] = []
    for index in chunk.indices {
      guard let row = chunk[index].take() else { continue }
      if let object = known[index] ?? (refreshes ? core.registry.object(row.key, root: root, store: storeIndex) : nil) {
        give(row, to: object)
        objects.append(object)
      } else {
        let object = make(row, in: core)
        // The next object that becomes a fault may run code of the client, which may reach this object.
        if refreshes { core.registry.add(object) } else { made.append(object) }
        madeCount += 1
        objects.append(object)
      }
    }
    core.registry.add(made[...])
  }

  private func give(_ row: Row, to object: NSManagedObject) {
    if object.flags.contains(.fault) {
      let isOther = refreshes || object.row?.version != row.version
      if refreshes, let known = object.row, known.entity == row.entity, !areSame(known, row, of: object) {
        core.refetched.add(object, object.flags)
      }
      if object.info.entity.index == row.entity { object.row = row }
      if isOther && !object.toManys.isEmpty { object.unloadMembers() }
    } else if refreshes, !object.flags.hasChanges {
      refresh(object, row)
    }
  }

  /// Makes the object a fault where the row is newer, or has other values with the same version, which triggers may
  /// write.
  private func refresh(_ object: NSManagedObject, _ row: Row) {
    guard let known = object.row, known.version <= row.version, known.entity == row.entity else { return }
    if areSame(known, row, of: object) { return object.unloadMembers() }
    let former = object.flags
    core.turnIntoFault(object)
    core.refetched.add(object, former)
    // Code of the client may have read the object again meanwhile.
    if object.flags.contains(.fault) { object.row = row }
  }

  private func areSame(_ known: Row, _ row: Row, of object: NSManagedObject) -> Bool {
    let slots = object.info.entity.slots
    return known.version == row.version
      && (known.hasEqualBytes(row) || slots.indices.allSatisfy { known.hasEqualSlot($0, slots[$0], row) })
  }

  /// A fault with its row, not registered yet.
  @inline(__always)
  private mutating func make(_ row: consuming Row, in core: ContextCore) -> NSManagedObject {
    if row.entity != entity, let info = core.frozen?.infos[row.entity] {
      entity = row.entity
      description = .passUnretained(info.description)
      objectClass = info.objectClass
    }
    let object = objectClass.make(description.unsafelyUnwrapped.takeUnretainedValue())
    object.core = core
    object.key = row.key
    object.storeIndex = storeIndex
    object.row = row
    ChangeTracker.adopt(object, tracksReads: core.tracksReads)
    return object
  }
}
