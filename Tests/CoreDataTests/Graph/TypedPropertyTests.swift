import Foundation
import Testing

@testable import CoreData

final class Note: NSManagedObject {
  static let text = ManagedProperty<String?>("text")
  static let count = ManagedProperty<Int32>("count")
  static let seen = ManagedProperty<Bool>("seen")
  static let weight = ManagedProperty<Double>("weight")
  static let date = ManagedProperty<Date?>("date")
  /// Deliberately wrong: in the model the count is an integer.
  static let countAsText = ManagedProperty<String?>("count")
  static let countAsDouble = ManagedProperty<Double>("count")

  static func model(transient: Bool) -> NSManagedObjectModel {
    let entity = NSEntityDescription()
    entity.name = "Note"
    entity.managedObjectClassName = "CoreDataTests.Note"
    let types: [(String, NSAttributeDescription.AttributeType)] = [
      ("text", .string), ("count", .integer32), ("seen", .boolean), ("weight", .double), ("date", .date),
    ]
    entity.properties = types.map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.type, attribute.isTransient) = (name, type, transient)
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  static func context(transient: Bool) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(transient: transient))
    try coordinator.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: "/dev/null"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }
}

/// Typed accessors compared with a property's type in the model.
@Suite struct TypedPropertyTests {
  @Test(arguments: [false, true])
  func typedAccessorsServeStoredAndTransientAttributes(_ isTransient: Bool) throws {
    let context = try Note.context(transient: isTransient)
    try context.performAndWait {
      let note = Note(context: context)
      #expect(
        note.value(of: Note.text) == nil && note.value(of: Note.count) == 0 && !note.value(of: Note.seen)
          && note.value(of: Note.date) == nil)
      note.setValue("text", of: Note.text)
      note.setValue(-7, of: Note.count)
      note.setValue(true, of: Note.seen)
      note.setValue(2.5, of: Note.weight)
      note.setValue(Date(timeIntervalSinceReferenceDate: 9), of: Note.date)
      func check() {
        #expect(
          note.value(of: Note.text) == "text" && note.value(of: Note.count) == -7 && note.value(of: Note.seen)
            && note.value(of: Note.weight) == 2.5)
        #expect(note.value(of: Note.date) == Date(timeIntervalSinceReferenceDate: 9))
      }
      check()
      try context.save()
      check()
      note.setValue(nil, of: Note.text)
      #expect(note.value(of: Note.text) == nil && note.value(forKey: "text") == nil)
      note.setValue(3, forKey: "count")
      #expect(note.value(of: Note.count) == 3)
    }
  }

  @Test func anAccessorOfAnotherTypeThanTheModelsStopsTheProgram() async {
    await #expect(processExitsWith: .failure) {
      let context = try Note.context(transient: false)
      context.performAndWait { _ = Note(context: context).value(of: Note.countAsText) }
    }
    await #expect(processExitsWith: .failure) {
      let context = try Note.context(transient: false)
      context.performAndWait { _ = Note(context: context).value(of: Note.countAsDouble) }
    }
  }
}
