import CoreData
import Foundation
import Testing

/// Records the calls of a delegate as text.
private final class Recorder: NSObject, NSFetchedResultsControllerDelegate {
  var events: [String] = []
  var controllers: [AnyObject] = []

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    controllers.append(controller)
    events.append("will")
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    events.append("did")
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    let name = (anObject as? Person)?.name ?? "?"
    events.append("\(type) \(name) \(text(indexPath))>\(text(newIndexPath))")
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo,
    atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
  ) {
    events.append("\(type) section \(sectionInfo.name) \(sectionIndex)")
    // Clients: a deleted section has no objects.
    if type == .delete { #expect(sectionInfo.numberOfObjects == 0 && sectionInfo.objects?.isEmpty == true) }
  }

  private func text(_ path: IndexPath?) -> String { path.map { "\($0.section).\($0.item)" } ?? "-" }

  func take() -> [String] {
    defer { events = [] }
    return events
  }
}

private final class DifferenceRecorder: NSObject, NSFetchedResultsControllerDelegate {
  var differences: [CollectionDifference<NSManagedObjectID>] = []
  var others = 0

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) { differences.append(diff) }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { others += 1 }
}

@Suite struct FetchedResultsTests {
  /// Five people: name and salary, which is the section.
  private func people(_ context: NSManagedObjectContext) throws -> [String: Person] {
    var result: [String: Person] = [:]
    for (name, salary) in [("A", 1.0), ("B", 1), ("C", 2), ("D", 2), ("E", 3)] {
      let person = Person(context: context)
      (person.name, person.salary, person.age) = (name, salary, 40)
      result[name] = person
    }
    try context.save()
    return result
  }

  private func controller(
    _ context: NSManagedObjectContext, sections: Bool, _ format: String? = nil
  ) -> NSFetchedResultsController<Person> {
    let request = NSFetchRequest<Person>(entityName: "Person")
    request.sortDescriptors = [
      NSSortDescriptor(key: "salary", ascending: true), NSSortDescriptor(key: "name", ascending: true),
    ]
    request.predicate = format.map { NSPredicate(format: $0) }
    return NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections ? "salary" : nil,
      cacheName: "people")
  }

  private func inCompany(_ body: (NSManagedObjectContext, [String: Person]) throws -> Void) throws {
    let company = try CompanyStore()
    try company.run { (context) throws in try body(context, try people(context)) }
  }

  @Test func resultsAreCutIntoSections() throws {
    try inCompany { context, people in
      let controller = controller(context, sections: true)
      #expect(controller.sections == nil)
      #expect(controller.fetchedObjects == nil)
      try controller.performFetch()
      #expect(controller.sections?.map(\.name) == ["1", "2", "3"])
      #expect(controller.sections?.map(\.numberOfObjects) == [2, 2, 1])
      #expect((controller.sections?[1].objects as? [Person])?.map(\.name) == ["C", "D"])
      #expect(controller.fetchedObjects?.map(\.name) == ["A", "B", "C", "D", "E"])
      #expect(controller.object(at: IndexPath(item: 1, section: 1)) === people["D"])
      let e = try #require(people["E"])
      #expect(controller.indexPath(forObject: e) == IndexPath(row: 0, section: 2))
      #expect(controller.sectionIndexTitles == ["1", "2", "3"])
      #expect(controller.section(forSectionIndexTitle: "2", at: 1) == 1)
      #expect(controller.cacheName == "people")
    }
  }

  @Test func sectionsThatTheOrderTearsApartAreAnError() throws {
    try inCompany { context, people in
      people["A"]?.salary = 9
      let controller = controller(context, sections: true)
      controller.fetchRequest.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      people["E"]?.salary = 9
      #expect(throws: CocoaError.self) { try controller.performFetch() }
    }
  }

  @Test func insertionsAndDeletionsAreReported() throws {
    try inCompany { context, people in
      let (controller, recorder) = (controller(context, sections: true), Recorder())
      controller.delegate = recorder
      try controller.performFetch()
      let new = Person(context: context)
      (new.name, new.salary) = ("BB", 1)
      context.processPendingChanges()
      #expect(recorder.take() == ["will", "insert BB ->0.2", "did"])
      let c = try #require(people["C"])
      context.delete(c)
      context.delete(try #require(people["E"]))
      context.processPendingChanges()
      #expect(recorder.take() == ["will", "delete section 3 2", "delete C 1.0>-", "delete E 2.0>-", "did"])
      let far = Person(context: context)
      (far.name, far.salary) = ("Z", 0)
      context.processPendingChanges()
      #expect(recorder.take() == ["will", "insert section 0 0", "insert Z ->0.0", "did"])
      #expect(controller.fetchedObjects?.map(\.name) == ["Z", "A", "B", "BB", "D"])
    }
  }

  @Test func updatesAndMovesAreDistinguished() throws {
    try inCompany { context, people in
      let (controller, recorder) = (controller(context, sections: true), Recorder())
      controller.delegate = recorder
      try controller.performFetch()
      people["B"]?.age = 41
      context.processPendingChanges()
      #expect(recorder.take() == ["will", "update B 0.1>0.1", "did"])
      // Its sort key changes, its position does not.
      people["B"]?.name = "BB"
      context.processPendingChanges()
      #expect(recorder.take() == ["will", "update BB 0.1>0.1", "did"])
      // Objects of several sections, in one event.
      for name in ["A", "C", "D"] { people[name]?.age = 42 }
      context.processPendingChanges()
      #expect(Set(recorder.take()) == ["will", "update A 0.0>0.0", "update C 1.0>1.0", "update D 1.1>1.1", "did"])
      people["A"]?.name = "X"
      context.processPendingChanges()
      #expect(recorder.take() == ["will", "move X 0.0>0.1", "did"])
      people["C"]?.salary = 3
      context.processPendingChanges()
      #expect(recorder.take() == ["will", "move C 1.0>2.0", "did"])
      people["D"]?.salary = 4
      context.processPendingChanges()
      #expect(
        recorder.take() == [
          "will", "delete section 2 1", "insert section 4 2", "move D 1.0>2.0", "did",
        ])
    }
  }

  @Test func objectsComeAndGoWithThePredicate() throws {
    try inCompany { context, people in
      let (controller, recorder) = (controller(context, sections: false, "age == 40"), Recorder())
      controller.delegate = recorder
      try controller.performFetch()
      people["C"]?.age = 1
      context.processPendingChanges()
      #expect(recorder.take() == ["will", "delete C 0.2>-", "did"])
      people["C"]?.age = 40
      context.processPendingChanges()
      #expect(recorder.take() == ["will", "insert C ->0.2", "did"])
      // Objects that are not in the results cause no reports.
      let other = Person(context: context)
      (other.name, other.age) = ("Q", 3)
      Department(context: context).title = "x"
      context.processPendingChanges()
      #expect(recorder.take() == [])
      #expect(controller.sections?.count == 1)
    }
  }

  @Test func delegatesSeeTheControllerWithoutItsType() throws {
    try inCompany { context, people in
      let (controller, recorder) = (controller(context, sections: false), Recorder())
      controller.delegate = recorder
      try controller.performFetch()
      people["A"]?.age = 1
      context.processPendingChanges()
      let erased = try #require(recorder.controllers.first as? NSObject)
      #expect(erased == controller)
      people["A"]?.age = 2
      context.processPendingChanges()
      #expect(recorder.controllers.count == 2 && recorder.controllers[0] === recorder.controllers[1])
    }
  }

  @Test func theErasedControllerGivesTheSameAnswers() throws {
    try inCompany { context, people in
      final class Asker: NSObject, NSFetchedResultsControllerDelegate {
        var answers: [String] = []
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
          let objects = controller.fetchedObjects ?? []
          answers.append(objects.compactMap { ($0 as Any as? Person)?.name }.joined())
          let object = controller.object(at: IndexPath(item: 2, section: 0))
          answers.append((object as Any as? Person)?.name ?? "?")
          answers.append("\(controller.indexPath(forObject: object)?.item ?? -1)")
          answers.append("\(controller.fetchRequest.sortDescriptors?.count ?? 0)")
          answers.append("\((try? controller.managedObjectContext.fetch(controller.fetchRequest).count) ?? -1)")
          answers.append("\(controller.sections?.first?.numberOfObjects ?? -1)")
        }
      }
      let (controller, asker) = (controller(context, sections: false), Asker())
      controller.delegate = asker
      try controller.performFetch()
      people["A"]?.age = 1
      context.processPendingChanges()
      #expect(asker.answers == ["ABCDE", "C", "2", "2", "5", "5"])
    }
  }

  @Test func aDelegateForDifferencesGetsNothingElse() throws {
    try inCompany { context, people in
      let (controller, recorder) = (controller(context, sections: false), DifferenceRecorder())
      controller.delegate = recorder
      try controller.performFetch()
      context.delete(try #require(people["B"]))
      context.processPendingChanges()
      #expect(recorder.others == 0)
      #expect(recorder.differences.count == 1)
      #expect(recorder.differences.first?.removals.count == 1)
      #expect(recorder.differences.first?.insertions.isEmpty == true)
    }
  }

  /// Differences do not report sections: with sections, each change is reported.
  @Test func aDelegateForDifferencesGetsNoneOfSections() throws {
    try inCompany { context, people in
      let (controller, recorder) = (controller(context, sections: true), DifferenceRecorder())
      controller.delegate = recorder
      try controller.performFetch()
      context.delete(try #require(people["B"]))
      context.processPendingChanges()
      #expect(recorder.others == 1 && recorder.differences.isEmpty)
    }
  }

  @Test func aRollbackIsFollowed() throws {
    try inCompany { context, people in
      let (controller, recorder) = (controller(context, sections: false), Recorder())
      controller.delegate = recorder
      try controller.performFetch()
      let new = Person(context: context)
      (new.name, new.salary) = ("AA", 1)
      context.delete(try #require(people["B"]))
      people["C"]?.salary = 9
      context.processPendingChanges()
      #expect(controller.fetchedObjects?.map(\.name) == ["A", "AA", "D", "E", "C"])
      _ = recorder.take()
      context.rollback()
      #expect(controller.fetchedObjects?.map(\.name) == ["A", "B", "C", "D", "E"])
      let events = recorder.take()
      #expect(events.count == 5)
      #expect(events.contains { $0.hasPrefix("delete") && $0.hasSuffix("0.1>-") })
      #expect(events.contains("insert B ->0.1"))
      #expect(events.contains("move C 0.4>0.2"))
    }
  }

  @Test func aRefreshIsAnUpdate() throws {
    try inCompany { context, people in
      let (controller, recorder) = (controller(context, sections: false), Recorder())
      controller.delegate = recorder
      try controller.performFetch()
      context.refresh(try #require(people["D"]), mergeChanges: true)
      #expect(recorder.take() == ["will", "update D 0.3>0.3", "did"])
    }
  }

  @Test func aResetEmptiesTheResults() throws {
    try inCompany { context, _ in
      let (controller, recorder) = (controller(context, sections: false), Recorder())
      controller.delegate = recorder
      try controller.performFetch()
      context.reset()
      #expect(controller.fetchedObjects?.isEmpty == true)
      try controller.performFetch()
      #expect(controller.fetchedObjects?.count == 5)
    }
  }

  /// Whatever changes, the followed results equal those of a new fetch.
  @Test func followedResultsAreThoseOfAFetch() throws {
    try inCompany { context, _ in
      var random = SystemRandomNumberGenerator()
      let seed = UInt64.random(in: 0...UInt64.max, using: &random)
      var state = seed
      func next(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
      }
      let (controller, recorder) = (controller(context, sections: true), Recorder())
      controller.delegate = recorder
      try controller.performFetch()
      for round in 0..<60 {
        for _ in 0...next(4) {
          let objects = controller.fetchedObjects ?? []
          let action = next(4)
          if action == 0 || objects.isEmpty {
            let person = Person(context: context)
            (person.name, person.salary) = ("N\(next(50))", Double(next(4)))
          } else if action == 1 {
            context.delete(objects[next(objects.count)])
          } else {
            let person = objects[next(objects.count)]
            if action == 2 { person.salary = Double(next(4)) } else { person.name = "M\(next(50))" }
          }
        }
        context.processPendingChanges()
        _ = recorder.take()
        let fetched = try context.fetch(controller.fetchRequest)
        #expect(controller.fetchedObjects?.map(\.objectID) == fetched.map(\.objectID), "seed \(seed), round \(round)")
        let total = controller.sections?.reduce(0) { $0 + $1.numberOfObjects }
        #expect(total == fetched.count, "seed \(seed), round \(round)")
      }
    }
  }
}
