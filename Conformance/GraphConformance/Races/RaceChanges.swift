import CoreData
import Foundation

/// A worker's changes since its last save that its context does not record.
struct PendingSave {
  var begin: UInt64 = 0
  var deletions: [(name: RaceObject, object: NSManagedObject)] = []
  var links: [RaceRecord.Pair] = []
  /// Keys are pairs with `isLinked` true. `pairs` has the state now, `wereLinked` the state before.
  var pairs: [RaceRecord.Pair: Bool] = [:]
  var wereLinked: [RaceRecord.Pair: Bool] = [:]
  var ends: [RaceRecord.Pair: (owner: NSManagedObject, member: NSManagedObject)] = [:]
  /// The owners whose order was set, by name.
  var ordered: [String: NSManagedObject] = [:]

  /// `saved` gives an object of the worker as the context of the store has it.
  func fill(_ record: inout RaceRecord, saved: (NSManagedObject) -> NSManagedObject) {
    (record.deletions, record.links) = (deletions.map(\.name.text), links)
    for (pair, isLinked) in pairs where wereLinked[pair] != isLinked {
      var reports = RaceRecord.Pair(owner: pair.owner, member: pair.member, isLinked: isLinked)
      if isLinked, let (owner, member) = ends[pair].map({ (saved($0.owner), saved($0.member)) }),
        record.outcome == .saved
      {
        // Includes links to objects that the context has found deleted: values set to them are not saved.
        let isGone = [owner, member].contains { $0.managedObjectContext == nil || $0.isDeleted }
        let isThere = { member.many("owners").contains(owner) || owner.many("members").contains(member) }
        reports.isDropped = isGone || !isThere()
      }
      record.pairs.append(reports)
    }
    for (name, owner) in ordered.mapValues(saved) where !owner.isDeleted && owner.managedObjectContext != nil {
      record.orders.append(RaceRecord.Order(owner: name, members: owner.many("members").map(RaceValue.id)))
    }
  }
}

/// The values that a context is about to save.
struct RaceChanges {
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
      case "owner":
        let owner = object.one(key)
        // A new object that was deleted before it was saved: the save may not store a link to it.
        let wasNeverSaved = owner.map { $0.isDeleted && $0.objectID.isTemporaryID } ?? false
        content = .destination(wasNeverSaved ? nil : owner)
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
final class ReportedChanges: @unchecked Sendable {
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
