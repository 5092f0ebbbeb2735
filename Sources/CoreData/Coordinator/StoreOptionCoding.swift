import Foundation
import PropertyLists
import StoreProtocol

/// Reads store options from Core Data's dictionaries.
enum StoreOptionCoding {
  static func options(_ dictionary: [AnyHashable: Any]?) -> StoreOptions {
    var result = StoreOptions()
    guard let dictionary else { return result }
    // Looking up an `AnyHashable` takes several times as long, and most options are not there.
    var given: [String: Any] = [:]
    for case (let name as String, let value) in dictionary { given[name] = value }
    func flag(_ key: String) -> Bool { (given[key] as? NSNumber)?.boolValue ?? given[key] as? Bool ?? false }
    result.isReadOnly = flag(NSReadOnlyPersistentStoreOption)
    result.analyzes = flag(NSSQLiteAnalyzeOption)
    result.vacuums = flag(NSSQLiteManualVacuumOption)
    result.ignoresModelVersion = flag(NSIgnorePersistentStoreVersioningOption)
    result.tracksHistory =
      flag(NSPersistentHistoryTrackingKey) || given[NSPersistentHistoryTrackingKey] is NSDictionary
    result.forceDestroy = flag(NSPersistentStoreForceDestroyOption)
    if let timeout = given[NSPersistentStoreTimeoutOption].flatMap(AttributeCoding.double) {
      result.timeout = timeout
    }
    if let size = given[NSPersistentStoreConnectionPoolMaxSizeKey].flatMap(AttributeCoding.double) {
      result.maximumReaders = Int(max(1, min(size, 64)))
    }
    if let grace = given[NSPersistentStore.externalDataGraceOption].flatMap(AttributeCoding.double) {
      result.externalDataGrace = grace > 0 ? grace : 0
    }
    if let pragmas = given[NSSQLitePragmasOption] as? [String: Any] {
      result.pragmas = pragmas.mapValues { "\($0)" }
    }
    for (name, value) in given where name.utf8.contains(UInt8(ascii: ".")) {
      result.own[name] = own(value)
    }
    return result
  }

  /// A value of an option that a type of stores has of its own; the store's backend judges it.
  private static func own(_ value: Any) -> StoreOptionValue {
    switch MetadataCoding.list(value, depth: 0) {
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .real(let value): .number(value)
    case .string(let value): .text(value)
    case .data(let value): .data(value)
    default: .other("\(type(of: value))")
    }
  }
}
