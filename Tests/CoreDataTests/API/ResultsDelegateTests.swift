import CoreData
import Foundation
import Testing

extension NSFetchedResultsController {
  /// An extension as clients write it, for any result type.
  fileprivate var firstObject: ResultType? { fetchedObjects?.first }
}

private func first<R>(_ controller: NSFetchedResultsController<R>) -> R {
  controller.object(at: IndexPath(item: 0, section: 0))
}

private final class Generic: NSObject, NSFetchedResultsControllerDelegate {
  var names: [String] = []
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    for object in [first(controller), controller.firstObject] { names.append((object as Any as? Person)?.name ?? "?") }
  }
}

/// Compares the changed controller with its controllers, in each way that clients do.
private final class Comparing: NSObject, NSFetchedResultsControllerDelegate {
  var mine: NSFetchedResultsController<Person>?
  var other: NSFetchedResultsController<Person>?
  var answers: [Bool] = []
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    answers = [controller === mine, controller === other, controller == mine, controller == other, controller !== mine]
    guard let mine, let other else { return }
    answers += [[mine: true, other: false][controller] == true]
    switch controller {
    case other: answers.append(false)
    case mine: answers.append(true)
    default: answers.append(false)
    }
  }
}

private final class Counting: NSFetchedResultsController<Person> {
  var fetches = 0
  override func performFetch() throws {
    fetches += 1
    try super.performFetch()
  }
}

private final class Refetching: NSObject, NSFetchedResultsControllerDelegate {
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    try? controller.performFetch()
  }
}

/// The controller that is passed to delegates.
@Suite struct ResultsDelegateTests {
  private func request() -> NSFetchRequest<Person> {
    let request = NSFetchRequest<Person>(entityName: "Person")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return request
  }

  private func change(_ context: NSManagedObjectContext, _ body: (NSFetchRequest<Person>) throws -> Void) throws {
    let person = Person(context: context)
    person.name = "Ada"
    try body(request())
    person.age = 3
    context.processPendingChanges()
  }

  @Test func genericCodeMayTakeTheControllerOfADelegate() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let delegate = Generic()
      var controller: NSFetchedResultsController<Person>?
      try change(context) {
        controller = NSFetchedResultsController(
          fetchRequest: $0, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        controller?.delegate = delegate
        try controller?.performFetch()
      }
      #expect(delegate.names == ["Ada", "Ada"])
      withExtendedLifetime(controller) {}
    }
  }

  @Test func delegatesCompareControllers() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let delegate = Comparing()
      try change(context) {
        delegate.mine = NSFetchedResultsController(
          fetchRequest: $0, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        delegate.other = NSFetchedResultsController(
          fetchRequest: $0, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        delegate.mine?.delegate = delegate
        try delegate.mine?.performFetch()
      }
      #expect(delegate.answers == [true, false, true, false, false, true, true])
    }
  }

  @Test func aControllerWithoutAResultTypeIsItself() throws {
    final class Same: NSObject, NSFetchedResultsControllerDelegate {
      var seen: AnyObject?
      func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        seen = controller
      }
    }
    let company = try CompanyStore()
    try company.run { (context) throws in
      let delegate = Same()
      var controller: NSFetchedResultsController<any NSFetchRequestResult>?
      try change(context) {
        controller = NSFetchedResultsController(
          fetchRequest: $0.retyped(), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        controller?.delegate = delegate
        try controller?.performFetch()
      }
      #expect(delegate.seen === controller as AnyObject?)
    }
  }

  @Test func whatASubclassOverridesIsCalled() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let delegate = Refetching()
      var controller: Counting?
      try change(context) {
        controller = Counting(
          fetchRequest: $0, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        controller?.delegate = delegate
        try controller?.performFetch()
      }
      #expect(controller?.fetches == 2)
    }
  }
}
