import Foundation
import Synchronization

/// The parameters of a fetch, with the names of `NSFetchRequest`.
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
  /// The request that is run; nil in the parameters that a request keeps.
  var request: Box?

  /// The name of the entity to fetch.
  var entityName: String? { entity?.name ?? givenName }

  /// The same fetch for callers that need the IDs of the objects alone.
  var forIDs: FetchParameters {
    var parameters = self
    (parameters.includesPropertyValues, parameters.returnsObjectsAsFaults) = (false, true)
    (parameters.relationshipKeyPathsForPrefetching, parameters.shouldRefreshRefetchedObjects) = (nil, false)
    return parameters
  }

  /// Throws for a number that no fetch can have.
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

  /// Lets the request know the entity by which it is executed.
  func note(_ entity: NSEntityDescription) { request?.executed.withLock { $0 = Executed(entity: entity) } }

  /// The present parameters of a request. Requests of several result types may share them.
  final class Box {
    var content = FetchParameters() {
      didSet {
        if isImmutable { misuse("Can't modify a fetch request of an immutable model: change a copy of it.") }
      }
    }
    var isImmutable = false
    /// The entity that the request had when it was last executed. Not part of the content: a request of an immutable
    /// model, which any thread may execute, has one too.
    let executed = Mutex<Executed?>(nil)
  }

  /// Sendable, unchecked: an entity of a model in use.
  struct Executed: @unchecked Sendable {
    let entity: NSEntityDescription
  }
}
