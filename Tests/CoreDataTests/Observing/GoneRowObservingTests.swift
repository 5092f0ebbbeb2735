import CoreData
import Foundation
import Testing

/// Observations of objects whose row is gone from the store.
@Suite struct GoneRowObservingTests {
  private func observe<Value>(_ person: Person, _ keyPath: KeyPath<Person, Value>) -> ObservationLog<Value> {
    let log = ObservationLog<Value>()
    log.observation = person.observe(keyPath, options: [.old, .new]) { _, change in log.note(change) }
    return log
  }

  /// The observers of each property are called once, where the context notices that the row is gone: it has no value
  /// any more. An object that a merge reports as deleted keeps its values, as one whose deletion the context saves.
  @Test(arguments: [false, true]) func eachPropertyLosesItsValueOnce(isMerged: Bool) throws {
    let company = try CompanyStore()
    let context = company.context()
    let (person, tag, department) = try context.performAndWait {
      let (person, tag, department) = (
        Person(context: context), Tag(context: context), Department(context: context)
      )
      (person.name, person.age, tag.label, department.title) = ("Ada", 36, "red", "Research")
      (person.tags, person.department) = ([tag], department)
      try context.save()
      return (person, tag, department)
    }
    try context.performAndWait {
      let (names, ages, tags) = (observe(person, \.name), observe(person, \.age), observe(person, \.tags))
      let departments = observe(person, \.department)
      nonisolated(unsafe) var saved: Notification?
      try company.run { other in
        let watch = NotificationCenter.default.addObserver(
          forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) { saved = $0 }
        defer { NotificationCenter.default.removeObserver(watch) }
        other.delete(try other.existingObject(with: person.objectID))
        try other.save()
      }
      if isMerged {
        context.mergeChanges(fromContextDidSave: try #require(saved))
        #expect(person.isDeleted && person.name == "Ada" && names.changes.isEmpty && tags.changes.isEmpty)
        return
      }
      context.refresh(person, mergeChanges: false)
      #expect(person.name == nil && person.tags.isEmpty && person.department == nil)
      context.processPendingChanges()
      #expect(names.changes.map(\.old) == ["Ada"] && names.changes.map(\.new) == [.some(nil)])
      #expect(ages.changes.map(\.old) == [36] && ages.changes.map(\.new) == [0])
      #expect(tags.changes.map(\.old) == [[tag]] && tags.changes.map(\.new) == [[]])
      #expect(departments.changes.map(\.old) == [department] && departments.changes.map(\.new) == [.some(nil)])
      _ = person.name
      context.processPendingChanges()
      #expect(names.changes.count == 1 && tags.changes.count == 1)
    }
  }
}
