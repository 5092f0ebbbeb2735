import CoreData
import Foundation
import Testing

/// Calls the closure that its context's user info has under the name of a function.
final class Telling: NSManagedObject {
  typealias Reported = (Telling) -> Void
  static let title = ManagedProperty<String?>("title")
  var title: String? {
    get { value(of: Self.title) }
    set { setValue(newValue, of: Self.title) }
  }

  private func tell(_ name: String) { (managedObjectContext?.userInfo[name] as? Reported)?(self) }
  override func awakeFromInsert() { tell("insert") }
  override func awakeFromFetch() { tell("fetch") }
  override func willSave() { tell("save") }
}

/// Objects that use their context in functions such as `awakeFromInsert`.
@Suite struct HalfMadeObjectTests {
  private func context() throws -> NSManagedObjectContext {
    let title = NSAttributeDescription()
    (title.name, title.attributeType) = ("title", .stringAttributeType)
    let entity = NSEntityDescription()
    (entity.name, entity.properties) = ("Telling", [title])
    entity.managedObjectClassName = NSStringFromClass(Telling.self)
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: URL(filePath: "/dev/null"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Sets the closure for the function with that name. The next call replaces it.
  private func when(_ name: String, _ context: NSManagedObjectContext, _ reported: @escaping Telling.Reported) {
    context.userInfo[name] = reported
  }

  private static func request() -> NSFetchRequest<Telling> {
    let request = NSFetchRequest<Telling>(entityName: "Telling")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return request
  }

  /// The titles that observers saw, at each notification.
  private final class Observer: NSObject, NSFetchedResultsControllerDelegate {
    private(set) var reported: [[String]] = []
    private(set) var results: [String] = []
    private var observer: (any NSObjectProtocol)?

    // Notifications come on the thread that uses the context, which is one thread here.
    init(_ context: NSManagedObjectContext) {
      super.init()
      nonisolated(unsafe) unowned let own = self
      observer = NotificationCenter.default.addObserver(
        forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
      ) { note in
        let objects = [NSInsertedObjectsKey, NSUpdatedObjectsKey].compactMap {
          note.userInfo?[$0] as? Set<NSManagedObject>
        }
        own.reported.append(objects.joined().map { ($0 as? Telling)?.title ?? "half made" }.sorted())
      }
    }

    deinit { observer.map(NotificationCenter.default.removeObserver) }

    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { results.append((anObject as? Telling)?.title ?? "half made") }
  }

  private func observed(
    _ body: (NSManagedObjectContext, Observer) throws -> Void
  ) throws {
    let context = try context()
    try context.performAndWait {
      let observer = Observer(context)
      let controller = NSFetchedResultsController(
        fetchRequest: Self.request(), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      controller.delegate = observer
      try controller.performFetch()
      try body(context, observer)
    }
  }

  @Test func aFetchInAwakeFromInsertShowsNobodyTheObject() throws {
    try observed { context, observer in
      when("insert", context) { object in
        #expect((try? context.count(for: Self.request())) != nil)
        object.title = "whole"
      }
      _ = Telling(context: context)
      #expect(observer.reported.isEmpty && observer.results.isEmpty)
      context.processPendingChanges()
      #expect(observer.reported == [["whole"]] && observer.results == ["whole"])
    }
  }

  @Test func aFetchInAwakeFromFetchTellsNobodyAndLosesNoChange() throws {
    try observed { context, observer in
      for title in ["a", "b"] { Telling(context: context).title = title }
      try context.save()
      let objects = try context.fetch(Self.request())
      objects[1].title = "changed"
      var calls = 0
      when("fetch", context) { _ in
        let before = observer.reported
        #expect((try? context.count(for: Self.request())) == 2)
        #expect(observer.reported == before)
        calls += 1
      }
      // The observer reads it.
      context.refresh(objects[0], mergeChanges: false)
      #expect(objects[0].title == "a" && calls > 0)
      context.processPendingChanges()
      #expect(observer.reported.last == ["changed"])
    }
  }

  @Test func aFetchInWillSaveTellsNobody() throws {
    try observed { context, observer in
      Telling(context: context).title = "a"
      context.processPendingChanges()
      when("save", context) { object in
        if object.title == "whole" { return }
        object.title = nil
        #expect((try? context.count(for: Self.request())) == 1)
        object.title = "whole"
      }
      try context.save()
      #expect(observer.reported == [["a"], ["whole"]] && observer.results == ["a", "whole"])
    }
  }

  @Test func aSaveInsideASaveIsRefused() throws {
    let context = try context()
    try context.performAndWait {
      nonisolated(unsafe) var codes: [Int] = []
      nonisolated(unsafe) var attempts = 0
      @Sendable func save() {
        // Without the refusal this would be called forever.
        attempts += 1
        if attempts > 5 { return }
        do { try context.save() } catch { codes.append((error as? CocoaError)?.errorCode ?? 0) }
      }
      when("save", context) { _ in save() }
      let observer = NotificationCenter.default.addObserver(
        forName: NSManagedObjectContext.willSaveObjectsNotification, object: context, queue: nil
      ) { _ in save() }
      defer { NotificationCenter.default.removeObserver(observer) }
      Telling(context: context).title = "a"
      try context.save()
      #expect(codes == [132001, 132001] && !context.hasChanges)
      // After the save it may save again.
      context.userInfo["save"] = nil
      NotificationCenter.default.removeObserver(observer)
      let again = NotificationCenter.default.addObserver(
        forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
      ) { _ in
        if codes.count > 2 { return }
        codes.append(0)
        Telling(context: context).title = "b"
        save()
      }
      defer { NotificationCenter.default.removeObserver(again) }
      Telling(context: context).title = "c"
      try context.save()
      #expect(codes == [132001, 132001, 0])
      #expect(try context.fetch(Self.request()).map(\.title) == ["a", "b", "c"] && !context.hasChanges)
    }
  }

  /// Changes by observers of the will-save notification are reported before `willSave` is called, so it is called once
  /// for each object.
  @Test func whatObserversOfASaveChangeIsValidatedOnce() throws {
    let context = try context()
    try context.performAndWait {
      let object = Telling(context: context)
      object.title = "a"
      nonisolated(unsafe) let observed = object
      let token = NotificationCenter.default.addObserver(
        forName: NSManagedObjectContext.willSaveObjectsNotification, object: context, queue: nil
      ) { _ in observed.title = "b" }
      defer { NotificationCenter.default.removeObserver(token) }
      var requested: [String?] = []
      when("save", context) { requested.append($0.title) }
      try context.save()
      #expect(requested == ["b"])
    }
  }
}
