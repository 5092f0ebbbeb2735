extension NSManagedObject {
  /// What is true of an object.
  struct Flags: OptionSet {
    var rawValue: UInt16
    static let fault = Flags(rawValue: 1)
    static let inserted = Flags(rawValue: 2)
    static let updated = Flags(rawValue: 4)
    static let deleted = Flags(rawValue: 8)
    /// In the context's list of changed objects.
    static let listed = Flags(rawValue: 16)
    /// In the list of objects changed since the last event.
    static let pending = Flags(rawValue: 32)
    /// Its row is gone from the store.
    static let inaccessible = Flags(rawValue: 64)
    /// A link pair or an order of it changed.
    static let linksChanged = Flags(rawValue: 128)
    /// For observers of events it is not in the context: when the last event ended, it was new or deleted.
    static let absent = Flags(rawValue: 256)
    /// Deleted by a save, or a former insertion that was rolled back or deleted before a save.
    static let gone = Flags(rawValue: 512)
    /// `willSave` has been called in the current save.
    static let willSaveCalled = Flags(rawValue: 1024)
    /// The row comes from the cache, where another context may have put it from a view that is newer than the shared
    /// one.
    static let rowOfOthers = Flags(rawValue: 2048)
    /// Observers are being notified of its changes.
    static let reported = Flags(rawValue: 4096)
    /// Its origin has, or had, a row of the object: it was read from there, or saved there. A new object with a
    /// permanent ID is not stored. In a child context an object with a temporary ID is, once its parent has it.
    static let stored = Flags(rawValue: 8192)
    /// It has observers.
    static let observed = Flags(rawValue: 16384)
    /// Its context tracks reads of properties, or checks the queue of each use.
    static let tracked = Flags(rawValue: 32768)
    /// Not a state of the object: the tracker leaves them as they are.
    static let lasting: Flags = [.observed, .tracked]
  }
}
