import Foundation

/// Keeps the results of a fetch, in sections, and reports to a delegate how they change with their context.
///
/// It is used on the queue of its context. It follows only the changes of that context: it shows saves of other
/// contexts once they are merged.
///
/// Delegates get a controller without the result type. It is another object. It is equal to this one by `==`, and by
/// `===` where both sides have a controller type; its `ObjectIdentifier` differs.
open class NSFetchedResultsController<ResultType: NSFetchRequestResult>: _FetchedResultsController {
  /// Makes a controller; ``performFetch()`` fills it.
  ///
  /// The request needs sort descriptors, or the program stops. With an empty array the objects are in the order of
  /// their IDs, new ones in the order of insertion. With `sectionNameKeyPath`, the first sort descriptor must keep the
  /// objects of a section together.
  ///
  /// With `cacheName`, a file in the user's caches folder keeps the names and sizes of the sections. So another
  /// ``performFetch()`` need not read the objects to divide them. The file is used as long as the model, the request,
  /// the key path and the files of the stores are the same; no cache has to be deleted. Section names that code
  /// computes must follow from stored values: a cache does not notice a change of the code, of the date or of the
  /// locale.
  ///
  /// These results are not cached:
  /// - those of a context with unsaved changes or a parent, or that had read objects before;
  /// - those of requests with blocks or comparators;
  /// - those of stores that keep everything in memory, of your own stores, and of files that changed in the last two
  ///   seconds.
  public init(
    fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    request = fetchRequest
    super.init(
      ResultsTracker(
        fetchRequest.retyped(as: (any NSFetchRequestResult).self), context, sectionNameKeyPath: sectionNameKeyPath,
        cacheName: name))
    tracker.owner = self
  }

  override init(_ tracker: ResultsTracker) {
    request = tracker.request.retyped()
    super.init(tracker)
  }

  private let request: NSFetchRequest<ResultType>
  /// What ``fetchedObjects`` has returned last, so that clients may call it for each row.
  private var listed: (layout: ResultsLayout, revision: Int, objects: [ResultType])?

  // MARK: The request

  /// The request that the controller was made with. Changes to it take effect at the next ``performFetch()``.
  open var fetchRequest: NSFetchRequest<ResultType> { request }
  /// The context that the objects are fetched in.
  open var managedObjectContext: NSManagedObjectContext { tracker.context }
  /// The key path whose values name the sections; nil for one section.
  open var sectionNameKeyPath: String? { tracker.sectionNameKeyPath }
  /// The name of the cache that the controller was made with; nil for none.
  open var cacheName: String? { tracker.cacheName }

  /// The object that changes are reported to. It is not kept alive. Without a delegate, the results stay as they were
  /// fetched.
  open var delegate: (any NSFetchedResultsControllerDelegate)? {
    get { tracker.delegate }
    set { tracker.delegate = newValue }
  }

  /// Deletes the cache with a name; with nil, all caches of this program.
  open class func deleteCache(withName name: String?) { SectionCache.remove(name) }

  // MARK: Results

  /// Runs the fetch. After an error the former results stay.
  ///
  /// - Throws: The error of the fetch; 134091 where it does not fetch objects; 134060 where the order of the results
  ///   does not keep the objects of a section together.
  open func performFetch() throws { try tracker.performFetch() }

  /// The results in their order; nil before ``performFetch()``.
  ///
  /// An object of another class than `ResultType` stops the program.
  open var fetchedObjects: [ResultType]? {
    guard let layout = tracker.layout else { return nil }
    if let listed, listed.layout === layout, listed.revision == layout.revision { return listed.objects }
    let objects = layout.objects.map { object in
      guard let typed = object as? ResultType else {
        misuse("A fetched object is a \(type(of: object)), not a \(ResultType.self); check the entity's class.")
      }
      return typed
    }
    listed = (layout, layout.revision, objects)
    return objects
  }

  /// The object at an index path. An index path outside of the results stops the program.
  open func object(at indexPath: IndexPath) -> ResultType {
    guard let object = tracker.object(at: indexPath) as? ResultType else {
      misuse("The object at \(indexPath) is not a \(ResultType.self).")
    }
    return object
  }

  /// The index path of an object; nil for an object that is not in the results.
  open func indexPath(forObject object: ResultType) -> IndexPath? {
    (object as? NSManagedObject).flatMap { tracker.layout?.indexPath(of: $0) }
  }

  // MARK: Sections

  /// The sections; nil before ``performFetch()``. There is one section without `sectionNameKeyPath`.
  open var sections: [any NSFetchedResultsSectionInfo]? { tracker.layout?.sections }

  /// The index titles of all sections, each once, in the order of the sections. Empty before ``performFetch()``.
  open var sectionIndexTitles: [String] {
    var seen: Set<String> = []
    return (tracker.layout?.sections ?? []).compactMap(\.indexTitle).filter { seen.insert($0).inserted }
  }

  /// The title of a section in an index: its first letter in upper case.
  open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    sectionName.first.map { String($0).uppercased() }
  }

  /// The number of the first section that has the index title. An unknown title stops the program. `sectionIndex` is
  /// not used.
  open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    let sections = tracker.layout?.sections ?? []
    guard let found = sections.firstIndex(where: { $0.indexTitle == title }) else {
      misuse("No section has the index title \(title).")
    }
    return found
  }
}

extension ResultsTracker {
  func object(at indexPath: IndexPath) -> NSManagedObject {
    guard let object = layout?.object(at: indexPath) else {
      misuse(
        layout == nil
          ? "The controller has no objects yet; call performFetch() first." : "No object at index path \(indexPath).")
    }
    return object
  }
}
