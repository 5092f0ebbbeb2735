import Foundation

/// A store to be added to a coordinator: its type, URL, configuration and options.
open class NSPersistentStoreDescription: NSObject, NSCopying {
  /// The name of the store's type; ``NSSQLiteStoreType`` unless set.
  open var type = NSSQLiteStoreType
  /// The configuration whose entities the store takes; nil for all entities.
  open var configuration: String?
  /// The URL of the store; nil only for a store that is kept in memory. `/dev/null` stands for a store that leaves no
  /// files, whatever its type.
  open var url: URL?
  private var values: [String: NSObject] = [:]

  /// Describes an SQLite store at `url` that is added at once.
  public init(url: URL) {
    self.url = url
    super.init()
    shouldMigrateStoreAutomatically = true
    shouldInferMappingModelAutomatically = true
  }

  /// Describes an SQLite store at `/dev/null`.
  public override init() {
    url = URL(fileURLWithPath: "/dev/null")
    super.init()
    shouldMigrateStoreAutomatically = true
    shouldInferMappingModelAutomatically = true
  }

  /// The options of the store, including those that the other properties set.
  open var options: [String: NSObject] { values }

  /// Sets an option of the store; nil removes it.
  open func setOption(_ option: NSObject?, forKey key: String) { values[key] = option }

  /// Whether the store is opened for reading only; false unless set.
  open var isReadOnly: Bool {
    get { flag(NSReadOnlyPersistentStoreOption) }
    set { values[NSReadOnlyPersistentStoreOption] = NSNumber(value: newValue) }
  }

  /// How long to wait for other users of the store, in seconds; 240 unless set.
  open var timeout: TimeInterval {
    get { (values[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
    set { values[NSPersistentStoreTimeoutOption] = NSNumber(value: newValue) }
  }

  /// The pragmas of each connection of an SQLite store, by name.
  open var sqlitePragmas: [String: NSObject] {
    (values[NSSQLitePragmasOption] as? NSDictionary) as? [String: NSObject] ?? [:]
  }

  /// Sets a pragma of an SQLite store; nil removes it.
  open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
    var pragmas = sqlitePragmas
    pragmas[name] = value
    let dictionary = NSMutableDictionary()
    for (key, value) in pragmas { dictionary[key] = value }
    values[NSSQLitePragmasOption] = dictionary
  }

  /// Whether the store is added on another queue; false unless set. The call that adds it then returns at once.
  open var shouldAddStoreAsynchronously = false

  /// Whether a store of another model version is migrated; true unless set. Migration is not supported yet: loading
  /// such a store throws 134100.
  open var shouldMigrateStoreAutomatically: Bool {
    get { flag(NSMigratePersistentStoresAutomaticallyOption) }
    set { values[NSMigratePersistentStoresAutomaticallyOption] = NSNumber(value: newValue) }
  }

  /// Whether a mapping model is inferred for a migration; true unless set. It has no effect yet, because migration is
  /// not supported.
  open var shouldInferMappingModelAutomatically: Bool {
    get { flag(NSInferMappingModelAutomaticallyOption) }
    set { values[NSInferMappingModelAutomaticallyOption] = NSNumber(value: newValue) }
  }

  private func flag(_ key: String) -> Bool { (values[key] as? NSNumber)?.boolValue ?? false }

  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPersistentStoreDescription()
    copy.type = type
    copy.configuration = configuration
    copy.url = url
    copy.values = values
    copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
    return copy
  }

  open override var description: String { "<\(Self.self) \(type) \(url?.absoluteString ?? "")>" }
}
