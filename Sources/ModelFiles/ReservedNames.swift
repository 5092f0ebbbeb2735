/// Names that properties cannot have.
public enum ReservedNames {
  /// Names that every managed object has: methods of NSObject and NSManagedObject without parameters
  /// ([NSPropertyDescription](https://developer.apple.com/documentation/coredata/nspropertydescription)). Xcode's
  /// compiler also rejects names that begin in upper case; they are allowed here, as in models that are made in code.
  public static let all: Set<String> = [
    "autorelease", "awakeFromFetch", "awakeFromInsert", "changedValues", "changedValuesForCurrentEvent", "class",
    "copy", "dealloc", "debugDescription", "description", "didSave", "didTurnIntoFault", "entity", "faultingState",
    "finalize", "hasChanges", "hasPersistentChangedValues", "hash", "init", "isDeleted", "isFault", "isInserted",
    "isProxy", "isUpdated", "managedObjectContext", "mutableCopy", "objectID", "observationInfo",
    "prepareForDeletion", "release", "retain", "retainCount", "self", "SELF", "superclass", "willSave",
    "willTurnIntoFault", "zone",
  ]
}
