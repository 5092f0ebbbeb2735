import Foundation
import Testing

@testable import CoreData

private final class Recorder: NSObject, NSFetchedResultsControllerDelegate {
  var events: [String] = []
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    func text(_ path: IndexPath?) -> String { path.map { "\($0.section).\($0.item)" } ?? "-" }
    events.append("\(type) \((anObject as? Person)?.name ?? "?") \(text(indexPath))>\(text(newIndexPath))")
  }
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) { events.append("\(type) section \(sectionInfo.name) \(sectionIndex)") }
}

/// Former defects of fetched results controllers, one test each.
@Suite struct ResultsRegressionTests {
  private func controller(
    _ context: NSManagedObjectContext, sortedBy keys: [String] = ["name"], sections: String? = nil
  ) -> NSFetchedResultsController<Person> {
    let request = NSFetchRequest<Person>(entityName: "Person")
    request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
    return NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
  }

  private func departments(_ titles: String..., in context: NSManagedObjectContext) -> [Department] {
    titles.map { title in
      let department = Department(context: context)
      department.title = title
      return department
    }
  }

  // MARK: Sections

  /// The section of B and C changes by the name of their department, not by their own change.
  @Test func objectsThatChangeSectionWithoutTheirOwnChangeAreReported() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let made = departments("a", "b", in: context)
      for (name, department) in [("A", made[0]), ("B", made[1]), ("C", made[1])] {
        let person = Person(context: context)
        (person.name, person.department) = (name, department)
      }
      try context.save()
      let controller = controller(context, sortedBy: ["department.title", "name"], sections: "department.title")
      let recorder = Recorder()
      controller.delegate = recorder
      try controller.performFetch()
      #expect(controller.sections?.map(\.numberOfObjects) == [1, 2])
      made[0].title = "b"
      context.processPendingChanges()
      #expect(controller.sections?.map(\.numberOfObjects) == [3])
      #expect(recorder.events == ["delete section a 0", "move A 0.0>0.0"])
      controller.fetchedObjects?.last?.age = 3
      context.processPendingChanges()
      #expect(recorder.events.suffix(1) == ["update C 0.2>0.2"])
    }
  }

  /// All objects of a section have changed, and it is elsewhere now.
  @Test func aSectionThatMovesIsDeletedAndInserted() throws {
    try CompanyStore().run { (context) throws in
      let people = zip(["a", "b", "c"], [1, 5, 9] as [Int16]).map { name, age in
        let person = Person(context: context)
        (person.name, person.age) = (name, age)
        return person
      }
      try context.save()
      let controller = controller(context, sortedBy: ["age"], sections: "name")
      let recorder = Recorder()
      controller.delegate = recorder
      try controller.performFetch()
      people[0].age = 7
      context.processPendingChanges()
      #expect(controller.sections?.map(\.name) == ["b", "a", "c"])
      #expect(recorder.events.sorted() == ["delete section a 0", "insert section a 1", "move a 0.0>1.0"])
    }
  }

  private final class Titles: NSObject, NSFetchedResultsControllerDelegate {
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
      sectionIndexTitleForSectionName sectionName: String
    ) -> String? { sectionName == "apple" ? "*" : nil }
  }

  /// Feature 33.11: the delegate's title, and the default where it has none.
  @Test func aDelegateNamesSections() throws {
    try CompanyStore().run { (context) throws in
      for name in ["apple", "banana", "berry"] { Person(context: context).name = name }
      let controller = controller(context, sortedBy: ["name"], sections: "name")
      let titles = Titles()
      controller.delegate = titles
      try controller.performFetch()
      #expect(controller.sections?.map(\.indexTitle) == ["*", "B", "B"])
      #expect(controller.sectionIndexTitles == ["*", "B"])
      #expect(controller.section(forSectionIndexTitle: "*", at: 0) == 0)
      #expect(controller.section(forSectionIndexTitle: "B", at: 1) == 1)
      controller.delegate = nil
      try controller.performFetch()
      #expect(controller.sections?.map(\.indexTitle) == ["A", "B", "B"])
    }
  }

  /// Feature 33.13: the limit of the request counts at a fetch, and not for the changes that follow. Feature 33.6:
  /// without a delegate nothing is followed.
  @Test func aLimitCountsAtTheFetch() throws {
    try CompanyStore().run { (context) throws in
      func insert(_ name: String) { Person(context: context).name = name }
      for name in ["b", "d", "f"] { insert(name) }
      let controller = controller(context, sortedBy: ["name"], sections: nil)
      controller.fetchRequest.fetchLimit = 2
      let recorder = Recorder()
      controller.delegate = recorder
      try controller.performFetch()
      func names() -> [String?] { controller.fetchedObjects?.map(\.name) ?? [] }
      #expect(names() == ["b", "d"])
      insert("c")
      context.processPendingChanges()
      #expect(names() == ["b", "c", "d"])
      controller.delegate = nil
      insert("a")
      context.processPendingChanges()
      #expect(names() == ["b", "c", "d"])
    }
  }

  /// With a limit, objects that others have moved are sorted again; those that the limit left out stay out.
  @Test func aLimitedFetchIsSortedAgain() throws {
    try CompanyStore().run { (context) throws in
      let made = departments("a", "b", "c", "d", "e", "f", "g", in: context)
      for (index, department) in made.enumerated() {
        let person = Person(context: context)
        (person.name, person.department) = ("\(index)", department)
      }
      let controller = controller(context, sortedBy: ["department.title"])
      controller.fetchRequest.fetchLimit = 6
      let recorder = Recorder()
      controller.delegate = recorder
      try controller.performFetch()
      for (department, title) in zip(made, ["f", "e", "d", "c", "b", "a", "g"]) { department.title = title }
      context.processPendingChanges()
      #expect(controller.fetchedObjects?.map(\.name) == ["5", "4", "3", "2", "1", "0"])
      #expect(recorder.events.allSatisfy { $0.hasPrefix("move") } && !recorder.events.isEmpty)
    }
  }

  /// Sorted by what belongs to other objects, without sections, and by a delegate that came late.
  @Test func objectsThatAreSortedByOthersAreReported() throws {
    try CompanyStore().run { (context) throws in
      let made = departments("a", "b", "c", in: context)
      let people = zip(["A", "B", "C"], made).map { name, department in
        let person = Person(context: context)
        (person.name, person.department) = (name, department)
        return person
      }
      try context.save()
      let controller = controller(context, sortedBy: ["department.title", "name"], sections: nil)
      let recorder = Recorder()
      try controller.performFetch()
      people[1].name = "D"
      context.processPendingChanges()
      controller.delegate = recorder
      made[0].title = "z"
      context.processPendingChanges()
      #expect(controller.fetchedObjects == [people[1], people[2], people[0]])
      #expect(recorder.events == ["move A 0.0>0.2"])
      made[2].title = "0"
      let new = Person(context: context)
      (new.name, new.department) = ("E", made[1])
      context.processPendingChanges()
      #expect(controller.fetchedObjects == [people[2], people[1], new, people[0]])
      let request = controller.fetchRequest
      #expect(try context.fetch(request) == controller.fetchedObjects)
    }
  }

  /// An object that moves by a change of its own is no reason for a fetch, which would read what others have saved.
  @Test func aMoveIsFollowedWithoutAFetch() throws {
    let stack = try UndoStack()
    try stack.context.performAndWait {
      let items = (1...4).map { number in
        let item = UndoStack.insert("\(number)", stack.context)
        item["number"] = number
        return item
      }
      (items[2]["seen"], items[3]["seen"]) = (items[0], items[1])
      try stack.context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.sortDescriptors = ["seen.number", "name"].map { NSSortDescriptor(key: $0, ascending: true) }
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: nil, cacheName: nil)
      let recorder = Recorder()
      controller.delegate = recorder
      try controller.performFetch()
      #expect(controller.fetchedObjects == items)
      try stack.elsewhere { other in
        _ = UndoStack.insert("5", other)
        try other.save()
      }
      items[2]["seen"] = items[3]
      stack.context.processPendingChanges()
      #expect(controller.fetchedObjects == [items[0], items[1], items[3], items[2]])
      #expect(recorder.events == ["move ? 0.2>0.3"])
    }
  }

  /// Where an event leaves the sections torn, the results stay; the next event that mends that is followed.
  @Test func tornSectionsAreFollowedAgain() throws {
    try CompanyStore().run { (context) throws in
      let made = departments("a", "b", "c", "e", in: context)
      let people = zip([1, 1, 2, 3], made).map { age, department in
        let person = Person(context: context)
        (person.age, person.department) = (Int16(age), department)
        return person
      }
      try context.save()
      let controller = controller(context, sortedBy: ["department.title"], sections: "age")
      let recorder = Recorder()
      controller.delegate = recorder
      try controller.performFetch()
      // 1, 2, 1 is no order of sections.
      made[0].title = "d"
      context.delete(people[3])
      context.processPendingChanges()
      #expect(controller.fetchedObjects == people && recorder.events.isEmpty)
      context.delete(people[1])
      context.processPendingChanges()
      #expect(controller.fetchedObjects == [people[2], people[0]])
      #expect(controller.sections?.map(\.name) == ["2", "1"])
      #expect(recorder.events.count { $0.hasPrefix("delete ?") } == 2, "\(recorder.events)")
    }
  }

  @Test func aDepartmentRenamedPastAnotherDoesNotTearSections() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let made = departments("a", "b", "c", in: context)
      for (index, department) in made.enumerated() {
        let person = Person(context: context)
        (person.name, person.department) = ("\(index)", department)
      }
      try context.save()
      let controller = controller(context, sortedBy: ["department.title"], sections: "department.title")
      let recorder = Recorder()
      controller.delegate = recorder
      try controller.performFetch()
      made[0].title = "c"
      context.processPendingChanges()
      controller.fetchedObjects?.last?.age = 3
      context.processPendingChanges()
      #expect(controller.sections?.map(\.name) == ["b", "c"])
      #expect(controller.sections?.map(\.numberOfObjects) == [1, 2])
    }
  }

  /// Objects that did not change themselves are ordered by a value of their department, which changed.
  @Test func departmentsThatChangePositionsDoNotTearSections() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let made = departments("1", "3", "2", in: context)
      for (index, department) in made.enumerated() {
        let person = Person(context: context)
        (person.name, person.age, person.department) = ("\(index)", 7, department)
      }
      made[2].title = "4"
      try context.save()
      let controller = controller(context, sortedBy: ["department.title"], sections: "age")
      let recorder = Recorder()
      controller.delegate = recorder
      try controller.performFetch()
      #expect(controller.fetchedObjects?.map(\.name) == ["0", "1", "2"])
      // Now the order is 1, 0, 2 by title; the changed one goes between the first two, which makes three sections.
      made[0].title = "3"
      made[1].title = "1"
      context.processPendingChanges()
      let last = try #require(controller.fetchedObjects?.last)
      (last.department, last.age) = (departments("2", in: context)[0], 8)
      context.processPendingChanges()
      let names = controller.sections?.map(\.name) ?? []
      #expect(Set(names).count == names.count, "\(names)")
    }
  }

  @Test func numbersAndBooleansNameSectionsAsNSNumberDescribesThem() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      for index in 0..<2 {
        let object = NSEntityDescription.insertNewObject(forEntityName: "Everything", into: context)
        object.setValue(index == 1, forKey: "bool")
        object.setValue(index == 1 ? 0.5 : -3.0, forKey: "double")
        object.setValue(Float(index), forKey: "float")
      }
      try context.save()
      for (key, names) in [("bool", ["0", "1"]), ("double", ["-3", "0.5"]), ("float", ["0", "1"])] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Everything")
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        let controller = NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: key, cacheName: nil)
        try controller.performFetch()
        #expect(controller.sections?.map(\.name) == names)
      }
    }
  }

  private final class Titled: NSFetchedResultsController<Person> {
    override func sectionIndexTitle(forSectionName sectionName: String) -> String? { "<\(sectionName)>" }
  }

  @Test func anOverrideOfSectionIndexTitleIsCalled() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      Person(context: context).name = "Ada"
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let controller = Titled(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "name", cacheName: nil)
      try controller.performFetch()
      #expect(controller.sectionIndexTitles == ["<Ada>"])
    }
  }

  @Test func aResetLeavesNoSectionWhereSectionsAreNamed() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      Person(context: context).name = "A"
      try context.save()
      let controller = controller(context, sections: "name")
      let recorder = Recorder()
      controller.delegate = recorder
      try controller.performFetch()
      context.reset()
      #expect(controller.sections?.isEmpty == true)
    }
  }

  // MARK: Objects

  @Test func changesToTheRequestWaitForTheNextFetch() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      for name in ["A", "B"] { Person(context: context).name = name }
      try context.save()
      let controller = controller(context)
      let recorder = Recorder()
      controller.delegate = recorder
      try controller.performFetch()
      controller.fetchRequest.predicate = NSPredicate(format: "name == 'Z'")
      controller.fetchedObjects?.first?.age = 3
      context.processPendingChanges()
      #expect(controller.fetchedObjects?.map(\.name) == ["A", "B"])
      try controller.performFetch()
      #expect(controller.fetchedObjects?.isEmpty == true)
    }
  }

  @Test func fetchedObjectsOfAnotherClassStopTheProgram() async {
    await #expect(processExitsWith: .failure) {
      let company = try CompanyStore()
      try company.run { (context) throws in
        _ = Person(context: context)
        let request = NSFetchRequest<Department>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let controller = NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        try controller.performFetch()
        _ = controller.fetchedObjects
      }
    }
  }
}
