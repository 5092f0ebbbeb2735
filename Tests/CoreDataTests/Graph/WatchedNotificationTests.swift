import Foundation
import Testing

@testable import CoreData

@Suite struct WatchedNotificationTests {
  /// "posts after a context finishes writing unsaved changes", for all observers:
  /// https://developer.apple.com/documentation/foundation/nsnotification/name-swift.struct/nsmanagedobjectcontextdidsave
  /// . The raw names are those that clients write.
  @Test(.ofRootContexts) func theyArePostedToWhoWatchesByText() async {
    // In a separate process, which has used no name property.
    await #expect(processExitsWith: .success) {
      final class Seen: @unchecked Sendable { var names: [String] = [] }
      let seen = Seen()
      let names = [
        "NSObjectsChangedInManagingContextNotification", "NSManagingContextWillSaveChangesNotification",
        "NSManagingContextDidSaveChangesNotification", "NSManagedObjectContextDidSaveObjectIDsNotification",
      ]
      let observers = names.map { name in
        NotificationCenter.default.addObserver(forName: Notification.Name(name), object: nil, queue: nil) { note in
          precondition(note.object is NSManagedObjectContext)
          seen.names.append(note.name.rawValue)
        }
      }
      defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
      try CompanyStore().run { (context) throws in
        Person(context: context).name = "A"
        try context.save()
      }
      precondition(seen.names == names)
    }
  }

  /// Decision 017.
  @Test(.ofRootContexts) func aProcessMayHaveThemPostedFromTheMomentThatTheirNameIsRequested() async {
    // In a separate process, because other tests use the name properties.
    await #expect(processExitsWith: .success) {
      final class Seen: @unchecked Sendable { var names: [String] = [] }
      let seen = Seen()
      let observer = NotificationCenter.default.addObserver(forName: nil, object: nil, queue: nil) { note in
        if note.object is NSManagedObjectContext { seen.names.append(note.name.rawValue) }
      }
      defer { NotificationCenter.default.removeObserver(observer) }
      NSManagedObjectContext.postsOnlyRequestedNotifications = true
      let company = try CompanyStore()
      func check(_ name: String, _ expected: [String]) throws {
        seen.names = []
        try company.run { (context) throws in
          Person(context: context).name = name
          try context.save()
        }
        precondition(seen.names == expected)
      }
      try check("0", [])
      let willSave = NSManagedObjectContext.willSaveObjectsNotification.rawValue
      try check("A", [willSave])
      let didSave = Notification.Name.NSManagedObjectContextDidSave
      try check("B", [willSave, didSave.rawValue])
      let ids = NSManagedObjectContext.didSaveObjectIDsNotification
      try check("C", [willSave, didSave.rawValue, ids.rawValue])
      let didChange = NSManagedObjectContext.didChangeObjectsNotification
      try check("D", [didChange.rawValue, willSave, didSave.rawValue, ids.rawValue])
      precondition(
        didChange == .NSManagedObjectContextObjectsDidChange && ids == .NSManagedObjectContextDidSaveObjectIDs)
    }
  }

  /// An observer that is added in the middle of a save's changes gets all of them.
  @Test func whoBeginsToWatchInTheMiddleLearnsOfTheWholeSave() async {
    await #expect(processExitsWith: .success) {
      NSManagedObjectContext.postsOnlyRequestedNotifications = true
      let company = try CompanyStore()
      let context = company.context()
      try context.performAndWait {
        let people = (0..<3).map { _ in Person(context: context) }
        context.processPendingChanges()
        people[0].name = "changed"
        nonisolated(unsafe) var saved: Set<NSManagedObject>?
        let observer = NotificationCenter.default.addObserver(
          forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { saved = $0.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> }
        try context.save()
        NotificationCenter.default.removeObserver(observer)
        precondition(saved == Set(people))
      }
    }
  }
}
