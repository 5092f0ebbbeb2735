import CoreData
import Foundation

// Client code in the Swift 6 language mode, which is compiled but not run. Closures of a context capture values in
// nonisolated code, on the main actor and in an actor. Type checking alone does not find every error, so the code is
// built with the program.

/// The values that a closure may capture.
struct Surroundings {
  let container: NSPersistentContainer
  let request: NSFetchRequest<NSManagedObject>
  let predicate: NSPredicate
  let object: NSManagedObject
}

func changeLater(_ around: Surroundings) {
  let (context, request, predicate, object) = (
    around.container.viewContext, around.request, around.predicate, around.object
  )
  context.perform {
    request.predicate = predicate
    object.setValue(1, forKey: "number")
  }
  around.container.performBackgroundTask { background in
    request.predicate = predicate
    _ = try? background.fetch(request)
  }
}

func countFromAnywhere(_ around: Surroundings) async throws -> Int {
  let (context, request, predicate, object) = (
    around.container.viewContext, around.request, around.predicate, around.object
  )
  context.performAndWait { object.setValue(2, forKey: "number") }
  let now = try context.performAndWait {
    request.predicate = predicate
    return try context.fetch(request).count
  }
  let later = try await context.perform {
    request.predicate = predicate
    object.setValue(3, forKey: "number")
    return try context.count(for: request)
  }
  let queued = try await context.perform(schedule: .enqueued) { try context.fetch(request).count }
  let done = try await around.container.performBackgroundTask { background in
    request.predicate = predicate
    return try background.count(for: request)
  }
  let stores = await around.container.persistentStoreCoordinator.perform { request.affectedStores?.count ?? 0 }
  return now + later + queued + done + stores
}

@MainActor final class Screen {
  private let around: Surroundings
  private var titles: [String] = []

  init(_ around: Surroundings) { self.around = around }

  func reload() async throws {
    let (context, request, predicate) = (around.container.viewContext, around.request, around.predicate)
    request.predicate = predicate
    titles = try context.fetch(request).compactMap { $0.value(forKey: "title") as? String }
    context.performAndWait { titles.append("here") }
    let background = around.container.newBackgroundContext()
    let count = try await background.perform {
      request.predicate = predicate
      return try background.count(for: request)
    }
    titles.append("\(count)")
  }

  func reloadLater() {
    let (context, request, predicate) = (around.container.viewContext, around.request, around.predicate)
    let object = around.object
    context.perform {
      request.predicate = predicate
      object.setValue(4, forKey: "number")
      _ = try? context.count(for: request)
    }
    around.container.performBackgroundTask { context in
      request.predicate = predicate
      _ = try? context.count(for: request)
    }
    around.container.persistentStoreCoordinator.perform { _ = request.affectedStores }
  }

  func change() async throws {
    let (context, request, object) = (around.container.viewContext, around.request, around.object)
    try context.performAndWait {
      object.setValue(5, forKey: "number")
      try context.save()
    }
    try await context.perform {
      object.setValue(6, forKey: "number")
      try context.save()
    }
    let counts = try await (
      around.container.performBackgroundTask { try $0.count(for: request) },
      around.container.persistentStoreCoordinator.perform { request.affectedStores?.count ?? 0 }
    )
    titles.append("\(counts)")
  }
}

actor Importer {
  private let around: Surroundings
  private var imported = 0

  init(_ around: sending Surroundings) { self.around = around }

  func run() async throws {
    let context = around.container.newBackgroundContext()
    let (request, predicate) = (around.request, around.predicate)
    imported = try await context.perform {
      request.predicate = predicate
      let object = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      object.setValue("title", forKey: "title")
      try context.save()
      return try context.fetch(request).count
    }
    context.performAndWait { imported += 1 }
  }

  func changeLater() {
    let (container, request, object) = (around.container, around.request, around.object)
    container.newBackgroundContext().perform {
      request.predicate = nil
      object.setValue(7, forKey: "number")
    }
    container.performBackgroundTask { _ = try? $0.fetch(request) }
  }

  func change() async throws {
    let (container, request, object) = (around.container, around.request, around.object)
    let context = container.newBackgroundContext()
    imported = try context.performAndWait {
      object.setValue(8, forKey: "number")
      return try context.count(for: request)
    }
    try await context.perform {
      object.setValue(9, forKey: "number")
      try context.save()
    }
    imported += try await container.performBackgroundTask { try $0.count(for: request) }
    imported += await container.persistentStoreCoordinator.perform { request.affectedStores?.count ?? 0 }
  }
}

// Subclasses that call the initializers that Apple declares designated.

final class OwnContainer: NSPersistentContainer, @unchecked Sendable {
  override init(name: String, managedObjectModel model: NSManagedObjectModel) {
    super.init(name: name, managedObjectModel: model)
  }
  override class func defaultDirectoryURL() -> URL { URL(fileURLWithPath: "/tmp") }
}

final class OwnContext: NSManagedObjectContext, @unchecked Sendable {
  let label: String

  init(label: String) {
    self.label = label
    super.init(concurrencyType: .privateQueueConcurrencyType)
  }

  required init?(coder: NSCoder) {
    label = ""
    super.init(coder: coder)
  }
}

final class OwnObject: NSManagedObject {
  override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
    var given = value.pointee
    try super.validateValue(&given, forKey: key)
  }
}
