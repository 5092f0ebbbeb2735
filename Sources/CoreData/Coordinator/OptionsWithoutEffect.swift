import Foundation
import StoreProtocol
import Synchronization

/// Options of stores that have no effect, most of them because their features are not there yet. Nobody shall believe
/// that they work: what is left undone is said on standard error, once a process and option. A store of a client's
/// class has all options, and what it does with them is its own affair.
enum OptionsWithoutEffect {
  private static let consequences = [
    NSPersistentStoreRemoteChangeNotificationPostOptionKey: "no notification tells of what other processes save",
    NSPersistentStoreStagedMigrationManagerOptionKey: "the store is not migrated by stages",
    NSPersistentStoreDeferredLightweightMigrationOptionKey: "no part of a migration is put off",
    NSBinaryStoreSecureDecodingClasses: "the transformer of an attribute says which classes its values may have",
    NSBinaryStoreInsecureDecodingCompatibilityOption: "no value is decoded insecurely",
  ]
  private static let said = Mutex<Set<String>>([])

  /// Called when a store is added, migrated or replaced.
  static func warn(_ options: [AnyHashable: Any]?) {
    for (option, consequence) in consequences where isGiven(option, options) { say(option, consequence) }
  }

  /// Called when a store was not opened. That it is to be migrated is what descriptions ask for unless told otherwise,
  /// and matters only where another model has written it.
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
