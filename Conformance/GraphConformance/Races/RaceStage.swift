import CoreData
import Foundation
import StoreConformance
import StoreProtocol

/// The coordinators of one process, each with the stores of a program.
final class RaceStage: @unchecked Sendable {
  let coordinators: [NSPersistentStoreCoordinator]
  /// Whether an action of the program can replace the open stores.
  let isReplaceable: Bool
  private let harness: any StoreHarness
  private let lock = NSLock()
  private var locations: [StoreLocation] = []
  private var storeURLs: [URL]
  private var backup: URL?

  /// The current URLs of the stores. A migration moves the first store.
  var urls: [URL] { lock.withLock { storeURLs } }

  /// Opens the stores at the URLs, once for each coordinator.
  init(_ program: RaceProgram, process: Int, _ harness: any StoreHarness, _ urls: [URL]) throws {
    let last = program.workers.filter { $0.process == process }.map(\.coordinator).max() ?? 0
    if last > 7 { throw RaceProblem("A program has at most eight coordinators in a process, not \(last + 1).") }
    (self.harness, storeURLs) = (harness, urls)
    isReplaceable = !program.actions.isDisjoint(with: [.replace, .destroy])
    NSPersistentStoreCoordinator.register(harness.backend)
    coordinators = try (0...max(0, last)).map { _ in
      let coordinator = Self.coordinator()
      for url in urls { try Self.add(harness, url, to: coordinator) }
      return coordinator
    }
  }

  static func coordinator() -> NSPersistentStoreCoordinator {
    NSPersistentStoreCoordinator(managedObjectModel: Models.races)
  }

  @discardableResult
  static func add(
    _ harness: any StoreHarness, _ url: URL, to coordinator: NSPersistentStoreCoordinator
  ) throws -> NSPersistentStore {
    try coordinator.addPersistentStore(ofType: harness.backend.storeType, configurationName: nil, at: url)
  }

  func close() {
    for coordinator in coordinators {
      for store in coordinator.persistentStores { try? coordinator.remove(store) }
    }
  }

  /// Removes the stores that actions created.
  func clean() { for location in lock.withLock({ locations }) { try? harness.destroy(location) } }

  private func newURL() throws -> URL {
    let location = try harness.makeLocation()
    lock.withLock { locations.append(location) }
    return location.url
  }

  // MARK: Actions on the first store

  /// Copies the store, for a later action `replace`.
  func prepare(_ program: RaceProgram) throws {
    if program.actions.contains(.replace) { backup = try copy() }
  }

  /// Runs an action on the first store. Returns the URL of the copy for a copy, else nil.
  func run(_ action: RaceAction.Kind, coordinator: Int) throws -> URL? {
    let type = harness.backend.storeType
    switch action {
    case .copy: return try copy()
    case .migrate:
      guard let store = coordinators[coordinator].persistentStores.first else { return nil }
      let url = try newURL()
      _ = try coordinators[coordinator].migratePersistentStore(store, to: url, options: nil, withType: type)
      lock.withLock { storeURLs[0] = url }
    case .replace:
      guard let backup else { return nil }
      try Self.coordinator().replacePersistentStore(at: urls[0], withPersistentStoreFrom: backup, ofType: type)
    case .destroy: try Self.coordinator().destroyPersistentStore(at: urls[0], ofType: type)
    }
    return nil
  }

  private func copy() throws -> URL {
    let url = try newURL()
    try Self.coordinator().replacePersistentStore(
      at: url, withPersistentStoreFrom: urls[0], ofType: harness.backend.storeType)
    return url
  }
}

/// An action on a whole store while other workers save.
struct RaceAction: Codable, Sendable {
  enum Kind: String, Codable, CaseIterable, Sendable {
    /// Copies the store to a new location.
    case copy
    /// Moves the store of a coordinator to a new location, where its contexts continue.
    case migrate
    /// Replaces the store by an earlier copy, through another coordinator.
    case replace
    /// Removes the store through another coordinator.
    case destroy
  }

  let kind: Kind
  let worker: Int
  let start: UInt64
  var end: UInt64 = 0
  /// The error of a failed action.
  var error: String?
  /// Whether the action failed because the store is in use.
  var isBusy = false
  /// The URL of the copy.
  var url: URL?
}
