import Foundation

/// A point in the history of stores. No token is handed out yet, because history cannot be read yet.
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  /// The number of the last transaction, by the UUID of its store.
  final let transactions: [String: Int64]

  init(_ transactions: [String: Int64] = [:]) { self.transactions = transactions }

  public class var supportsSecureCoding: Bool { true }

  /// Nil where the coder has no token, or one that cannot be read.
  public required init?(coder: NSCoder) {
    guard coder.containsValue(forKey: Self.key),
      let found = coder.decodeObject(of: [NSDictionary.self, NSString.self, NSNumber.self], forKey: Self.key),
      let numbers = found as? [String: NSNumber]
    else { return nil }
    transactions = numbers.mapValues(\.int64Value)
  }

  open func encode(with coder: NSCoder) {
    coder.encode(transactions.mapValues { NSNumber(value: $0) } as NSDictionary, forKey: Self.key)
  }
  private static let key = "NSPersistentHistoryToken"

  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether `object` is a token of the same transactions.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSPersistentHistoryToken)?.transactions == transactions
  }
  open override var hash: Int { transactions.hashValue }
}

/// What a change of persistent history did to its object.
public enum NSPersistentHistoryChangeType: Int, Sendable {
  /// The object was inserted.
  case insert = 0
  /// Properties of the object were changed.
  case update = 1
  /// The object was deleted.
  case delete = 2
}

/// One change of an object in persistent history. None is handed out yet.
open class NSPersistentHistoryChange: NSObject, NSCopying, NSFetchRequestResult {
  struct Content {
    var changeID: Int64
    var changedObjectID: NSManagedObjectID
    var changeType: NSPersistentHistoryChangeType
    var tombstone: [AnyHashable: Any]?
    var updatedProperties: Set<NSPropertyDescription>?
  }

  private let content: Content
  /// The save that made the change; nil where the request did not read it.
  open internal(set) weak var transaction: NSPersistentHistoryTransaction?

  init(_ content: Content) { self.content = content }

  /// The number of the change, unique in its store.
  open var changeID: Int64 { content.changeID }
  /// The ID of the changed object, which may be deleted by now.
  open var changedObjectID: NSManagedObjectID { content.changedObjectID }
  /// What the change did to the object.
  open var changeType: NSPersistentHistoryChangeType { content.changeType }
  /// The preserved values of a deleted object.
  open var tombstone: [AnyHashable: Any]? { content.tombstone }
  /// The properties that an update has changed.
  open var updatedProperties: Set<NSPropertyDescription>? { content.updatedProperties }
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Nil: fetches of history are not supported yet.
  open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { nil }
  /// Nil: fetches of history are not supported yet.
  open class var entityDescription: NSEntityDescription? { nil }
  /// Nil: fetches of history are not supported yet.
  open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { nil }
}

/// One save in persistent history. None is handed out yet.
open class NSPersistentHistoryTransaction: NSObject, NSCopying, NSFetchRequestResult {
  struct Content {
    var timestamp: Date
    var changes: [NSPersistentHistoryChange]?
    var transactionNumber: Int64
    var storeID: String
    var bundleID: String
    var processID: String
    var contextName: String?
    var author: String?
    var token: NSPersistentHistoryToken
  }

  private let content: Content

  init(_ content: Content) { self.content = content }

  /// When the save was made.
  open var timestamp: Date { content.timestamp }
  /// The changes of the save; nil where the request did not read them.
  open var changes: [NSPersistentHistoryChange]? { content.changes }
  /// The number of the save, which grows from save to save of a store.
  open var transactionNumber: Int64 { content.transactionNumber }
  /// The UUID of the store.
  open var storeID: String { content.storeID }
  /// The identifier of the program that saved.
  open var bundleID: String { content.bundleID }
  /// The identifier of the process that saved.
  open var processID: String { content.processID }
  /// The ``NSManagedObjectContext/name`` of the context that saved; nil for none.
  open var contextName: String? { content.contextName }
  /// The ``NSManagedObjectContext/transactionAuthor`` of the context that saved; nil for none.
  open var author: String? { content.author }
  /// The point in history right after the save.
  open var token: NSPersistentHistoryToken { content.token }
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The changes in the form that contexts merge; see ``NSManagedObjectContext/mergeChanges(fromContextDidSave:)``.
  open func objectIDNotification() -> Notification {
    var sets: [AnyHashable: Any] = [:]
    for change in changes ?? [] {
      let key: NSManagedObjectContext.NotificationKey =
        switch change.changeType {
        case .insert: .insertedObjectIDs
        case .update: .updatedObjectIDs
        case .delete: .deletedObjectIDs
        }
      let known = sets[key.rawValue] as? Set<NSManagedObjectID> ?? []
      sets[key.rawValue] = known.union([change.changedObjectID])
    }
    return Notification(name: WatchedNotification.didSaveIDs.name, object: nil, userInfo: sets)
  }

  /// Nil: fetches of history are not supported yet.
  open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { nil }
  /// Nil: fetches of history are not supported yet.
  open class var entityDescription: NSEntityDescription? { nil }
  /// Nil: fetches of history are not supported yet.
  open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { nil }
}

// Keys of NSPersistentStoreRemoteChange, which is not posted yet.
/// The key of `userInfo` for the URL of a store that other processes have changed. No notification with it is posted
/// yet.
public let NSPersistentStoreURLKey = "storeURL"
/// The key of `userInfo` for a token of persistent history. No notification has such an entry yet.
public let NSPersistentHistoryTokenKey = "historyToken"

extension Notification.Name {
  /// Not posted yet.
  public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
}

extension NSPersistentStoreCoordinator {
  /// Nil, which stands for the beginning of history: no tokens are handed out yet.
  public func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? { nil }
}
