import Foundation

/// What a fetch gives back.
public struct NSFetchRequestResultType: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let managedObjectResultType: NSFetchRequestResultType = []
  public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
  public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
  public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

public enum NSPersistentStoreRequestType: UInt, Sendable {
  case fetchRequestType = 1
  case saveRequestType
  case batchInsertRequestType = 5
  case batchUpdateRequestType
  case batchDeleteRequestType
}

/// Something a context asks of its stores.
open class NSPersistentStoreRequest: NSObject, NSCopying {
  /// The stores to ask; nil for all.
  open var affectedStores: [NSPersistentStore]?
  open var requestType: NSPersistentStoreRequestType { .fetchRequestType }
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// Which objects to fetch, in which order and form.
///
/// No stored property mentions the result type, so that a request may be seen under another one.
open class NSFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest {
  private var named: String?
  private var resolved: NSEntityDescription?

  public override init() { super.init() }

  public convenience init(entityName: String) {
    self.init()
    named = entityName
  }

  open var entityName: String? { resolved?.name ?? named }

  open var entity: NSEntityDescription? {
    get { resolved }
    set { resolved = newValue }
  }

  open var predicate: NSPredicate?
  open var sortDescriptors: [NSSortDescriptor]?
  /// The most results; 0 for no limit.
  open var fetchLimit = 0
  open var fetchOffset = 0
  /// How many objects' values are read at a time, when the first of them is used; 0 for all at once.
  open var fetchBatchSize = 0
  open var includesSubentities = true
  open var includesPropertyValues = true
  open var returnsObjectsAsFaults = true
  open var includesPendingChanges = true
  open var returnsDistinctResults = false
  open var shouldRefreshRefetchedObjects = false
  open var resultType: NSFetchRequestResultType = .managedObjectResultType
  open var propertiesToFetch: [Any]?
  open var propertiesToGroupBy: [Any]?
  open var havingPredicate: NSPredicate?
  open var relationshipKeyPathsForPrefetching: [String]?

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchRequest<ResultType>()
    copy.named = named
    copy.resolved = resolved
    copy.affectedStores = affectedStores
    copy.predicate = predicate
    copy.sortDescriptors = sortDescriptors
    copy.fetchLimit = fetchLimit
    copy.fetchOffset = fetchOffset
    copy.fetchBatchSize = fetchBatchSize
    copy.includesSubentities = includesSubentities
    copy.includesPropertyValues = includesPropertyValues
    copy.returnsObjectsAsFaults = returnsObjectsAsFaults
    copy.includesPendingChanges = includesPendingChanges
    copy.returnsDistinctResults = returnsDistinctResults
    copy.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
    copy.resultType = resultType
    copy.propertiesToFetch = propertiesToFetch
    copy.propertiesToGroupBy = propertiesToGroupBy
    copy.havingPredicate = havingPredicate
    copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
    return copy
  }

  /// The request as contexts run it, whatever its result type.
  var erased: FetchParameters {
    FetchParameters(
      entityName: entityName, entity: resolved, predicate: predicate, sortDescriptors: sortDescriptors ?? [],
      limit: fetchLimit, offset: fetchOffset, batchSize: max(0, fetchBatchSize),
      includesSubentities: includesSubentities,
      includesPropertyValues: includesPropertyValues, returnsObjectsAsFaults: returnsObjectsAsFaults,
      includesPendingChanges: includesPendingChanges, shouldRefresh: shouldRefreshRefetchedObjects,
      resultType: resultType, prefetchedKeyPaths: relationshipKeyPathsForPrefetching ?? [],
      affectedStores: affectedStores)
  }
}

/// The parameters of a fetch.
struct FetchParameters {
  var entityName: String?
  var entity: NSEntityDescription?
  var predicate: NSPredicate?
  var sortDescriptors: [NSSortDescriptor]
  var limit: Int
  var offset: Int
  var batchSize: Int
  var includesSubentities: Bool
  var includesPropertyValues: Bool
  var returnsObjectsAsFaults: Bool
  var includesPendingChanges: Bool
  var shouldRefresh: Bool
  var resultType: NSFetchRequestResultType
  var prefetchedKeyPaths: [String]
  var affectedStores: [NSPersistentStore]?
}
