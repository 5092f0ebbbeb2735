import CoreData
import Foundation
import Observation
import Synchronization
import Testing

/// `withObservationTracking` with the objects of a context.
@Suite struct ObservationTrackingTests {
  /// Whether a change that follows the reads of `read` is seen.
  private final class Tracker: Sendable {
    let isNotified = Mutex(false)

    init(_ read: () -> Void) {
      withObservationTracking(read) { [weak self] in self?.isNotified.withLock { $0 = true } }
    }

    var notified: Bool { isNotified.withLock { $0 } }
  }

  private func stack() throws -> (CompanyStore, NSManagedObjectContext) {
    let company = try CompanyStore()
    let context = company.context()
    context.performAndWait { context.tracksObservation = true }
    return (company, context)
  }

  @Test func readsOfTypedPropertiesAreTracked() throws {
    let (company, context) = try stack()
    context.performAndWait {
      let (person, other) = (Person(context: context), Person(context: context))
      let tracker = Tracker { _ = person.name }
      other.name = "other"
      person.age = 5
      person.name = nil
      #expect(!tracker.notified)
      person.name = "Ada"
      #expect(tracker.notified)
      // One call for each tracking.
      let second = Tracker { _ = (person.name, person.department) }
      #expect(!second.notified)
      person.department = Department(context: context)
      #expect(second.notified)
      let members = Tracker { _ = person.department?.people }
      person.department?.people = [person, other]
      #expect(members.notified)
      let byKey = Tracker { _ = person.value(forKeyPath: "department.title") }
      person.department?.title = "first"
      #expect(byKey.notified)
      // To set a property is not to read it.
      let set = Tracker { person.salary = 1 }
      person.salary = 2
      #expect(!set.notified)
    }
    withExtendedLifetime(company) {}
  }

  @Test func everyWayToChangeAValueIsSeen() throws {
    let (company, context) = try stack()
    try context.performAndWait {
      context.undoManager = UndoManager()
      let (person, department) = (Person(context: context), Department(context: context))
      (person.name, person.department) = ("Ada", department)
      try context.save()
      func expectSeen(_ comment: Comment, _ change: () throws -> Void) rethrows {
        let tracker = Tracker { _ = person.name }
        try change()
        #expect(tracker.notified, comment)
      }
      expectSeen("a set") { person.name = "Grace" }
      context.processPendingChanges()
      expectSeen("undo") { context.undo() }
      expectSeen("redo") { context.redo() }
      expectSeen("rollback") { context.rollback() }
      let id = person.objectID
      func saveElsewhere(_ name: String) throws {
        try company.run { other in
          (try other.existingObject(with: id) as? Person)?.name = name
          try other.save()
        }
      }
      try saveElsewhere("Barbara")
      expectSeen("merge") {
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [id]], into: [context])
        context.processPendingChanges()
      }
      try saveElsewhere("Tony")
      expectSeen("refresh") { context.refresh(person, mergeChanges: true) }
      #expect(person.name == "Tony")
      person.name = "unsaved"
      expectSeen("faulting that drops a change") { context.refresh(person, mergeChanges: false) }
      try saveElsewhere("Niklaus")
      expectSeen("faulting that meets a newer row") { context.refresh(person, mergeChanges: false) }
      #expect(person.name == "Niklaus")
      let link = Tracker { _ = person.department }
      context.delete(department)
      context.processPendingChanges()
      #expect(link.notified, "delete rule")
      // A save, a refresh and a merge that change nothing are not seen.
      try context.save()
      let still = Tracker { _ = (person.name, person.department, person.tags) }
      try context.save()
      context.refreshAllObjects()
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [id]], into: [context])
      context.processPendingChanges()
      #expect(!still.notified)
      context.reset()
      #expect(still.notified, "reset")
    }
  }

  @Test func objectsOfEachOriginAreTracked() throws {
    let (company, context) = try stack()
    try company.run { other in
      for index in 0..<3 { Person(context: other).name = "\(index)" }
      try other.save()
    }
    try context.performAndWait {
      let fetched = try context.fetch(ContextChain.people())
      let trackers = fetched.map { person in Tracker { _ = person.name } }
      for person in fetched { person.name = "changed" }
      #expect(trackers.map(\.notified) == [true, true, true])
      let request = ContextChain.people()
      request.includesPropertyValues = false
      context.reset()
      let object = try #require(try context.fetch(request).first)
      let tracker = Tracker { _ = object.name }
      object.name = "again"
      #expect(tracker.notified)
    }
  }

  /// The handler reads again, and the next change is seen too.
  @Test func aHandlerMayReadAgain() throws {
    let (company, context) = try stack()
    context.performAndWait {
      let person = Person(context: context)
      let renderer = Renderer(person)
      renderer.render()
      person.name = "Ada"
      person.name = "Grace"
      #expect(renderer.shown == [nil, "Ada", "Grace"])
    }
    withExtendedLifetime(company) {}
  }

  private final class Renderer: @unchecked Sendable {
    let person: Person
    var shown: [String?] = []
    init(_ person: Person) { self.person = person }

    func render() {
      withObservationTracking {
        shown.append(person.name)
      } onChange: {
        self.render()
      }
    }
  }

  /// Objects that a child context has inserted.
  @Test func objectsOfChildrenAreTracked() throws {
    let chain = try ContextChain()
    let id = try chain.child.performAndWait {
      chain.root.performAndWait { chain.root.tracksObservation = true }
      let person = Person(context: chain.child)
      try chain.child.save()
      return person.objectID
    }
    chain.root.performAndWait {
      let person = chain.root.object(with: id) as? Person
      let tracker = Tracker { _ = person?.name }
      person?.name = "Ada"
      #expect(tracker.notified)
    }
  }

  /// A read of both sides of a relationship keeps neither alive.
  @Test func readsKeepNoObjectsAlive() throws {
    let (company, context) = try stack()
    try context.performAndWait {
      weak var department: Department?
      try {
        let (person, made) = (Person(context: context), Department(context: context))
        person.department = made
        try context.save()
        context.refreshAllObjects()
        department = made
        let tracker = Tracker { _ = person.department }
        #expect(!tracker.notified)
      }()
      #expect(department == nil)
    }
    withExtendedLifetime(company) {}
  }

  /// The same for both sides of a relationship between many objects. A refresh reads no members, and a change of them
  /// is seen nevertheless.
  @Test func readsOfMembersKeepNoObjectsAlive() throws {
    let (company, context) = try stack()
    try context.performAndWait {
      weak var tag: Tag?
      var id: NSManagedObjectID?
      try {
        let (person, made) = (Person(context: context), Tag(context: context))
        made.label = "red"
        person.tags = [made]
        try context.save()
        (tag, id) = (made, made.objectID)
        let tracker = Tracker { _ = (person.tags, made.people) }
        context.refreshAllObjects()
        #expect(!tracker.notified && person.hasFault(forRelationshipNamed: "tags"))
      }()
      #expect(tag == nil)
      let person = try #require(try context.all(Person.self).first)
      let tracker = Tracker { _ = person.tags }
      context.refreshAllObjects()
      #expect(!tracker.notified)
      try company.run { other in
        other.delete(try other.existingObject(with: try #require(id)))
        try other.save()
      }
      context.refreshAllObjects()
      #expect(tracker.notified && person.tags.isEmpty)
    }
  }

  /// The order of members is compared too, of members that are new, known or unread.
  @Test func unreadMembersAreComparedInTheirOrder() throws {
    let (company, context) = try stack()
    try context.performAndWait {
      let department = Department(context: context)
      department.ranking = ["a", "b"].map { name in
        let person = Person(context: context)
        person.name = name
        return person
      }
      let tracker = Tracker { _ = department.ranking }
      try context.save()
      context.refreshAllObjects()
      #expect(!tracker.notified)
      try company.run { other in
        let department = try #require(try other.all(Department.self).first)
        department.ranking.reverse()
        try other.save()
      }
      context.refreshAllObjects()
      #expect(tracker.notified && department.ranking.map(\.name) == ["b", "a"])
    }
  }

  @Test func withoutTheSettingNothingIsTracked() throws {
    let company = try CompanyStore()
    try company.run { context in
      let person = Person(context: context)
      let tracker = Tracker { _ = person.name }
      person.name = "Ada"
      #expect(!tracker.notified)
      // The setting holds for objects that the context has already.
      context.tracksObservation = true
      let second = Tracker { _ = person.name }
      person.name = "Grace"
      #expect(second.notified)
      context.tracksObservation = false
      let third = Tracker { _ = person.name }
      person.name = "Tony"
      #expect(!third.notified)
    }
  }
}
