import Foundation

extension NSPersistentStore {
  /// The types of the stores that come with Core Data.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    /// The name of the type, as coordinators register it.
    public let rawValue: String
    /// The type with a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// One SQLite file; ``NSSQLiteStoreType``.
    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
    /// One property list file, read and written as a whole; ``NSBinaryStoreType``.
    public static let binary = StoreType(rawValue: NSBinaryStoreType)
    /// One XML file, read and written as a whole; ``NSXMLStoreType``.
    public static let xml = StoreType(rawValue: NSXMLStoreType)
    /// Kept in memory only; ``NSInMemoryStoreType``.
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
  }
}
