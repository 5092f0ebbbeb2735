import Foundation
import StoreProtocol
import StoreSchema

/// Turns store errors and conflicts into the errors that Core Data's API throws. No other code does.
enum CoreDataError {
  /// The error of a store; `store` is the one of the coordinator that a save has failed in.
  static func make(_ error: StoreError, of store: NSPersistentStore? = nil) -> CocoaError {
    var userInfo: [String: Any] = [
      NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: error.message,
      NSLocalizedFailureReasonErrorKey: error.description,
    ]
    if error.outcome == .outcomeUnknown {
      userInfo[NSLocalizedRecoverySuggestionErrorKey] =
        "It is not known whether the changes were saved. Fetch again with a new context before you repeat them."
    } else if error.code == .corrupt {
      userInfo[NSLocalizedRecoverySuggestionErrorKey] =
        "Restore the file from a backup, or write what can be read of it to a new store: coredata store recover."
    }
    if let store { userInfo[NSAffectedStoresErrorKey] = [store] }
    if let path = error.context["path"] { userInfo[NSFilePathErrorKey] = path }
    if let number = error.context["sqlite"].flatMap(Int.init) { userInfo[NSSQLiteErrorDomain] = number }
    if let hashes = error.modelHashes {
      userInfo["storeVersionHashes"] = hashes.store.mapValues { Data($0) }
      userInfo["modelVersionHashes"] = hashes.model.mapValues { Data($0) }
    }
    return CocoaError(code(error.code), userInfo: userInfo)
  }

  /// The error of a save whose context could not read an object before.
  static func unread(_ error: StoreError) -> CocoaError {
    let made = make(error)
    var userInfo = made.userInfo
    userInfo[NSLocalizedRecoverySuggestionErrorKey] =
      "Changes of the context may depend on values that could not be read. Undo them with rollback(), read again, and repeat them."
    return CocoaError(made.code, userInfo: userInfo)
  }

  private static func code(_ code: StoreError.Code) -> CocoaError.Code {
    switch code {
    case .notFound: .fileReadNoSuchFile
    case .notAStore: .fileReadCorruptFile
    case .wrongType: .persistentStoreTypeMismatch
    case .newerFormat: .persistentStoreOpen
    case .modelMismatch: .persistentStoreIncompatibleVersionHash
    case .full: .fileWriteOutOfSpace
    case .exists: .fileWriteFileExists
    case .busy: .persistentStoreTimeout
    case .readOnly: .fileWriteNoPermission
    case .unsupported: .persistentStoreUnsupportedRequestType
    case .invalidArgument: .coreData
    case .corrupt, .constraint: .sqlite
    case .missingExternalData, .replaced: .persistentStoreOperation
    default: .persistentStoreOperation
    }
  }

  /// The error for a store with the UUID of another one of the coordinator.
  static func sameIdentifier(_ url: URL, _ twin: NSPersistentStore) -> CocoaError {
    CocoaError(
      .persistentStoreOperation,
      userInfo: [
        NSLocalizedDescriptionKey:
          "The store at \(url.path) has the same UUID as the store at \(twin.location?.path ?? ""), which was added before: one file is a copy of the other. Their object IDs would be equal; use another coordinator, or copy with migratePersistentStore."
      ])
  }

  /// The error for a save while objects are being deleted, or a child's save is being taken over. Such a save would
  /// write a part of the changes. Nothing has changed.
  static var savesHalfADeletion: CocoaError {
    CocoaError(
      .coreData,
      userInfo: [
        NSLocalizedDescriptionKey:
          "save() was called while objects are being deleted, or a child's save is being taken over: in prepareForDeletion() or awakeFromFetch(), or by an observer of an event that ended there. Save after delete(_:) or processPendingChanges() has returned; changes made until then are part of that save."
      ])
  }

  /// The error for a save inside a save of the same context. Its code and the first entry are those of Apple's
  /// framework.
  static var savesAlready: CocoaError {
    CocoaError(
      CocoaError.Code(rawValue: 132001),
      userInfo: [
        "message": "attempt to recursively call -save: on the context aborted",
        NSLocalizedDescriptionKey:
          "The context is being saved, and save() was called again inside: in willSave, in a validation, or by an observer of the will-save notification. Remove this call; changes made there are part of the save.",
      ])
  }

  /// The error for a save of a child while its parent writes its own changes.
  static var writesAlready: CocoaError {
    CocoaError(
      CocoaError.Code(rawValue: 132001),
      userInfo: [
        NSLocalizedDescriptionKey:
          "The parent context is being saved; save the child before or after that."
      ])
  }

  /// A single error unchanged, several errors in one of code 1560.
  static func combined(_ errors: [any Error]) -> any Error {
    let flat = errors.flatMap { error -> [any Error] in
      guard let cocoa = error as? CocoaError, cocoa.code == .validationMultipleErrors else { return [error] }
      return cocoa.userInfo[NSDetailedErrorsKey] as? [any Error] ?? [error]
    }
    if flat.count == 1 { return flat[0] }
    return CocoaError(
      .validationMultipleErrors,
      userInfo: [
        NSDetailedErrorsKey: flat, NSLocalizedDescriptionKey: "\(flat.count) validation errors occurred.",
      ])
  }

  static func validation(_ code: CocoaError.Code, _ object: NSManagedObject, _ key: String, _ value: Any?) -> CocoaError
  {
    var userInfo: [String: Any] = [
      NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: key,
      NSLocalizedDescriptionKey: text(code, object, key),
    ]
    if let value { userInfo[NSValidationValueErrorKey] = value }
    return CocoaError(code, userInfo: userInfo)
  }

  /// The error for a value that does not meet a validation predicate.
  static func brokenRule(
    _ rule: PropertyRules.Rule, _ object: NSManagedObject, _ key: String, _ value: Any
  ) -> CocoaError {
    let texts = object.info.description.managedObjectModelIfAny?.localizationDictionary
    var message = rule.text.map { texts?["ErrorString/" + $0] ?? $0 } ?? text(rule.code, object, key)
    if let obstacle = rule.obstacle { message += " Its validation predicate cannot be evaluated: \(obstacle)." }
    return CocoaError(
      rule.code,
      userInfo: [
        NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: key, NSValidationValueErrorKey: value,
        NSValidationPredicateErrorKey: rule.predicate, NSLocalizedDescriptionKey: message,
      ])
  }

  /// The localized names of an entity and its property, by the model's localization dictionary.
  private static func name(_ key: String, of entity: NSEntityDescription) -> String {
    let own = entity.name ?? "?"
    guard let texts = entity.managedObjectModelIfAny?.localizationDictionary else { return "\(own).\(key)" }
    let property = texts["Property/\(key)/Entity/\(own)"] ?? texts["Property/\(key)"] ?? key
    return "\(texts["Entity/\(own)"] ?? own).\(property)"
  }

  private static func text(_ code: CocoaError.Code, _ object: NSManagedObject, _ key: String) -> String {
    let name = name(key, of: object.info.description)
    switch code {
    case .validationMissingMandatoryProperty: return "\(name) is a required value."
    case .validationNumberTooLarge: return "\(name) is too large."
    case .validationNumberTooSmall: return "\(name) is too small."
    case .validationDateTooLate: return "\(name) is too late."
    case .validationDateTooSoon: return "\(name) is too soon."
    case .validationStringTooLong: return "\(name) is too long."
    case .validationStringTooShort: return "\(name) is too short."
    case .validationInvalidURI: return "\(name) is not a valid URI."
    case .validationStringPatternMatching: return "\(name) does not match its pattern."
    case .validationRelationshipLacksMinimumCount: return "Too few objects in \(name)."
    case .validationRelationshipExceedsMaximumCount: return "Too many objects in \(name)."
    case .validationRelationshipDeniedDelete: return "The object cannot be deleted because of \(name)."
    default: return "\(name) is not valid."
    }
  }

  /// The error of a save that some stores have made and others have not. `cause` may be such an error itself, of the
  /// last attempt.
  static func incomplete(
    _ cause: any Error, saved: [NSPersistentStore], unsaved: [NSPersistentStore]
  ) -> CocoaError {
    if let last = cause as? CocoaError, last.code == .persistentStoreIncompleteSave {
      let left = last.affectedStores?.compactMap { $0 as? NSPersistentStore } ?? unsaved
      return incomplete(last.underlying ?? last, saved: saved + (last.savedStores ?? []), unsaved: left)
    }
    var known = Set(unsaved.map(ObjectIdentifier.init))
    // A store that has later changes, which are not saved, is one of the others.
    let saved = saved.filter { known.insert(ObjectIdentifier($0)).inserted }
    func names(_ stores: [NSPersistentStore]) -> String {
      let names = stores.map { $0.url?.lastPathComponent ?? $0.identifier ?? "a store" }
      return names.isEmpty ? "none" : names.joined(separator: ", ")
    }
    return CocoaError(
      .persistentStoreIncompleteSave,
      userInfo: [
        NSUnderlyingErrorKey: cause, NSAffectedStoresErrorKey: unsaved, SavedStoresErrorKey: saved,
        NSLocalizedDescriptionKey:
          "Only a part of the changes is saved. Saved: \(names(saved)). Not saved: \(names(unsaved)).",
      ])
  }

  /// 133021 where every conflict is a constraint conflict, else 133020. The error lists the conflicts.
  static func conflicts(_ list: [NSObject]) -> CocoaError {
    let isAboutUniqueness = !list.isEmpty && list.allSatisfy { $0 is NSConstraintConflict }
    let objects = list.flatMap { conflict -> [NSManagedObject] in
      switch conflict {
      case let conflict as NSMergeConflict: [conflict.sourceObject]
      case let conflict as NSConstraintConflict: conflict.conflictingObjects
      default: []
      }
    }
    return CocoaError(
      isAboutUniqueness ? .managedObjectConstraintMerge : .managedObjectMerge,
      userInfo: [
        NSPersistentStoreSaveConflictsErrorKey: list, NSAffectedObjectsErrorKey: objects,
        NSLocalizedDescriptionKey: "Could not merge changes: the store has changed since the objects were read.",
      ])
  }
}
