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
/// The key of a store's metadata for the oldest system that can read the store. The library neither writes nor reads
/// it.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// The key of a store's metadata for the oldest system that reads it. Nothing here writes or reads it.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"
/// The key of a store's metadata for the checksum of its model: base64 text.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"

/// Option: whether the store is opened for reading only. Saves to it throw 513 then. False unless given.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Option: how many seconds to wait while other users have locked the store, before 134090 is thrown.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Option: whether a store of another model version is migrated. Migration is not supported yet: adding such a store
/// throws 134100, and the store is unchanged.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Option: whether a mapping model is inferred for a migration. No effect yet, because migration is not supported.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Option: whether the store is opened although its version hashes are not those of the model. False unless given.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Option of SQLite stores: pragmas of each connection, a dictionary of values by name.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Option of SQLite stores: whether opening the store collects statistics for its queries (`ANALYZE`).
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Option of SQLite stores: whether opening the store rewrites its file without unused pages (`VACUUM`).
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Option: whether saves are recorded in the store's persistent history; true, or a dictionary. Adding a store that
/// cannot record history fails then. The history is written, but cannot be read yet.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Option: whether changes of the store by other processes are announced. No effect yet: they are not announced.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// Option: how Apple's systems encrypt the file. It has no effect here.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Option of SQLite stores: how many connections read at the same time, from 1 to 64; 8 unless given.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// The classes that values in a binary store may have. No effect: in every store the transformer of an attribute
/// decides.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// Whether a binary store may hold values that are decoded insecurely. No effect: no store decodes insecurely.
public let NSBinaryStoreInsecureDecodingCompatibilityOption = "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// Whether an XML store is checked when it is read. No effect: it is always checked.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// Option: whether destroying a store also removes a file that is damaged, or that is not a store of the type. False
/// unless given.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"

extension NSPersistentStore {
  /// How many seconds the file of a large value stays after a save has replaced or deleted the value: a number, 60
  /// unless given.
  ///
  /// Within this time other processes may read rows that name the file. Contexts of this process keep the files that
  /// they need for longer. With 0 a file is removed at the end of the save, unless a context needs it. (This option is
  /// not one of Apple's.)
  public static let externalDataGraceOption = "OpenCoreDataExternalDataGrace"
}

/// The key of `userInfo` for the stores that were added: `[NSPersistentStore]`.
public let NSAddedPersistentStoresKey = "added"
/// The key of `userInfo` for the stores that were removed: `[NSPersistentStore]`.
public let NSRemovedPersistentStoresKey = "removed"
/// An array of the former store, the store that has replaced it and, after a migration, an array of the IDs of all its
/// objects, each twice: https://developer.apple.com/documentation/coredata/nsuuidchangedpersistentstoreskey
public let NSUUIDChangedPersistentStoresKey = "changed"

extension Notification.Name {
  /// The stores of a coordinator are about to change. Never posted here: on Apple's systems it belongs to iCloud.
  public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresWillChangeNotification")
  /// Stores were added to a coordinator or removed from it, or a store has replaced another one. The object is the
  /// coordinator.
  public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name(
    "_NSPersistentStoreCoordinatorStoresDidChangeNotification")
  /// A store is about to be removed from its coordinator. The object is the store.
  public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
    "_NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}
