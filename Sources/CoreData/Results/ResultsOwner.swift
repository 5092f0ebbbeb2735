import Foundation

/// A fetched results controller of any result type.
protocol ResultsOwner: AnyObject {
  var tracker: ResultsTracker { get }
  var erasedObjects: [any NSFetchRequestResult]? { get }
  func erasedObject(at indexPath: IndexPath) -> any NSFetchRequestResult
  func performFetch() throws
  var sections: [any NSFetchedResultsSectionInfo]? { get }
  var sectionIndexTitles: [String] { get }
  func sectionIndexTitle(forSectionName sectionName: String) -> String?
  func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int
}

extension NSFetchedResultsController: ResultsOwner {
  var erasedObjects: [any NSFetchRequestResult]? { fetchedObjects?.map { $0 as any NSFetchRequestResult } }
  func erasedObject(at indexPath: IndexPath) -> any NSFetchRequestResult { object(at: indexPath) }
}

/// A controller as its delegate sees it. It forwards calls to the controller, so overrides of a subclass are used.
final class ErasedResultsController: NSFetchedResultsController<any NSFetchRequestResult> {
  private let owner: any ResultsOwner

  init(_ owner: any ResultsOwner) {
    self.owner = owner
    super.init(owner.tracker)
  }

  override var fetchedObjects: [any NSFetchRequestResult]? { owner.erasedObjects }
  override func object(at indexPath: IndexPath) -> any NSFetchRequestResult { owner.erasedObject(at: indexPath) }
  override func performFetch() throws { try owner.performFetch() }
  override var sections: [any NSFetchedResultsSectionInfo]? { owner.sections }
  override var sectionIndexTitles: [String] { owner.sectionIndexTitles }
  override func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    owner.sectionIndexTitle(forSectionName: sectionName)
  }
  override func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    owner.section(forSectionIndexTitle: title, at: sectionIndex)
  }
}

extension ResultsTracker {
  /// The controller as it is passed to delegates; nil once the controller is gone.
  var erased: NSFetchedResultsController<any NSFetchRequestResult>? {
    guard let owner else { return nil }
    if let own = owner as? NSFetchedResultsController<any NSFetchRequestResult> { return own }
    if let view { return view }
    let made = ErasedResultsController(owner)
    view = made
    return made
  }
}

/// The common base of controllers of every result type: their identity.
open class _FetchedResultsController: NSObject {
  final let tracker: ResultsTracker

  init(_ tracker: ResultsTracker) {
    self.tracker = tracker
    super.init()
  }

  /// Whether both are the same controller, with or without the result type.
  open override func isEqual(_ object: Any?) -> Bool { (object as? _FetchedResultsController)?.tracker === tracker }
  open override var hash: Int { ObjectIdentifier(tracker).hashValue }
}

/// Whether both are the same controller, with or without the result type.
public func === (_ a: _FetchedResultsController?, _ b: _FetchedResultsController?) -> Bool {
  a?.tracker === b?.tracker
}

/// Whether both are different controllers.
public func !== (_ a: _FetchedResultsController?, _ b: _FetchedResultsController?) -> Bool {
  a?.tracker !== b?.tracker
}
