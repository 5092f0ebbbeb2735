import CoreData
import Foundation
import StoreConformance
import StoreProtocol

/// The tools of a case with objects: a coordinator with the store at the case's first location, contexts, and
/// expectations.
///
/// Used by one thread at a time, except ``expect(_:_:)``.
final class Graph: @unchecked Sendable {
  /// The model of the case.
  let model: NSManagedObjectModel
  private let context: CaseContext
  private var main: NSPersistentStoreCoordinator?
  private var writer: NSManagedObjectContext?
  private var second: NSPersistentStoreCoordinator?
  private var made: [NSPersistentStoreCoordinator] = []
  private var contexts: [NSManagedObjectContext] = []

  init(_ context: CaseContext, _ model: NSManagedObjectModel) {
    (self.context, self.model) = (context, model)
    // A client's class of stores is registered already; its `opensStores` is false.
    for harness in [context.harness] + context.peers where harness.opensStores {
      NSPersistentStoreCoordinator.register(harness.backend)
    }
  }

  // MARK: The stack

  /// The store type that coordinators use.
  var storeType: String { context.harness.backend.storeType }
  var isPersistent: Bool { context.capabilities.contains(.persistent) }

  /// The coordinator of the case, with the store at its first location.
  var coordinator: NSPersistentStoreCoordinator {
    get throws {
      if let main { return main }
      let made = try newCoordinator()
      main = made
      return made
    }
  }

  /// A coordinator with the store at a location. It is closed when the case ends.
  @discardableResult
  func newCoordinator(
    _ model: NSManagedObjectModel? = nil, site: Int = 0, options: [String: Any]? = nil
  ) throws -> NSPersistentStoreCoordinator {
    let coordinator = emptyCoordinator(model)
    try add(site, to: coordinator, options: options)
    return coordinator
  }

  /// A coordinator without a store.
  func emptyCoordinator(_ model: NSManagedObjectModel? = nil) -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model ?? self.model)
    made.append(coordinator)
    return coordinator
  }

  /// Adds the store at a location, of the case's type by default.
  @discardableResult
  func add(
    _ site: Int = 0, to coordinator: NSPersistentStoreCoordinator, type: String? = nil, configuration: String? = nil,
    options: [String: Any]? = nil
  ) throws -> NSPersistentStore {
    let store = try coordinator.addPersistentStore(
      ofType: type ?? storeType, configurationName: configuration, at: url(site), options: options)
    try context.opened(store.requireEngine(), in: site)
    return store
  }

  func url(_ site: Int = 0) -> URL { context.url(of: site) }

  /// Limits ``whileFilesFail(_:)`` to the files of a location. Call it before the files are opened.
  func watchFiles(of site: Int) {
    FailingFiles.watch(url(site).deletingLastPathComponent().resolvingSymlinksInPath().path)
  }

  /// Runs `body` while every write to the watched files fails.
  func whileFilesFail<R>(_ body: () throws -> R) rethrows -> R {
    try FailingFiles.disturb(.every(.error(EIO), [.write, .sync, .truncate, .create, .rename]), body).result
  }

  /// The context with which the case writes.
  var writing: NSManagedObjectContext {
    get throws {
      if let writer { return writer }
      let made = try newContext()
      // Written objects stay registered and loaded.
      made.retainsRegisteredObjects = true
      writer = made
      return made
    }
  }

  /// A new context, by default of the case's coordinator.
  func newContext(_ coordinator: NSPersistentStoreCoordinator? = nil) throws -> NSManagedObjectContext {
    let made = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    made.persistentStoreCoordinator = try coordinator ?? self.coordinator
    contexts.append(made)
    return made
  }

  /// A new child of a context.
  func newContext(childOf parent: NSManagedObjectContext) throws -> NSManagedObjectContext {
    let made = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    made.parent = parent
    contexts.append(made)
    return made
  }

  // MARK: Writing and reading, as the profile defines it

  /// Runs `body` on the writing context and saves.
  func write(_ body: (NSManagedObjectContext) throws -> Void) throws {
    let context = try writing
    try context.performAndWait {
      try body(context)
      try context.save()
    }
    if self.context.profile == .reopen { try reopen() }
  }

  /// Runs `body` on contexts that see the saved state: the writing context, one that has only faults and a child of the
  /// writing context, or the contexts of the profile.
  func read(_ body: (NSManagedObjectContext) throws -> Void) throws {
    switch context.profile {
    case .coldCache:
      let coordinator = try newCoordinator()
      try run(body, try newContext(coordinator))
      try close(coordinator)
    case .twoStores:
      let coordinator = try second ?? newCoordinator()
      second = coordinator
      try run(body, try newContext(coordinator))
    default:
      try context.label("warm") { try run(body, try writing) }
      try context.label("faults") { try run(body, try newContext()) }
      try context.label("child") { try run(body, try newContext(childOf: writing)) }
    }
  }

  /// Runs `body` on a context.
  func run<R>(_ body: (NSManagedObjectContext) throws -> R, _ context: NSManagedObjectContext) throws -> R {
    try context.performAndWait { try body(context) }
  }

  /// Closes everything and reopens the case's store with a new coordinator and new contexts.
  func reopen(_ model: NSManagedObjectModel? = nil, options: [String: Any]? = nil) throws {
    try closeAll()
    main = try newCoordinator(model, options: options)
  }

  /// Removes all stores of all coordinators.
  func closeAll() throws {
    for context in contexts { context.performAndWait { context.reset() } }
    for coordinator in made { try close(coordinator) }
    (contexts, made, main, writer, second) = ([], [], nil, nil, nil)
  }

  func close(_ coordinator: NSPersistentStoreCoordinator) throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// Checks and closes what the case has left open.
  func end() {
    if !isPersistent && context.harness.opensStores {
      for store in made.flatMap(\.persistentStores) {
        if let engine = try? store.requireEngine() { context.examine(engine) }
      }
    }
    do { try closeAll() } catch { context.expect(false, "U6: the stack cannot be closed: \(Self.text(of: error))") }
  }
}

// MARK: What the case expects

extension Graph {
  /// Records a problem if `condition` is false, and continues.
  @discardableResult
  func expect(_ condition: Bool, _ what: @autoclosure () -> String) -> Bool { context.expect(condition, what()) }

  /// Records a problem if the two values differ.
  func equal<T: Equatable>(_ found: T, _ expected: T, _ what: String = "") { context.equal(found, expected, what) }

  /// Records a problem unless `body` throws a Cocoa error with one of these codes. Returns the error.
  @discardableResult
  func fails(_ codes: Int..., what: String = "the call", _ body: () throws -> Void) throws -> NSError? {
    do { try body() } catch let error where Self.isThrownByUse(error) {
      let found = error as NSError
      context.expect(found.domain == NSCocoaErrorDomain, "\(what) threw an error of \(found.domain)")
      context.expect(codes.contains(found.code), "\(what) threw \(Self.text(of: error)); expected \(codes)")
      return found
    }
    context.expect(false, "\(what) did not throw; expected \(codes)")
    return nil
  }

  /// Runs `body` with a label, which is added to its problems.
  func label<R>(_ label: String, _ body: () throws -> R) rethrows -> R { try context.label(label, body) }

  /// Records a problem and ends the case.
  func fail(_ what: String) throws -> Never { try context.fail(what) }

  /// Runs one of the case's programs. Returns its output and its exit status, which is negative for a signal.
  func run(program: String) throws -> (lines: [String], status: Int32) {
    let process = try context.start(program)
    var lines: [String] = []
    while let line = process.line() { lines.append(line) }
    return (lines, process.wait())
  }

  /// Counts the requests for rows that `body` sends to the case's store, through a separate coordinator.
  func requests(_ body: (NSManagedObjectContext, () -> Int) throws -> Void) throws {
    let counter = CountingBackend(context.harness.backend)
    NSPersistentStoreCoordinator.register(counter)
    defer { NSPersistentStoreCoordinator.unregister(storeType: counter.storeType) }
    let coordinator = emptyCoordinator()
    try add(to: coordinator, type: counter.storeType)
    try run({ context in try body(context, { counter.requests }) }, try newContext(coordinator))
  }

  /// Counts the calls of `body` that could read a file of the store.
  func readings(_ body: () throws -> Void) throws -> Int { try FailingFiles.calls([.open, .read, .map], body).count }

  /// Declares that the case intentionally leaves a damaged store at its location.
  func leavesDamage() { context.leavesDamage() }
  /// Declares that the location now has another store.
  func isReplaced() { context.isReplaced() }

  var seed: UInt64 { context.seed }

  /// Runs `body` for each store type that can be the target of a copy, with a location. These are all types that the
  /// runner knows, including the case's own, except classes of clients.
  func withPeers(_ body: (_ name: String, _ type: String, _ url: URL, _ isPersistent: Bool) throws -> Void) throws {
    for peer in context.peers where peer.opensStores {
      let site = try peer.makeLocation()
      defer { try? peer.destroy(site) }
      try context.label(peer.name) {
        try body(peer.name, peer.backend.storeType, site.url, peer.backend.capabilities.contains(.persistent))
      }
    }
  }

  /// Whether the case's use of the library caused an error, as opposed to the suite.
  static func isThrownByUse(_ error: any Error) -> Bool {
    error is CocoaError || error is StoreError || (error as NSError).domain == NSCocoaErrorDomain
  }

  static func text(of error: any Error) -> String {
    let known = error as NSError
    return "\(known.domain) \(known.code): \(known.localizedDescription)"
  }
}
