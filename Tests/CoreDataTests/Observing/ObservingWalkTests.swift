import CoreData
import Foundation
import Observation
import Synchronization
import Testing

/// Random changes of all kinds, with closures and readers on every property of every object. What they have been
/// notified of must be what the objects have, and nothing else may be reported. A failure reports its seed.
@Suite struct ObservingWalkTests {
  private static let stores: [NSPersistentStore.StoreType] = [.inMemory, .sqlite]

  @Test(arguments: 0..<60)
  func observersKnowWhatTheObjectsHave(seed: Int) throws {
    let stack = try UndoStack(Self.stores[seed % 2], levels: 1 + seed / 2 % 3)
    let walk = Walk(stack, seed: seed)
    for step in 0..<60 {
      let name = try stack.context.performAndWait { try walk.step() }
      let faults = stack.context.performAndWait { walk.faults() }
      if !faults.isEmpty {
        let text = faults.prefix(5).joined(separator: "\n  ")
        Issue.record("seed \(seed), step \(step), \(name):\n  \(text)\nafter \(walk.log.joined(separator: "; "))")
        return
      }
    }
  }

  /// What the observers of an object have been notified of.
  private final class Watched {
    let item: NSManagedObject
    var shown: [String: String] = [:]
    var observations: [NSKeyValueObservation] = []
    var needless: [String] = []
    /// What was read last with tracking, and whether a change of it was reported.
    var read: [String: String] = [:]
    var notified: [String: Flag] = [:]

    init(_ item: NSManagedObject) {
      self.item = item
      for key in item.entity.propertiesByName.keys {
        shown[key] = ObservingWalkTests.text(item.value(forKey: key))
        observations.append(
          item.observe(key, options: .new) { [unowned self] _, change in
            let new = ObservingWalkTests.text(change.newValue)
            if new == shown[key] { needless.append(key) }
            shown[key] = new
          })
        track(key)
      }
    }

    func track(_ key: String) {
      let flag = Flag()
      notified[key] = flag
      withObservationTracking {
        read[key] = ObservingWalkTests.text(item.value(forKey: key))
      } onChange: {
        flag.isSet.withLock { $0 = true }
      }
    }
  }

  private final class Flag: Sendable { let isSet = Mutex(false) }

  fileprivate static func text(_ value: Any?) -> String {
    func name(_ object: Any) -> String { "\(UInt(bitPattern: ObjectIdentifier(object as AnyObject).hashValue))" }
    switch value {
    case nil, is NSNull: return "-"
    case let object as NSManagedObject: return name(object)
    case let set as NSOrderedSet: return set.count == 0 ? "-" : "\(set.map(name))"
    case let set as NSSet: return set.count == 0 ? "-" : "\(set.allObjects.map(name).sorted())"
    case let data as Data: return "\(data.count):\(data.first ?? 0)"
    case let dictionary as [String: Any]:
      return dictionary.keys.sorted().map { "\($0):\(dictionary[$0] ?? "")" }.joined()
    case let list as [Int]: return "\(list)"
    case let value?: return "\(value)"
    }
  }

  private final class Walk {
    let stack: UndoStack
    private var dice: Dice
    private let changes: UndoWalkTests.Walk
    private var watched: [ObjectIdentifier: Watched] = [:]
    var log: [String] = []

    init(_ stack: UndoStack, seed: Int) {
      self.stack = stack
      dice = Dice(state: UInt64(seed) &* 7907 &+ 11)
      changes = UndoWalkTests.Walk(stack, seed: seed)
      stack.context.performAndWait { stack.context.tracksObservation = true }
      // Else an object that is made again would count as another one here.
      stack.context.retainsRegisteredObjects = true
      let policies: [NSMergePolicy] = [
        .error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
      ]
      for context in stack.contexts { context.mergePolicy = policies[seed % policies.count] }
    }

    /// Does something. Returns what.
    func step() throws -> String {
      let context = stack.context
      var items = try UndoStack.items(context)
      for item in items where watched[ObjectIdentifier(item)] == nil {
        watched[ObjectIdentifier(item)] = Watched(item)
      }
      let name: String
      switch dice.next(18) {
      case 0..<8: name = try (0...dice.next(3)).map { _ in try changes.change(context, &items) }.joined(separator: ", ")
      case 8, 9: (name, _) = ("undo", context.undo())
      case 10: (name, _) = ("redo", context.redo())
      case 11: name = "save" + save { try context.save() }
      case 12: name = "save all" + save { try stack.saveAll() }
      case 13: (name, _) = ("refresh all", context.refreshAllObjects())
      case 14:
        name = "refresh one"
        // Without `mergeChanges` only one side of an unsaved link would be forgotten.
        if let item = items.randomElement(dice.next(1000)) {
          context.refresh(item, mergeChanges: item.hasChanges || dice.next(2) == 0)
        }
      case 15: (name, _) = ("rollback", context.rollback())
      case 16: name = "merge of \(try changeElsewhere())"
      default:
        name = "faults"
        for item in items where !item.hasChanges && item["memo"] == nil { context.refresh(item, mergeChanges: false) }
      }
      context.processPendingChanges()
      log.append(name)
      return name
    }

    /// Saves. After a conflict all changes are rolled back.
    private func save(_ body: () throws -> Void) -> String {
      do { try body() } catch {
        for context in stack.contexts { context.performAndWait { context.rollback() } }
        return ", which failed"
      }
      return ""
    }

    /// Saves in another context, and merges that here.
    private func changeElsewhere() throws -> String {
      let other = stack.other()
      other.mergePolicy = NSMergePolicy.overwrite
      return try other.performAndWait {
        var items = try UndoStack.items(other)
        let text = try (0...dice.next(3)).map { _ in try changes.change(other, &items) }.joined(separator: ", ")
        other.processPendingChanges()
        var userInfo: [AnyHashable: Any] = [:]
        try other.obtainPermanentIDs(for: Array(other.insertedObjects))
        for (key, objects) in [
          (NSInsertedObjectsKey, other.insertedObjects), (NSUpdatedObjectsKey, other.updatedObjects),
          (NSDeletedObjectsKey, other.deletedObjects),
        ] {
          userInfo[key] = objects.map { $0.objectID.uriRepresentation() }
        }
        do { try other.save() } catch { return "nothing" }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: userInfo, into: stack.contexts)
        return text
      }
    }

    /// What observers do not know, or were notified of without a reason.
    func faults() -> [String] {
      var faults: [String] = []
      for (id, entry) in watched {
        // A deletion that was saved ends the object.
        if entry.item.managedObjectContext == nil {
          watched[id] = nil
          continue
        }
        for key in entry.item.entity.propertiesByName.keys {
          let present = ObservingWalkTests.text(entry.item.value(forKey: key))
          if entry.shown[key] != present { faults.append("\(key) shows \(entry.shown[key] ?? ""), not \(present)") }
          let notified = entry.notified[key]?.isSet.withLock { $0 } ?? false
          if entry.read[key] != present && !notified {
            faults.append("a reader of \(key) has \(entry.read[key] ?? ""), not \(present)")
          }
          if notified { entry.track(key) }
        }
        // Data in a file that was replaced by an equal file cannot be compared any more.
        for key in entry.needless where key != "photo" || log.last?.hasPrefix("merge") != true {
          faults.append("\(key) was reported without a change")
        }
      }
      return faults
    }
  }
}

extension [NSManagedObject] {
  fileprivate func randomElement(_ number: Int) -> NSManagedObject? {
    let sorted = sorted { ($0["name"] as? String ?? "") < ($1["name"] as? String ?? "") }
    return sorted.isEmpty ? nil : sorted[number % sorted.count]
  }
}
