import Foundation
import StoreProtocol
import Synchronization

/// Store options that have no effect, most of them because their features are not supported yet. A message on standard
/// error says so, once for each option and process. Stores of a client's class get all options, and handle them
/// themselves.
enum OptionsWithoutEffect {
  private static let consequences = [
    NSPersistentStoreRemoteChangeNotificationPostOptionKey: "no notification reports the saves of other processes",
    NSPersistentStoreStagedMigrationManagerOptionKey: "the store is not migrated in stages",
    NSPersistentStoreDeferredLightweightMigrationOptionKey: "no part of a migration is deferred",
    NSBinaryStoreSecureDecodingClasses: "the transformer of an attribute decides which classes are allowed",
    NSBinaryStoreInsecureDecodingCompatibilityOption: "no value is decoded insecurely",
  ]
  private static let said = Mutex<Set<String>>([])

  /// Called when a store is added, migrated or replaced.
  static func warn(_ options: [AnyHashable: Any]?) {
    for case (let option as String, _) in options ?? [:] {
      if let consequence = consequences[option], isGiven(option, options) { say(option, consequence) }
    }
  }

  /// Called when a store could not be opened. Descriptions request migration by default, so the migration options
  /// matter only where another model has written the store.
  static func warn(_ options: [AnyHashable: Any]?, after error: StoreError) {
    if error.code != .modelMismatch { return }
    for option in [NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption]
    where isGiven(option, options) {
      say(option, "the store of another model was not migrated and stays as it was")
    }
  }

  private static func isGiven(_ option: String, _ options: [AnyHashable: Any]?) -> Bool {
    guard let value = AttributeCoding.flattened(options?[option]) else { return false }
    return (value as? NSNumber)?.boolValue ?? true
  }

  private static func say(_ option: String, _ consequence: String) {
    if said.withLock({ $0.insert(option).inserted }) { report("\(option) has no effect: \(consequence).") }
  }
}
