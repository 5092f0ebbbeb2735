import Foundation
import Testing

@testable import CoreData

/// A class whose initializer uses a context.
final class Nosy: NSManagedObject {
  static let number = ManagedProperty<Int64>("number")
  /// Called by each initialiser, on the thread that makes the object.
  @TaskLocal static var whenMade: (@Sendable () -> Void)?

  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    Self.whenMade?()
  }

  static func model() -> NSManagedObjectModel {
    let entities = [("Nosy", "CoreDataTests.Nosy"), ("Other", "NSManagedObject")].map { name, objectClass in
      let entity = NSEntityDescription()
      (entity.name, entity.managedObjectClassName) = (name, objectClass)
      let number = NSAttributeDescription()
      (number.name, number.type) = ("number", .integer64)
      entity.properties = [number]
      return entity
    }
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }
}

/// Objects are made while the statement that reads their rows is still running.
@Suite struct InitialiserTests {
  @Test func anInitialiserMayFetchWhileAFetchMakesItsObject() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "nosy-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Nosy.model())
    try coordinator.addPersistentStore(type: .sqlite, at: folder.appending(path: "nosy.sqlite"))
    let writer = NSManagedObjectContext(.privateQueue)
    writer.persistentStoreCoordinator = coordinator
    try writer.performAndWait {
      for number in 0..<700 {
        Nosy(context: writer).setValue(Int64(number), of: Nosy.number)
        NSEntityDescription.insertNewObject(forEntityName: "Other", into: writer).setValue(number, forKey: "number")
      }
      try writer.save()
    }

    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let answers = Answers()
    try context.performAndWait {
      let made = try Nosy.$whenMade.withValue({ answers.ask(context) }) {
        try context.fetch(NSFetchRequest<Nosy>(entityName: "Nosy"))
      }
      #expect(made.map { $0.value(of: Nosy.number) } == Array(0..<700))
      #expect(Set(made.map(\.objectID)).count == 700)
    }
    #expect(answers.counts.count == 700 && answers.counts.allSatisfy { $0 == 701 })
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }
}

/// Used on one thread only, inside `performAndWait`.
private final class Answers: @unchecked Sendable {
  var counts: [Int] = []

  /// Counts objects of one entity and fetches one of the other.
  func ask(_ context: NSManagedObjectContext) {
    let others = NSFetchRequest<NSManagedObject>(entityName: "Other")
    others.predicate = NSPredicate(format: "number == 5")
    let nosy = NSFetchRequest<Nosy>(entityName: "Nosy")
    guard let count = try? context.count(for: nosy), let found = try? context.fetch(others) else {
      counts.append(-1)
      return
    }
    counts.append(count + found.count)
  }
}
