import Foundation

/// The working part of a fetched results controller, without its result type.
///
/// Sendable, unchecked: used on its context's queue, where the context posts its notifications.
final class ResultsTracker: @unchecked Sendable {
  let request: NSFetchRequest<any NSFetchRequestResult>
  let context: NSManagedObjectContext
  let sectionNameKeyPath: String?
  let cacheName: String?
  weak var delegate: (any NSFetchedResultsControllerDelegate)? { didSet { takesDifferences = true } }
  /// Whether the delegate implements the function for a difference. The default of that function sets it to false.
  var takesDifferences = true
  private(set) var layout: ResultsLayout?
  /// A copy of the request at the last fetch. Changes are followed by it.
  private var fetched: FetchParameters?
  private var observer: (any NSObjectProtocol)?
  weak var owner: (any ResultsOwner)?
  /// The controller as its delegate sees it, while it is in use.
  weak var view: NSFetchedResultsController<any NSFetchRequestResult>?

  init(
    _ request: NSFetchRequest<any NSFetchRequestResult>, _ context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName: String?
  ) {
    if request.content.sortDescriptors == nil {
      misuse("An NSFetchedResultsController requires a fetch request with sort descriptors; the array may be empty.")
    }
    self.request = request
    self.context = context
    self.sectionNameKeyPath = sectionNameKeyPath
    self.cacheName = cacheName
  }

  deinit { observer.map(NotificationCenter.default.removeObserver) }

  func performFetch() throws {
    guard request.content.resultType == .managedObjectResultType else {
      throw CocoaError(
        .persistentStoreUnsupportedRequestType,
        userInfo: [NSLocalizedDescriptionKey: "A fetched results controller supports managed objects only."])
    }
    let parameters = request.erased
    let objects = try context.core.fetchObjects(parameters)
    // The section names must be computed from the same rows as the order.
    let layout = context.core.keepingRows { self.layout(of: objects) }
    try check(layout)
    (self.layout, fetched) = (layout, parameters)
    if observer == nil { observe() }
  }

  private func check(_ layout: ResultsLayout) throws {
    guard let torn = layout.tornSection else { return }
    throw CocoaError(
      .coreData,
      userInfo: [
        NSLocalizedDescriptionKey:
          "The objects of the section '\(torn)' are not adjacent in the results; let the first sort descriptor sort by \(sectionNameKeyPath ?? "the section")."
      ])
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
    switch value {
    case let text as String: return text
    case let number as NSNumber: return whole(number.stringValue)
    default: return "\(value)"
    }
  }

  /// Removes the fraction `.0`, as `NSNumber` of Apple's platforms describes whole numbers.
  private static func whole(_ text: String) -> String { text.hasSuffix(".0") ? String(text.dropLast(2)) : text }

  func indexTitle(_ name: String) -> String? {
    if let controller = erased,
      let own = delegate?.controller(controller, sectionIndexTitleForSectionName: name)
    {
      return own
    }
    return owner?.sectionIndexTitle(forSectionName: name)
  }

  // MARK: Changes

  private func contextDidChange(_ userInfo: [AnyHashable: Any]) {
    // Without a delegate, changes are not followed.
    guard let old = layout, delegate != nil else { return }
    if userInfo[NSInvalidatedAllObjectsKey] != nil { return layout = layout(of: []) }
    func objects(_ keys: String...) -> Set<NSManagedObject> {
      keys.reduce(into: []) { $0.formUnion(userInfo[$1] as? Set<NSManagedObject> ?? []) }
    }
    let deleted = objects(NSDeletedObjectsKey, NSInvalidatedObjectsKey)
    let changed = objects(NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey).subtracting(deleted)
    do { try follow(old, changed, deleted) } catch {
      // A notification cannot throw. The results stay unchanged until the next fetch.
      report("fetched results could not be updated after a change: \(error)")
    }
  }

  private func follow(
    _ old: ResultsLayout, _ changed: Set<NSManagedObject>, _ deleted: Set<NSManagedObject>
  ) throws {
    guard let fetched else { return }
    let matching = try context.core.matching(changed, fetched)
    // No changed object is in the old or the new results.
    if matching.isEmpty && !changed.contains(where: old.contains) && !deleted.contains(where: old.contains) { return }
    var touched = changed
    // The change of another object may have given an object another section, and so another position.
    touched.formUnion(renamed(old, besides: deleted))
    let rest = old.objects.filter { !deleted.contains($0) && !changed.contains($0) }
    let kept = rest.filter { !touched.contains($0) }
    var new = layout(of: try context.core.merged(kept, with: matching + rest.filter(touched.contains), fetched))
    if new.tornSection != nil {
      // The other objects are no longer in the order of their values either.
      touched.formUnion(rest)
      new = layout(of: try context.core.merged([], with: matching + rest, fetched))
      try check(new)
    }
    let changes = ResultsChanges(from: old, to: new, touched: touched)
    layout = new
    if !changes.isEmpty { tell(changes, old) }
  }

  /// The objects whose section name has changed.
  private func renamed(_ old: ResultsLayout, besides deleted: Set<NSManagedObject>) -> [NSManagedObject] {
    guard let path = sectionNameKeyPath, !isStored(path) else { return [] }
    return old.sections.flatMap { section in
      section.members.filter { !deleted.contains($0) && Self.name(of: $0, path) != section.name }
    }
  }

  /// Whether a key is a stored attribute, which changes only together with its object.
  private func isStored(_ key: String) -> Bool {
    fetched?.entityName.flatMap { context.model?.entitiesByName[$0]?.attributesByName[key] }?.isTransient == false
  }

  private func tell(_ changes: ResultsChanges, _ old: ResultsLayout) {
    guard let controller = erased, let delegate, let new = layout else { return }
    if sectionNameKeyPath == nil && takesDifferences {
      delegate.controller(controller, didChangeContentWith: ResultsDifference.make(from: old, to: new))
      if takesDifferences { return }
    }
    delegate.controllerWillChangeContent(controller)
    for change in changes.sections where sectionNameKeyPath != nil {
      // A deleted section is passed without objects, as observed on Apple's platforms.
      let section = change.type == .delete ? change.section.emptied : change.section
      delegate.controller(controller, didChange: section, atSectionIndex: change.index, for: change.type)
    }
    for change in changes.objects {
      delegate.controller(
        controller, didChange: change.object, at: change.from, for: change.type, newIndexPath: change.to)
    }
    delegate.controllerDidChangeContent(controller)
  }
}
