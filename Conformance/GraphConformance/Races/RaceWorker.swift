import CoreData
import Foundation
import StoreProtocol

/// A context that runs the operations of a worker and reports its saves.
///
/// Every second worker has an undo manager, and undoes and redoes its changes before each save.
///
/// An operation is skipped if the context does not find its object. After a failed save the context discards its
/// changes and loads what others have saved.
final class RaceWorker {
  private let number: Int
  private let worker: RaceProgram.Worker
  private let stage: RaceStage
  private let context: NSManagedObjectContext
  private let meeting: any RaceMeeting
  private let tell: (RaceEvent) -> Void
  private var known: [RaceObject: NSManagedObject] = [:]
  /// Times just before the rows of ``known`` were read.
  private var loaded: [RaceObject: UInt64] = [:]
  private var pending = PendingSave()

  init(
    _ number: Int, _ worker: RaceProgram.Worker, _ stage: RaceStage, _ meeting: any RaceMeeting,
    _ tell: @escaping (RaceEvent) -> Void
  ) {
    (self.number, self.worker, self.stage, self.meeting, self.tell) = (number, worker, stage, meeting, tell)
    context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = stage.coordinators[worker.coordinator]
    context.mergePolicy = worker.policy.mergePolicy
    if number % 2 == 1 { context.undoManager = UndoManager() }
  }

  /// Runs all operations. No operation blocks the context while it waits for other workers or acts on a store.
  func run() {
    for operation in worker.operations {
      switch operation {
      case .meet(let number): LocalMeeting.wait(until: meeting.meet(number))
      case .act(let kind): act(kind)
      case .save(let number, let pause): save(meeting: number, pause: pause)
      default:
        context.performAndWait {
          do { try run(operation) } catch {
            // The error is from a store that an action has removed or replaced.
            if stage.isReplaceable && (error as NSError).code == NSPersistentStoreOperationError { return }
            tell(.problem("\(operation): \(Graph.text(of: error))"))
          }
        }
      }
    }
    context.performAndWait {
      known = [:]
      context.reset()
    }
  }

  private func act(_ kind: RaceAction.Kind) {
    var action = RaceAction(kind: kind, worker: number, start: RaceRecord.now())
    do { action.url = try stage.run(kind, coordinator: worker.coordinator) } catch {
      action.error = Graph.text(of: error)
      action.isBusy = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? StoreError)?.code == .busy
    }
    action.end = RaceRecord.now()
    tell(.action(action))
  }

  private func run(_ operation: RaceOperation) throws {
    if pending.begin == 0 { pending.begin = RaceRecord.now() }
    switch operation {
    case .insert(let object, let token):
      let new = context.insert(object.entity, ["name": object.text, "value": token])
      let stores = context.persistentStoreCoordinator?.persistentStores ?? []
      if stores.count > 1 { context.assign(new, to: stores[object.store]) }
      known[object] = new
    case .write(let object, let token): try find(object)?.setValue(token, forKey: "value")
    case .writeLarge(let object, let token): try find(object)?.setValue(RaceValue.data(token), forKey: "large")
    case .link(let owner, let member): try link(owner, member, fromOwner: false)
    case .adopt(let owner, let member): try link(owner, member, fromOwner: true)
    case .unlink(let owner, let member): try unlink(owner, member)
    case .reverse(let owner): try reverse(owner)
    case .delete(let object):
      guard let found = try find(object) else { return }
      pending.deletions.append((object, found))
      context.delete(found)
    case .hold(let object): _ = try find(object)?.value(forKey: "name")
    case .readLarge(let object): readLarge(object)
    case .refresh(let keeping):
      if !keeping { drop() } else { context.refreshAllObjects() }
    case .reset:
      known = [:]
      pending = PendingSave()
      context.reset()
    case .act, .meet, .save: break
    }
  }

  private func drop() {
    context.rollback()
    context.refreshAllObjects()
    pending = PendingSave()
  }

  private func find(_ object: RaceObject) throws -> NSManagedObject? {
    if let found = known[object], !found.isDeleted, found.managedObjectContext != nil { return found }
    let request = NSFetchRequest<NSManagedObject>(entityName: object.entity)
    request.predicate = NSPredicate(format: "name == %@", object.text)
    request.returnsObjectsAsFaults = false
    // A fetch does not reload the row of an object that is not a fault.
    let before = Set(context.registeredObjects.filter { !$0.isFault }.map(ObjectIdentifier.init))
    let time = RaceRecord.now()
    let found = try context.fetch(request).first
    loaded[object] = found.map { before.contains(ObjectIdentifier($0)) ? nil : time } ?? nil
    known[object] = found
    return found
  }

  // MARK: Links

  private func link(_ ownerName: RaceObject, _ memberName: RaceObject, fromOwner: Bool) throws {
    guard let owner = try find(ownerName), let member = try find(memberName) else { return }
    let kind = ownerName.kind
    note(ownerName, memberName, owner, member, isLinked: true, fromOwner: fromOwner)
    switch (kind.shape, fromOwner) {
    case (.oneToOne, true): owner.setValue(member, forKey: kind.members)
    case (.manyToMany, true), (.toOne, true): owner.add(member, to: kind.members)
    case (.ordered, true), (.orderedManyToMany, true):
      owner.mutableOrderedSetValue(forKey: kind.members).add(member)
    case (.manyToMany, false), (.orderedManyToMany, false): member.add(owner, to: kind.owners)
    default: member.setValue(owner, forKey: kind.owners)
    }
  }

  private func unlink(_ ownerName: RaceObject, _ memberName: RaceObject) throws {
    guard let owner = try find(ownerName), let member = try find(memberName) else { return }
    let kind = ownerName.kind
    note(ownerName, memberName, owner, member, isLinked: false, fromOwner: false)
    if kind.isPairs {
      member.remove(owner, from: kind.owners)
    } else if member.one(kind.owners) === owner {
      member.setValue(nil, forKey: kind.owners)
    }
  }

  /// Notes a link for the record of the save. Links to a single owner are recorded as values of the member instead. The
  /// changed side decides whether the link existed before, because the two sides may have been read at different times.
  private func note(
    _ ownerName: RaceObject, _ memberName: RaceObject, _ owner: NSManagedObject, _ member: NSManagedObject,
    isLinked: Bool, fromOwner: Bool
  ) {
    let pair = RaceRecord.Pair(owner: ownerName.text, member: memberName.text, isLinked: true)
    if isLinked { pending.links.append(pair) }
    if !ownerName.kind.isPairs { return }
    if pending.pairs[pair] == nil {
      let kind = ownerName.kind
      pending.wereLinked[pair] =
        fromOwner ? owner.many(kind.members).contains(member) : member.many(kind.owners).contains(owner)
    }
    pending.pairs[pair] = isLinked
    pending.ends[pair] = (owner, member)
  }

  private func reverse(_ name: RaceObject) throws {
    guard let owner = try find(name) else { return }
    let members = owner.many(name.kind.members)
    if members.count < 2 { return }
    owner.setValue(NSOrderedSet(array: members.reversed()), forKey: name.kind.members)
    pending.ordered[name.text] = owner
  }

  // MARK: Large values

  /// Reads only rows that are still loaded: an object that became a fault may have been deleted by others.
  private func readLarge(_ name: RaceObject) {
    guard let object = known[name], object.managedObjectContext != nil, !object.isFault, !object.isDeleted,
      let time = loaded[name]
    else { return }
    let data = object.value(forKey: "large") as? Data
    tell(.read(RaceRead(object: name.text, token: data.map { RaceValue.token($0) ?? -1 }, loaded: time)))
  }

  // MARK: Saving

  private func save(meeting number: Int?, pause: Int) {
    let (changes, reported) = context.performAndWait {
      context.processPendingChanges()
      // The changes since the last save, made a second time.
      context.undo()
      context.redo()
      return (RaceChanges(context, worker.policy), Reported(context))
    }
    if let number { LocalMeeting.wait(until: meeting.meet(number) + UInt64(max(0, pause)) * 1000) }
    context.performAndWait { save(changes, reported) }
  }

  private func save(_ changes: RaceChanges, _ reported: Reported) {
    var record = RaceRecord(worker: number, policy: worker.policy)
    record.begin = pending.begin
    record.start = RaceRecord.now()
    do {
      try context.save()
      record.end = RaceRecord.now()
    } catch {
      record.end = RaceRecord.now()
      (record.code, record.error) = ((error as NSError).code, Graph.text(of: error))
      let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? StoreError
      // With several stores, only some may have been saved.
      let isPartial = record.code == NSPersistentStoreIncompleteSaveError
      record.outcome = cause?.outcome == .outcomeUnknown || isPartial ? .unknown : .notSaved
    }
    reported.end()
    changes.fill(&record)
    pending.fill(&record)
    reported.fill(&record)
    // Includes deletions, because a deleted object that the worker looks up again is no longer in `known`.
    let named = known.map { ($0.key, $0.value) } + pending.deletions
    for (name, object) in named where !object.objectID.isTemporaryID {
      record.known.append(RaceRecord.Insertion(name: name.text, id: RaceValue.id(object)))
    }
    if !record.isEmpty || record.error != nil { tell(.save(record)) }
    if record.outcome == .saved { pending = PendingSave() } else { drop() }
  }
}

/// A worker's changes since its last save that its context does not record.
private struct PendingSave {
  var begin: UInt64 = 0
  var deletions: [(name: RaceObject, object: NSManagedObject)] = []
  var links: [RaceRecord.Pair] = []
  /// Keys are pairs with `isLinked` true. `pairs` has the state now, `wereLinked` the state before.
  var pairs: [RaceRecord.Pair: Bool] = [:]
  var wereLinked: [RaceRecord.Pair: Bool] = [:]
  var ends: [RaceRecord.Pair: (owner: NSManagedObject, member: NSManagedObject)] = [:]
  /// The owners whose order was set, by name.
  var ordered: [String: NSManagedObject] = [:]

  func fill(_ record: inout RaceRecord) {
    (record.deletions, record.links) = (deletions.map(\.name.text), links)
    for (pair, isLinked) in pairs where wereLinked[pair] != isLinked {
      var reports = RaceRecord.Pair(owner: pair.owner, member: pair.member, isLinked: isLinked)
      if isLinked, let (owner, member) = ends[pair], record.outcome == .saved {
        // Includes links to objects that the context has found deleted: values set to them are not saved.
        let isGone = [owner, member].contains { $0.managedObjectContext == nil || $0.isDeleted }
        let isThere = { member.many("owners").contains(owner) || owner.many("members").contains(member) }
        reports.isDropped = isGone || !isThere()
      }
      record.pairs.append(reports)
    }
    for (name, owner) in ordered where !owner.isDeleted && owner.managedObjectContext != nil {
      record.orders.append(RaceRecord.Order(owner: name, members: owner.many("members").map(RaceValue.id)))
    }
  }
}

/// The values that a context is about to save.
private struct RaceChanges {
  private enum Content {
    case token(Int64?)
    case destination(NSManagedObject?)
  }
  private var insertions: [(object: NSManagedObject, name: String)] = []
  private var writes: [(object: NSManagedObject, key: String, content: Content, isDefinite: Bool)] = []

  /// Call `processPendingChanges()` on the context first.
  init(_ context: NSManagedObjectContext, _ policy: RaceProgram.Policy) {
    for object in context.insertedObjects {
      insertions.append((object, object.text("name") ?? ""))
      add(object, Self.keys(object), isDefinite: true)
    }
    for object in context.updatedObjects {
      let changed = Set(object.changedValues().keys)
      add(object, changed, isDefinite: true)
      if policy == .overwrite { add(object, Self.keys(object).subtracting(changed), isDefinite: false) }
    }
  }

  private static func keys(_ object: NSManagedObject) -> Set<String> {
    Set(object.entity.propertiesByName.keys)
  }

  private mutating func add(_ object: NSManagedObject, _ keys: Set<String>, isDefinite: Bool) {
    for key in keys {
      let content: Content
      switch key {
      case "value": content = .token((object.value(forKey: key) as? NSNumber)?.int64Value)
      case "large": content = .token((object.value(forKey: key) as? Data).map { RaceValue.token($0) ?? -1 })
      case "owner": content = .destination(object.one(key))
      default: continue
      }
      writes.append((object, key, content, isDefinite))
    }
  }

  /// Adds the values to a record, with the current IDs of the objects.
  func fill(_ record: inout RaceRecord) {
    record.insertions = insertions.map { RaceRecord.Insertion(name: $0.name, id: RaceValue.id($0.object)) }
    record.writes = writes.map { write in
      let value: String? =
        switch write.content {
        case .token(let token): token.map { String($0) }
        case .destination(let object): object.map(RaceValue.id)
        }
      var reports = RaceRecord.Write(
        object: RaceValue.id(write.object), key: write.key, value: value, isDefinite: write.isDefinite)
      if record.outcome == .saved, value != nil, case .destination = write.content, !write.object.isFault,
        write.object.managedObjectContext != nil
      {
        let now = write.object.one(write.key).map(RaceValue.id)
        if now != value { (reports.value, reports.dropped) = (now, value) }
      }
      return reports
    }
  }
}

/// The objects that a context reports as deleted and updated in a save.
private final class Reported: @unchecked Sendable {
  private var watch: (any NSObjectProtocol)?
  private var deleted: [NSManagedObject] = []
  private var updated: [NSManagedObject] = []

  init(_ context: NSManagedObjectContext) {
    watch = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { [weak self] note in
      self?.deleted += note.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? []
      self?.updated += note.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []
    }
  }

  func end() {
    if let watch { NotificationCenter.default.removeObserver(watch) }
    watch = nil
  }

  /// Adds the deleted objects and the possible changes of the save that the worker did not make: the owners of members;
  /// and, with the policy that writes whole objects, all values of objects whose relationships changed.
  func fill(_ record: inout RaceRecord) {
    record.deleted = deleted.map(RaceValue.id)
    // Objects deleted by a delete rule may have an ID that no worker knows, because a migration of the store changed
    // the ID.
    for object in deleted {
      if let name = object.text("name") {
        record.known.append(RaceRecord.Insertion(name: name, id: RaceValue.id(object)))
      }
    }
    for object in updated where !object.isFault && object.managedObjectContext != nil {
      func add(_ key: String, _ value: String?) {
        record.writes.append(
          RaceRecord.Write(object: RaceValue.id(object), key: key, value: value, isDefinite: false))
      }
      if object.entity.propertiesByName["owner"] != nil { add("owner", object.one("owner").map(RaceValue.id)) }
      if record.policy != .overwrite { continue }
      add("value", (object.value(forKey: "value") as? NSNumber).map { "\($0.int64Value)" })
      add("large", (object.value(forKey: "large") as? Data).map { "\(RaceValue.token($0) ?? -1)" })
    }
  }
}

/// The text form of values and IDs.
enum RaceValue {
  /// Bytes that are large enough for external storage. They begin with a token, and each word repeats it.
  static func data(_ token: Int64) -> Data {
    withUnsafeBytes(of: token.littleEndian) { word in
      var data = Data(capacity: 104_000)
      for _ in 0..<13_000 { data.append(contentsOf: word) }
      return data
    }
  }

  /// The token of bytes that ``data(_:)`` made; nil for other bytes.
  static func token(_ data: Data) -> Int64? {
    guard data.count == 104_000, data.prefix(104_000 - 8) == data.dropFirst(8) else { return nil }
    return Int64(littleEndian: data.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) })
  }

  /// An object's ID as text: `UUID/Entity/p5`.
  static func id(_ object: NSManagedObject) -> String {
    String(object.objectID.uriRepresentation().absoluteString.dropFirst("x-coredata://".count))
  }

  static func id(_ store: String, _ entity: String, _ key: Int64) -> String { "\(store)/\(entity)/p\(key)" }
}
