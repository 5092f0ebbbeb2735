import Foundation
import StoreProtocol

/// Reads store options from Core Data's dictionaries.
enum StoreOptionCoding {
  static func options(_ dictionary: [AnyHashable: Any]?) -> StoreOptions {
    var result = StoreOptions()
    guard let dictionary else { return result }
    func flag(_ key: String) -> Bool { (dictionary[key] as? NSNumber)?.boolValue ?? dictionary[key] as? Bool ?? false }
    result.isReadOnly = flag(NSReadOnlyPersistentStoreOption)
    result.analyzes = flag(NSSQLiteAnalyzeOption)
    result.vacuums = flag(NSSQLiteManualVacuumOption)
    result.ignoresModelVersion = flag(NSIgnorePersistentStoreVersioningOption)
    result.tracksHistory =
      flag(NSPersistentHistoryTrackingKey) || dictionary[NSPersistentHistoryTrackingKey] is NSDictionary
    result.forceDestroy = flag(NSPersistentStoreForceDestroyOption)
    if let timeout = dictionary[NSPersistentStoreTimeoutOption].flatMap(AttributeCoding.double) {
      result.timeout = timeout
    }
    if let size = dictionary[NSPersistentStoreConnectionPoolMaxSizeKey].flatMap(AttributeCoding.double) {
      result.maximumReaders = Int(max(1, min(size, 64)))
    }
    if let grace = dictionary[NSPersistentStore.externalDataGraceOption].flatMap(AttributeCoding.double) {
      result.externalDataGrace = grace > 0 ? grace : 0
    }
    if let pragmas = dictionary[NSSQLitePragmasOption] as? [String: Any] {
      result.pragmas = pragmas.mapValues { "\($0)" }
    }
    return result
  }
}
