import Foundation

/// The working part of a fetched results controller, without its result type.
///
/// Sendable, unchecked: used on its context's queue, where the context posts its notifications.
final class ResultsTracker: @unchecked Sendable {
  let request: NSFetchRequest<any NSFetchRequestResult>
  let context: NSManagedObjectContext
  let sectionNameKeyPath: String?
  let cacheName: String?
  weak var delegate: (any NSFetchedResultsControllerDelegate)?
  /// Set false by the delegate's default function, which shows that it has none of its own.
  var takesDifferences = true
  private(set) var layout: ResultsLayout?
  private var observer: (any NSObjectProtocol)?
  /// The controller as delegates see it.
  var erased: () -> NSFetchedResultsController<any NSFetchRequestResult>? = { nil }

  init(
    _ request: NSFetchRequest<any NSFetchRequestResult>, _ context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName: String?
  ) {
    if (request.sortDescriptors ?? []).isEmpty {
      misuse("An NSFetchedResultsController requires a fetch request with sort descriptors.")
    }
    self.request = request
    self.context = context
    self.sectionNameKeyPath = sectionNameKeyPath
    self.cacheName = cacheName
  }

  deinit { observer.map(NotificationCenter.default.removeObserver) }

  func performFetch() throws {
    guard request.resultType == .managedObjectResultType else {
      throw CocoaError(
        .persistentStoreUnsupportedRequestType,
        userInfo: [NSLocalizedDescriptionKey: "A fetched results controller gives managed objects only, so far."])
    }
    let objects = try context.core.fetchObjects(request.erased)
    let layout = layout(of: objects)
    if let torn = layout.tornSection {
      throw CocoaError(
        .coreData,
        userInfo: [
          NSLocalizedDescriptionKey:
            "The section '\(torn)' stands in several places of the results; let the first sort descriptor sort by \(sectionNameKeyPath ?? "the section")."
        ])
    }
    self.layout = layout
    if observer == nil { observe() }
  }

  private func observe() {
    observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
    ) { [weak self] notification in self?.contextDidChange(notification.userInfo ?? [:]) }
  }

  private func layout(of objects: [NSManagedObject]) -> ResultsLayout {
    ResultsLayout(objects, names: sectionNameKeyPath.map { path in { Self.name(of: $0, path) } }, title: indexTitle)
  }

  private static func name(of object: NSManagedObject, _ path: String) -> String {
    guard let value = AttributeCoding.flattened(object.value(forKeyPath: path)) else { return "" }
    return value as? String ?? "\(value)"
  }

  func indexTitle(_ name: String) -> String? {
    if let controller = erased(),
      let own = delegate?.controller(controller, sectionIndexTitleForSectionName: name)
    {
      return own
    }
    return name.first.map { String($0).uppercased() }
  }

  // MARK: Changes

  private func contextDidChange(_ userInfo: [AnyHashable: Any]) {
    // Without a delegate nobody would learn of changes, and none are followed.
    guard let old = layout, delegate != nil else { return }
    if userInfo[NSInvalidatedAllObjectsKey] != nil { return layout = .empty }
    func objects(_ keys: String...) -> Set<NSManagedObject> {
      keys.reduce(into: []) { $0.formUnion(userInfo[$1] as? Set<NSManagedObject> ?? []) }
    }
    let deleted = objects(NSDeletedObjectsKey, NSInvalidatedObjectsKey)
    let changed = objects(NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey).subtracting(deleted)
    guard let matching = try? context.core.matching(changed, request.erased) else { return }
    // Nothing of what changed was or is among the results.
    if matching.isEmpty && !changed.contains(where: old.contains) && !deleted.contains(where: old.contains) { return }
    let kept = old.objects.filter { !deleted.contains($0) && !changed.contains($0) }
    guard let merged = try? context.core.merged(kept, with: matching, request.erased) else { return }
    let new = layout(of: merged)
    let changes = ResultsChanges(from: old, to: new, touched: changed)
    layout = new
    if !changes.isEmpty { tell(changes, old) }
  }

  private func tell(_ changes: ResultsChanges, _ old: ResultsLayout) {
    guard let controller = erased(), let delegate, let new = layout else { return }
    if sectionNameKeyPath == nil {
      let difference = new.objects.map(\.objectID).difference(from: old.objects.map(\.objectID))
      takesDifferences = true
      delegate.controller(controller, didChangeContentWith: difference)
      if takesDifferences { return }
    }
    delegate.controllerWillChangeContent(controller)
    for change in changes.sections where sectionNameKeyPath != nil {
      delegate.controller(controller, didChange: change.section, atSectionIndex: change.index, for: change.type)
    }
    for change in changes.objects {
      delegate.controller(
        controller, didChange: change.object, at: change.from, for: change.type, newIndexPath: change.to)
    }
    delegate.controllerDidChangeContent(controller)
  }
}
