import CoreData
import Foundation
import StoreProtocol

/// A context that runs the operations of a worker and reports its saves.
///
/// Every second worker has an undo manager, and undoes and redoes its changes before each save. Where the environment
/// variable `OPENCOREDATA_CHILD_CONTEXTS` is set, two workers of four make their changes in a child of their context,
/// which is saved to it first.
///
/// An operation is skipped if the context does not find its object. After a failed save the context discards its
/// changes and loads what others have saved.
final class RaceWorker {
  private let number: Int
  private let worker: RaceProgram.Worker
  private let stage: RaceStage
  /// The context of the store.
  private let root: NSManagedObjectContext
  /// The context that the operations change: the root, or a child of it.
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
    root = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    root.persistentStoreCoordinator = stage.coordinators[worker.coordinator]
    root.mergePolicy = worker.policy.mergePolicy
    if number % 4 < 2 || ProcessInfo.processInfo.environment["OPENCOREDATA_CHILD_CONTEXTS"] == nil {
      context = root
    } else {
      context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.parent = root
      context.mergePolicy = worker.policy.mergePolicy
    }
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
    context.performAndWait(reset)
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
      if !keeping { drop() } else { refresh() }
    case .reset: reset()
    case .act, .meet, .save: break
    }
  }

  private func reset() {
    known = [:]
    pending = PendingSave()
    if root !== context { root.performAndWait { root.reset() } }
    context.reset()
  }

  private func refresh() {
    if root !== context { root.performAndWait { root.refreshAllObjects() } }
    context.refreshAllObjects()
  }

  private func drop() {
    if root !== context { root.performAndWait { root.rollback() } }
    context.rollback()
    refresh()
    // A child still has faults of objects that only its former changes had made.
    known = known.filter { !$0.value.objectID.isTemporaryID }
    pending = PendingSave()
  }

  private func find(_ object: RaceObject) throws -> NSManagedObject? {
    if let found = known[object], !found.isDeleted, found.managedObjectContext != nil { return found }
    let request = NSFetchRequest<NSManagedObject>(entityName: object.entity)
    request.predicate = NSPredicate(format: "name == %@", object.text)
    request.returnsObjectsAsFaults = false
    // A fetch does not reload the row of an object that is not a fault, here or in the root.
    let before = Set(loadedIDs(context) + root.performAndWait { loadedIDs(root) })
    let time = RaceRecord.now()
    let found = try context.fetch(request).first
    loaded[object] = found.map { before.contains($0.objectID) ? nil : time } ?? nil
    known[object] = found
    return found
  }

  private func loadedIDs(_ context: NSManagedObjectContext) -> [NSManagedObjectID] {
    context.registeredObjects.filter { !$0.isFault }.map(\.objectID)
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
    var error: (any Error)?
    let (changes, reported) = context.performAndWait {
      context.processPendingChanges()
      // The changes since the last save, made a second time.
      context.undo()
      context.redo()
      if root !== context { do { try context.save() } catch let found { error = found } }
      return root.performAndWait { (RaceChanges(root, worker.policy), ReportedChanges(root)) }
    }
    if let number { LocalMeeting.wait(until: meeting.meet(number) + UInt64(max(0, pause)) * 1000) }
    context.performAndWait { root.performAndWait { save(changes, reported, error) } }
  }

  /// An object as the root has it; an object that was never saved as it is.
  private func inRoot(_ object: NSManagedObject) -> NSManagedObject {
    let id = object.objectID
    if root === context || id.isTemporaryID { return root.registeredObject(for: id) ?? object }
    return root.object(with: id)
  }

  /// Saves the root, unless the save of its child has failed.
  private func save(_ changes: RaceChanges, _ reported: ReportedChanges, _ error: (any Error)?) {
    var record = RaceRecord(worker: number, policy: worker.policy)
    record.begin = pending.begin
    record.start = RaceRecord.now()
    do {
      if let error { throw error }
      try root.save()
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
    pending.fill(&record, saved: inRoot)
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
