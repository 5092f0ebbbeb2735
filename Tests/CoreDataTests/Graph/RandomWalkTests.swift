import Foundation
import Testing

@testable import CoreData

/// A separate generator, so that a seed gives the same walk on every platform.
struct Dice {
  var state: UInt64
  mutating func next(_ limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % limit
  }
}

/// Random changes by several contexts, compared with what a new context reads. A failure reports its seed.
@Suite struct RandomWalkTests {
  /// Unsaved changes are kept over merged values, and reach the store.
  @Test(arguments: 0..<30)
  func unsavedChangesOutliveMerges(seed: Int) throws {
    var dice = Dice(state: UInt64(seed) &* 517 &+ 11)
    let company = try CompanyStore()
    let (writer, reader) = (company.context(), company.context())
    var ages: [NSManagedObjectID: Int16] = [:]
    for round in 0..<8 {
      let saves = Saves(writer)
      try reader.performAndWait {
        let people = try reader.all(Person.self).sorted { $0.objectID.description < $1.objectID.description }
        for _ in 0..<dice.next(4) where !people.isEmpty {
          let person = people[dice.next(people.count)]
          person.age = Int16(1 + dice.next(90))
          ages[person.objectID] = person.age
        }
        if dice.next(2) == 0 { reader.processPendingChanges() }
      }
      try writer.performAndWait {
        for _ in 0..<(1 + dice.next(6)) { try step(&dice, writer) }
        try writer.save()
      }
      try reader.performAndWait {
        for (objects, _) in saves.pairs {
          reader.mergeChanges(
            fromContextDidSave: Notification(
              name: NSManagedObjectContext.didSaveObjectsNotification, object: writer, userInfo: objects))
        }
        let notes = Saves(reader)
        try reader.save()
        if let (objects, ids) = notes.pairs.last {
          let one = Set((objects[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []).map(\.objectID))
          let two = ids[NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue] as? Set<NSManagedObjectID>
          #expect(one == two ?? [], "seed \(seed) round \(round)")
        }
        #expect(!reader.hasChanges)
        let merged = try state(reader)
        let fresh = try company.run { try state($0) }
        #expect(merged == fresh, "seed \(seed) round \(round)")
      }
      let found = try company.run { (context) throws in
        Dictionary(uniqueKeysWithValues: try context.all(Person.self).map { ($0.objectID, $0.age) })
      }
      for (id, age) in found { #expect(age == ages[id] ?? 0, "seed \(seed) round \(round)") }
      // The writer reads the reader's ages before its next changes.
      writer.performAndWait { writer.reset() }
    }
  }

  private struct Carried: @unchecked Sendable { let objects: [NSManagedObject] }

  /// For the thread sanitizer: contexts that merge each other's saves, objects released on other threads, the same IDs
  /// read by all.
  @Test func contextsOnManyThreadsShareAStore() async throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      for index in 0..<50 { Person(context: context).name = "N\(index)" }
      try context.save()
    }
    let watcher = company.context()
    watcher.automaticallyMergesChangesFromParent = true
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          var dice = Dice(state: UInt64(worker))
          for _ in 0..<60 {
            let context = company.context()
            let carried = context.performAndWait {
              let people = (try? context.all(Person.self)) ?? []
              if dice.next(2) == 0, !people.isEmpty { people[dice.next(people.count)].age = Int16(dice.next(50)) }
              if dice.next(3) == 0 { Person(context: context).name = "W" }
              if dice.next(4) == 0, let last = people.last { context.delete(last) }
              try? context.save()
              _ = people.map(\.objectID)
              return Carried(objects: people)
            }
            DispatchQueue.global().async { withExtendedLifetime(carried) {} }
            watcher.performAndWait { _ = (try? watcher.all(Person.self))?.map(\.name) }
          }
        }
      }
    }
    let fresh = try company.run { try state($0) }
    await watcher.perform {}
    let merged = try watcher.performAndWait { try state(watcher) }
    #expect(merged == fresh)
  }

  private final class Saves: @unchecked Sendable {
    var pairs: [([AnyHashable: Any], [AnyHashable: Any])] = []
    private var objects: [AnyHashable: Any] = [:]
    private var tokens: [any NSObjectProtocol] = []

    init(_ context: NSManagedObjectContext) {
      let center = NotificationCenter.default
      tokens.append(
        center.addObserver(
          forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
        ) { [unowned self] in objects = $0.userInfo ?? [:] })
      tokens.append(
        center.addObserver(
          forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: context, queue: nil
        ) { [unowned self] in pairs.append((objects, $0.userInfo ?? [:])) })
    }

    deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }
  }

  private func step(_ dice: inout Dice, _ context: NSManagedObjectContext) throws {
    let people = try context.all(Person.self).sorted { $0.objectID.description < $1.objectID.description }
    let departments = try context.all(Department.self).sorted { $0.objectID.description < $1.objectID.description }
    func some<T>(_ list: [T]) -> T? { list.isEmpty ? nil : list[dice.next(list.count)] }
    switch dice.next(12) {
    case 0, 1: Person(context: context).name = "N\(dice.next(9))"
    case 2: Department(context: context).title = "D\(dice.next(9))"
    case 3: some(people)?.name = "M\(dice.next(9))"
    case 4, 5: some(people)?.department = some(departments)
    case 6: if let person = some(people) { context.delete(person) }
    case 7: if dice.next(3) == 0, let department = some(departments) { context.delete(department) }
    case 8: context.processPendingChanges()
    case 9: if let person = some(people) { context.refresh(person, mergeChanges: dice.next(2) == 0) }
    case 10:
      if let deleted = some(context.deletedObjects.sorted { $0.objectID.description < $1.objectID.description }) {
        context.insert(deleted)
      }
    default: if dice.next(6) == 0 { context.rollback() }
    }
  }

  @Test(.ofRootContexts, arguments: 0..<40)
  func bothNotificationsOfASaveTellTheSame(seed: Int) throws {
    var dice = Dice(state: UInt64(seed) &* 977 &+ 5)
    let company = try CompanyStore()
    try company.run { (context) throws in
      let saves = Saves(context)
      for round in 0..<12 {
        for _ in 0..<(1 + dice.next(8)) { try step(&dice, context) }
        try context.save()
        guard let (objects, ids) = saves.pairs.last else { continue }
        let keys: [(String, NSManagedObjectContext.NotificationKey)] = [
          (NSInsertedObjectsKey, .insertedObjectIDs), (NSUpdatedObjectsKey, .updatedObjectIDs),
          (NSDeletedObjectsKey, .deletedObjectIDs),
        ]
        for (key, idKey) in keys {
          let one = Set((objects[key] as? Set<NSManagedObject> ?? []).map(\.objectID))
          let two = ids[idKey.rawValue] as? Set<NSManagedObjectID> ?? []
          #expect(one == two, "seed \(seed) round \(round) \(key)")
        }
        #expect(!context.hasChanges)
      }
    }
  }

  private func state(_ context: NSManagedObjectContext) throws -> [String] {
    try context.all(Person.self).map {
      "\($0.objectID) \($0.name ?? "-") \($0.department.map { "\($0.objectID)" } ?? "-")"
    }.sorted()
      + context.all(Department.self).map {
        "\($0.objectID) \($0.title ?? "-") \($0.people.map { "\($0.objectID)" }.sorted())"
      }.sorted()
  }

  /// A reader that merges every save of a writer has the same values as a new context.
  @Test(arguments: 0..<40)
  func aReaderThatMergesIsUpToDate(seed: Int) throws {
    var dice = Dice(state: UInt64(seed) &* 1313 &+ 7)
    let company = try CompanyStore()
    let (writer, reader) = (company.context(), company.context())
    var held: [NSManagedObject] = []
    for round in 0..<10 {
      let saves = Saves(writer)
      try writer.performAndWait {
        for _ in 0..<(1 + dice.next(6)) { try step(&dice, writer) }
        try writer.save()
      }
      try reader.performAndWait {
        for (objects, _) in saves.pairs {
          reader.mergeChanges(
            fromContextDidSave: Notification(
              name: NSManagedObjectContext.didSaveObjectsNotification, object: writer, userInfo: objects))
        }
        let merged = try state(reader)
        let fresh = try company.run { try state($0) }
        #expect(merged == fresh, "seed \(seed) round \(round)")
        held = Array(reader.registeredObjects)
        #expect(!reader.hasChanges)
      }
    }
    withExtendedLifetime(held) {}
  }
}
