import Foundation
import StoreProtocol
import TestSupport
import Testing

@testable import CoreData

/// The names of Core Data's errors: https://developer.apple.com/documentation/foundation/cocoaerror and its `Code`.
@Suite struct CocoaErrorNameTests {
  private static let names: [(CocoaError.Code, Int)] = [
    (CocoaError.managedObjectValidation, 1550),
    (CocoaError.validationMultipleErrors, 1560),
    (CocoaError.validationMissingMandatoryProperty, 1570),
    (CocoaError.validationRelationshipLacksMinimumCount, 1580),
    (CocoaError.validationRelationshipExceedsMaximumCount, 1590),
    (CocoaError.validationRelationshipDeniedDelete, 1600),
    (CocoaError.validationNumberTooLarge, 1610),
    (CocoaError.validationNumberTooSmall, 1620),
    (CocoaError.validationDateTooLate, 1630),
    (CocoaError.validationDateTooSoon, 1640),
    (CocoaError.validationInvalidDate, 1650),
    (CocoaError.validationStringTooLong, 1660),
    (CocoaError.validationStringTooShort, 1670),
    (CocoaError.validationStringPatternMatching, 1680),
    (CocoaError.managedObjectContextLocking, 132000),
    (CocoaError.persistentStoreCoordinatorLocking, 132010),
    (CocoaError.managedObjectReferentialIntegrity, 133000),
    (CocoaError.managedObjectExternalRelationship, 133010),
    (CocoaError.managedObjectMerge, 133020),
    (CocoaError.managedObjectConstraintMerge, 133021),
    (CocoaError.persistentStoreInvalidType, 134000),
    (CocoaError.persistentStoreTypeMismatch, 134010),
    (CocoaError.persistentStoreIncompatibleSchema, 134020),
    (CocoaError.persistentStoreSave, 134030),
    (CocoaError.persistentStoreIncompleteSave, 134040),
    (CocoaError.persistentStoreSaveConflicts, 134050),
    (CocoaError.coreData, 134060),
    (CocoaError.persistentStoreOperation, 134070),
    (CocoaError.persistentStoreOpen, 134080),
    (CocoaError.persistentStoreTimeout, 134090),
    (CocoaError.persistentStoreUnsupportedRequestType, 134091),
    (CocoaError.persistentStoreIncompatibleVersionHash, 134100),
    (CocoaError.migration, 134110),
    (CocoaError.migrationCancelled, 134120),
    (CocoaError.migrationMissingSourceModel, 134130),
    (CocoaError.migrationMissingMappingModel, 134140),
    (CocoaError.migrationManagerSourceStore, 134150),
    (CocoaError.migrationManagerDestinationStore, 134160),
    (CocoaError.entityMigrationPolicy, 134170),
    (CocoaError.sqlite, 134180),
    (CocoaError.inferredMappingModel, 134190),
    (CocoaError.externalRecordImport, 134200),
  ]

  @Test func codesHaveApplesNumbers() {
    for (code, number) in Self.names { #expect(code.rawValue == number) }
  }

  @Test func errorsAreCaughtByTheirNames() {
    do {
      throw CocoaError(.validationMissingMandatoryProperty)
    } catch CocoaError.validationMissingMandatoryProperty {
    } catch { Issue.record("\(error)") }
  }

  /// The number that an application gets for each kind of error of a store.
  @Test(
    arguments: [
      (.notFound, 260), (.notAStore, 259), (.wrongType, 134_010), (.newerFormat, 134_080), (.modelMismatch, 134_100),
      (.io, 134_070), (.full, 640), (.busy, 134_090), (.readOnly, 513), (.corrupt, 134_180), (.unsupported, 134_091),
      (.invalidArgument, 134_060), (.closed, 134_070), (.missingExternalData, 134_070), (.constraint, 134_180),
      (.exists, 516), (.replaced, 134_070),
    ] as [(StoreError.Code, Int)])
  func eachErrorOfAStoreHasItsNumber(_ code: StoreError.Code, _ number: Int) {
    let made = CoreDataError.make(StoreError(code, "message", context: ["path": "/there"], outcome: .outcomeUnknown))
    #expect(made.code.rawValue == number)
    #expect(made.localizedDescription == "message" && made.userInfo[NSFilePathErrorKey] as? String == "/there")
    #expect((made.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code == code)
    #expect(made.userInfo[NSLocalizedRecoverySuggestionErrorKey] != nil)
  }

  @Test func anErrorTellsWhatItIsAbout() throws {
    let name = Describing.attribute("name")
    name.isOptional = false
    let context = try Describing.context(Describing.model([Describing.entity("A", [name])]))
    context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code == .validationMissingMandatoryProperty)
      #expect(error?.validationObject as? NSManagedObject === object && error?.validationKey == "name")
      #expect(error?.validationValue == nil && error?.validationPredicate == nil)
    }
    let predicate = NSPredicate(value: true)
    let conflict = NSMergeConflict(
      source: NSEntityDescription.insertNewObject(forEntityName: "A", into: context), newVersion: 2, oldVersion: 1,
      cachedSnapshot: nil, persistedSnapshot: nil)
    let made = CocoaError(
      .persistentStoreSaveConflicts,
      userInfo: [
        NSAffectedObjectsErrorKey: [context], NSAffectedStoresErrorKey: [context], NSValidationValueErrorKey: 3,
        NSValidationPredicateErrorKey: predicate, NSPersistentStoreSaveConflictsErrorKey: [conflict],
      ])
    #expect(made.affectedObjects?.first === context && made.affectedStores?.first === context)
    #expect(made.validationValue as? Int == 3 && made.validationPredicate == predicate)
    #expect(made.persistentStoreSaveConflicts?.first === conflict)
    #expect(CocoaError(.coreData).affectedObjects == nil && CocoaError(.coreData).affectedStores == nil)
  }

  @available(*, deprecated)
  @Test func oldNamesAreTheSameCodes() {
    let pairs: [(CocoaError.Code, CocoaError.Code, CocoaError.Code)] = [
      (CocoaError.managedObjectValidationError, CocoaError.Code.managedObjectValidationError, .managedObjectValidation),
      (
        CocoaError.validationMultipleErrorsError, CocoaError.Code.validationMultipleErrorsError,
        .validationMultipleErrors
      ),
      (
        CocoaError.validationMissingMandatoryPropertyError, CocoaError.Code.validationMissingMandatoryPropertyError,
        .validationMissingMandatoryProperty
      ),
      (
        CocoaError.validationRelationshipLacksMinimumCountError,
        CocoaError.Code.validationRelationshipLacksMinimumCountError, .validationRelationshipLacksMinimumCount
      ),
      (
        CocoaError.validationRelationshipExceedsMaximumCountError,
        CocoaError.Code.validationRelationshipExceedsMaximumCountError, .validationRelationshipExceedsMaximumCount
      ),
      (
        CocoaError.validationRelationshipDeniedDeleteError, CocoaError.Code.validationRelationshipDeniedDeleteError,
        .validationRelationshipDeniedDelete
      ),
      (
        CocoaError.validationNumberTooLargeError, CocoaError.Code.validationNumberTooLargeError,
        .validationNumberTooLarge
      ),
      (
        CocoaError.validationNumberTooSmallError, CocoaError.Code.validationNumberTooSmallError,
        .validationNumberTooSmall
      ),
      (CocoaError.validationDateTooLateError, CocoaError.Code.validationDateTooLateError, .validationDateTooLate),
      (CocoaError.validationDateTooSoonError, CocoaError.Code.validationDateTooSoonError, .validationDateTooSoon),
      (CocoaError.validationInvalidDateError, CocoaError.Code.validationInvalidDateError, .validationInvalidDate),
      (CocoaError.validationStringTooLongError, CocoaError.Code.validationStringTooLongError, .validationStringTooLong),
      (
        CocoaError.validationStringTooShortError, CocoaError.Code.validationStringTooShortError,
        .validationStringTooShort
      ),
      (
        CocoaError.validationStringPatternMatchingError, CocoaError.Code.validationStringPatternMatchingError,
        .validationStringPatternMatching
      ),
      (
        CocoaError.managedObjectContextLockingError, CocoaError.Code.managedObjectContextLockingError,
        .managedObjectContextLocking
      ),
      (
        CocoaError.persistentStoreCoordinatorLockingError, CocoaError.Code.persistentStoreCoordinatorLockingError,
        .persistentStoreCoordinatorLocking
      ),
      (
        CocoaError.managedObjectReferentialIntegrityError, CocoaError.Code.managedObjectReferentialIntegrityError,
        .managedObjectReferentialIntegrity
      ),
      (
        CocoaError.managedObjectExternalRelationshipError, CocoaError.Code.managedObjectExternalRelationshipError,
        .managedObjectExternalRelationship
      ),
      (CocoaError.managedObjectMergeError, CocoaError.Code.managedObjectMergeError, .managedObjectMerge),
      (
        CocoaError.managedObjectConstraintMergeError, CocoaError.Code.managedObjectConstraintMergeError,
        .managedObjectConstraintMerge
      ),
      (
        CocoaError.persistentStoreInvalidTypeError, CocoaError.Code.persistentStoreInvalidTypeError,
        .persistentStoreInvalidType
      ),
      (
        CocoaError.persistentStoreTypeMismatchError, CocoaError.Code.persistentStoreTypeMismatchError,
        .persistentStoreTypeMismatch
      ),
      (
        CocoaError.persistentStoreIncompatibleSchemaError, CocoaError.Code.persistentStoreIncompatibleSchemaError,
        .persistentStoreIncompatibleSchema
      ),
      (CocoaError.persistentStoreSaveError, CocoaError.Code.persistentStoreSaveError, .persistentStoreSave),
      (
        CocoaError.persistentStoreIncompleteSaveError, CocoaError.Code.persistentStoreIncompleteSaveError,
        .persistentStoreIncompleteSave
      ),
      (
        CocoaError.persistentStoreSaveConflictsError, CocoaError.Code.persistentStoreSaveConflictsError,
        .persistentStoreSaveConflicts
      ),
      (CocoaError.coreDataError, CocoaError.Code.coreDataError, .coreData),
      (
        CocoaError.persistentStoreOperationError, CocoaError.Code.persistentStoreOperationError,
        .persistentStoreOperation
      ),
      (CocoaError.persistentStoreOpenError, CocoaError.Code.persistentStoreOpenError, .persistentStoreOpen),
      (CocoaError.persistentStoreTimeoutError, CocoaError.Code.persistentStoreTimeoutError, .persistentStoreTimeout),
      (
        CocoaError.persistentStoreUnsupportedRequestTypeError,
        CocoaError.Code.persistentStoreUnsupportedRequestTypeError, .persistentStoreUnsupportedRequestType
      ),
      (
        CocoaError.persistentStoreIncompatibleVersionHashError,
        CocoaError.Code.persistentStoreIncompatibleVersionHashError, .persistentStoreIncompatibleVersionHash
      ),
      (CocoaError.migrationError, CocoaError.Code.migrationError, .migration),
      (CocoaError.migrationCancelledError, CocoaError.Code.migrationCancelledError, .migrationCancelled),
      (
        CocoaError.migrationMissingSourceModelError, CocoaError.Code.migrationMissingSourceModelError,
        .migrationMissingSourceModel
      ),
      (
        CocoaError.migrationMissingMappingModelError, CocoaError.Code.migrationMissingMappingModelError,
        .migrationMissingMappingModel
      ),
      (
        CocoaError.migrationManagerSourceStoreError, CocoaError.Code.migrationManagerSourceStoreError,
        .migrationManagerSourceStore
      ),
      (
        CocoaError.migrationManagerDestinationStoreError, CocoaError.Code.migrationManagerDestinationStoreError,
        .migrationManagerDestinationStore
      ),
      (CocoaError.entityMigrationPolicyError, CocoaError.Code.entityMigrationPolicyError, .entityMigrationPolicy),
      (CocoaError.sqliteError, CocoaError.Code.sqliteError, .sqlite),
      (CocoaError.inferredMappingModelError, CocoaError.Code.inferredMappingModelError, .inferredMappingModel),
      (CocoaError.externalRecordImportError, CocoaError.Code.externalRecordImportError, .externalRecordImport),
    ]
    for (own, code, new) in pairs { #expect(own == new && code == new) }
  }
}
