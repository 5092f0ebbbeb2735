import Foundation
import TestSupport

@testable import CoreData

/// Runs a program on a chain of contexts and on plain values, and compares them after each step.
///
/// What a context shows of objects that others have changed meanwhile depends on what it has read before. So a context
/// is changed only while those below it have no changes, and these are refreshed then.
final class GraphRun {
  struct Divergence: Error { let text: String }

  private let folder: StoreFolder
  private let levels: Int
  private var contexts: [NSManagedObjectContext] = []
  private var announced: [AnnouncedObjects] = []
  private var manager = UndoManager()
  private var states: [PlainGraph] = []
  private var store = PlainGraph()
  /// The states of the last level before each event that can be undone, and after each that can be redone.
  private var (past, future): ([PlainGraph], [PlainGraph]) = ([], [])
  private var inserted = 0

  private var last: Int { levels - 1 }

  /// The first step after which a context shows something else than it must; nil for none.
  static func divergence(_ program: [GraphOperation], levels: Int) throws -> (step: Int, text: String)? {
    let run = try GraphRun(levels: levels)
    defer { run.folder.remove() }
    for (step, operation) in program.enumerated() {
      do {
        try run.perform(operation)
        try run.compare(step % 40 == 39 || step + 1 == program.count)
      } catch let divergence as Divergence { return (step, divergence.text) } catch { return (step, "\(error)") }
    }
    return nil
  }

  private init(levels: Int) throws {
    self.levels = levels
    folder = try StoreFolder("walk")
    try open()
  }

  // MARK: Contexts

  private func open() throws {
    let coordinator = try coordinator()
    contexts = []
    for _ in 0..<levels {
      let next = NSManagedObjectContext(.privateQueue)
      if let parent = contexts.last { next.parent = parent } else { next.persistentStoreCoordinator = coordinator }
      contexts.append(next)
    }
    announced = contexts.map(AnnouncedObjects.init)
    manager = UndoManager()
    contexts[last].performAndWait { contexts[last].undoManager = manager }
    states = Array(repeating: store, count: levels)
    forgetUndo()
  }

  private func coordinator() throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: UndoStack.model)
    try coordinator.addPersistentStore(type: .sqlite, at: folder.url)
    return coordinator
  }

  /// Runs `body` in a context of another coordinator on the same file.
  private func elsewhere<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = try coordinator()
    return try context.performAndWait { try body(context) }
  }

  private func on<T>(_ level: Int, _ body: (NSManagedObjectContext) throws -> T) rethrows -> T {
    try contexts[level].performAndWait { try body(contexts[level]) }
  }

  private func hasChanges(_ level: Int) -> Bool { on(level) { $0.hasChanges } }

  /// Whether the contexts below have no changes. Then they show what this one shows.
  private func isClean(below level: Int) throws -> Bool {
    for below in (level + 1)..<max(level + 1, levels) {
      if hasChanges(below) { return false }
      if states[below] != states[below - 1] {
        throw Divergence(text: "level \(below) shows other values than its parent and has no changes")
      }
    }
    return true
  }

  /// Makes the contexts below show what this one shows.
  private func update(below level: Int) {
    for below in (level + 1)..<max(level + 1, levels) {
      on(below) { $0.refreshAllObjects() }
      states[below] = states[level]
    }
    if level < last {
      on(last) { _ in manager.removeAllActions() }
      forgetUndo()
    }
  }

  private func forgetUndo() { (past, future) = ([], []) }

  // MARK: Steps

  private func perform(_ operation: GraphOperation) throws {
    switch operation {
    case .event(let level, let edits): if level < levels, try isClean(below: level) { try event(level, edits) }
    case .undo:
      on(last) { context in
        context.undo()
        context.processPendingChanges()
      }
      if let state = past.popLast() { (states[last], future) = (state, future + [states[last]]) }
    case .redo:
      on(last) { context in
        context.redo()
        context.processPendingChanges()
      }
      if let state = future.popLast() { (states[last], past) = (state, past + [states[last]]) }
    case .save(let level): if level < levels { try save(level) }
    case .saveAll: for level in (0..<levels).reversed() { try save(level) }
    case .refresh(let level): if level < levels { on(level) { $0.refreshAllObjects() } }
    case .rollback(let level): if level < levels, try isClean(below: level) { discard(level) { $0.rollback() } }
    case .reset(let level): if level < levels, try isClean(below: level) { discard(level) { $0.reset() } }
    case .elsewhere(let edit): try change(elsewhere: edit)
    case .conflict(let item): if !(0..<levels).contains(where: hasChanges) { try conflict(item) }
    case .reopen: try open()
    }
  }

  private func event(_ level: Int, _ edits: [GraphEdit]) throws {
    let before = states[level]
    var state = before
    try on(level) { context in
      var items = try Self.items(context)
      for edit in edits { apply(edit, &state, context, &items) }
      context.processPendingChanges()
    }
    states[level] = state
    if level == last && state != before { (past, future) = (past + [before], []) }
    update(below: level)
  }

  private func save(_ level: Int) throws {
    try on(level) { try $0.save() }
    if level == 0 { store = states[0] } else { states[level - 1] = states[level] }
  }

  private func discard(_ level: Int, _ body: (NSManagedObjectContext) -> Void) {
    on(level, body)
    states[level] = level == 0 ? store : states[level - 1]
    if level == last { forgetUndo() }
    update(below: level)
  }

  /// Another coordinator changes an item that no context here has changed, and that is merged.
  private func change(elsewhere edit: GraphEdit) throws {
    var pending = states.reduce(into: Set<String>()) { $0.formUnion($1.differing(from: store)) }
    // An item that was deleted and inserted again is another one, with the same values.
    for level in 0..<levels {
      on(level) { context in
        for item in context.insertedObjects.union(context.deletedObjects)
          .union(context.updatedObjects.filter(\.hasPersistentChangedValues))
        {
          if let name = item.value(forKey: "name") as? String { pending.insert(name) }
        }
      }
    }
    let names = store.names
    func name(_ item: Int) -> String? { names.isEmpty ? nil : names[item % names.count] }
    func free(_ item: Int) -> String? { name(item).flatMap { pending.contains($0) ? nil : $0 } }
    switch edit {
    case .insert: break
    case .number(let item, _), .text(let item, _): if free(item) == nil { return }
    case .owner(let item, let other):
      guard let own = free(item) else { return }
      let linked = [other.flatMap(name), store[own].owner].compactMap { $0 }
      if !pending.isDisjoint(with: linked) { return }
    case .friends(let item, let others):
      guard let own = free(item) else { return }
      if !pending.isDisjoint(with: store[own].friends.union(others.compactMap(name))) { return }
    case .delete(let item):
      // Without links, so that no other item changes.
      var without = store
      guard let name = free(item) else { return }
      without.delete(name)
      if without.differing(from: store) != [name] { return }
    default: return
    }
    let former = store
    let content = try elsewhere { context in
      var items = try Self.items(context)
      apply(edit, &store, context, &items)
      if store == former { return [AnyHashable: Any]() }
      try context.obtainPermanentIDs(for: Array(context.insertedObjects))
      let lists = [
        NSInsertedObjectsKey: context.insertedObjects, NSUpdatedObjectsKey: context.updatedObjects,
        NSDeletedObjectsKey: context.deletedObjects,
      ].mapValues { $0.map { $0.objectID.uriRepresentation() } }
      try context.save()
      return lists
    }
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: content, into: contexts)
    let changed = store.differing(from: former)
    for level in 0..<levels { states[level].take(changed, from: store) }
    on(last) { _ in manager.removeAllActions() }
    forgetUndo()
  }

  /// Two coordinators change an item. The second save must fail.
  private func conflict(_ item: Int) throws {
    guard let name = store.names.isEmpty ? nil : store.names[item % store.names.count] else { return }
    let number = (store[name].number ?? 0) + 1
    // Read before the other save.
    let item = try on(0) { try Self.items($0)[name] }
    try elsewhere { context in
      try Self.items(context)[name]?.setValue(number, forKey: "number")
      try context.save()
    }
    let error: CocoaError? = on(0) { context in
      item?.setValue(number + 1, forKey: "number")
      defer { context.rollback() }
      do { try context.save() } catch { return error as? CocoaError }
      return nil
    }
    if error?.code.rawValue != NSManagedObjectMergeError {
      throw Divergence(text: "the second save of \(name) was \(error.map { "\($0)" } ?? "made")")
    }
    on(0) { $0.refreshAllObjects() }
    store.set(name, number: number)
    states[0] = store
    update(below: 0)
    if levels == 1 { forgetUndo() }
  }

  // MARK: Edits

  /// Makes a change in a context and in its plain state. One that changes nothing is left out.
  private func apply(
    _ edit: GraphEdit, _ state: inout PlainGraph, _ context: NSManagedObjectContext,
    _ items: inout [String: NSManagedObject]
  ) {
    let names = state.names
    func name(_ index: Int?) -> String? { index.flatMap { names.isEmpty ? nil : names[$0 % names.count] } }
    func list(_ indexes: [Int]) -> [String] {
      indexes.compactMap(name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
    func object(_ name: String?) -> NSManagedObject? { name.flatMap { items[$0] } }
    if case .insert = edit {
      if names.count >= 10 { return }
      inserted += 1
      let name = "n\(inserted)"
      let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      item.setValue(name, forKey: "name")
      item.setValue("new", forKeyPath: "address.city")
      items[name] = item
      return state.insert(name)
    }
    guard let item = edit.item.flatMap(name), let target = items[item] else { return }
    switch edit {
    case .insert: return
    case .number(_, let value):
      if state[item].number == value { return }
      target.setValue(value, forKey: "number")
      state.set(item, number: value)
    case .text(_, let value):
      if state[item].text == "t\(value)" { return }
      target.setValue("t\(value)", forKeyPath: "address.city")
      state.set(item, text: "t\(value)")
    case .owner(_, let other):
      if state[item].owner == name(other) { return }
      target.setValue(object(name(other)), forKey: "owner")
      state.set(item, owner: name(other))
    case .parent(_, let other):
      let parent = name(other)
      if state[item].parent == parent || parent.map({ state.isBelow($0, item) }) ?? false { return }
      target.setValue(object(parent), forKey: "parent")
      state.set(item, parent: parent)
    case .friends(_, let others):
      let friends = Set(list(others))
      if state[item].friends == friends { return }
      target.setValue(NSSet(array: friends.compactMap { items[$0] }), forKey: "friends")
      state.set(item, friends: friends)
    case .queue(_, let others):
      let members = list(others)
      if state.queue(item) == members { return }
      target.setValue(NSOrderedSet(array: members.compactMap { items[$0] }), forKey: "queue")
      state.set(item, queue: members)
    case .lastFirst:
      let members = state.queue(item)
      guard members.count > 1, let last = members.last else { return }
      // Until the end of the event it may have members that are deleted.
      let queue = target.mutableOrderedSetValue(forKey: "queue")
      guard let object = items[last] else { return }
      queue.moveObjects(at: IndexSet(integer: queue.index(of: object)), to: 0)
      state.set(item, queue: [last] + members.dropLast())
    case .delete:
      context.delete(target)
      state.delete(item)
      for name in items.keys where !state.names.contains(name) { items[name] = nil }
    }
  }

  // MARK: Comparing

  private func compare(_ readsStore: Bool) throws {
    for level in 0..<levels {
      try compare(on(level, Self.shown), states[level], "level \(level)")
      if let error = on(level, announced[level].error) { throw Divergence(text: "level \(level): \(error)") }
    }
    if readsStore { try compare(elsewhere(Self.shown), store, "the store") }
  }

  private func compare(_ found: [String: String], _ expected: PlainGraph, _ what: String) throws {
    let expected = expected.shown
    if found == expected { return }
    let names = Set(found.keys).union(expected.keys).filter { found[$0] != expected[$0] }.sorted()
    let differences = names.map { "\($0): \(found[$0] ?? "none")\n    not \(expected[$0] ?? "none")" }
    throw Divergence(text: "\(what) shows\n  \(differences.joined(separator: "\n  "))")
  }

  private static func items(_ context: NSManagedObjectContext) throws -> [String: NSManagedObject] {
    let items = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
    return Dictionary(
      items.map { ($0.value(forKey: "name") as? String ?? "?", $0) }, uniquingKeysWith: { first, _ in first })
  }

  private static let name = ManagedProperty<String?>("name")
  private static let number = ManagedProperty<Int32>("number")

  /// Typed accessors must read what key-value coding reads: the first time, when they have found the slot, and when
  /// they have kept the string.
  private static func readByAccessors(_ item: NSManagedObject) throws {
    let expected = (
      name: item.value(forKey: "name") as? String, number: (item.value(forKey: "number") as? NSNumber)?.int32Value ?? 0
    )
    // Debug builds check the queue of each read, so they read nothing directly. Half of the items are not checked.
    if expected.name?.last?.wholeNumberValue?.isMultiple(of: 2) == true { item.setTracked(false) }
    for _ in 0..<3 {
      let found = (name: item.value(of: name), number: item.value(of: number))
      if found != expected { throw Divergence(text: "accessors of \(item) read \(found), not \(expected)") }
    }
  }

  private static func shown(_ context: NSManagedObjectContext) throws -> [String: String] {
    try items(context).mapValues { item in
      try readByAccessors(item)
      func name(_ value: Any?) -> String? { (value as? NSManagedObject)?.value(forKey: "name") as? String }
      func names(_ key: String) -> [String] {
        ((item.value(forKey: key) as? NSSet)?.allObjects.map { name($0) ?? "?" } ?? []).sorted()
      }
      return PlainGraph.text(
        number: (item.value(forKey: "number") as? NSNumber)?.intValue,
        text: item.value(forKeyPath: "address.city") as? String ?? "", owner: name(item.value(forKey: "owner")),
        owned: names("owned"), parent: name(item.value(forKey: "parent")), children: names("children"),
        line: name(item.value(forKey: "line")),
        queue: (item.value(forKey: "queue") as? NSOrderedSet)?.map { name($0) ?? "?" } ?? [], friends: names("friends"),
        friendsOf: names("friendsOf"))
    }
  }
}

extension GraphEdit {
  /// The number of the item that is changed; nil for an insertion.
  fileprivate var item: Int? {
    switch self {
    case .insert: nil
    case .number(let item, _), .text(let item, _), .owner(let item, _), .parent(let item, _), .friends(let item, _),
      .queue(let item, _), .lastFirst(let item), .delete(let item):
      item
    }
  }
}
