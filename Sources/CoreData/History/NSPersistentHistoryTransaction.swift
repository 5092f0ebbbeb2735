import Foundation

/// A point in the history of stores. None is given out yet, as history cannot be read yet.
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

public enum NSPersistentHistoryChangeType: Int, Sendable {
  case insert = 0
  case update = 1
  case delete = 2
}

/// One change of an object in persistent history. None is given out yet.
open class NSPersistentHistoryChange: NSObject, NSCopying, NSFetchRequestResult {
  struct Content {
    var changeID: Int64
    var changedObjectID: NSManagedObjectID
    var changeType: NSPersistentHistoryChangeType
    var tombstone: [AnyHashable: Any]?
    var updatedProperties: Set<NSPropertyDescription>?
  }

  private let content: Content
  open internal(set) weak var transaction: NSPersistentHistoryTransaction?

  init(_ content: Content) { self.content = content }

  open var changeID: Int64 { content.changeID }
  open var changedObjectID: NSManagedObjectID { content.changedObjectID }
  open var changeType: NSPersistentHistoryChangeType { content.changeType }
  /// The preserved values of a deleted object.
  open var tombstone: [AnyHashable: Any]? { content.tombstone }
  /// The properties that an update has changed.
  open var updatedProperties: Set<NSPropertyDescription>? { content.updatedProperties }
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Nil: fetches of history are not supported yet.
  open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { nil }
  open class var entityDescription: NSEntityDescription? { nil }
  /// Nil: fetches of history are not supported yet.
  open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { nil }
}

/// One save in persistent history. None is given out yet.
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

  open var timestamp: Date { content.timestamp }
  open var changes: [NSPersistentHistoryChange]? { content.changes }
  open var transactionNumber: Int64 { content.transactionNumber }
  open var storeID: String { content.storeID }
  open var bundleID: String { content.bundleID }
  open var processID: String { content.processID }
  open var contextName: String? { content.contextName }
  open var author: String? { content.author }
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
  open class var entityDescription: NSEntityDescription? { nil }
  /// Nil: fetches of history are not supported yet.
  open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { nil }
}

// Keys of NSPersistentStoreRemoteChange, which is not posted yet.
public let NSPersistentStoreURLKey = "storeURL"
public let NSPersistentHistoryTokenKey = "historyToken"

extension Notification.Name {
  /// Not posted yet.
  public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
}

extension NSPersistentStoreCoordinator {
  /// Nil, which stands for the beginning of history: tokens are not given out yet.
  public func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? { nil }
}
