import CoreData
import Foundation

/// Runs steps on stores with arbitrary content, for Scripts/hostile_saves.
///
/// Reads lines "STEP TAB PATH", and answers each with a line of JSON; see ``HostileStep``. The script therefore knows
/// which step on which file ended the program. A store stays open until a step "close"; "read" and "dump" reopen it.
final class HostileSaver {
  private let type: NSPersistentStore.StoreType
  private let mistake = HostileMistake(ProcessInfo.processInfo.environment["HOSTILE_SAVES_MISTAKE"])
  // Created once, because its version hashes take longer than a step.
  private let model: NSManagedObjectModel
  private var coordinator: NSPersistentStoreCoordinator?

  init(_ type: NSPersistentStore.StoreType) {
    self.type = type
    model = HostileModel.model(type)
  }

  func run() {
    while let line = readLine() {
      let words = line.split(separator: "\t", maxSplits: 1).map(String.init)
      guard words.count == 2 else { break }
      var report = take(words[0], URL(filePath: words[1]))
      mistake?.spoil(&report)
      guard let data = try? JSONSerialization.data(withJSONObject: report, options: [.sortedKeys]) else {
        fatalError("the report of \(line) is no JSON")
      }
      say(String(decoding: data, as: UTF8.self))
    }
    try? close()
  }

  private func take(_ name: String, _ url: URL) -> [String: Any] {
    var phase = "close"
    do {
      if ["read", "dump", "close"].contains(name) { try close() }
      if name == "close" { return ["outcome": "read"] }
      phase = "open"
      return HostileStep(name, try open(url, isNew: name == "make"), mistake).run()
    } catch {
      return ["outcome": "failed", "phase": phase, "error": HostileReport.describe(error)]
    }
  }

  private func open(_ url: URL, isNew: Bool) throws -> NSPersistentStoreCoordinator {
    if let coordinator { return coordinator }
    let made = NSPersistentStoreCoordinator(managedObjectModel: model)
    let options: [AnyHashable: Any]? = type == .sqlite ? [NSPersistentHistoryTrackingKey: true] : nil
    let store = try made.addPersistentStore(type: type, at: url, options: options)
    if isNew {
      let own: [String: Any] = ["client": ["text": "é", "number": 7, "list": [1, 2.5]] as [String: Any]]
      made.setMetadata(store.metadata.merging(own) { $1 }, for: store)
    }
    coordinator = made
    return made
  }

  private func close() throws {
    guard let coordinator else { return }
    self.coordinator = nil
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }
}

/// A deliberate fault of this program, with which the script proves that it notices such faults. The library contains
/// no code for it.
enum HostileMistake: String {
  /// Ends the program with a signal, as a trap does.
  case abort
  /// Waits forever.
  case hang
  /// Changes another object and does not report it.
  case overwrite
  /// Reports a change that was not made.
  case forget
  /// Saves, and reports that the save failed.
  case deny
  /// Reports an error that is not one of Core Data's.
  case untyped

  init?(_ name: String?) {
    guard let name else { return nil }
    self.init(rawValue: name)
  }

  /// Runs before a save, in the context that is saved.
  func beforeSave(_ context: NSManagedObjectContext) {
    switch self {
    case .abort: Foundation.abort()
    case .hang: while true { sleep(60) }
    default: break
    }
  }

  /// Runs after a save, in another context.
  func afterSave(_ coordinator: NSPersistentStoreCoordinator) {
    guard self == .overwrite else { return }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
      let tag = try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).first
      tag?.setValue("overwritten", forKey: "name")
      try? context.save()
    }
  }

  func spoil(_ report: inout [String: Any]) {
    guard report["outcome"] as? String == "saved" else { return }
    switch self {
    case .deny: report = ["outcome": "failed", "phase": "save", "error": ["isTyped": true]]
    case .untyped:
      report = ["outcome": "failed", "phase": "save", "error": HostileReport.describe(URLError(.badURL))]
    case .forget:
      guard var updated = report["updated"] as? [[String: Any]], !updated.isEmpty else { return }
      updated[0]["changed"] = ["mark": ["text", "never written"]]
      report["updated"] = updated
    default: break
    }
  }
}
