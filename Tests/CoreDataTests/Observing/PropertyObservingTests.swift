import CoreData
import Foundation
import Testing

/// What an observation has been called with.
final class ObservationLog<Value> {
  var changes: [(old: Value?, new: Value?)] = []
  var observation: NSKeyValueObservation?
  func note(_ change: NSKeyValueObservedChange<Value>) { changes.append((change.oldValue, change.newValue)) }
}

/// Closures on properties: each call has the values before and after a change.
@Suite struct PropertyObservingTests {
  private func observe<Root: NSManagedObject, Value>(
    _ object: Root, _ keyPath: KeyPath<Root, Value>, _ options: NSKeyValueObservingOptions = [.old, .new]
  ) -> ObservationLog<Value> {
    let log = ObservationLog<Value>()
    log.observation = object.observe(keyPath, options: options) { _, change in log.note(change) }
    return log
  }

  @Test func everyWayToSetAnAttributeIsSeen() throws {
    try CompanyStore().run { context in
      let person = Person(context: context)
      let log = observe(person, \.name)
      person.name = "Ada"
      person.setValue("Grace", forKey: "name")
      person["name"] = "Edsger"
      person.setValuesForKeys(["name": "Barbara"])
      person.willChangeValue(forKey: "name")
      person.setPrimitiveValue("Tony", forKey: "name")
      person.didChangeValue(forKey: "name")
      let names = ["Ada", "Grace", "Edsger", "Barbara", "Tony"]
      #expect(log.changes.map(\.new) == names && log.changes.map(\.old) == [.some(nil)] + names.dropLast())
      // An equal value, another property and another object are no changes of this one.
      person.name = "Tony"
      person.age = 7
      Person(context: context).name = "other"
      #expect(log.changes.count == 5)
      log.observation?.invalidate()
      person.name = "Niklaus"
      #expect(log.changes.count == 5)
    }
  }

  /// A property whose type is not optional has no value where its destination is gone. The observation itself reads
  /// none.
  @Test func aDestinationThatIsGoneIsNoValue() throws {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    model.entitiesByName["Item"]?.managedObjectClassName = "CoreDataTests.OwnedItem"
    let stack = try UndoStack(model: model)
    let item = try #require(stack.event { UndoStack.insert("a", $0) } as? OwnedItem)
    let owner = try #require(stack.event { UndoStack.insert("b", $0) } as? OwnedItem)
    let first = try #require(stack.event { UndoStack.insert("c", $0) } as? OwnedItem)
    let (owners, names, firstNames) = stack.event { _ in
      (item.owner, owner.owner) = (owner, first)
      return (observe(item, \.owner), observe(item, \.owner.name), observe(item, \.owner.owner.name))
    }
    stack.event { $0.delete(first) }
    #expect(firstNames.changes.map(\.old) == ["c"] && firstNames.changes.map(\.new) == [.some(nil)])
    stack.event { $0.delete(owner) }
    #expect(owners.changes.map(\.old) == [owner] && owners.changes.map(\.new) == [nil])
    #expect(names.changes.map(\.old) == ["b"] && names.changes.map(\.new) == [.some(nil)])
  }

  @Test func optionsSayWhatACallHas() throws {
    try CompanyStore().run { context in
      let person = Person(context: context)
      person.age = 1
      let none = observe(person, \.age, [])
      let initial = observe(person, \.age, [.initial, .new])
      person.age = 2
      #expect(none.changes.map(\.new) == [nil] && none.changes.map(\.old) == [nil])
      #expect(initial.changes.map(\.new) == [1, 2] && initial.changes.map(\.old) == [nil, nil])
      initial.observation = nil
      person.age = 3
      #expect(initial.changes.count == 2 && none.changes.count == 2)
    }
  }

  @Test func bothSidesOfARelationshipAreSeen() throws {
    try CompanyStore().run { context in
      let (person, first, second) = (
        Person(context: context), Department(context: context), Department(context: context)
      )
      let (department, people, others) = (
        observe(person, \.department), observe(first, \.people), observe(second, \.people)
      )
      person.department = first
      #expect(department.changes.map(\.new) == [first] && people.changes.map(\.new) == [[person]])
      second.mutableSetValue(forKey: "people").add(person)
      #expect(department.changes.last?.old == first && department.changes.last?.new == second)
      #expect(people.changes.last?.old == [person] && people.changes.last?.new == [])
      #expect(others.changes.map(\.new) == [[person]])
      second.people = []
      #expect(department.changes.last?.new == .some(nil) && department.changes.count == 3)
      #expect(others.changes.last?.old == [person])
    }
  }

  @Test func anOrderIsSeenOnce() throws {
    try CompanyStore().run { context in
      let people = (0..<3).map { _ in Person(context: context) }
      let department = Department(context: context)
      department.ranking = people
      let log = observe(department, \.ranking)
      department.ranking = [people[2], people[0]]
      #expect(log.changes.count == 1 && log.changes[0].old == people && log.changes[0].new == [people[2], people[0]])
      department.mutableOrderedSetValue(forKey: "ranking").exchangeObject(at: 0, withObjectAt: 1)
      #expect(log.changes.count == 2 && log.changes[1].new == [people[0], people[2]])
    }
  }

  @Test func aKeyPathFollowsItsObjects() throws {
    try CompanyStore().run { context in
      let (person, first, second) = (
        Person(context: context), Department(context: context), Department(context: context)
      )
      (first.title, second.title, person.department) = ("first", "second", first)
      let log = observe(person, \.department?.title)
      let text = ObservationLog<Any>()
      text.observation = person.observe("department.title", options: [.old, .new]) { _, change in text.note(change) }
      first.title = "1"
      person.department = second
      first.title = "left"
      second.title = "2"
      person.department = nil
      #expect(log.changes.map(\.new) == ["1", "second", "2", .some(nil)])
      #expect(text.changes.map { $0.new as? String } == ["1", "second", "2", nil])
      #expect(text.changes.map { $0.old as? String } == ["first", "1", "second", "2"])
    }
  }

  @Test func everyOtherWayToChangeAValueIsSeen() throws {
    let company = try CompanyStore()
    try company.run { context in
      context.undoManager = UndoManager()
      let (person, department) = (Person(context: context), Department(context: context))
      (person.name, person.department) = ("Ada", department)
      try context.save()
      let (name, link) = (observe(person, \.name), observe(person, \.department))
      func expectLast(_ old: String?, _ new: String?, _ count: Int, _ comment: Comment) {
        #expect(name.changes.last?.old == .some(old) && name.changes.last?.new == .some(new), comment)
        #expect(name.changes.count == count, comment)
      }
      // Undo and redo.
      person.name = "Grace"
      context.processPendingChanges()
      context.undo()
      expectLast("Grace", "Ada", 2, "undo")
      context.redo()
      expectLast("Ada", "Grace", 3, "redo")
      context.rollback()
      expectLast("Grace", "Ada", 4, "rollback")
      // A merge, with and without a change of this context.
      let id = person.objectID
      try company.run { other in
        (try other.existingObject(with: id) as? Person)?.name = "Barbara"
        try other.save()
      }
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectsKey: [id.uriRepresentation()]], into: [context])
      context.processPendingChanges()
      expectLast("Ada", "Barbara", 5, "merge")
      person.name = "Tony"
      context.refresh(person, mergeChanges: false)
      expectLast("Tony", "Barbara", 7, "refresh")
      // A refresh without a change is none.
      context.refresh(person, mergeChanges: false)
      context.refreshAllObjects()
      #expect(name.changes.count == 7)
      // A delete rule, at the end of the event.
      context.delete(department)
      #expect(link.changes.isEmpty)
      context.processPendingChanges()
      #expect(link.changes.map(\.old) == [department] && link.changes.map(\.new) == [.some(nil)])
      context.undo()
      #expect(link.changes.last?.new == department)
    }
  }

  @Test func linksThatOtherObjectsLoseAreSeen() throws {
    try CompanyStore().run { context in
      let (person, first, second) = (
        Person(context: context), Department(context: context), Department(context: context)
      )
      person.department = first
      try context.save()
      let logs = [observe(first, \.people), observe(second, \.people)]
      person.department = second
      context.refresh(person, mergeChanges: false)
      #expect(logs[0].changes.last?.new == first.people && logs[1].changes.last?.new == second.people)
      // A member that was left out because it is deleted, and comes back.
      context.refreshAllObjects()
      context.delete(person)
      context.processPendingChanges()
      let log = observe(first, \.people)
      context.insert(person)
      #expect((log.changes.last?.new ?? []) == first.people)
      // A new object that leaves the context and comes back.
      let new = Person(context: context)
      let names = observe(new, \.name)
      context.rollback()
      context.insert(new)
      new.name = "Ada"
      #expect(names.changes.map(\.new) == ["Ada"])
    }
  }

  @Test func objectsThatAreFetchedAgainAreSeen() throws {
    let company = try CompanyStore()
    try company.run { context in
      let person = Person(context: context)
      person.name = "Ada"
      try context.save()
      let log = observe(person, \.name)
      try company.run { other in
        (try other.existingObject(with: person.objectID) as? Person)?.name = "Grace"
        try other.save()
      }
      let request = ContextChain.people()
      request.shouldRefreshRefetchedObjects = true
      _ = try context.fetch(request)
      #expect(log.changes.map(\.new) == ["Grace"])
    }
  }

  /// A type without an empty value is not read where no option names it.
  @Test func aValueThatNoOptionNamesIsNotRead() throws {
    try CompanyStore().run { context in
      let (badge, person) = (Badge(context: context), Person(context: context))
      badge.owner = person
      var calls = 0
      let observation = badge.observe(\.mandatoryOwner, options: []) { _, _ in calls += 1 }
      badge.owner = nil
      #expect(calls == 1)
      withExtendedLifetime(observation) {}
    }
  }

  @Test func aRowThatIsGoneIsSeen() throws {
    let company = try CompanyStore()
    try company.run { context in
      let person = Person(context: context)
      person.name = "Ada"
      try context.save()
      let log = observe(person, \.name)
      let id = person.objectID
      try company.run { other in
        other.delete(try other.existingObject(with: id))
        try other.save()
      }
      context.refresh(person, mergeChanges: false)
      #expect(log.changes.map(\.old) == ["Ada"] && log.changes.map(\.new) == [.some(nil)])
      // What is set now is shown, but cannot be saved.
      person.name = "Grace"
      #expect(log.changes.count == 2 && person.name == "Grace" && !context.hasChanges)
    }
  }

  @Test func anObserverMayChangeMore() throws {
    try CompanyStore().run { context in
      let person = Person(context: context)
      let (ages, salaries) = (observe(person, \.age), observe(person, \.salary))
      let observation = person.observe(\.name) { person, _ in
        person.age += 1
        // Observers of what an observer changes are called after it.
        #expect(ages.changes.count < Int(person.age))
        if person.age < 3 { person.name = "again \(person.age)" }
      }
      person.name = "Ada"
      #expect(person.age == 3 && ages.changes.count == 3 && salaries.changes.isEmpty)
      withExtendedLifetime(observation) {}
    }
  }

  @Test func anObserverMaySaveDeleteAndReset() throws {
    let company = try CompanyStore()
    try company.run { context in
      let person = Person(context: context)
      var observation: NSKeyValueObservation? = person.observe(\.name) { _, _ in try? context.save() }
      person.name = "Ada"
      #expect(!context.hasChanges)
      observation = person.observe(\.name) { person, _ in context.delete(person) }
      person.name = "Grace"
      #expect(person.isDeleted)
      context.rollback()
      observation = person.observe(\.name) { _, _ in context.reset() }
      person.name = "Tony"
      #expect(person.managedObjectContext == nil && !context.hasChanges)
      observation = nil
      _ = observation
    }
    let names = try company.run { try $0.fetch(ContextChain.people()).map(\.name) }
    #expect(names == ["Ada"])
  }

  @Test func anObjectIsNotKeptAlive() throws {
    try CompanyStore().run { context in
      var person: Person? = Person(context: context)
      try context.save()
      weak let object = person
      let observation = person?.observe(\.name) { _, _ in }
      person = nil
      #expect(object == nil)
      observation?.invalidate()
    }
  }

  @Test func anotherThreadMayEndAnObservation() throws {
    let company = try CompanyStore()
    let context = company.context()
    let log = ObservationLog<String?>()
    let person = context.performAndWait {
      let person = Person(context: context)
      log.observation = person.observe(\.name) { _, change in log.note(change) }
      return person
    }
    log.observation?.invalidate()
    context.performAndWait { person.name = "Ada" }
    #expect(log.changes.isEmpty)
  }

  @Test func aParentSeesWhatItsChildSaves() throws {
    let chain = try ContextChain()
    let id = try chain.savePerson()
    let person = try chain.root.performAndWait { try #require(try chain.root.existingObject(with: id) as? Person) }
    let log = chain.root.performAndWait { observe(person, \.name) }
    try chain.child.performAndWait {
      let person = try #require(try chain.child.existingObject(with: id) as? Person)
      person.name = "Grace"
      #expect(log.changes.isEmpty)
      try chain.child.save()
    }
    #expect(log.changes.map(\.old) == ["Ada"] && log.changes.map(\.new) == ["Grace"])
  }

  @Test func everyKindOfPropertyIsSeen() throws {
    let stack = try UndoStack()
    try stack.context.performAndWait {
      let (item, other) = (UndoStack.insert("1", stack.context), UndoStack.insert("2", stack.context))
      let values: [(String, Any)] = [
        ("name", "n"), ("number", 5), ("list", ["a"] as NSArray), ("memo", "m"), ("photo", Data(count: 300_000)),
        ("address", ["city": "Bern", "floor": 2] as [String: Any]), ("owner", other), ("partner", other),
        ("seen", other),
        ("friends", NSSet(object: other)), ("picks", NSOrderedSet(object: other)), ("keeps", NSSet(object: other)),
        ("children", NSSet(object: other)),
      ]
      var calls: [String: Int] = [:]
      let observations = values.map { key, _ in item.observe(key) { _, _ in calls[key, default: 0] += 1 } }
      for (key, value) in values {
        item.setValue(value, forKey: key)
        #expect(calls[key] == 1, "\(key)")
        item.setValue(item.value(forKey: key), forKey: key)
        #expect(calls[key] == 1, "\(key), the same value")
      }
      try stack.context.save()
      stack.context.refreshAllObjects()
      for key in calls.keys where key != "memo" { #expect(calls[key] == 1, "\(key), after a save and a refresh") }
      for (key, _) in values {
        let count = calls[key] ?? 0
        if item.value(forKey: key) == nil { continue }
        item.setValue(nil, forKey: key)
        #expect(calls[key] == count + 1, "\(key), nil")
      }
      withExtendedLifetime(observations) {}
    }
  }
}

extension Badge {
  fileprivate static let mandatoryOwner = ManagedProperty<Person>("owner")
  fileprivate var mandatoryOwner: Person { value(of: Self.mandatoryOwner) }
}

final class OwnedItem: NSManagedObject {
  static let ownership = ManagedProperty<OwnedItem>("owner")
  var owner: OwnedItem {
    get { value(of: Self.ownership) }
    set { setValue(newValue, of: Self.ownership) }
  }
  static let name = ManagedProperty<String?>("name")
  var name: String? {
    get { value(of: Self.name) }
    set { setValue(newValue, of: Self.name) }
  }
}
