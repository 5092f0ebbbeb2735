import Foundation

// Store types, options and metadata keys, with Apple's raw values where they are known.
/// The type of stores in one SQLite file, which are read row by row.
public let NSSQLiteStoreType = "SQLite"
/// The type of stores in one XML file, which are read and written as a whole.
public let NSXMLStoreType = "XML"
/// The type of stores in one property list file, which are read and written as a whole.
public let NSBinaryStoreType = "Binary"
/// The type of stores that are kept in memory only. Their objects are gone when the store is removed.
public let NSInMemoryStoreType = "InMemory"

/// The key of a store's metadata for the name of its type: a `String`.
public let NSStoreTypeKey = "NSStoreType"
/// The key of a store's metadata for its UUID: a `String`.
public let NSStoreUUIDKey = "NSStoreUUID"
/// The key of a store's metadata for the version hashes of its entities: a `[String: Data]` by the name of the entity.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// The key of a store's metadata for the version identifiers of its model: a `[String]`.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// The key of a store's metadata for the oldest system that reads it. Nothing here writes or reads it.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"
/// The key of a store's metadata for the checksum of its model: base64 text.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"

/// Option: whether the store is opened for reading only. Saves to it throw 513 then. False unless given.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Option: how many seconds to wait for others that have locked the store, before 134090 is thrown.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Option: whether a store of another model version is migrated. It is not migrated yet: adding it throws 134100, and
/// the store stays as it was.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Option: whether a mapping model is inferred for a migration. It has no effect yet: there are no migrations.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Option: whether the store is opened although its version hashes are not those of the model. False unless given.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Option of SQLite stores: pragmas of each connection, a dictionary of values by name.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Option of SQLite stores: whether opening the store collects statistics for its queries (`ANALYZE`).
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Option of SQLite stores: whether opening the store rewrites its file without unused pages (`VACUUM`).
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Option: whether saves are recorded in the store's persistent history; true, or a dictionary. A store that records
/// none is not added then. History is written, and cannot be read yet.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Option: whether changes of the store by others are announced. It has no effect yet: nothing is announced.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// Option: how Apple's systems encrypt the file. It has no effect here.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Option of SQLite stores: how many connections read at the same time, from 1 to 64; 8 unless given.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// The classes that values in a binary store may have. No effect: what a value's transformer allows counts, in every
/// store.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// Whether a binary store may hold values that are decoded insecurely. No effect: none is, in any store.
public let NSBinaryStoreInsecureDecodingCompatibilityOption = "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// Whether an XML store is checked when it is read. It is checked always.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// Option: whether destroying a store also removes a file that is damaged or no store of the type. False unless given.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"

extension NSPersistentStore {
  /// How many seconds the file of a large value stays after a save has replaced or deleted the value: a number, 60
  /// unless given.
  ///
  /// Other processes may read rows within this time that name the file. This process's contexts keep the files that
  /// they need beyond it. With 0 a file goes at the end of the save, where no context needs it. (An option of this
  /// library's own.)
  public static let externalDataGraceOption = "OpenCoreDataExternalDataGrace"
}

/// The key of `userInfo` for the stores that were added: `[NSPersistentStore]`.
public let NSAddedPersistentStoresKey = "added"
/// The key of `userInfo` for the stores that were removed: `[NSPersistentStore]`.
public let NSRemovedPersistentStoresKey = "removed"
/// An array of the store that was, the store that has taken its place and, after a migration, an array of the new IDs
/// of all its objects: https://developer.apple.com/documentation/coredata/nsuuidchangedpersistentstoreskey
public let NSUUIDChangedPersistentStoresKey = "changed"

extension Notification.Name {
  /// The stores of a coordinator are about to change. Nothing here posts it: on Apple's systems it belongs to iCloud.
  public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresWillChangeNotification")
  /// Stores were added to a coordinator or removed from it, or one has taken another's place. The object is the
  /// coordinator.
  public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name(
    "_NSPersistentStoreCoordinatorStoresDidChangeNotification")
  /// A store is about to be removed from its coordinator. The object is the store.
  public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
    "_NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}
