import Foundation
import Synchronization

/// The parameters of a fetch. They have the names of `NSFetchRequest`'s properties.
struct FetchParameters {
  var givenName: String?
  var entity: NSEntityDescription?
  var affectedStores: [NSPersistentStore]?
  var predicate: NSPredicate?
  var sortDescriptors: [NSSortDescriptor]?
  var fetchLimit = 0
  var fetchOffset = 0
  var fetchBatchSize = 0
  var includesSubentities = true
  var includesPropertyValues = true
  var returnsObjectsAsFaults = true
  var includesPendingChanges = true
  var returnsDistinctResults = false
  var shouldRefreshRefetchedObjects = false
  var resultType = NSFetchRequestResultType.managedObjectResultType
  var propertiesToFetch: [Any]?
  var propertiesToGroupBy: [Any]?
  var havingPredicate: NSPredicate?
  var relationshipKeyPathsForPrefetching: [String]?
  /// The request that runs; nil in the parameters that a request stores.
  var request: Box?

  /// The name of the entity to fetch.
  var entityName: String? { entity?.name ?? givenName }

  /// The same fetch for callers that need only the IDs of the objects.
  var forIDs: FetchParameters {
    var parameters = self
    (parameters.includesPropertyValues, parameters.returnsObjectsAsFaults) = (false, true)
    (parameters.relationshipKeyPathsForPrefetching, parameters.shouldRefreshRefetchedObjects) = (nil, false)
    return parameters
  }

  /// Throws for a negative limit, offset or batch size.
  func checkNumbers() throws {
    for (name, number) in [
      ("fetchLimit", fetchLimit), ("fetchOffset", fetchOffset), ("fetchBatchSize", fetchBatchSize),
    ] where number < 0 {
      throw CocoaError(
        .coreData,
        userInfo: [
          NSLocalizedDescriptionKey: "The fetch cannot be run: its \(name) is \(number); it must not be negative."
        ]
      )
    }
  }

  /// Stores the entity that the request is executed with.
  func note(_ entity: NSEntityDescription) { request?.executed.withLock { $0 = Executed(entity: entity) } }

  /// The parameters of a request. Requests with different result types may share them; see `retyped(as:)`.
  final class Box {
    var content = FetchParameters() {
      didSet {
        if isImmutable { misuse("Can't modify a fetch request of an immutable model: change a copy of it.") }
      }
    }
    var isImmutable = false
    /// The entity of the last execution. It is no part of the content, because a request of an immutable model has one,
    /// too, and any thread may execute that.
    let executed = Mutex<Executed?>(nil)
  }

  /// Sendable, unchecked: an entity of a model in use.
  struct Executed: @unchecked Sendable {
    let entity: NSEntityDescription
  }
}
