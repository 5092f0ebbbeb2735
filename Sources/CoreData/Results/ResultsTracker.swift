import Foundation

/// The working part of a fetched results controller, without its result type.
///
/// Sendable, unchecked: used on its context's queue, where the context posts its notifications.
final class ResultsTracker: @unchecked Sendable {
  let request: NSFetchRequest<any NSFetchRequestResult>
  let context: NSManagedObjectContext
  let sectionNameKeyPath: String?
  let cacheName: String?
  weak var delegate: (any NSFetchedResultsControllerDelegate)? {
    didSet { (takesSnapshots, takesDifferences) = (true, true) }
  }
  /// Whether the delegate implements the function for a snapshot. The default of that function sets it to false.
  var takesSnapshots = true
  /// The same for a difference.
  var takesDifferences = true
  private(set) var layout: ResultsLayout?
  /// Whether changes were not followed since the results were fetched.
  private var isObsolete = false
  /// Whether the objects of these changes are not known. Then only a fetch finds the results.
  private var isUnknown = false
  /// Whether the results are being computed. Code of the client that this calls, for example to name a section, may end
  /// an event. That event is not followed by itself: the results are computed once more.
  private var isComputing = false
  /// Objects of changes that were not followed. They are reported with the next ones.
  private var missed: Set<NSManagedObject> = []
  /// Called when a reset of the context has removed all results.
  var didReset: (() -> Void)?
  /// A copy of the request at the last fetch. It decides which later changes belong to the results.
  private var fetched: FetchParameters?
  private var observer: (any NSObjectProtocol)?
  /// Changes that the delegate has not been called with yet.
  private var waiting: [ResultsChanges] = []
  private var isTelling = false
  /// The numbers of the announcements, among those that are being posted, that the results have followed.
  private var handled: Set<Int> = []
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
    defer { context.core.announceRefetched(parameters) }
    let cache = cache(parameters)
    // Objects that were read earlier may have other values than their store.
    let isFresh = cache != nil && context.core.registry.all.allSatisfy(\.flags.isFault)
    if observer == nil { observe() }
    layout = try computing {
      try computeTwice { try context.core.keepingRowsOfParent { try results(parameters, cache, isFresh: isFresh) } }
    }
    (fetched, waiting) = (parameters, [])
    if !isObsolete { missed = [] }
    tellSnapshot(reloaded: [])
  }

  /// Runs `body`, which computes the results.
  private func computing<T>(_ body: () throws -> T) rethrows -> T {
    let former = isComputing
    isComputing = true
    defer { isComputing = former }
    return try body()
  }

  /// Runs `body`, which finds the results and names their sections. Runs it once more where code of the client has
  /// ended an event meanwhile. If that happens again, the next event computes the results anew, as after an error.
  private func computeTwice<T>(_ body: () throws -> T) throws -> T {
    let wasUnknown = isUnknown
    do {
      let found = try body()
      return isObsolete ? try body() : found
    } catch {
      (isObsolete, isUnknown) = (true, wasUnknown)
      throw error
    }
  }

  private func results(_ parameters: FetchParameters, _ cache: SectionCache?, isFresh: Bool) throws -> ResultsLayout {
    let objects = try context.core.fetchObjects(parameters)
    (isObsolete, isUnknown) = (false, false)
    if let cache, let names = cache.names(of: objects), self.cache(parameters) == cache {
      return ResultsLayout(objects, names: names, title: title)
    }
    // The section names must be computed from the same rows as the order.
    let layout = context.core.keepingRows { self.layout(of: objects) }
    try check(layout)
    // What was saved meanwhile may be in the results, or not.
    if let cache, isFresh, !isObsolete, self.cache(parameters) == cache { cache.keep(layout) }
    return layout
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

  private func cache(_ parameters: FetchParameters) -> SectionCache? {
    guard let cacheName, let sectionNameKeyPath else { return nil }
    return SectionCache(cacheName, parameters, sectionNameKeyPath: sectionNameKeyPath, context.core)
  }

  private func observe() {
    observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
    ) { [weak self] notification in self?.contextDidChange(notification.userInfo ?? [:]) }
  }

  private func layout(of objects: [NSManagedObject]) -> ResultsLayout {
    ResultsLayout(
      objects, names: sectionNameKeyPath.map { path in objects.map { Self.name(of: $0, path) } }, title: title)
  }

  private func name(of object: NSManagedObject) -> String {
    sectionNameKeyPath.map { Self.name(of: object, $0) } ?? ""
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

  /// The index title of a section name. It does not hold the tracker, which holds the sections.
  private var title: (String) -> String? { { [weak self] name in self?.indexTitle(name) } }

  private func indexTitle(_ name: String) -> String? {
    if let controller = erased,
      let own = delegate?.controller(controller, sectionIndexTitleForSectionName: name)
    {
      return own
    }
    return owner?.sectionIndexTitle(forSectionName: name)
  }

  // MARK: Changes

  private func contextDidChange(_ userInfo: [AnyHashable: Any]) {
    if layout == nil && !isComputing { return }
    if userInfo[NSInvalidatedAllObjectsKey] != nil {
      (layout, waiting, missed) = (layout(of: []), [], [])
      (isObsolete, isUnknown) = (isComputing, isComputing)
      didReset?()
      return
    }
    // Without a delegate, changes are not followed.
    if delegate == nil { return (isObsolete, isUnknown) = (true, true) }
    func objects(_ keys: String...) -> Set<NSManagedObject> {
      keys.reduce(into: []) { $0.formUnion(userInfo[$1] as? Set<NSManagedObject> ?? []) }
    }
    var announced = objects(
      NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey, NSDeletedObjectsKey, NSInvalidatedObjectsKey)
    if isComputing {
      isObsolete = true
      return missed.formUnion(announced)
    }
    announced.formUnion(misplaced())
    announced.formUnion(missed)
    missed = []
    // Another observer may have deleted an object since, or taken its deletion back, and that may be announced already.
    let changed = announced.filter(context.core.exists)
    do {
      if let changes = try computing({ try follow(changed, announced.subtracting(changed)) }) { tell(changes) }
    } catch {
      // A notification cannot throw. The results stay unchanged until the next event or fetch.
      isObsolete = true
      missed.formUnion(changed)
      report("fetched results could not be updated after a change: \(error)")
    }
    if let fetched { context.core.announceRefetched(fetched) }
  }

  /// Results that may have other values than when they got their positions, because of changes that this controller has
  /// not been notified of yet: those of observers since the event ended, and those of an event around this one. They
  /// would mislead the search for positions.
  private func misplaced() -> Set<NSManagedObject> {
    guard let layout else { return [] }
    var found: Set<NSManagedObject> = []
    let announcements = context.core.activity.announcements
    handled.formIntersection(announcements.map(\.number))
    for (number, sets) in announcements where handled.insert(number).inserted {
      for case let objects as Set<NSManagedObject> in sets.values { found.formUnion(objects.filter(layout.contains)) }
    }
    context.core.changes.list.pending.forEachUncounted { if layout.contains($0) { found.insert($0) } }
    return found
  }

  /// Changes the results. Returns what has changed; nil for nothing.
  private func follow(_ changed: Set<NSManagedObject>, _ deleted: Set<NSManagedObject>) throws -> ResultsChanges? {
    guard let fetched else { return nil }
    if isObsolete { return try computeAgain(changed) }
    guard let layout else { return nil }
    let matching = try context.core.matching(changed, fetched)
    let precedes = try context.core.order(fetched)
    // The change of another object may have given an object another section, and so another position.
    let renamed = renamed(layout, besides: deleted.union(changed))
    // The change of another object may also give an object another position in its section.
    let isOfOthers = changed.count > matching.count || !deleted.allSatisfy(layout.contains) || sortsByItsOwnKind
    if isOfOthers && sortsByOthers && !layout.isOrdered(besides: changed.union(deleted).union(renamed), by: precedes) {
      return try computeAgain(changed)
    }
    if isReplaced(layout) { return try computeAgain(changed.union(renamed)) }
    // No changed object is in the old or the new results.
    if matching.isEmpty && renamed.isEmpty && !changed.contains(where: layout.contains)
      && !deleted.contains(where: layout.contains)
    {
      return nil
    }
    let come = try context.core.sorted(matching + renamed, fetched)
    let names = come.map(name)
    if isReplaced(layout) { return try computeAgain(changed.union(renamed)) }
    let former = layout.former(of: deleted.union(changed).union(renamed))
    let formerSections = layout.sections
    for old in former { layout.remove(old.object) }
    layout.removeEmptySections()
    for (index, object) in come.enumerated() {
      // Otherwise the objects that did not change are no longer in the order of their values either.
      if layout.insert(object, name: names[index], where: precedes) && !isObsolete { continue }
      layout.restore(formerSections, former, without: Array(come[...index]))
      return try computeAgain(changed.union(renamed))
    }
    return ResultsChanges(former, formerSections, come, in: layout)
  }

  /// Whether code of the client has ended an event, or has fetched, while the results were computed.
  private func isReplaced(_ former: ResultsLayout) -> Bool { isObsolete || layout !== former }

  /// Computes the results anew, and returns the differences. `changed` are the objects whose values may have changed.
  private func computeAgain(_ changed: Set<NSManagedObject>) throws -> ResultsChanges? {
    guard let fetched else { return nil }
    let (objects, new) = try computeTwice {
      // The section names must be computed from the same rows as the order.
      try context.core.keepingRowsOfParent {
        let objects = try present(fetched, changed.union(missed))
        (isObsolete, isUnknown) = (false, false)
        let new = layout(of: objects)
        try check(new)
        return (objects, new)
      }
    }
    guard let old = layout else { return nil }
    let changed = changed.union(missed)
    (layout, missed) = (new, [])
    return ResultsChanges(old.former(of: Set(old.objects)), old.sections, objects, in: new)
      .without(updatesBesides: changed)
  }

  /// The results now: of the former ones and the changed objects, those that match. A fetch would find what other
  /// contexts have saved. It is made only where the changed objects are not known. A limit or an offset counts only at
  /// a fetch by the client.
  private func present(_ fetched: FetchParameters, _ changed: Set<NSManagedObject>) throws -> [NSManagedObject] {
    if isUnknown && fetched.fetchLimit == 0 && fetched.fetchOffset == 0 {
      return try context.core.fetchObjects(fetched)
    }
    return try context.core.sorted(context.core.matching(changed.union(layout?.objects ?? []), fetched), fetched)
  }

  /// Whether a sort key may depend on other objects.
  private var sortsByOthers: Bool {
    !(fetched?.sortDescriptors ?? []).allSatisfy { $0.key.map(isStored) ?? false }
  }

  /// Whether these may be objects of the fetched entity itself, as folders that are in folders.
  private var sortsByItsOwnKind: Bool {
    guard let entity = fetched?.entityName.flatMap({ context.model?.entitiesByName[$0] }) else { return false }
    return (fetched?.sortDescriptors ?? []).contains { $0.key.map { Self.mayLead(from: entity, $0) } ?? true }
  }

  /// Whether a key path may lead from an entity to values of other objects of the entity. A transient value may follow
  /// from any object.
  private static func mayLead(from entity: NSEntityDescription, _ path: String) -> Bool {
    var source = entity
    for step in path.split(separator: ".").map(String.init) {
      if let attribute = source.attributesByName[step] { return attribute.isTransient }
      guard let next = source.relationshipsByName[step]?.destinationEntity else { return true }
      if root(next) === root(entity) { return true }
      source = next
    }
    return true
  }

  private static func root(_ entity: NSEntityDescription) -> NSEntityDescription {
    var root = entity
    while let parent = root.superentity { root = parent }
    return root
  }

  /// The objects whose section name has changed.
  private func renamed(_ old: ResultsLayout, besides changed: Set<NSManagedObject>) -> [NSManagedObject] {
    guard let path = sectionNameKeyPath, !isStored(path) else { return [] }
    return old.sections.flatMap { section in
      section.order.objects.filter { !changed.contains($0) && !section.isNamed(Self.name(of: $0, path)) }
    }
  }

  /// Whether a key is a stored attribute, which changes only together with its object.
  private func isStored(_ key: String) -> Bool {
    fetched?.entityName.flatMap { context.model?.entitiesByName[$0]?.attributesByName[key] }?.isTransient == false
  }

  private func tellSnapshot(reloaded: @autoclosure () -> [NSManagedObject]) {
    guard takesSnapshots, let controller = erased, let delegate, let layout else { return }
    delegate.controller(
      controller, didChangeContentWith: FetchedResultsSnapshot(layout, reloaded: reloaded()))
  }

  /// Passes changes on to the delegate. Changes that come while it is called wait, because their index paths are of a
  /// later state.
  private func tell(_ changes: ResultsChanges) {
    if changes.isEmpty { return }
    waiting.append(changes)
    if isTelling { return }
    isTelling = true
    defer { isTelling = false }
    while !waiting.isEmpty { passOn(waiting.removeFirst()) }
  }

  private func passOn(_ changes: ResultsChanges) {
    guard let controller = erased, let delegate else { return }
    let reloaded = changes.objects.filter { $0.from != nil && $0.to != nil }.map(\.object)
    // An object may have left the results since.
    tellSnapshot(reloaded: reloaded.filter { layout?.contains($0) == true })
    if takesSnapshots { return }
    if sectionNameKeyPath == nil && takesDifferences {
      delegate.controller(controller, didChangeContentWith: changes.difference)
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
