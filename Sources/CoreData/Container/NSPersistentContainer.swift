import Foundation
import StoreProtocol

/// Gives a container class the property `defaultDirectoryURL` beside the function of that name. One type alone cannot
/// declare both.
public protocol _DirectoryNaming {}

extension _DirectoryNaming where Self: NSPersistentContainer {
  /// The folder of stores without a URL of their own; see the function of that name.
  public static var defaultDirectoryURL: URL { defaultDirectoryURL() }
}

/// A model, a coordinator and a main-queue context, set up together.
///
/// Sendable, unchecked: its parts are thread-safe, and the descriptions are set before the stores are loaded.
open class NSPersistentContainer: NSObject, _DirectoryNaming, @unchecked Sendable {
  /// The name that the container was made with. The default store file has it.
  open var name: String { title }
  /// The model of the container.
  open var managedObjectModel: NSManagedObjectModel { model }
  /// The coordinator that has the loaded stores.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator { coordinator }
  /// The container's context for the main queue.
  open var viewContext: NSManagedObjectContext { mainContext }
  /// The stores to load; one SQLite store in the default folder unless changed.
  open var persistentStoreDescriptions: [NSPersistentStoreDescription]
  private let title: String
  private let model: NSManagedObjectModel
  private let coordinator: NSPersistentStoreCoordinator
  private let mainContext: NSManagedObjectContext
  private var modelError: (any Error)?

  /// Makes a container for the model `name`. The model is searched in the main bundle and in the resource bundles
  /// beside the executable.
  ///
  /// If there is no such model, loading the stores reports an error that names the folders that were searched.
  public convenience init(name: String) {
    switch ModelSearch.model(named: name) {
    case .success(let model): self.init(name: name, managedObjectModel: model)
    case .failure(let error):
      self.init(name: name, managedObjectModel: NSManagedObjectModel())
      modelError = error
    }
  }

  /// Makes a container for a model. No file is opened before ``loadPersistentStores(completionHandler:)``.
  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    title = name
    self.model = model
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    mainContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    persistentStoreDescriptions = []
    super.init()
    mainContext.persistentStoreCoordinator = coordinator
    let folder = type(of: self).defaultDirectoryURL()
    persistentStoreDescriptions = [NSPersistentStoreDescription(url: folder.appendingPathComponent(name + ".sqlite"))]
  }

  /// The folder of stores without a URL of their own: the user's application support folder, or the temporary folder
  /// where there is none.
  open class func defaultDirectoryURL() -> URL {
    let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    return folders.first ?? FileManager.default.temporaryDirectory
  }

  /// Adds the described stores that are not loaded yet. `block` is called once for each, with nil or its error. It runs
  /// on this thread, or on another one where the description requests an asynchronous load.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      if let modelError {
        block(description, modelError)
        continue
      }
      if let url = description.url {
        // A store at /dev/null never counts as added before.
        if url.path != "/dev/null", coordinator.persistentStore(for: url) != nil { continue }
        let isPersistent = StoreRegistration.backend(description.type)?.capabilities.contains(.persistent) ?? false
        if isPersistent && !url.path.hasPrefix("/dev/null") {
          // If the folder cannot be made, opening the store reports an error.
          try? FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
      }
      coordinator.addPersistentStore(with: description, completionHandler: block)
    }
  }

  /// A new private-queue context over the same stores. It merges what other contexts save
  /// (https://developer.apple.com/documentation/coredata/nspersistentcontainer/newbackgroundcontext()).
  open func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.automaticallyMergesChangesFromParent = true
    return context
  }

  /// Runs `block` later on the queue of a new private-queue context.
  open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
    let task = BackgroundTask(newBackgroundContext())
    task.context.later {
      task.begin()
      block(task.context)
    }
  }

  /// Runs `block` on the queue of a new private-queue context, and returns or throws its result.
  public nonisolated(nonsending) final func performBackgroundTask<T>(
    _ block: @escaping (NSManagedObjectContext) throws -> T
  ) async rethrows -> T {
    let task = BackgroundTask(newBackgroundContext())
    return try await task.context.perform {
      task.begin()
      return try block(task.context)
    }
  }
}

/// The context of a task. Until the task runs, the context merges no changes of other saves.
private struct BackgroundTask {
  let context: NSManagedObjectContext
  private let mergesChanges: Bool

  init(_ context: NSManagedObjectContext) {
    self.context = context
    mergesChanges = context.automaticallyMergesChangesFromParent
    if mergesChanges { context.automaticallyMergesChangesFromParent = false }
  }

  func begin() { if mergesChanges { context.automaticallyMergesChangesFromParent = true } }
}
