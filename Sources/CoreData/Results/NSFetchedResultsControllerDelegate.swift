import Foundation

/// What happened to an object or a section of a fetched results controller.
public enum NSFetchedResultsChangeType: UInt, Sendable {
  /// It is new in the results.
  case insert = 1
  /// It is no longer in the results.
  case delete = 2
  /// It has another position among the objects that did not move. Both index paths may be equal, if others have moved
  /// past it.
  case move = 3
  /// It has changed, and kept its position among the objects that did not move. Others may have changed its index path.
  case update = 4
}

/// One section of a fetched results controller.
public protocol NSFetchedResultsSectionInfo {
  /// The value of the controller's `sectionNameKeyPath` as text; empty without one.
  var name: String { get }
  /// The title of the section in an index: the first letter of its name, upper case, unless the delegate returns
  /// another one.
  var indexTitle: String? { get }
  /// The number of objects in the section.
  var numberOfObjects: Int { get }
  /// The section's objects, in the order of the request.
  var objects: [Any]? { get }
}

/// Gets reports of the changes in the results of a controller. Every function is optional.
///
/// The functions are called on the queue of the controller's context, after the controller has changed.
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
  /// A set of changes begins. The controller already has the new state.
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// An object was inserted, deleted, moved or changed. `indexPath` is its index path before all changes (nil for
  /// insertions), `newIndexPath` its index path after them (nil for deletions).
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

  /// A section was inserted or deleted. `sectionIndex` is its index after the changes for an insertion, before them for
  /// a deletion.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)

  /// The set of changes is complete.
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// All results, after a fetch and after each set of changes. A delegate that implements this function gets no other
  /// reports of changes.
  ///
  /// An object that is not saved yet has a temporary ID in the snapshot, which still leads to it after it is saved.
  /// https://developer.apple.com/documentation/coredata/nsfetchedresultscontrollerdelegate/controller(_:didchangecontentwith:)-4kezq
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: FetchedResultsSnapshot)

  /// All changes at once, for a controller without sections. A delegate that implements this function, and not the one
  /// for snapshots, gets no other reports of changes.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

  /// The index title of a section; nil for the default.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String?
}

extension NSFetchedResultsControllerDelegate {
  public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {}

  public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: FetchedResultsSnapshot
  ) { controller.tracker.takesSnapshots = false }

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) { controller.tracker.takesDifferences = false }

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? { nil }
}

extension IndexPath {
  /// The index path of an item of a section.
  public init(item: Int, section: Int) { self = [section, item] }
  /// The index path of a row of a section.
  public init(row: Int, section: Int) { self = [section, row] }
  /// The first index: that of the section.
  public var section: Int {
    get { self[0] }
    set { self[0] = newValue }
  }
  /// The second index: that of the item in its section. The path must have two indexes.
  public var item: Int {
    get { self[1] }
    set { self[1] = newValue }
  }
  /// The second index: that of the row in its section. The path must have two indexes.
  public var row: Int {
    get { self[1] }
    set { self[1] = newValue }
  }
}
