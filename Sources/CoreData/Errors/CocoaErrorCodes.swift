import Foundation

// Core Data's error codes in NSCocoaErrorDomain, by their Apple names.
extension CocoaError.Code {
  /// 1550: an object is not valid, and no narrower code applies. The cause is a broken validation predicate, or a
  /// number or date that is not a number (NaN).
  public static let managedObjectValidation = Self(rawValue: 1550)
  /// 1551: an object breaks a uniqueness constraint, found by validation. Nothing here throws it: a broken constraint
  /// is ``managedObjectConstraintMerge``.
  public static let managedObjectConstraintValidation = Self(rawValue: 1551)
  /// 1560: several validations failed. `NSDetailedErrorsKey` lists their errors.
  public static let validationMultipleErrors = Self(rawValue: 1560)
  /// 1570: a property that is not optional has no value. An empty to-many relationship counts where it has a
  /// `minCount`.
  public static let validationMissingMandatoryProperty = Self(rawValue: 1570)
  /// 1580: a to-many relationship has fewer objects than its `minCount`.
  public static let validationRelationshipLacksMinimumCount = Self(rawValue: 1580)
  /// 1590: a to-many relationship has more objects than its `maxCount`.
  public static let validationRelationshipExceedsMaximumCount = Self(rawValue: 1590)
  /// 1600: an object cannot be deleted, because a relationship with the delete rule deny still has objects.
  public static let validationRelationshipDeniedDelete = Self(rawValue: 1600)
  /// 1610: a number is greater than its attribute's type or validation predicate allows.
  public static let validationNumberTooLarge = Self(rawValue: 1610)
  /// 1620: a number is less than its attribute's type or validation predicate allows.
  public static let validationNumberTooSmall = Self(rawValue: 1620)
  /// 1630: a date is later than its validation predicate allows.
  public static let validationDateTooLate = Self(rawValue: 1630)
  /// 1640: a date is earlier than its validation predicate allows.
  public static let validationDateTooSoon = Self(rawValue: 1640)
  /// 1650: a date is not valid. Nothing here throws it unless a model gives it as the warning of a validation
  /// predicate.
  public static let validationInvalidDate = Self(rawValue: 1650)
  /// 1660: a string is longer than its validation predicate allows.
  public static let validationStringTooLong = Self(rawValue: 1660)
  /// 1670: a string is shorter than its validation predicate allows.
  public static let validationStringTooShort = Self(rawValue: 1670)
  /// 1680: a string does not match the pattern of its validation predicate.
  public static let validationStringPatternMatching = Self(rawValue: 1680)
  /// 1690: the value of a URI attribute is not a valid URI.
  public static let validationInvalidURI = Self(rawValue: 1690)
  /// 132000: a context could not be locked. Nothing here throws it.
  public static let managedObjectContextLocking = Self(rawValue: 132000)
  /// 132010: a coordinator could not be locked. Nothing here throws it.
  public static let persistentStoreCoordinatorLocking = Self(rawValue: 132010)
  /// 133000: the store has no object with the object ID. `NSAffectedObjectsErrorKey` lists the IDs.
  public static let managedObjectReferentialIntegrity = Self(rawValue: 133000)
  /// 133010: a relationship leads from an object of one store to an object of another.
  public static let managedObjectExternalRelationship = Self(rawValue: 133010)
  /// 133020: the store has changed since the objects were read, and the merge policy did not resolve the conflicts.
  /// `NSPersistentStoreSaveConflictsErrorKey` lists them.
  public static let managedObjectMerge = Self(rawValue: 133020)
  /// 133021: objects break a uniqueness constraint, and the merge policy did not resolve the conflicts.
  /// `NSPersistentStoreSaveConflictsErrorKey` lists them.
  public static let managedObjectConstraintMerge = Self(rawValue: 133021)
  /// 134000: no store is registered for the store type.
  public static let persistentStoreInvalidType = Self(rawValue: 134000)
  /// 134010: the store at the URL has another type than the one given.
  public static let persistentStoreTypeMismatch = Self(rawValue: 134010)
  /// 134020: the model is not valid. The description of the error says what is wrong with it.
  public static let persistentStoreIncompatibleSchema = Self(rawValue: 134020)
  /// 134030: a save failed before a store wrote anything. For example, no store takes an object's entity, or a value
  /// cannot be encoded.
  public static let persistentStoreSave = Self(rawValue: 134030)
  /// 134040: some stores have saved their changes, and others have not. `NSAffectedStoresErrorKey` lists the stores
  /// without the changes, `SavedStoresErrorKey` those with them.
  public static let persistentStoreIncompleteSave = Self(rawValue: 134040)
  /// 134050: a save met conflicts that were not resolved. Nothing here throws it: see ``managedObjectMerge``.
  public static let persistentStoreSaveConflicts = Self(rawValue: 134050)
  /// 134060: an argument or a call is not valid, such as a negative fetch limit or a save during a deletion.
  public static let coreData = Self(rawValue: 134060)
  /// 134070: an operation of a store failed, and no narrower code applies. `NSUnderlyingErrorKey` has the store's
  /// error.
  public static let persistentStoreOperation = Self(rawValue: 134070)
  /// 134080: a store cannot be opened. For example, its file has a newer format, or the coordinator has no store.
  public static let persistentStoreOpen = Self(rawValue: 134080)
  /// 134090: a store stayed locked by others for longer than its timeout.
  public static let persistentStoreTimeout = Self(rawValue: 134090)
  /// 134091: the store, or this library, does not support the request.
  public static let persistentStoreUnsupportedRequestType = Self(rawValue: 134091)
  /// 134100: the store was made with another version of the model. The entries `storeVersionHashes` and
  /// `modelVersionHashes` of `userInfo` have the version hashes of both.
  public static let persistentStoreIncompatibleVersionHash = Self(rawValue: 134100)
  /// 134110: a migration failed. Migration is not supported yet: every migration by a mapping model throws it.
  public static let migration = Self(rawValue: 134110)
  /// 134111: migrated objects break a uniqueness constraint. Nothing here throws it.
  public static let migrationConstraintViolation = Self(rawValue: 134111)
  /// 134120: a migration was cancelled. Nothing here throws it.
  public static let migrationCancelled = Self(rawValue: 134120)
  /// 134130: the model with which a store was made was not found. Nothing here throws it.
  public static let migrationMissingSourceModel = Self(rawValue: 134130)
  /// 134140: no mapping model leads from the store's model to the coordinator's. Nothing here throws it.
  public static let migrationMissingMappingModel = Self(rawValue: 134140)
  /// 134150: a migration could not read its source store. Nothing here throws it.
  public static let migrationManagerSourceStore = Self(rawValue: 134150)
  /// 134160: a migration could not write its destination store. Nothing here throws it.
  public static let migrationManagerDestinationStore = Self(rawValue: 134160)
  /// 134170: an entity migration policy failed. Policies do not run here yet: their methods throw it.
  public static let entityMigrationPolicy = Self(rawValue: 134170)
  /// 134180: the file of a store is damaged, or a constraint of the file is broken. The entry `NSSQLiteErrorDomain` of
  /// `userInfo` has SQLite's error code, where there is one.
  public static let sqlite = Self(rawValue: 134180)
  /// 134190: a mapping model cannot be inferred. Inferring is not supported yet: it always throws this.
  public static let inferredMappingModel = Self(rawValue: 134190)
  /// 134200: external records could not be imported. Nothing here throws it: there are no external records.
  public static let externalRecordImport = Self(rawValue: 134200)
  /// 134301: the history after a token has been deleted. Nothing here throws it: history cannot be read yet.
  public static let persistentHistoryTokenExpired = Self(rawValue: 134301)
}

/// The key of `userInfo` for the errors that an error 1560 combines: `[any Error]`.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The key of `userInfo` for the object that is not valid: an `NSManagedObject`.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The key of `userInfo` for the name of the property that is not valid: a `String`. The element of a composite
/// attribute has a path, such as `address.city`.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The key of `userInfo` for the validation predicate that the value does not meet: an `NSPredicate`.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// The key of `userInfo` for the value that is not valid. There is no entry where the value is nil.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// The key of `userInfo` for the stores of the error: `[NSPersistentStore]`. For an incomplete save they are the stores
/// that do not have the changes.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// The key of `userInfo` of an incomplete save for the stores that have the changes: `[NSPersistentStore]`. Apple has
/// no such key.
public let SavedStoresErrorKey = "SavedStoresErrorKey"
/// The key of `userInfo` for the objects of the error, or their object IDs where there is no object: an array.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// The key of `userInfo` for the conflicts of an error 133020 or 133021: an array of `NSMergeConflict` and
/// `NSConstraintConflict`.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
/// The key of `userInfo` for SQLite's error code in an error of an SQLite file: an `Int`.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"

// The codes by their C names. Existing code compares them with NSError.code.
/// 1550, the number of `CocoaError.Code.managedObjectValidation`.
public let NSManagedObjectValidationError = 1550
/// 1551, the number of `CocoaError.Code.managedObjectConstraintValidation`.
public let NSManagedObjectConstraintValidationError = 1551
/// 1560, the number of `CocoaError.Code.validationMultipleErrors`.
public let NSValidationMultipleErrorsError = 1560
/// 1570, the number of `CocoaError.Code.validationMissingMandatoryProperty`.
public let NSValidationMissingMandatoryPropertyError = 1570
/// 1580, the number of `CocoaError.Code.validationRelationshipLacksMinimumCount`.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// 1590, the number of `CocoaError.Code.validationRelationshipExceedsMaximumCount`.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// 1600, the number of `CocoaError.Code.validationRelationshipDeniedDelete`.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// 1610, the number of `CocoaError.Code.validationNumberTooLarge`.
public let NSValidationNumberTooLargeError = 1610
/// 1620, the number of `CocoaError.Code.validationNumberTooSmall`.
public let NSValidationNumberTooSmallError = 1620
/// 1630, the number of `CocoaError.Code.validationDateTooLate`.
public let NSValidationDateTooLateError = 1630
/// 1640, the number of `CocoaError.Code.validationDateTooSoon`.
public let NSValidationDateTooSoonError = 1640
/// 1650, the number of `CocoaError.Code.validationInvalidDate`.
public let NSValidationInvalidDateError = 1650
/// 1660, the number of `CocoaError.Code.validationStringTooLong`.
public let NSValidationStringTooLongError = 1660
/// 1670, the number of `CocoaError.Code.validationStringTooShort`.
public let NSValidationStringTooShortError = 1670
/// 1680, the number of `CocoaError.Code.validationStringPatternMatching`.
public let NSValidationStringPatternMatchingError = 1680
/// 1690, the number of `CocoaError.Code.validationInvalidURI`.
public let NSValidationInvalidURIError = 1690
/// 133000, the number of `CocoaError.Code.managedObjectReferentialIntegrity`.
public let NSManagedObjectReferentialIntegrityError = 133000
/// 133020, the number of `CocoaError.Code.managedObjectMerge`.
public let NSManagedObjectMergeError = 133020
/// 133021, the number of `CocoaError.Code.managedObjectConstraintMerge`.
public let NSManagedObjectConstraintMergeError = 133021
/// 134000, the number of `CocoaError.Code.persistentStoreInvalidType`.
public let NSPersistentStoreInvalidTypeError = 134000
/// 134010, the number of `CocoaError.Code.persistentStoreTypeMismatch`.
public let NSPersistentStoreTypeMismatchError = 134010
/// 134020, the number of `CocoaError.Code.persistentStoreIncompatibleSchema`.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// 134030, the number of `CocoaError.Code.persistentStoreSave`.
public let NSPersistentStoreSaveError = 134030
/// 134040, the number of `CocoaError.Code.persistentStoreIncompleteSave`.
public let NSPersistentStoreIncompleteSaveError = 134040
/// 134050, the number of `CocoaError.Code.persistentStoreSaveConflicts`.
public let NSPersistentStoreSaveConflictsError = 134050
/// 134060, the number of `CocoaError.Code.coreData`.
public let NSCoreDataError = 134060
/// 134070, the number of `CocoaError.Code.persistentStoreOperation`.
public let NSPersistentStoreOperationError = 134070
/// 134080, the number of `CocoaError.Code.persistentStoreOpen`.
public let NSPersistentStoreOpenError = 134080
/// 134090, the number of `CocoaError.Code.persistentStoreTimeout`.
public let NSPersistentStoreTimeoutError = 134090
/// 134091, the number of `CocoaError.Code.persistentStoreUnsupportedRequestType`.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
/// 134100, the number of `CocoaError.Code.persistentStoreIncompatibleVersionHash`.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// 134110, the number of `CocoaError.Code.migration`.
public let NSMigrationError = 134110
/// 134111, the number of `CocoaError.Code.migrationConstraintViolation`.
public let NSMigrationConstraintViolationError = 134111
/// 134120, the number of `CocoaError.Code.migrationCancelled`.
public let NSMigrationCancelledError = 134120
/// 134150, the number of `CocoaError.Code.migrationManagerSourceStore`.
public let NSMigrationManagerSourceStoreError = 134150
/// 134160, the number of `CocoaError.Code.migrationManagerDestinationStore`.
public let NSMigrationManagerDestinationStoreError = 134160
/// 134170, the number of `CocoaError.Code.entityMigrationPolicy`.
public let NSEntityMigrationPolicyError = 134170
/// 134200, the number of `CocoaError.Code.externalRecordImport`.
public let NSExternalRecordImportError = 134200
/// 134301, the number of `CocoaError.Code.persistentHistoryTokenExpired`.
public let NSPersistentHistoryTokenExpiredError = 134301
/// 132000, the number of `CocoaError.Code.managedObjectContextLocking`.
public let NSManagedObjectContextLockingError = 132000
/// 132010, the number of `CocoaError.Code.persistentStoreCoordinatorLocking`.
public let NSPersistentStoreCoordinatorLockingError = 132010
/// 133010, the number of `CocoaError.Code.managedObjectExternalRelationship`.
public let NSManagedObjectExternalRelationshipError = 133010
/// 134130, the number of `CocoaError.Code.migrationMissingSourceModel`.
public let NSMigrationMissingSourceModelError = 134130
/// 134140, the number of `CocoaError.Code.migrationMissingMappingModel`.
public let NSMigrationMissingMappingModelError = 134140
/// 134180, the number of `CocoaError.Code.sqlite`.
public let NSSQLiteError = 134180
/// 134190, the number of `CocoaError.Code.inferredMappingModel`.
public let NSInferredMappingModelError = 134190
/// 134504: a staged migration does not find the model of a reference. Nothing here throws it.
public let NSManagedObjectModelReferenceNotFoundError = 134504
/// 134505: a staged migration met a store of another version of Core Data. Nothing here throws it.
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
/// 134506: a staged migration would lead to an older version of the model. Nothing here throws it.
public let NSStagedMigrationBackwardMigrationError = 134506
