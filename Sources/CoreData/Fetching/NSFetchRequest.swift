import Foundation
import Synchronization

/// The kind of results that a fetch returns.
public struct NSFetchRequestResultType: OptionSet, Sendable {
  /// Apple's number of the type.
  public let rawValue: UInt
  /// The type with Apple's number.
  public init(rawValue: UInt) { self.rawValue = rawValue }
  /// ``NSManagedObject``s. The default.
  public static let managedObjectResultType: NSFetchRequestResultType = []
  /// ``NSManagedObjectID``s.
  public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
  /// An `NSDictionary` for each object or group, with the keys of ``NSFetchRequest/propertiesToFetch``. Unsaved changes
  /// are not in it.
  public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
  /// One `NSNumber`: how many objects the fetch selects.
  public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// The kind of a request.
public enum NSPersistentStoreRequestType: UInt, Sendable {
  /// An ``NSFetchRequest``.
  case fetchRequestType = 1
  /// An ``NSSaveChangesRequest``.
  case saveRequestType
  /// An ``NSBatchInsertRequest``. Contexts do not run it yet.
  case batchInsertRequestType = 5
  /// An ``NSBatchUpdateRequest``. Contexts do not run it yet.
  case batchUpdateRequestType
  /// An ``NSBatchDeleteRequest``. Contexts do not run it yet.
  case batchDeleteRequestType
}

/// A request of a context to its stores: a fetch, a save or a batch of changes.
open class NSPersistentStoreRequest: NSObject, NSCopying {
  /// The stores of the request; nil for all stores of the coordinator.
  open var affectedStores: [NSPersistentStore]?
  /// What the request does; `fetchRequestType` unless overridden.
  open var requestType: NSPersistentStoreRequestType { .fetchRequestType }
  /// The request itself, where a subclass has no copy of its own.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The result of the request; see ``NSPersistentStoreCoordinator/execute(_:with:)``.
  func answer(in context: NSManagedObjectContext) throws -> Any { try run(in: context) }

  /// This fetch request with another result type. Both share their parameters: a change of one changes the other. For
  /// any other request it stops the program.
  ///
  /// It stands for Apple's `request as! NSFetchRequest<Other>`. That cast always fails here, as generic classes of
  /// Swift do not allow it. The class of the results is checked when they are fetched.
  public final func retyped<Other: NSFetchRequestResult>(as type: Other.Type = Other.self) -> NSFetchRequest<Other> {
    guard let request = retypedFetch(as: type) else { misuse("\(Swift.type(of: self)) is no fetch request.") }
    return request
  }

  /// This fetch request with another result type; nil for any other request.
  func retypedFetch<Other: NSFetchRequestResult>(as type: Other.Type) -> NSFetchRequest<Other>? { nil }

  /// Runs the request; see ``NSManagedObjectContext/execute(_:)``.
  func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    throw CocoaError(
      .persistentStoreUnsupportedRequestType,
      userInfo: [NSLocalizedDescriptionKey: "\(type(of: self)) is not supported yet."])
  }
}

extension Optional where Wrapped: NSPersistentStoreRequest {
  /// The fetch request with another result type, as `request as! NSFetchRequest<Other>` gives it. Nil stops the
  /// program.
  public func retyped<Other: NSFetchRequestResult>(as type: Other.Type = Other.self) -> NSFetchRequest<Other> {
    guard let request = self else { misuse("nil is no fetch request.") }
    return request.retyped(as: type)
  }
}

/// A request for the objects of an entity: which, in which order, and in which form.
///
/// Requests of every result type have the same archive. An unarchiver gives an `NSFetchRequest<any
/// NSFetchRequestResult>`; see ``NSPersistentStoreRequest/retyped(as:)``. The class does not conform to
/// `NSSecureCoding`, as Apple's does not.
open class NSFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest, NSCoding {
  private let box: FetchParameters.Box
  /// The parameters of the request. A subclass cannot override them.
  final var content: FetchParameters { box.content }

  /// A request without an entity, which must be set before the request is executed.
  public override init() {
    box = FetchParameters.Box()
    super.init()
  }

  /// A request for the objects of an entity. The name is looked up when the request is executed.
  public convenience init(entityName: String) {
    self.init()
    box.content.givenName = entityName
  }

  private init(sharing box: FetchParameters.Box) {
    self.box = box
    super.init()
  }

  override func retypedFetch<Other: NSFetchRequestResult>(as type: Other.Type) -> NSFetchRequest<Other>? {
    self as? NSFetchRequest<Other> ?? NSFetchRequest<Other>(sharing: box)
  }

  override func answer(in context: NSManagedObjectContext) throws -> Any { try context.fetch(erased, as: Any.self) }

  /// Runs the request in the context whose `performAndWait` or `perform` block is running. Outside of such a block it
  /// stops the program.
  ///
  /// - Throws: The errors of `NSManagedObjectContext.fetch(_:)`. Nothing has changed then.
  open func execute() throws -> [ResultType] {
    guard let context = ThreadContexts.current?.context else {
      misuse("NSFetchRequest.execute() was called outside a context's perform block; use context.fetch(_:).")
    }
    return try context.fetch(self)
  }

  /// The name of the entity to fetch; nil where neither a name nor an entity was set.
  open var entityName: String? { box.content.entityName }

  /// The entity to fetch. A request that was made by name has none before it is executed; then it has the entity of
  /// that name in the context's model
  /// (https://developer.apple.com/documentation/coredata/nsfetchrequest/init(entityname:)-5anoo).
  open var entity: NSEntityDescription? {
    get { box.content.entity ?? box.executed.withLock { $0 }?.entity }
    set {
      box.content.entity = newValue
      box.executed.withLock { $0 = nil }
    }
  }

  open override var affectedStores: [NSPersistentStore]? {
    get { box.content.affectedStores }
    set { box.content.affectedStores = newValue }
  }

  /// Which objects to fetch; nil for all of the entity.
  open var predicate: NSPredicate? {
    get { box.content.predicate }
    set { box.content.predicate = newValue }
  }
  /// The order of the results: each descriptor orders those that the ones before it leave equal. Nil for any order.
  open var sortDescriptors: [NSSortDescriptor]? {
    get { box.content.sortDescriptors }
    set { box.content.sortDescriptors = newValue }
  }
  /// The most results; 0 for no limit. A negative limit, offset or batch size makes the fetch throw 134060.
  open var fetchLimit: Int {
    get { box.content.fetchLimit }
    set { box.content.fetchLimit = newValue }
  }
  /// How many of the first results to leave out; 0 for none.
  open var fetchOffset: Int {
    get { box.content.fetchOffset }
    set { box.content.fetchOffset = newValue }
  }
  /// How many objects are read at a time, when the first of them is used; 0 for all at once. ``returnsObjectsAsFaults``
  /// and ``relationshipKeyPathsForPrefetching`` also take effect then.
  open var fetchBatchSize: Int {
    get { box.content.fetchBatchSize }
    set { box.content.fetchBatchSize = newValue }
  }
  /// Whether objects of sub-entities are fetched too; true by default.
  open var includesSubentities: Bool {
    get { box.content.includesSubentities }
    set { box.content.includesSubentities = newValue }
  }
  /// Whether the fetch also reads the values of the objects; true by default. Using them then needs no other read.
  open var includesPropertyValues: Bool {
    get { box.content.includesPropertyValues }
    set { box.content.includesPropertyValues = newValue }
  }
  /// Whether the objects may be faults; true by default. With false, each has its values when the fetch ends.
  open var returnsObjectsAsFaults: Bool {
    get { box.content.returnsObjectsAsFaults }
    set { box.content.returnsObjectsAsFaults = newValue }
  }
  /// Whether unsaved changes of the context count in the fetch; true by default. Results of type dictionary never have
  /// them.
  open var includesPendingChanges: Bool {
    get { box.content.includesPendingChanges }
    set { box.content.includesPendingChanges = newValue }
  }
  /// Whether equal dictionaries come once; false by default. It affects results of type dictionary only.
  open var returnsDistinctResults: Bool {
    get { box.content.returnsDistinctResults }
    set { box.content.returnsDistinctResults = newValue }
  }
  /// Whether objects that the context has already take the values that the store has now; false by default. Objects
  /// with unsaved changes keep their values.
  open var shouldRefreshRefetchedObjects: Bool {
    get { box.content.shouldRefreshRefetchedObjects }
    set { box.content.shouldRefreshRefetchedObjects = newValue }
  }
  /// What the results are: objects, object IDs, dictionaries, or a number. Objects by default.
  open var resultType: NSFetchRequestResultType {
    get { box.content.resultType }
    set { box.content.resultType = newValue }
  }
  /// The keys of the dictionaries; nil for all attributes. Keys are:
  ///
  /// - names of attributes and to-one relationships, and key paths over to-one relationships to them
  /// - property descriptions
  /// - `NSExpressionDescription`s. Their functions (`sum:`, `count:` …) are aggregates of all fetched objects, or of
  ///   each group.
  ///
  /// With objects as results the names are checked, and the objects have all their values (decision 042).
  /// (https://developer.apple.com/documentation/coredata/nsfetchrequest/propertiestofetch)
  open var propertiesToFetch: [Any]? {
    get { box.content.propertiesToFetch }
    set { box.content.propertiesToFetch = newValue }
  }
  /// The values that all objects of a group have in common, named as in ``propertiesToFetch``; nil for no groups. Each
  /// group gives one dictionary, whose other entries must be aggregates.
  /// (https://developer.apple.com/documentation/coredata/nsfetchrequest/propertiestogroupby)
  open var propertiesToGroupBy: [Any]? {
    get { box.content.propertiesToGroupBy }
    set { box.content.propertiesToGroupBy = newValue }
  }
  /// Which groups to keep; nil for all. The predicate may use what the groups are grouped by, and the entries of their
  /// dictionaries as variables: `$name`, `NSExpression(forVariable:)`.
  /// (https://developer.apple.com/documentation/coredata/nsfetchrequest/havingpredicate)
  open var havingPredicate: NSPredicate? {
    get { box.content.havingPredicate }
    set { box.content.havingPredicate = newValue }
  }
  /// Key paths of relationships whose destinations the fetch reads along, for all results at once; nil for none. A path
  /// that the entity does not have makes the fetch throw 134060.
  open var relationshipKeyPathsForPrefetching: [String]? {
    get { box.content.relationshipKeyPathsForPrefetching }
    set { box.content.relationshipKeyPathsForPrefetching = newValue }
  }

  /// Makes the request a part of a model in use: changing it stops the program from now on.
  final func makeImmutable() { box.isImmutable = true }

  /// The same request, which can be changed.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchRequest<ResultType>()
    copy.box.content = box.content
    let executed = box.executed.withLock { $0 }
    copy.box.executed.withLock { $0 = executed }
    return copy
  }

  // MARK: Coding

  /// Encodes everything but `affectedStores`. A part without a form in archives, such as a predicate with a block,
  /// stops the program.
  open func encode(with coder: NSCoder) { FetchRequestCoding.encode(retyped(), with: coder) }

  /// The request that was encoded. Nil where it cannot be read.
  public required convenience init?(coder: NSCoder) {
    guard let request = FetchRequestCoding.decode(coder) else { return nil }
    self.init()
    box.content = request.box.content
  }

  /// The class that archives name: Foundation cannot name a generic class.
  open override var classForCoder: AnyClass { ArchivedFetchRequest.self }

  /// The request as contexts run it, whatever its result type.
  var erased: FetchParameters {
    var parameters = box.content
    parameters.request = box
    return parameters
  }
}

/// The name of fetch requests in archives.
final class ArchivedFetchRequest: NSPersistentStoreRequest {
  override class func classForKeyedUnarchiver() -> AnyClass { NSFetchRequest<any NSFetchRequestResult>.self }
}

/// Marks types that a fetch can return. It does not exist at run time, so that `any NSFetchRequestResult` conforms to
/// itself, as existing code expects.
@_marker public protocol NSFetchRequestResult {}

extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}
extension NSManagedObjectID: NSFetchRequestResult {}
