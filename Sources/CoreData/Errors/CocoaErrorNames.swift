import Foundation

/// Core Data's codes as members of the error itself, as Foundation declares its own, so that `catch
/// CocoaError.validationStringTooLong` compiles. And the entries of `userInfo` with their types.
extension CocoaError {
  /// The objects of the error, such as objects that could not be saved; nil for none.
  public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }
  /// The stores of the error; nil for none.
  public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }
  /// The stores that have the changes of an incomplete save; nil for other errors.
  public var savedStores: [NSPersistentStore]? { userInfo[SavedStoresErrorKey] as? [NSPersistentStore] }
  /// The conflicts that stopped a save; nil for none. It is also nil where constraints stopped the save: their
  /// conflicts are of the class ``NSConstraintConflict``.
  public var persistentStoreSaveConflicts: [NSMergeConflict]? {
    userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
  }
  /// The name of the property that is not valid; nil for none.
  public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }
  /// The object that is not valid; nil for none.
  public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }
  /// The validation predicate that the value does not meet; nil for none.
  public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }
  /// The value that is not valid; nil for none.
  public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }

  /// 1550: an object is not valid, and no narrower code applies.
  public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }
  /// 1560: several validations failed.
  public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }
  /// 1570: a property that is not optional has no value.
  public static var validationMissingMandatoryProperty: CocoaError.Code { .validationMissingMandatoryProperty }
  /// 1580: a to-many relationship has fewer objects than its `minCount`.
  public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
    .validationRelationshipLacksMinimumCount
  }
  /// 1590: a to-many relationship has more objects than its `maxCount`.
  public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
    .validationRelationshipExceedsMaximumCount
  }
  /// 1600: an object cannot be deleted, because a relationship with the delete rule deny still has objects.
  public static var validationRelationshipDeniedDelete: CocoaError.Code { .validationRelationshipDeniedDelete }
  /// 1610: a number is greater than its attribute's type or validation predicate allows.
  public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }
  /// 1620: a number is less than its attribute's type or validation predicate allows.
  public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }
  /// 1630: a date is later than its validation predicate allows.
  public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }
  /// 1640: a date is earlier than its validation predicate allows.
  public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }
  /// 1650: a date is not valid.
  public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }
  /// 1660: a string is longer than its validation predicate allows.
  public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }
  /// 1670: a string is shorter than its validation predicate allows.
  public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }
  /// 1680: a string does not match the pattern of its validation predicate.
  public static var validationStringPatternMatching: CocoaError.Code { .validationStringPatternMatching }
  /// 132000: a context could not be locked.
  public static var managedObjectContextLocking: CocoaError.Code { .managedObjectContextLocking }
  /// 132010: a coordinator could not be locked.
  public static var persistentStoreCoordinatorLocking: CocoaError.Code { .persistentStoreCoordinatorLocking }
  /// 133000: the store has no object with the object ID.
  public static var managedObjectReferentialIntegrity: CocoaError.Code { .managedObjectReferentialIntegrity }
  /// 133010: a relationship leads from an object of one store to an object of another.
  public static var managedObjectExternalRelationship: CocoaError.Code { .managedObjectExternalRelationship }
  /// 133020: the store has changed since the objects were read, and the merge policy did not resolve the conflicts.
  public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }
  /// 133021: objects break a uniqueness constraint, and the merge policy did not resolve the conflicts.
  public static var managedObjectConstraintMerge: CocoaError.Code { .managedObjectConstraintMerge }
  /// 134000: no store is registered for the store type.
  public static var persistentStoreInvalidType: CocoaError.Code { .persistentStoreInvalidType }
  /// 134010: the store at the URL has another type than the one given.
  public static var persistentStoreTypeMismatch: CocoaError.Code { .persistentStoreTypeMismatch }
  /// 134020: the model is not valid.
  public static var persistentStoreIncompatibleSchema: CocoaError.Code { .persistentStoreIncompatibleSchema }
  /// 134030: a save failed before a store wrote anything.
  public static var persistentStoreSave: CocoaError.Code { .persistentStoreSave }
  /// 134040: some stores have saved their changes, and others have not.
  public static var persistentStoreIncompleteSave: CocoaError.Code { .persistentStoreIncompleteSave }
  /// 134050: a save met conflicts that were not resolved.
  public static var persistentStoreSaveConflicts: CocoaError.Code { .persistentStoreSaveConflicts }
  /// 134060: an argument or a call is not valid, such as a negative fetch limit or a save during a deletion.
  public static var coreData: CocoaError.Code { .coreData }
  /// 134070: an operation of a store failed, and no narrower code applies.
  public static var persistentStoreOperation: CocoaError.Code { .persistentStoreOperation }
  /// 134080: a store cannot be opened.
  public static var persistentStoreOpen: CocoaError.Code { .persistentStoreOpen }
  /// 134090: a store stayed locked by others for longer than its timeout.
  public static var persistentStoreTimeout: CocoaError.Code { .persistentStoreTimeout }
  /// 134091: the store, or this library, does not support the request.
  public static var persistentStoreUnsupportedRequestType: CocoaError.Code { .persistentStoreUnsupportedRequestType }
  /// 134100: the store was made with another version of the model.
  public static var persistentStoreIncompatibleVersionHash: CocoaError.Code { .persistentStoreIncompatibleVersionHash }
  /// 134110: a migration failed.
  public static var migration: CocoaError.Code { .migration }
  /// 134120: a migration was cancelled.
  public static var migrationCancelled: CocoaError.Code { .migrationCancelled }
  /// 134130: the model with which a store was made was not found.
  public static var migrationMissingSourceModel: CocoaError.Code { .migrationMissingSourceModel }
  /// 134140: no mapping model leads from the store's model to the coordinator's.
  public static var migrationMissingMappingModel: CocoaError.Code { .migrationMissingMappingModel }
  /// 134150: a migration could not read its source store.
  public static var migrationManagerSourceStore: CocoaError.Code { .migrationManagerSourceStore }
  /// 134160: a migration could not write its destination store.
  public static var migrationManagerDestinationStore: CocoaError.Code { .migrationManagerDestinationStore }
  /// 134170: an entity migration policy failed.
  public static var entityMigrationPolicy: CocoaError.Code { .entityMigrationPolicy }
  /// 134180: the file of a store is damaged, or a constraint of the file is broken.
  public static var sqlite: CocoaError.Code { .sqlite }
  /// 134190: a mapping model cannot be inferred.
  public static var inferredMappingModel: CocoaError.Code { .inferredMappingModel }
  /// 134200: external records could not be imported.
  public static var externalRecordImport: CocoaError.Code { .externalRecordImport }
}
